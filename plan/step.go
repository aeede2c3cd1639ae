package plan

import (
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

	kind    *Kind
	spec    *node
	keys    map[string]*node // the keys beside the kind that are worked out in each cell: name, repeat, timeout, …
	labels  []*field
	cond    *expression
	assert  []*expression
	matrix  *matrix
	vars    []*field
	laid    [len(layers)]*node
	salt    uint64 // tells it from other steps
	hasLoad bool   // it, or a step that it holds, is a cell of the comparison
}

// layers are the parts of a scope that a group lays over the outer one field by field.
var layers = [...]string{"target", "tables", "files"}

const (
	targetLayer = iota
	tablesLayer
	filesLayer
)

// Group tells whether the step holds others.
func (s *Step) Group() bool { return s.Kind == groupKind }

// Load tells whether the step is one cell of the comparison.
func (s *Step) Load() bool { return s.kind != nil && s.kind.Load }

// HoldsLoad tells whether the step, or one that it holds, is a cell of the comparison.
func (s *Step) HoldsLoad() bool { return s.hasLoad }

const groupKind = "steps"

// besides are the keys that any step may have, beside its kind.
var besides = []string{"name", "id", "labels", "if", "matrix", "repeat", "order", "timeout", "retry", "assert", "continue_on_error"}

// groupKeys are those that only a group may have.
var groupKeys = []string{"vars", "target", "tables", "files", "finally"}

// Retry says how often a step is tried until it and its assert hold.
type Retry struct {
	Attempts int      `key:"attempts" default:"3" min:"1" max:"1000000" short:"true" doc:"tries at the most"`
	Interval Duration `key:"interval" default:"1s" doc:"pause between two tries"`
}

// reading turns nodes into steps.
type reading struct {
	*reporter
	voc   *Vocabulary
	steps uint64
}

func (r *reading) kinds() []string { return append(sortedKeys(r.voc.Kinds), groupKind) }

func (r *reading) list(f *field, parent *Step) []*Step {
	if f.value.kind == nullNode {
		return nil
	}
	if f.value.kind != listNode {
		r.add(f.value.pos, "%s takes a list of steps, not %s", f.key, f.value.kind)
		return nil
	}
	var out []*Step
	ids := map[string]Position{}
	for i, item := range f.value.items {
		s := r.step(item, parent)
		if s == nil {
			continue
		}
		s.Index = i
		if before, twice := ids[s.ID]; twice && s.ID != "" {
			r.add(s.Pos, "the id %q is taken by the step at line %d", s.ID, before.Line)
		}
		ids[s.ID] = s.Pos
		parent.hasLoad = parent.hasLoad || s.hasLoad
		out = append(out, s)
	}
	return out
}

// step reads one step. The kind is the key: exactly one.
func (r *reading) step(n *node, parent *Step) *Step {
	if n.kind != mapNode {
		r.add(n.pos, "a step is a mapping with one of: %s; not %s", strings.Join(r.kinds(), " "), n.kind)
		return nil
	}
	s := &Step{Pos: n.pos, Parent: parent, keys: map[string]*node{}, Order: Declared}
	r.steps++
	s.salt = r.steps << 32
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
	if kind != nil {
		s.Kind = kind.key
		s.Pos = kind.pos
		if k, ok := r.voc.Kinds[kind.key]; ok {
			s.kind, s.spec, s.hasLoad = &k, kind.value, k.Load
		}
	}
	unknownKeys := 0
	for _, f := range n.fields {
		switch {
		case f == kind || slices.Contains(r.kinds(), f.key):
		case slices.Contains(besides, f.key):
			r.beside(s, f)
		case slices.Contains(groupKeys, f.key):
			if kind != nil && kind.key == groupKind {
				r.groupKey(s, f)
			} else {
				r.add(f.pos, "%q belongs to a group: put it beside a steps: list", f.key)
			}
		default:
			unknownKeys++
			r.add(f.pos, "a step has no %q%s", f.key, unknownHint(f.key, slices.Concat(r.kinds(), besides)))
		}
	}
	if kind == nil {
		if unknownKeys == 0 {
			r.add(n.pos, "this step has no kind: it needs exactly one of %s", strings.Join(r.kinds(), " "))
		}
		return nil
	}
	if s.Group() {
		s.Steps = r.list(kind, s)
		if len(s.Steps) == 0 && kind.value.kind != listNode {
			r.add(kind.pos, "steps holds no step")
		}
	}
	r.idOnce(s)
	return s
}

// idOnce refuses an id where there is no one result that it could name.
func (r *reading) idOnce(s *Step) {
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
			return
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
		d := decoder{report: r.add}
		var order struct {
			Order string `key:"order" short:"true" default:"declared" enum:"declared|interleaved|shuffled"`
		}
		d.into(f.value, nil, &order, "order")
		s.Order = Order(order.Order)
	case "id":
		if f.value.kind != scalarNode || f.value.template != nil || !isWord(f.value.text) {
			r.add(f.value.pos, "an id is one word of letters, digits and _")
			return
		}
		s.ID = f.value.text
		s.keys["id"] = f.value
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
	if n.template != nil {
		if e := n.template.sole(); e != nil {
			return e
		}
	}
	if n.kind != scalarNode || n.template != nil {
		r.add(n.pos, "%s takes an expression, not %s", what, n.kind)
		return nil
	}
	pos := r.find(n.pos, n.text, strings.Count(n.text, "\n")+2)
	return compile(r.reporter, strings.TrimSpace(n.text), pos)
}

func (r *reading) groupKey(s *Step, f *field) {
	switch f.key {
	case "vars":
		if f.value.kind != mapNode && f.value.kind != nullNode {
			r.add(f.value.pos, "vars takes a mapping from names to values, not %s", f.value.kind)
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
