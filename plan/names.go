package plan

import (
	"maps"
	"slices"
	"strconv"
)

// lookup follows a constant path from a name. false: the name, or what it must have, is not there. What is missing deeper down is nil.
func (s *Scope) lookup(path []string, local map[string]any) (any, bool) {
	root := path[0]
	if v, ok := local[root]; ok {
		return follow(v, path[1:]), true
	}
	if len(path) == 1 {
		switch root {
		case "vars", "matrix", "labels", "steps":
			return s.all(root), true
		}
		return nil, false
	}
	name := path[1]
	switch root {
	case "secrets":
		return follow(s.plan.secret(name), path[2:]), true
	case "env":
		if v, ok := s.plan.lookup(name); ok {
			return follow(v, path[2:]), true
		}
		return nil, false
	case "labels":
		if v := s.label(name); v != "" {
			return follow(v, path[2:]), true
		}
	}
	for at := s; at != nil; at = at.parent {
		if v, ok := at.own(root)[name]; ok {
			return follow(v, path[2:]), true
		}
	}
	for at := s; at != nil; at = at.parent {
		if slices.Contains(at.vague, root) {
			return unknown, true
		}
	}
	return nil, false
}

func (s *Scope) own(root string) map[string]any {
	switch root {
	case "vars":
		return s.vars
	case "matrix":
		return s.axes
	case "steps":
		return s.results
	}
	return nil
}

// all merges what a name holds from the outermost scope inwards, secrets masked where they stand. It is not to be changed.
func (s *Scope) all(root string) map[string]any {
	if root == "labels" {
		out := make(map[string]any, len(s.labels))
		for _, l := range s.labels {
			out[l.Name] = l.Value
		}
		return out
	}
	var outer map[string]any
	if s.parent != nil {
		outer = s.parent.all(root)
	}
	own := s.own(root)
	switch {
	case len(own) == 0 && outer != nil:
		return outer
	case len(outer) == 0 && root == "matrix" && own != nil:
		return own // no scope gets more axes than it has when it is entered
	}
	merged := make(map[string]any, len(outer)+len(own))
	maps.Copy(merged, outer)
	maps.Copy(merged, own)
	return merged
}

func follow(v any, path []string) any {
	for _, p := range path {
		switch t := v.(type) {
		case map[string]any:
			v = t[p]
		case []any:
			i, err := strconv.Atoi(p)
			if err != nil || i < 0 || i >= len(t) {
				return nil
			}
			v = t[i]
		case unknownValue:
			return t
		default:
			return nil
		}
	}
	return v
}

// revealed are variables with their secrets open. They stand behind a pointer so that printing a scope does not print them.
type revealed struct{ vars map[string]any }

// names gives the names that an expression reads for expr-lang, secrets open.
func (s *Scope) names(e *expression, local map[string]any) map[string]any {
	out := make(map[string]any, len(e.roots)+1)
	for _, root := range e.roots {
		if v, ok := local[root]; ok {
			out[root] = opened(v)
			continue
		}
		switch root {
		case "vars":
			out[root] = s.openVars()
		case "matrix", "labels", "steps":
			out[root] = opened(s.all(root))
		case "secrets", "env":
			named := map[string]any{}
			for _, ref := range e.refs {
				if len(ref.path) > 1 && ref.path[0] == root {
					if v, ok := s.lookup(ref.path[:2], nil); ok {
						named[ref.path[1]] = opened(v)
					}
				}
			}
			out[root] = named
		}
	}
	return out
}

// openVars gives the variables that are seen here, secrets open.
func (s *Scope) openVars() map[string]any {
	if s.vars == nil && s.parent != nil {
		return s.parent.openVars()
	}
	if s.open == nil {
		s.open = &revealed{map[string]any{}}
		if s.parent != nil {
			s.open.vars = maps.Clone(s.parent.openVars())
		}
		for name, v := range s.vars {
			s.open.vars[name] = opened(v)
		}
	}
	return s.open.vars
}

// setVar gives the scope one more variable of its own.
func (s *Scope) setVar(name string, tree any) {
	s.vars[name] = tree
	if s.open != nil {
		s.open.vars[name] = opened(tree)
	}
}

// yields gives the names that a step with this id yields.
func (s *Scope) yields(id string) ([]string, bool) {
	for at := s; at != nil; at = at.parent {
		if _, ok := at.results[id]; ok {
			for x := range at.step.all() {
				if x.ID == id && x.kind != nil {
					return x.kind.Yields, true
				}
			}
		}
	}
	return nil, false
}

// laterStep tells whether a step of this id stands in a group around, but has not run.
func (s *Scope) laterStep(id string) bool {
	for at := s; at != nil; at = at.parent {
		for x := range at.step.all() {
			if x.ID == id {
				return true
			}
		}
	}
	return false
}

// laterVariable tells whether a variable of this name stands in a group around, but is not seen yet.
func (s *Scope) laterVariable(name string) bool {
	for at := s; at != nil; at = at.parent {
		if slices.ContainsFunc(at.step.vars, func(f *field) bool { return f.key == name }) {
			return true
		}
	}
	return false
}

// Result keeps what a step of this group cell yielded, for steps.<id> of later steps. values nil: it was skipped.
func (s *Scope) Result(id string, values map[string]any) {
	if id == "" {
		return
	}
	if values == nil {
		s.results[id] = nil
	} else {
		s.results[id] = normalise(values)
	}
}
