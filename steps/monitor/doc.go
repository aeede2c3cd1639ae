// Package monitor reads machines and the server under test beside a cell's load: what their kernels count (Linux, by /proc and /sys),
// here or over ssh, and SHOW GLOBAL STATUS. A Watch is the engine's Meter for one cell; a Machine lasts for the whole run.
//
// It knows no plan and no steps. Nothing that it fails to read stops a run: the figures are left out, and Finish says why.
//
// The files of a machine that is reached over ssh are fetched, and then read by the same code as this machine's own, so that the
// figures of both mean the same.
package monitor
