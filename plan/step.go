package plan

import (
	"iter"
	"slices"
	"strings"
)

// Step is one step of a plan, as it is written. A group is a step of kind "steps"; the plan itself is the outermost one.
type Step struct {
	Kind   string // the key that makes it what it is: http, sql, run, …, or steps
	ID     string
	Pos    Position
	Order  Order
	Parent *Step
	Index  int // among the steps beside it, from 0

	Steps   []*Step // of a group
	Finally []*Step // of a group: what runs after each of its cells, come what may

	kind      *Kind
	spec      *node
	keys      map[string]*node // name, id and repeat
	frame     node             // timeout, retry and continue_on_error: see Frame
	labels    []*field
	cond      *expression
	assert    []*expression
	matrix    *matrix
	vars      []*field
	badVars   bool // they could not be read, so nobody knows their names
	badLabels bool // likewise
	laid      [len(layers)]*node
	lost      []string // ids of steps that could not be read
	salt      uint64   // tells it from other steps
	hasLoad   bool     // it, or a step that it holds, is a cell of the comparison
}

// Group tells whether the step holds others.
func (s *Step) Group() bool { return s.Kind == groupKind }

// Load tells whether the step is one cell of the comparison.
func (s *Step) Load() bool { return s.kind != nil && s.kind.Load }

// HoldsLoad tells whether the step, or one that it holds, is a cell of the comparison.
func (s *Step) HoldsLoad() bool { return s.hasLoad }

// all gives the steps that a group holds, those of finally behind the others.
func (s *Step) all() iter.Seq[*Step] {
	return func(yield func(*Step) bool) {
		for _, inner := range s.Steps {
			if !yield(inner) {
				return
			}
		}
		for _, inner := range s.Finally {
			if !yield(inner) {
				return
			}
		}
	}
}

const groupKind = "steps"

// besides are the keys that any step may have, beside its kind.
var besides = []string{"name", "id", "labels", "if", "matrix", "repeat", "order", "timeout", "retry", "assert", "continue_on_error"}

// groupKeys are those that only a group may have.
var groupKeys = []string{"vars", "target", "tables", "files", "finally"}

// reading turns nodes into steps.
type reading struct {
	*parser
	voc   *Vocabulary
	steps uint64
	lost  bool // a step could not be read, so nobody knows its labels
}

func (r *reading) kinds() []string { return append(sortedKeys(r.voc.Kinds), groupKind) }

// list reads the steps or the finally of a group.
func (r *reading) list(f *field, parent *Step) []*Step {
	if f.value.kind == nullNode || f.value.kind == listNode && len(f.value.items) == 0 {
		r.add(f.pos, "%s holds no step", f.key)
		return nil
	}
	if f.value.kind != listNode {
		r.add(f.value.pos, "%s takes a list of steps, not %s", f.key, f.value.kind)
		r.lost = true
		return nil
	}
	var out []*Step
	for i, item := range f.value.items {
		s := r.step(item, parent)
		if s == nil {
			r.lost = true
			if id := item.get("id"); id != nil {
				parent.lost = append(parent.lost, id.text)
			}
			continue
		}
		s.Index = i
		parent.hasLoad = parent.hasLoad || s.hasLoad
		out = append(out, s)
	}
	return out
}

// idsOnce refuses an id that two steps of one group have.
func (r *reading) idsOnce(group *Step) {
	taken := map[string]Position{}
	for s := range group.all() {
		if s.ID == "" {
			continue
		}
		pos := s.keys["id"].pos
		if before, twice := taken[s.ID]; twice {
			r.add(pos, "the id %q is taken by the step at line %d", s.ID, before.Line)
		}
		taken[s.ID] = pos
	}
}

// step reads one step. The kind is the key: exactly one.
func (r *reading) step(n *node, parent *Step) *Step {
	if n.kind != mapNode {
		r.add(n.pos, "a step is a mapping with one of: %s; not %s", strings.Join(r.kinds(), " "), n.kind)
		return nil
	}
	r.steps++
	s := &Step{Pos: n.pos, Parent: parent, keys: map[string]*node{}, Order: Declared, salt: r.steps << 32}
	s.frame = node{kind: mapNode, pos: n.pos}
	kind := r.kind(n)
	if kind != nil {
		s.Kind, s.Pos, s.frame.pos = kind.key, kind.pos, kind.pos
		if k, ok := r.voc.Kinds[kind.key]; ok {
			s.kind, s.spec, s.hasLoad = &k, kind.value, k.Load
		}
	}
	if unknown := r.stepKeys(n, s, kind); kind == nil {
		if !unknown {
			r.add(n.pos, "this step has no kind: it needs exactly one of %s", strings.Join(r.kinds(), " "))
		}
		return nil
	}
	if s.Group() {
		s.Steps = r.list(kind, s)
		r.idsOnce(s)
	}
	r.idOfOne(s)
	return s
}

// kind finds the key that makes a step what it is.
func (r *reading) kind(n *node) *field {
	var kind *field
	for _, f := range n.fields {
		if !slices.Contains(r.kinds(), f.key) {
			continue
		}
		if kind != nil {
			r.add(f.pos, "a step has one kind; this one has %s (line %d) and %s: make two steps of it", kind.key, kind.pos.Line, f.key)
			continue
		}
		kind = f
	}
	return kind
}

