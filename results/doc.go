// Package results is what came out of a run: the records of its cells, the folder in which they are kept, and what
// is made of them afterwards.
//
// Data flows one way. A [Cell] holds the [Outcome] of one execution of a run step; a [Writer] keeps it in a run folder,
// from which [Open] reads it back; [NewReport] groups the cells of one run by identity, sums up their repeats and
// compares them with a baseline; [Compare] lays several runs beside each other; package render prints either.
// Doubts about a figure travel with it as [Mark] values and end as footnotes.
//
// A run folder holds
//
//	run.json                the run: plan, program, host, targets, status (Run)
//	cells.jsonl             one finished cell a line, with a checksum (Cell)
//	histograms/NNNN.hlog    the histograms of cell NNNN, an HdrHistogram interval log
//	series/NNNN.csv         its load second by second (Second)
//	series/NNNN.ROLE.csv    what a machine did meanwhile: generator or server (Usage)
//	series/NNNN.status.csv  by how much the server's status variables went up (StatusSeries)
//	log.jsonl               what was done
//	lock                    held while the run is written
//
// The CSV files have a head that names columns and units; an empty field is what is not known or does not apply. Whatever is in
// histograms/ and series/ is on the disk before the line of its cell.
//
// The package knows plain values only: no driver of a database, no YAML, no step.
package results
