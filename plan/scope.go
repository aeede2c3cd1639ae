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
	known   map[string]any // the names for expr-lang, worked out once
}

// Path gives the names of the steps around the cell and of its own, the outermost first; steps without a name are left out.
func (s *Scope) Path() []string { return s.path }

// Labels gives the labels of the cell, those of outer steps first.
func (s *Scope) Labels() []Label { return s.labels }

// Repeat counts the runs of the same cell from 1; nested repeats multiply.
func (s *Scope) Repeat() int { return s.repeat }

// Step gives the step that the scope is a cell of.
func (s *Scope) Step() *Step { return s.step }

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
		v, ok := s.plan.secret(name)
		if !ok {
			return unknown, true
		}
		return follow(v, path[2:]), true
	case "env":
		v, ok := s.plan.lookup(name)
		return v, ok
	case "labels":
		for i := len(s.labels) - 1; i >= 0; i-- {
			if s.labels[i].Name == name {
				return s.labels[i].Value, true
			}
		}
		return nil, false
	}
	for at := s; at != nil; at = at.parent {
		if v, ok := at.own(root)[name]; ok {
			return follow(v, path[2:]), true
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
			return unknown
		default:
			return nil
		}
	}
	return v
}

// env gives the names for expr-lang, secrets open.
func (s *Scope) env() map[string]any {
	if s.known != nil {
		return s.known
	}
	secrets := map[string]any{}
	for _, ref := range s.plan.Secrets {
		if v, ok := s.plan.secret(ref.Name); ok {
			secrets[ref.Name] = Reveal(v)
		}
	}
	environment := map[string]any{}
	for _, name := range s.plan.environment {
		if v, ok := s.plan.lookup(name); ok {
			environment[name] = v
		}
	}
	s.known = map[string]any{"env": environment, "secrets": secrets}
	for _, root := range []string{"vars", "matrix", "labels", "steps"} {
		s.known[root] = Reveal(s.all(root))
	}
	return s.known
}

// names lists what stands under a name, for suggestions.
func (s *Scope) names(root string) []string { return sortedKeys(s.all(root)) }

// yields gives the names that a step with this id yields.
func (s *Scope) yields(id string) ([]string, bool) {
	for at := s; at != nil; at = at.parent {
		if _, ok := at.results[id]; ok {
			if i := slices.IndexFunc(at.step.Steps, func(x *Step) bool { return x.ID == id }); i >= 0 && at.step.Steps[i].kind != nil {
				return at.step.Steps[i].kind.Yields, true
			}
		}
	}
	return nil, false
}

