package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Scope is what a step can see in one cell: variables, axes, labels, results of earlier steps, target, tables and files.
// A scope is used from one goroutine.
type Scope struct {
	plan   *Plan
	parent *Scope
	step   *Step // whose cell it is; the outermost group at the root
	cell   Cell

	vars   map[string]any // of this group alone
	axes   map[string]any // of this step alone
	labels []Label        // of this cell, the outer ones first
	path   []string       // names of the steps around and of this one
	repeat int            // the number of the sample: nested repeats multiply
	laid   [len(layers)]*node

	results map[string]any // of the steps of a group, by id; nil for a step that was skipped
	open    *revealed      // the variables for expr-lang, with the outer ones

	skip    bool  // its if is false
	ifError error // its if could not be worked out

	flawed bool   // a check found a mistake in what tells the cell from others
	vague  string // what a mistake keeps from being known: "vars", "matrix" or "labels"; what is not found there is not told again
}

// revealed are variables with their secrets open. They stand behind a pointer so that printing a scope does not print them.
type revealed struct{ vars map[string]any }

// Path gives the names of the steps around the cell and of its own, the outermost first; steps without a name are left out.
func (s *Scope) Path() []string { return s.path }

// Labels gives the labels of the cell, those of outer steps first.
func (s *Scope) Labels() []Label { return s.labels }

// Repeat counts the runs of the same cell from 1; nested repeats multiply.
func (s *Scope) Repeat() int { return s.repeat }

// Step gives the step that the scope is a cell of.
func (s *Scope) Step() *Step { return s.step }

// At writes the place of the scope's step in the plan: file:line:col.
func (s *Scope) At() string { return s.plan.Source.At(s.step.Pos) }

// Identity writes the names of the steps around a cell and its labels: what tells a cell from all others, within a run and between runs.
func (s *Scope) Identity() string {
	var b strings.Builder
	b.WriteString(strings.Join(s.path, " / "))
	for i, l := range s.labels {
		if i > 0 || b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(l.Name + "=" + l.Value)
	}
	return b.String()
}

// identity is Identity for machines: no name or value can be taken for two.
func (s *Scope) identity() string {
	var b strings.Builder
	for _, name := range s.path {
		b.WriteString(name)
		b.WriteByte(0)
	}
	for _, l := range s.labels {
		b.WriteString("\x01" + l.Name + "\x02" + l.Value)
	}
	return b.String()
}

