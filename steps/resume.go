package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"benchplan/plan"
	"benchplan/results"

	"github.com/hashicorp/go-multierror"
)

// ErrOtherServer is wrapped by the error of a resumed run that met another server where the run had been.
var ErrOtherServer = errors.New("this is not the server that the run was begun on")

// NotResumedError tells that a run was not resumed. Nothing was touched.
type NotResumedError struct{ Err error }

// Error says why.
func (e *NotResumedError) Error() string { return e.Err.Error() }

// Unwrap gives why.
func (e *NotResumedError) Unwrap() error { return e.Err }

// cellID is a cell of a run.
type cellID struct {
	key    string
	repeat int
}

func idOf(s *plan.Scope) cellID { return cellID{results.Key(s.Path(), labelsOf(s)), s.Repeat()} }

// earlier is what a run that is resumed has already; nil in any other.
type earlier struct {
	cells  map[cellID]*results.Cell // one record of each, finished or not
	killed bool                     // it was, at last
	last   cellID                   // that was executed last
	open   bool                     // the run was killed after that: of the groups around it no finally has run
}

// finished tells whether the record of a cell is there, complete, and what its step asserts holds of it.
func finished(c *results.Cell) bool { return c.Status == results.Complete && c.Unmet == "" }

func newEarlier(run *results.Run, cells []results.Cell) *earlier {
	if len(run.Resumed) == 0 {
		return nil
	}
	killed := func(part int) bool { return run.Resumed[min(part, len(run.Resumed)-1)].After == results.Killed }
	e := &earlier{cells: make(map[cellID]*results.Cell, len(cells)), killed: killed(len(run.Resumed))}
	seq := 0
	for i := range cells {
		c := &cells[i]
		id := cellID{c.Key(), c.Repeat}
		e.cells[id] = c
		if c.Seq > seq {
			seq, e.last, e.open = c.Seq, id, killed(c.Resumed)
		}
	}
	return e
}

// finished gives the record of a cell that need not be executed again; nil for any other.
func (e *earlier) finished(id cellID) *results.Cell {
	if e == nil {
		return nil
	}
	if c := e.cells[id]; c != nil && finished(c) {
		return c
	}
	return nil
}

// had deals with a cell that a run which is resumed has already: what a load yielded is known, and a group of which no cell is missing
// is left out as a whole. It tells whether there is nothing else to do.
func (r *run) had(ctx context.Context, outer, s *plan.Scope) (bool, error) {
	switch step := s.Step(); {
	case r.earlier == nil || !step.HoldsLoad():
		return false, nil
	case step.Load():
		cell := r.earlier.finished(idOf(s))
		if cell == nil {
			return false, nil
		}
		outer.Result(step.ID, figures(cell))
		r.Writer.Log().Info("cell is there already", "at", s.At(), "cell", s.Identity(), "repeat", s.Repeat())
		return true, nil
	}
	got := r.holdings(s)
	if !got.whole() {
		return false, nil
	}
	r.Writer.Log().Info("group is left out: all of its cells are there", "at", s.At(), "cell", s.Identity(), "cells", got.there)
	if r.earlier.open && got.last {
		return true, r.finallyOfKilled(ctx, s)
	}
	return true, nil
}

// holdings is what a run that is resumed has of the cells of a group.
type holdings struct {
	there, missing int
	last           bool // the one that was executed last is among them
}

// whole tells that there are cells and none is missing.
func (h holdings) whole() bool { return h.there > 0 && h.missing == 0 }

// holdings counts the cells of a group. One of which only its steps will tell whether it is to run counts as missing unless it is there.
func (r *run) holdings(s *plan.Scope) holdings {
	var h holdings
	r.eachLoad(s, false, func(load *plan.Scope) {
		if load == nil {
			h.missing++
			return
		}
		id := idOf(load)
		h.last = h.last || id == r.earlier.last
		if r.earlier.finished(id) != nil {
			h.there++
		} else {
			h.missing++
		}
	})
	return h
}

// eachLoad visits the loads that a group holds and that are to run: nil for each cell of which that is not known before its steps have run.
func (r *run) eachLoad(s *plan.Scope, finally bool, visit func(*plan.Scope)) {
	for i, steps := range [][]*plan.Step{s.Step().Steps, s.Step().Finally} {
		for _, step := range steps {
			if !step.HoldsLoad() {
				continue
			}
			cells, err := s.Cells(step)
			if err != nil {
				visit(nil)
			}
			for _, cell := range cells {
				r.eachLoadOf(s, step, cell, finally || i > 0, visit)
			}
		}
	}
}

