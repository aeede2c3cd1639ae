// Package results is what came out of a run: the records of its cells, the folder in which they are kept, and what
// is made of them afterwards.
//
// Data flows one way. A [Cell] holds the [Outcome] of one execution of a run step; a [Writer] keeps it in a run folder,
// from which [Open] reads it back; [NewReport] groups the cells of one run by identity, sums up their repeats and
// compares them with a baseline; [Compare] lays several runs beside each other; package render prints either.
// Doubts about a figure travel with it as [Mark] values and end as footnotes.
//
// The package knows plain values only: no driver of a database, no YAML, no step.
package results