func (s *Scope) label(name string) string { return labelOf(s.labels, name) }

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
		if at.vague == root {
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

// all merges what a name holds from the outermost scope inwards, secrets masked where they stand.
func (s *Scope) all(root string) map[string]any {
	if root == "labels" {
		out := make(map[string]any, len(s.labels))
		for _, l := range s.labels {
			out[l.Name] = l.Value
		}
		return out
	}
	out := map[string]any{}
	if s.parent != nil {
		out = s.parent.all(root)
	}
	maps.Copy(out, s.own(root))
	return out
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

// names gives the names that an expression reads for expr-lang, secrets open.
func (s *Scope) names(e *expression, local map[string]any) map[string]any {
	out := make(map[string]any, len(e.roots)+1)
	for _, root := range e.roots {
		if v, ok := local[root]; ok {
			out[root] = Reveal(v)
			continue
		}
		switch root {
		case "vars":
			out[root] = s.openVars()
		case "matrix", "labels", "steps":
			out[root] = Reveal(s.all(root))
		case "secrets", "env":
			named := map[string]any{}
			for _, ref := range e.refs {
				if len(ref.path) > 1 && ref.path[0] == root {
					if v, ok := s.lookup(ref.path[:2], nil); ok {
						named[ref.path[1]] = Reveal(v)
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
			s.open.vars[name] = Reveal(v)
		}
	}
	return s.open.vars
}

// setVar gives the scope one more variable of its own.
func (s *Scope) setVar(name string, tree any) {
	s.vars[name] = tree
	if s.open != nil {
		s.open.vars[name] = Reveal(tree)
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

// Cells works out the cells of a step in the order in which they run, repeats included.
func (s *Scope) Cells(step *Step) ([]Cell, error) {
	r := s.plan.reporter()
	cells, repeats, ok := s.cells(step, &decoder{report: r.add})
	if !ok {
		return nil, r.err()
	}
	return inOrder(cells, repeats, step.Order, s.shuffle(step)), nil
}

// cells gives the combinations of a step's matrix, each once, and how often each is to run.
func (s *Scope) cells(step *Step, d *decoder) (cells []Cell, repeats int, ok bool) {
	repeats, ok = 1, true
	if n := step.keys["repeat"]; n != nil {
		repeats = s.repeats(n, d)
	}
	if step.matrix == nil {
		return []Cell{{}}, repeats, ok
	}
	cells, ok = step.matrix.expand(s, d)
	if len(cells)*repeats > maxCells {
		d.report(step.Pos, "with its repeats the step has more than %d cells", maxCells)
		return nil, 1, false
	}
	return cells, repeats, ok
}

func (s *Scope) repeats(n *node, d *decoder) int {
	var repeat struct {
		Times int `key:"repeat" short:"true" default:"1" min:"1" max:"1000000"`
	}
	if n.template != nil {
		value, ok := d.eval(n, s)
		if ok && isUnknown(value) {
			d.report(n.pos, "repeat has to be known before the run: no step's result and no secret can give it")
		}
		if !ok || isUnknown(value) {
			return 1
		}
		n = nodeOf(value, n)
	}
	d.into(n, s, &repeat, "repeat")
	return max(repeat.Times, 1)
}

// Enter makes the scope of one cell of a step that this scope's group holds. What goes wrong has its place in the plan.
func (s *Scope) Enter(step *Step, c Cell) (*Scope, error) {
	r := s.plan.reporter()
	inner := s.enter(step, c, &decoder{report: r.add})
	return inner, r.err()
}

func (s *Scope) enter(step *Step, c Cell, d *decoder) *Scope {
	in := &Scope{plan: s.plan, parent: s, step: step, cell: c, laid: s.laid, path: s.path}
	in.repeat = (s.repeat-1)*max(c.Repeats, 1) + max(c.Repeat, 1)
	in.labels = slices.Concat(s.labels, c.Labels)
	if len(c.values) > 0 {
		in.axes = make(map[string]any, len(c.values))
		for i, l := range c.Labels {
			in.axes[l.Name] = c.values[i]
		}
	}
	for _, f := range step.labels {
		in.addLabel(f, d)
	}
	if n := step.keys["name"]; n != nil {
		if name := in.name(n, d); name != "" {
			in.path = append(slices.Clip(s.path), name)
		}
	}
	in.decide(d)
	if step.Group() && !in.skip {
		in.openGroup(step, d)
	}
	return in
}

func (s *Scope) addLabel(f *field, d *decoder) {
	v, ok := wordOf(f.value, s, d, "the label "+f.key)
	switch {
	case !ok:
		s.flawed, s.vague = true, "labels"
	case s.label(f.key) != "":
		d.report(f.pos, "the label %q is there already: an axis or a step around gives it", f.key)
		s.flawed = true
	default:
		s.labels = append(s.labels, Label{f.key, v.label})
	}
}

func (s *Scope) name(n *node, d *decoder) string {
	if n.kind == nullNode {
		return ""
	}
	v, ok := wordOf(n, s, d, "name")
	s.flawed = s.flawed || !ok
	return v.label
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

// openGroup works out what a group has of its own: its variables, and its layers over the outer ones.
func (s *Scope) openGroup(step *Step, d *decoder) {
	s.results = map[string]any{}
	s.vars = map[string]any{}
	if step.badVars {
		s.vague = "vars"
	}
	for _, f := range step.vars {
		tree, _ := d.tree(f.value, s)
		s.setVar(f.key, tree)
	}
	for i, n := range step.laid {
		if n != nil {
			s.laid[i] = lay(s.laid[i], n, s, i)
		}
	}
}

// If tells whether the cell is to run.
func (s *Scope) If() (bool, error) {
	if s.ifError != nil {
		return false, fmt.Errorf("%s: if: %w", s.plan.Source.At(placeOf(s.ifError, s.step.cond.pos)), s.ifError)
	}
	return !s.skip, nil
}

// Frame is what stands beside the kind of a step and is not part of the plan's structure.
type Frame struct {
	Timeout         Duration `key:"timeout" default:"0" doc:"how long the step may take, tries included; 0 is no limit"`
	Retry           *Retry   `key:"retry" doc:"try again until the step and its assert hold"`
	ContinueOnError bool     `key:"continue_on_error" default:"off" doc:"go on when the step fails; the run still counts as failed"`
}

// Frame works out the step's timeout, retry and continue_on_error.
func (s *Scope) Frame() (Frame, error) {
	r := s.plan.reporter()
	f := s.frame(&decoder{report: r.add})
	return f, r.err()
}

func (s *Scope) frame(d *decoder) Frame {
	var f Frame
	n := s.step.frame
	d.into(&n, s, &f, "step")
	return f
}

// Assert holds the step's assert against what it yielded; the error says which does not hold, and with what values.
func (s *Scope) Assert(yielded map[string]any) error {
	mask := Masker(s.plan.SecretValues())
	for _, e := range s.step.assert {
		ok, err := s.truth(e, yielded)
		if err != nil {
			return fmt.Errorf("%s: assert: %w", s.plan.Source.At(placeOf(err, e.pos)), err)
		}
		if !ok {
			return fmt.Errorf("%s: assert does not hold: %s%s", s.plan.Source.At(e.pos), e.source, mask(s.readings(e, yielded)))
		}
	}
	return nil
}

// readings tells the values of the names that an expression reads: ` (json.x = 3, matrix.y = 4)`.
func (s *Scope) readings(e *expression, yielded map[string]any) string {
	var parts []string
	for _, ref := range e.refs {
		v, ok := s.lookup(ref.path, yielded)
		if ref.computed || !ok && ref.path[0] != "steps" {
			continue
		}
		shown := "nil"
		if text, err := textOf(v); err == nil {
			shown = text.String()
		}
		if s, isString := v.(string); isString {
			shown = strconv.Quote(s)
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

// Spec works out what stands behind the step's kind: a pointer to the struct of its Kind.
func (s *Scope) Spec() (any, error) {
	r := s.plan.reporter()
	spec := s.spec(&decoder{report: r.add, voc: s.plan.voc})
	return spec, r.err()
}

func (s *Scope) spec(d *decoder) any {
	if s.step.kind == nil || s.step.kind.Spec == nil {
		return nil
	}
	spec := s.step.kind.Spec()
	n := *s.step.spec
	if n.kind == nullNode {
		n.pos = s.step.Pos
	}
	d.into(&n, s, spec, s.step.Kind)
	return spec
}
