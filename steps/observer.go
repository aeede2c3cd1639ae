package steps

import (
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/host"
	"benchplan/workloads/tables"
)

// Observer is told what happens while a plan runs. Its methods are called one at a time.
type Observer interface {
	// Start is told once, before the first step.
	Start(folder string, summary plan.Summary)
	// Step is told when a step begins in one cell; try counts from 1.
	Step(s *plan.Scope, try int)
	// StepDone is told when it ended, after its last try.
	StepDone(s *plan.Scope, took time.Duration, err error)
	// Cell is told when the load of a cell begins: the nth of planned, those that a run which is resumed has already counted, lasting least at
	// the least.
	Cell(s *plan.Scope, nth, planned int, least time.Duration)
	// Load is told once a second what the load of the cell does.
	Load(engine.Snapshot)
	// CellDone is told when the record of a cell is on disk, or cannot be put there: then the run ends by an error that says so.
	CellDone(c *results.Cell)
	// Filling is told how far the tables are filled.
	Filling(done, total int64)
	// Prepared is told once they are.
	Prepared(tables.Report)
	// Writing is told how many bytes of the files are written.
	Writing(done, total int64)
	// Written is told once they are.
	Written(host.FilesReport)
	// Note is told what a person should know and what is no error.
	Note(text string)
	// Finally is told when the finally of a group begins because something went wrong.
	Finally(cause error)
}
