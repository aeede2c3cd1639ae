package steps

import (
	"slices"
	"strings"

	"benchplan/plan"
)

// pick is what the command line picked of a plan's steps, by their names.
type pick struct {
	only, skip []string
	met        map[string]bool // names that a step had
}

// takes tells whether a cell of a step is to run. --skip leaves out the steps of a name and all that they hold. --only leaves out
// every step that has a name, or holds a load, unless it, a step around it or one that it holds is named: what has no name
// (a switch, a prepare) makes the ground for what stands beside it, and a load on another ground would carry wrong labels.
func (p *pick) takes(s *plan.Scope) bool {
	if p.names(p.skip, s) {
		return false
	}
	if len(p.only) == 0 || p.names(p.only, s) {
		return true
	}
	if s.Name() == "" && !s.Step().HoldsLoad() {
		return true
	}
	return slices.ContainsFunc(s.Step().Names(), func(name string) bool {
		return slices.Contains(p.only, name) || strings.Contains(name, "${{") // which only its cells tell
	})
}

// names tells whether the step or one around it has one of the names.
func (p *pick) names(names []string, s *plan.Scope) bool {
	found := false
	for _, name := range names {
		if slices.Contains(s.Path(), name) {
			p.met[name], found = true, true
		}
	}
	return found
}

// unmet lists the names that no step had.
func (p *pick) unmet() []string {
	return slices.DeleteFunc(slices.Concat(p.only, p.skip), func(name string) bool { return p.met[name] })
}