// laterStep tells whether a step of this id stands in a group around, but has not run.
func (s *Scope) laterStep(id string) bool {
	for at := s; at != nil; at = at.parent {
		if slices.ContainsFunc(at.step.Steps, func(x *Step) bool { return x.ID == id }) {
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
	s.known = nil
}

// Cells works out the cells of a step in the order in which they run, repeats included.
func (s *Scope) Cells(step *Step) ([]Cell, error) {
	r := newReporter(s.plan.Source)
	cells, repeats, ok := s.cells(step, &decoder{report: r.add})
	if !ok {
		return nil, r.err()
	}
	return inOrder(cells, repeats, step.Order, s.plan.Seed, step.salt), nil
}

// cells gives the combinations of a step's matrix, each once, and how often each is to run.
func (s *Scope) cells(step *Step, d *decoder) (cells []Cell, repeats int, ok bool) {
	repeats, ok = 1, true
	if n := step.keys["repeat"]; n != nil {
		var repeat struct {
			Times Count `key:"repeat" short:"true" default:"1" min:"1" max:"1000000"`
		}
		outer := d.unknown
		d.unknown = false
		d.into(n, s, &repeat, "repeat")
		if d.takeUnknown() {
			d.report(n.pos, "repeat has to be known before the run")
		}
		d.unknown = outer
		repeats = int(repeat.Times)
	}
	if step.matrix == nil {
		return []Cell{{}}, max(repeats, 1), ok
	}
	cells = step.matrix.expand(s, d)
	return cells, max(repeats, 1), cells != nil
}

// takeUnknown tells whether something unknown was met, and forgets it.
func (d *decoder) takeUnknown() bool {
	was := d.unknown
	d.unknown = false
	return was
}

// Enter makes the scope of one cell of a step that this scope's group holds. What goes wrong has its place in the plan.
func (s *Scope) Enter(step *Step, c Cell) (*Scope, error) {
	r := newReporter(s.plan.Source)
	inner := s.enter(step, c, &decoder{report: r.add})
	return inner, r.err()
}

func (s *Scope) enter(step *Step, c Cell, d *decoder) *Scope {
	in := &Scope{plan: s.plan, parent: s, step: step, cell: c, laid: s.laid}
	in.repeat = (s.repeat-1)*max(c.Repeats, 1) + max(c.Repeat, 1)
	in.labels = slices.Concat(s.labels, c.Labels)
	if len(c.values) > 0 {
		in.axes = make(map[string]any, len(c.values))
		for i, l := range c.Labels {
			in.axes[l.Name] = c.values[i]
		}
	}
	for _, f := range step.labels {
		v, ok := valueWithLabel(f.value, in, d, "labels")
		if !ok {
			continue
		}
		if in.label(f.key) != "" {
			d.report(f.pos, "the label %q is there already: an axis or a step around gives it", f.key)
			continue
		}
		in.labels = append(in.labels, Label{f.key, v.label})
		in.known = nil
	}
	in.path = s.path
	if n := step.keys["name"]; n != nil {
		if name := in.name(n, d); name != "" {
			in.path = append(slices.Clip(s.path), name)
		}
	}
	if step.Group() {
		in.open(step, d)
	}
	return in
}

func (s *Scope) name(n *node, d *decoder) string {
	var name struct {
		Name string `key:"name" short:"true"`
	}
	d.into(n, s, &name, "name")
	if d.takeUnknown() {
		d.report(n.pos, "a name is part of a cell's identity, so it has to be known before the run")
	}
	return name.Name
}

// open works out what a group has of its own: its variables, and its layers over the outer ones.
func (s *Scope) open(step *Step, d *decoder) {
	s.results = map[string]any{}
	s.vars = map[string]any{}
	for _, f := range step.vars {
		tree, ok := d.tree(f.value, s)
		if !ok && d.takeUnknown() {
			tree = partlyUnknown(f.value, tree)
		}
		s.vars[f.key] = tree
		s.known = nil
	}
	for i, n := range step.laid {
		if n != nil {
			s.laid[i] = lay(s.laid[i], n, s, layers[i])
		}
	}
}

// partlyUnknown puts unknown in the place of what could not be worked out yet.
func partlyUnknown(n *node, tree any) any {
	switch t := tree.(type) {
	case nil:
		return unknown
	case map[string]any:
		return withUnknown(n, t)
	case []any:
		for i := range t {
			if t[i] == nil && i < len(n.items) && n.items[i].dynamic {
				t[i] = unknown
			}
		}
	}
	return tree
}

// ways are the keys of a target of which an inner one takes the place of all the outer ones.
var ways = []string{"address", "socket", "local"}

// lay puts the fields of an inner mapping over those of an outer one. Each keeps the scope that it was written in.
func lay(outer, inner *node, s *Scope, what string) *node {
	out := &node{pos: inner.pos, kind: mapNode}
	if outer != nil {
		for _, f := range outer.fields {
			displaced := what == "target" && slices.Contains(ways, f.key) && slices.ContainsFunc(inner.fields, func(i *field) bool { return slices.Contains(ways, i.key) })
			if inner.get(f.key) == nil && !displaced {
				out.fields = append(out.fields, f)
			}
		}
	}
	for _, f := range inner.fields {
		value := *f.value
		value.scope = s
		out.fields = append(out.fields, &field{f.key, f.pos, &value})
	}
	return out
}

// Frame is what stands beside the kind of a step and is not part of the plan's structure.
type Frame struct {
	Timeout         Duration `key:"timeout" default:"0" doc:"how long the step may take, tries included; 0 is no limit"`
	Retry           *Retry   `key:"retry" doc:"try again until the step and its assert hold"`
	ContinueOnError bool     `key:"continue_on_error" default:"off" doc:"go on when the step fails; the run still counts as failed"`
}

// Frame works out the step's timeout, retry and continue_on_error.
func (s *Scope) Frame() (Frame, error) {
	r := newReporter(s.plan.Source)
	f := s.frame(&decoder{report: r.add})
	return f, r.err()
}

func (s *Scope) frame(d *decoder) Frame {
	n := &node{pos: s.step.Pos, kind: mapNode}
	for _, key := range []string{"timeout", "retry", "continue_on_error"} {
		if v := s.step.keys[key]; v != nil {
			n.fields = append(n.fields, &field{key, v.pos, v})
		}
	}
	var f Frame
	d.into(n, s, &f, "step")
	return f
}

// If tells whether the cell is to run.
func (s *Scope) If() (bool, error) {
	if s.step.cond == nil {
		return true, nil
	}
	ok, err := s.truth(s.step.cond, nil)
	if err != nil {
		return false, fmt.Errorf("%s: if: %w", s.plan.Source.At(s.step.cond.pos), err)
	}
	return ok, nil
}

// Assert holds the step's assert against what it yielded; the error says which does not hold, and with what values.
func (s *Scope) Assert(yielded map[string]any) error {
	for _, e := range s.step.assert {
		ok, err := s.truth(e, yielded)
		if err != nil {
			return fmt.Errorf("%s: assert: %w", s.plan.Source.At(e.pos), err)
		}
		if !ok {
			return fmt.Errorf("%s: assert does not hold: %s%s", s.plan.Source.At(e.pos), e.source, s.readings(e, yielded))
		}
	}
	return nil
}

// readings tells the values of the names that an expression reads: ` (json.x = 3, matrix.y = 4)`.
func (s *Scope) readings(e *expression, yielded map[string]any) string {
	var parts []string
	for _, ref := range e.refs {
		v, ok := s.lookup(ref.path, yielded)
		if !ok || ref.computed {
			continue
		}
		text, err := textOf(v)
		shown := text.String()
		switch {
		case v == nil:
			shown = "nil"
		case err != nil:
			continue
		default:
			if _, isString := v.(string); isString {
				shown = strconv.Quote(shown)
			}
		}
		if len(shown) > 200 {
			shown = shown[:200] + "…"
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

// Truth works out a bare expression that a step's spec holds; local names stand beside the scope's.
func (s *Scope) truth(e *expression, local map[string]any) (bool, error) {
	v, err := e.eval(s, local)
	if err != nil {
		return false, err
	}
	if v == any(unknown) {
		return false, errUnknown
	}
	switch v := v.(type) {
	case bool:
		return v, nil
	case Text: // a comparison with a secret
		if v.value == "true" || v.value == "false" {
			return v.value == "true", nil
		}
	case nil:
		return false, fmt.Errorf("%s is nil (nothing), neither true nor false", e.source)
	}
	return false, fmt.Errorf("%s is %s, neither true nor false", e.source, typeName(v))
}

// Spec works out what stands behind the step's kind: a pointer to the struct of its Kind.
func (s *Scope) Spec() (any, error) {
	r := newReporter(s.plan.Source)
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

// Target gives the target that holds here. Without one in the plan it is a private local server.
func (s *Scope) Target() (*Target, error) {
	t := &Target{}
	return t, s.layer(targetLayer, t)
}

// Tables gives the tables that hold here; nil where there are none.
func (s *Scope) Tables() (*Tables, error) {
	if s.laid[tablesLayer] == nil {
		return nil, nil
	}
	t := &Tables{}
	return t, s.layer(tablesLayer, t)
}

// Files gives the files that hold here; nil where there are none.
func (s *Scope) Files() (*Files, error) {
	if s.laid[filesLayer] == nil {
		return nil, nil
	}
	f := &Files{}
	return f, s.layer(filesLayer, f)
}

func (s *Scope) layer(i int, into any) error {
	r := newReporter(s.plan.Source)
	s.decodeLayer(i, into, &decoder{report: r.add, voc: s.plan.voc})
	return r.err()
}

func (s *Scope) decodeLayer(i int, into any, d *decoder) {
	n := s.laid[i]
	if n == nil {
		n = &node{pos: Position{1, 1}, kind: mapNode}
	}
	d.into(n, s, into, layers[i])
	if t, ok := into.(*Target); ok && n.kind == mapNode {
		var set []string
		for _, way := range ways {
			if n.get(way) != nil {
				set = append(set, way)
			}
		}
		if len(set) > 1 {
			d.report(n.get(set[1]).pos, "a target has one of address, socket and local; this one has %s", strings.Join(set, " and "))
		}
		if strings.HasPrefix(t.Address, "http") {
			d.report(n.get("address").pos, "an address is host:port, without %q", strings.SplitAfter(t.Address, "//")[0])
		}
	}
}

// At writes the place of the scope's step in the plan: file:line:col.
func (s *Scope) At() string { return s.plan.Source.At(s.step.Pos) }
