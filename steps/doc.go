// Package steps is what a plan can do: the executor that carries out a plan's steps one after another, and the step kinds,
// one file each. A new kind is a file and a line in Kinds.
//
// The executor knows the order of things (groups, cells, retries, finally, the journal); a kind knows its own doing and
// nothing of the others. Neither prints: what happens is told to an Observer, kept in the run's folder and returned as errors.
package steps
