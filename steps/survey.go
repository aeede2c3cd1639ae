package steps

import (
	"errors"
	"fmt"
	"os"
	"time"

	"benchplan/plan"
)

// Survey tells what a run comes to: the cells that the command line picked and the least time that they and the waits take, in
// a rehearsal as it cuts them.
func Survey(p *plan.Plan, only, skip []string, rehearse bool) plan.Summary {
	s := plan.Summary{Open: p.Summary.Open}
	picked := pick{only, skip, map[string]bool{}}
	p.Walk(func(v plan.Visit) {
		if v.Skipped || v.Step.Group() || v.Spec == nil || !picked.takesAll(v.Scope) {
			return
		}
		if v.Step.Load() {
			s.Cells += v.Times
		}
		least := v.Least
		if rehearse {
			least = rehearsedLeast(v)
		}
		s.Least += least * time.Duration(v.Times)
	})
	return s
}

// rehearsedLeast is the least time of a step in a rehearsal.
func rehearsedLeast(v plan.Visit) time.Duration {
	if spec, ok := v.Spec.(*runSpec); ok {
		return (rehearsedDuration(spec.Warmup) + rehearsedDuration(spec.Duration)).D()
	}
	return rehearsedDuration(plan.Duration(v.Least)).D()
}

// takesAll tells whether a cell and all those around it are to run.
func (p *pick) takesAll(s *plan.Scope) bool {
	for at := s; at.Outer() != nil; at = at.Outer() {
		if !p.takes(at) {
			return false
		}
	}
	return true
}

// Picked gives what tells whether a cell is among those that the command line picks.
func Picked(only, skip []string) func(*plan.Scope) bool {
	p := pick{only, skip, map[string]bool{}}
	return p.takesAll
}

// Executes tells whether a plan executes commands on this machine. Plans without a step of such a kind are not walked.
func Executes(p *plan.Plan) bool {
	kinds, found := Kinds(), false
	for name, kind := range kinds {
		found = found || kind.Shell && holds(p.Root, name)
	}
	if !found {
		return false
	}
	found = false
	p.Walk(func(v plan.Visit) { found = found || kinds[v.Step.Kind].Shell && !v.Skipped && !v.Unknown })
	return found
}

// Preflight says what a run would meet on this machine sooner or later: a command that is not allowed, a file that is not there.
// Nothing is touched.
func Preflight(p *plan.Plan, allowShell bool) error {
	kinds := Kinds()
	var found []error
	told := map[string]bool{}
	tell := func(at, text string) {
		if !told[at] {
			told[at] = true
			found = append(found, fmt.Errorf("%s: %s", at, text))
		}
	}
	p.Walk(func(v plan.Visit) {
		if v.Skipped || v.Unknown {
			return
		}
		if kinds[v.Step.Kind].Shell && !allowShell {
			tell(v.Scope.At(), "the plan executes a command on this machine; allow that with --allow-shell once you have read it")
		}
		if spec, ok := v.Spec.(*sqlSpec); ok && spec.File.Reveal() != "" {
			if _, err := os.Stat(fromFolder(planFolder(p), spec.File.Reveal())); err != nil {
				tell(v.Scope.At(), "sql: file: "+err.Error())
			}
		}
	})
	return errors.Join(found...)
}
