package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	local = normaliseNames(local)
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

// decide works out the step's if. It sees what is around the step, and the step's matrix and labels.
func (s *Scope) decide(d *decoder) {
	e := s.step.cond
	if e == nil {
		return
	}
	if d.check != nil && !s.checkReferences(d.check, e, nil) {
		s.ifError = errUnknown
		return
	}
	run, err := s.truth(e, nil)
	s.skip = !run && err == nil
	if err != nil && !errors.Is(err, errUnknown) && d.check != nil {
		d.report(placeOf(err, e.pos), "if: %v", err)
		err = errUnknown
	}
	s.ifError = err
}

// AwaitsResults tells whether what earlier steps yield decides if the step runs.
func (s *Step) AwaitsResults() bool {
	return s.cond != nil && slices.Contains(s.cond.roots, "steps")
}

// If tells whether the cell is to run.
func (s *Scope) If() (bool, error) {
	if s.ifError != nil {
		return false, fmt.Errorf("%s: if: %w", s.plan.Source.At(placeOf(s.ifError, s.step.cond.pos)), s.ifError)
	}
	return !s.skip, nil
}

// Assert holds the step's assert against what it yielded; the error says which does not hold, and with what values.
func (s *Scope) Assert(yielded map[string]any) error {
	mask := Masker(s.plan.SecretValues())
	yielded = normaliseNames(yielded)
	var failed []string
	var at Position
	for _, e := range s.step.assert {
		ok, err := s.truth(e, yielded)
		switch {
		case err != nil && len(failed) > 0:
			continue // the one that does not hold was there to guard it
		case err != nil:
			failed = append(failed, "assert: "+mask(err.Error())+s.readings(e, yielded, mask))
		case !ok:
			failed = append(failed, "assert does not hold: "+e.source+s.readings(e, yielded, mask))
		default:
			continue
		}
		if len(failed) == 1 {
			if at = e.pos; err != nil {
				at = placeOf(err, e.pos)
			}
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", s.plan.Source.At(at), strings.Join(failed, "; "))
}

// readings tells the values of the names that an expression reads: ` (json.x = 3, matrix.y = 4)`.
func (s *Scope) readings(e *expression, yielded map[string]any, mask func(string) string) string {
	var parts []string
	for _, ref := range e.refs {
		v, ok := s.lookup(ref.path, yielded)
		if ref.computed || !ok && ref.path[0] != "steps" {
			continue
		}
		shown := "nil"
		if text, err := textOf(v); err == nil {
			shown = mask(text.String())
		}
		if _, isString := v.(string); isString {
			shown = strconv.Quote(shown)
		}
		if runes := []rune(shown); len(runes) > 200 {
			shown = string(runes[:200]) + "…"
		}
		if part := ref.String() + " = " + shown; !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

var errUnknown = errors.New("not known before the run")

// truth works out an expression that is to be true or false; local names stand beside the scope's.
func (s *Scope) truth(e *expression, local map[string]any) (bool, error) {
	v, err := e.eval(s, local)
	if err != nil {
		return false, err
	}
	switch v := v.(type) {
	case unknownValue:
		return false, errUnknown
	case bool:
		return v, nil
	case string:
		if b, err := parseBool(nil, v); err == nil {
			return b, nil
		}
	case Text: // a comparison with a secret
		if b, err := parseBool(nil, v.Reveal()); err == nil {
			return b, nil
		}
	case nil:
		return false, fmt.Errorf("%s is nil (nothing), neither true nor false", e.source)
	}
	return false, fmt.Errorf("%s is %s, neither true nor false", e.source, typeName(v))
}
