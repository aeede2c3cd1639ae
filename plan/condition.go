package plan

import (
	"errors"
	"fmt"
	"slices"
)

// CheckExpression says what is wrong with the syntax of a bare expression that a step's spec holds as text; nil is fine.
func CheckExpression(source string) error {
	_, err := bareExpression(source)
	return err
}

func bareExpression(source string) (*expression, error) {
	t := newText(Source{Name: "expression", Text: []byte(source)})
	p := &parser{reporter: newReporter(t), origin: t}
	where := newLocator(t, p.at(1, 1), 0, source)
	e := p.compile(source, &where, 0)
	if e == nil {
		return nil, errors.New(p.found[0].Message)
	}
	return e, nil
}

// Holds works out a bare expression that a step's spec holds as text. The names of local stand beside those of the scope.
func (s *Scope) Holds(source string, local map[string]any) (bool, error) {
	e, err := bareExpression(source)
	if err != nil {
		return false, err
	}
	for _, ref := range e.refs {
		if problem := s.missing(ref, keysOf(local)); problem != "" {
			return false, errors.New(problem)
		}
	}
	ok, err := s.truth(e, local)
	if err != nil {
		return false, fmt.Errorf("%s: %w", source, err)
	}
	return ok, nil
}

// Name gives the step's own name in this cell; empty where it has none.
func (s *Scope) Name() string {
	if s.step.keys["name"] == nil || len(s.path) == 0 {
		return ""
	}
	return s.path[len(s.path)-1]
}

// Outer gives the scope of the group cell that holds this one; nil at the root.
func (s *Scope) Outer() *Scope { return s.parent }

// Order gives the order in which the cells around this one run: the innermost that is not as declared.
func (s *Scope) Order() Order {
	for at := s; at != nil; at = at.parent {
		if at.step.Order != Declared {
			return at.step.Order
		}
	}
	return Declared
}

// Holds tells whether a step inside this one, at any depth, has this name.
func (s *Step) Holds(name string) bool {
	return slices.ContainsFunc(s.Steps, func(inner *Step) bool {
		n := inner.keys["name"]
		return n != nil && n.template == nil && n.text == name || inner.Holds(name)
	})
}

// Names lists the names of the steps inside this one, at any depth, as they are written.
func (s *Step) Names() []string {
	var out []string
	for _, inner := range slices.Concat(s.Steps, s.Finally) {
		if n := inner.keys["name"]; n != nil && !slices.Contains(out, n.text) {
			out = append(out, n.text)
		}
		for _, name := range inner.Names() {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