func (r *run) eachLoadOf(outer *plan.Scope, step *plan.Step, cell plan.Cell, finally bool, visit func(*plan.Scope)) {
	s, err := outer.Enter(step, cell)
	if err != nil {
		visit(nil)
		return
	}
	if !finally && !r.pick.takes(s) {
		return
	}
	wanted, err := s.If()
	switch unsure := err != nil || step.AwaitsResults(); {
	case step.Load() && unsure && r.earlier.finished(idOf(s)) != nil:
		visit(s)
	case unsure:
		visit(nil)
	case !wanted:
	case step.Load():
		visit(s)
	default:
		r.eachLoad(s, finally, visit)
	}
}

// finallyOfKilled runs what a run that was killed could not: the finally of a group around its last cell, after those of the groups inside it that
// are around that cell too.
func (r *run) finallyOfKilled(ctx context.Context, s *plan.Scope) error {
	var failures *multierror.Error
	for _, step := range s.Step().Steps {
		if !step.Group() || !step.HoldsLoad() {
			continue
		}
		cells, err := s.Cells(step)
		if err != nil {
			return r.fault(nil, err)
		}
		for _, cell := range cells {
			in, err := s.Enter(step, cell)
			if err != nil {
				return r.fault(nil, err)
			}
			if r.holdings(in).last {
				failures = collect(failures, r.finallyOfKilled(ctx, in))
			}
		}
	}
	failures = collect(failures, r.putBack(ctx, s, nil))
	return failures.ErrorOrNil()
}

// outermost carries out the plan itself. Of a run that was killed when it lacked no cell any more only finally is left.
func (r *run) outermost(ctx context.Context, s *plan.Scope) error {
	if r.earlier != nil && r.earlier.killed && r.holdings(s).whole() {
		r.tell("whole", "all cells are there: only finally runs")
		return r.finallyOfKilled(ctx, s)
	}
	_, err := r.group(ctx, s, false)
	return err
}

// SurveyRest is Survey of a run that is resumed and has some cells already: Done says how many of them need not be executed again. The
// least time is that of the loads that are missing.
func SurveyRest(p *plan.Plan, cells []results.Cell, only, skip []string, rehearse bool) plan.Summary {
	there := map[string]int{}
	for i := range cells {
		if finished(&cells[i]) {
			there[cells[i].Key()]++
		}
	}
	summary := Survey(p, only, skip, rehearse)
	summary.Least = 0
	picked := pick{only, skip, map[string]bool{}}
	p.Walk(func(v plan.Visit) {
		if v.Skipped || v.Spec == nil || !v.Step.Load() || !picked.takesAll(v.Scope) {
			return
		}
		n := min(v.Times, there[results.Key(v.Scope.Path(), labelsOf(v.Scope))])
		summary.Done += n
		least := v.Least
		if rehearse {
			least = rehearsedLeast(v)
		}
		summary.Least += least * time.Duration(v.Times-n)
	})
	return summary
}

// recognise reaches the servers that the record of a resumed run names, before anything is touched.
func (r *run) recognise(ctx context.Context) error {
	if r.earlier == nil || len(r.Run.Targets) == 0 {
		return nil
	}
	for _, s := range r.stages() {
		if _, err := r.targets.reach(ctx, s.target); errors.Is(err, ErrOtherServer) {
			return &NotResumedError{err}
		}
	}
	return nil
}

// changed notes in what things are not as when the run began: in its record, and so in the marks of the cells that are measured from now on.
func (r *run) changed(list []string) {
	if len(list) == 0 {
		return
	}
	last := &r.Run.Resumed[len(r.Run.Resumed)-1]
	last.Changed = append(last.Changed, list...)
	for _, text := range list {
		r.tell("changed: "+text, "since the run began this has changed: "+text)
	}
}

// doubtResumed marks a cell of a resumed run that was measured on other terms than those before.
func (r *run) doubtResumed(cell *results.Cell, s *plan.Scope) {
	if r.earlier == nil {
		return
	}
	cell.Resumed = len(r.Run.Resumed)
	if changed := r.Run.Resumed[len(r.Run.Resumed)-1].Changed; len(changed) > 0 {
		cell.Marks = append(cell.Marks, results.MarkOfChanges(changed))
	} else if before := r.earlier.cells[idOf(s)]; before != nil && before.Unmet != "" {
		cell.Marks = append(cell.Marks, results.Mark{Code: results.MarkResumed,
			Text:   fmt.Sprintf("measured again: what was measured at %s did not hold (%s)", before.Finished.UTC().Format(time.DateTime), before.Unmet),
			Remedy: "a figure that is kept because others were thrown away is no sample: say why it is the right one, or run the plan anew"})
	}
}