// stepKeys reads what stands beside the kind; it tells whether a key was there that nobody knows.
func (r *reading) stepKeys(n *node, s *Step, kind *field) (unknown bool) {
	for _, f := range n.fields {
		switch {
		case slices.Contains(r.kinds(), f.key):
		case slices.Contains(besides, f.key):
			r.beside(s, f)
		case !slices.Contains(groupKeys, f.key):
			unknown = true
			r.add(f.pos, "a step has no %q%s", f.key, r.strayHint(f.key, kind))
		case kind != nil && kind.key == groupKind:
			r.groupKey(s, f)
		case kind == nil:
			unknown = true
			r.add(f.pos, "%q belongs to a group, and this step has no steps: list", f.key)
		default:
			r.add(f.pos, "%q belongs to a group: put it beside a steps: list", f.key)
		}
	}
	return unknown
}

// strayHint says what to do with a key that stands beside a step's kind: as a rule it stood too far to the left.
func (r *reading) strayHint(key string, kind *field) string {
	if kind != nil {
		if k, ok := r.voc.Kinds[kind.key]; ok && k.Spec != nil && optionOf(Describe(k.Spec()), key) != nil {
			return "; " + kind.key + " has: indent it below " + kind.key
		}
	}
	return unknownHint(key, slices.Concat(r.kinds(), besides))
}

// idOfOne refuses an id where there is no one result that it could name.
func (r *reading) idOfOne(s *Step) {
	if s.ID == "" {
		return
	}
	pos := s.keys["id"].pos
	switch {
	case s.Group():
		r.add(pos, "a group yields nothing, so an id names nothing; give the id to a step that it holds")
	case s.matrix != nil || s.keys["repeat"] != nil:
		r.add(pos, "a step with a matrix or repeat has many results, so an id cannot name one; put both steps into a group that has the matrix")
	}
}

func (r *reading) beside(s *Step, f *field) {
	switch f.key {
	case "labels":
		if f.value.kind != mapNode {
			r.add(f.value.pos, "labels takes a mapping from names to values, not %s", f.value.kind)
			s.badLabels = true
			return
		}
		for _, l := range f.value.fields {
			labelName(r.reporter, l)
		}
		s.labels = f.value.fields
	case "if":
		s.cond = r.bare(f.value, "if")
	case "assert":
		items := []*node{f.value}
		if f.value.kind == listNode {
			items = f.value.items
		}
		for _, item := range items {
			if e := r.bare(item, "assert"); e != nil {
				s.assert = append(s.assert, e)
			}
		}
	case "matrix":
		s.matrix = readMatrix(r.reporter, f.value)
	case "order":
		var order struct {
			Order string `key:"order" short:"true" default:"declared" enum:"declared|interleaved|shuffled"`
		}
		(&decoder{report: r.add}).into(f.value, nil, &order, "order")
		s.Order = Order(order.Order)
	case "id":
		if f.value.kind != scalarNode || f.value.template != nil || !isWord(f.value.text) {
			r.add(f.value.pos, "an id is one word of letters, digits and _")
			s.Parent.lost = append(s.Parent.lost, f.value.text)
			return
		}
		s.ID = f.value.text
		s.keys["id"] = f.value
	case "timeout", "retry", "continue_on_error":
		if f.key == "retry" && s.Load() {
			r.add(f.pos, "retry on a %s would choose among its figures, and its inserts would meet those of the try before; use repeat for several samples", s.Kind)
			return
		}
		s.frame.fields = append(s.frame.fields, f)
	default:
		s.keys[f.key] = f.value
	}
}

func isWord(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// bare reads an expression that stands without ${{ }}; with them it is taken too.
func (r *reading) bare(n *node, what string) *expression {
	if t := n.template; t != nil && (t.broken || t.sole() != nil) {
		return t.sole() // nil where its mistake is told already
	}
	if n.kind != scalarNode || n.template != nil {
		r.add(n.pos, "%s takes an expression, not %s", what, n.kind)
		return nil
	}
	source := n.text
	if b, err := parseBool(n.value, n.text); err == nil {
		source = scalarText(b) // on, off
	}
	where := newLocator(r.text, n.pos, n.style, n.text)
	return r.compile(source, &where, 0)
}

func (r *reading) groupKey(s *Step, f *field) {
	switch f.key {
	case "vars":
		if f.value.kind != mapNode && f.value.kind != nullNode {
			r.add(f.value.pos, "vars takes a mapping from names to values, not %s", f.value.kind)
			s.badVars = true
			return
		}
		s.vars = f.value.fields
	case "finally":
		s.Finally = r.list(f, s)
	default:
		if f.value.kind != mapNode {
			r.add(f.value.pos, "%s takes a mapping, not %s", f.key, f.value.kind)
			return
		}
		s.laid[slices.Index(layers[:], f.key)] = f.value
	}
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

// HasTarget tells whether the group has a target of its own, laid over the outer one.
func (s *Step) HasTarget() bool { return s.laid[targetLayer] != nil }

// Asserts gives the step's assertions as they are written.
func (s *Step) Asserts() []string {
	out := make([]string, len(s.assert))
	for i, e := range s.assert {
		out[i] = e.source
	}
	return out
}
