package plan

import (
	"slices"
	"strings"
)

// Scope is what a step can see in one cell: variables, axes, labels, results of earlier steps, target, tables and files.
// A scope is used from one goroutine.
type Scope struct {
	plan   *Plan
	parent *Scope
	step   *Step // whose cell it is; the outermost group at the root

	vars   map[string]any // of this group alone
	held   int            // the size of the variables of this group and those around, as the budget of an expression has it
	axes   map[string]any // of this step alone
	labels []Label        // of this cell, the outer ones first
	path   []string       // names of the steps around and of this one
	repeat int            // the number of the sample: nested repeats multiply
	loop   bool           // inside a matrix or a repeat
	laid   [len(layers)]*node

	results map[string]any // of the steps of a group, by id; nil for a step that was skipped
	open    *revealed      // the variables for expr-lang, with the outer ones

	skip    bool  // its if is false
	ifError error // its if could not be worked out

	flawed bool     // a check found a mistake in what tells the cell from others
	vague  []string // the names of which a mistake keeps the whole from being known; what is not found there is not told again
}

// Path gives the names of the steps around the cell and of its own, the outermost first; steps without a name are left out.
func (s *Scope) Path() []string { return s.path }

// Labels gives the labels of the cell, those of outer steps first.
func (s *Scope) Labels() []Label { return s.labels }

// Repeat counts the runs of the same cell from 1; nested repeats multiply.
func (s *Scope) Repeat() int { return s.repeat }

// Step gives the step that the scope is a cell of.
func (s *Scope) Step() *Step { return s.step }

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
	b := make([]byte, 0, 128)
	for _, name := range s.path {
		b = append(append(b, name...), 0)
	}
	for _, l := range s.labels {
		b = append(append(b, 1), l.Name...)
		b = append(append(b, 2), l.Value...)
	}
	return string(b)
}

func (s *Scope) label(name string) string { return labelOf(s.labels, name) }

// Cells works out the cells of a step in the order in which they run, repeats included.
func (s *Scope) Cells(step *Step) ([]Cell, error) {
	r := s.plan.reporter()
	cells, repeats, _ := s.cells(step, &decoder{report: r.add})
	if err := r.err(); err != nil {
		return nil, err
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
		d.report(step.Pos, "with its %d repeats the step has %d cells, more than %d", repeats, len(cells)*repeats, maxCells)
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
	in := &Scope{plan: s.plan, parent: s, step: step, laid: s.laid, path: s.path}
	in.loop = s.loop || len(c.Labels) > 0 || c.Repeats > 1
	in.repeat = (s.repeat-1)*max(c.Repeats, 1) + max(c.Repeat, 1)
	in.labels = slices.Concat(s.labels, c.Labels)
	if len(c.values) > 0 {
		in.axes = make(map[string]any, len(c.values))
		for i, l := range c.Labels {
			in.axes[l.Name] = c.values[i]
		}
	}
	if m := step.matrix; m != nil && m.broken && len(m.axes) == 0 {
		in.vague = append(in.vague, "matrix", "labels")
	}
	if step.badLabels {
		in.flawed, in.vague = true, append(in.vague, "labels")
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
		s.flawed, s.vague = true, append(s.vague, "labels")
	case len(s.labels) >= maxLabels:
		d.report(f.pos, "more than %d labels are around this step", maxLabels)
		s.flawed = true
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

// openGroup works out what a group has of its own: its variables, and its layers over the outer ones.
func (s *Scope) openGroup(step *Step, d *decoder) {
	s.results = map[string]any{}
	s.vars = map[string]any{}
	if step.badVars {
		s.vague = append(s.vague, "vars")
	}
	if s.parent != nil {
		s.held = s.parent.held
	}
	full := false
	for _, f := range step.vars {
		if full {
			s.setVar(f.key, unknown)
			continue
		}
		d.spend(f.value)
		tree, _ := d.tree(f.value, s)
		room := meter{maxHeld - s.held}
		if full = room.charge(tree) != nil; full {
			d.report(f.pos, "the variables that are known here are too large together")
			tree = unknown
		}
		s.held = maxHeld - room.left
		s.setVar(f.key, tree)
	}
	for i, n := range step.laid {
		if n != nil {
			s.laid[i] = lay(s.laid[i], n, s, i)
		}
	}
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
