package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Order says in which order the cells of a step run.
type Order string

// The orders. A round is one run of every cell.
const (
	Declared    Order = "declared"    // a cell's repeats together, cells as written
	Interleaved Order = "interleaved" // round by round, so that drift hits every cell alike
	Shuffled    Order = "shuffled"    // round by round, each permuted from the plan's seed
)

// Label is one column of the comparison: an axis and its value, or what a step's labels say.
type Label struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Cell is one combination of a matrix's axes, run for the Repeat-th time. A step without a matrix has one cell without labels.
type Cell struct {
	Labels  []Label
	Repeat  int // from 1
	Repeats int

	values []any // of the axes, in the order of Labels
}

// matrix is the product of axes.
type matrix struct {
	pos      Position
	axes     []*axis
	excludes []*combination
	includes []*combination
}

type axis struct {
	name   string
	pos    Position
	values *node // a list, or a scalar that is one expression
}

// combination is an entry of exclude or include.
type combination struct {
	pos    Position
	fields []*field
	met    bool // an exclude that took out a cell
}

// axisValue is one value of an axis, worked out.
type axisValue struct {
	label string
	value any
	pos   Position
}

func readMatrix(r *reporter, n *node) *matrix {
	if n.kind != mapNode || len(n.fields) == 0 {
		r.add(n.pos, "matrix takes a mapping of axes to lists of values, not %s", n.kind)
		return nil
	}
	m := &matrix{pos: n.pos}
	for _, f := range n.fields {
		switch f.key {
		case "exclude":
			m.excludes = readCombinations(r, f)
		case "include":
			m.includes = readCombinations(r, f)
		default:
			sole := f.value.template != nil && f.value.template.sole() != nil
			if f.value.kind != listNode && !sole {
				r.add(f.value.pos, "the axis %s takes a list of values or one expression that gives a list", f.key)
				continue
			}
			m.axes = append(m.axes, &axis{f.key, f.pos, f.value})
		}
	}
	return m
}

func readCombinations(r *reporter, f *field) []*combination {
	if f.value.kind != listNode {
		r.add(f.value.pos, "%s takes a list of mappings from axes to values, not %s", f.key, f.value.kind)
		return nil
	}
	var out []*combination
	for _, item := range f.value.items {
		if item.kind != mapNode || len(item.fields) == 0 {
			r.add(item.pos, "%s takes mappings from axes to values, not %s", f.key, item.kind)
			continue
		}
		out = append(out, &combination{pos: item.pos, fields: item.fields})
	}
	return out
}

// expand works out the combinations of a matrix in a scope, in the order written; the first axis turns slowest.
func (m *matrix) expand(s *Scope, d *decoder) []Cell {
	axes := make([][]axisValue, len(m.axes))
	known := true
	for i, a := range m.axes {
		var ok bool
		axes[i], ok = a.expand(s, d)
		known = known && ok
	}
	if !known {
		return nil
	}
	cells := []Cell{}
	if len(m.axes) > 0 {
		cells = append(cells, Cell{})
	}
	for i, a := range m.axes {
		next := make([]Cell, 0, len(cells)*len(axes[i]))
		for _, c := range cells {
			for _, v := range axes[i] {
				next = append(next, Cell{
					Labels: append(slices.Clip(c.Labels), Label{a.name, v.label}),
					values: append(slices.Clip(c.values), v.value),
				})
			}
		}
		cells = next
		if len(cells) > maxCells {
			d.report(m.pos, "the matrix has more than %d cells", maxCells)
			return nil
		}
	}
	cells = m.exclude(cells, s, d)
	return m.include(cells, axes, s, d)
}

// placeholder is a cell whose axes are there and whose values nobody knows.
func (m *matrix) placeholder() Cell {
	var c Cell
	if m == nil {
		return c
	}
	for _, a := range m.axes {
		c.Labels, c.values = append(c.Labels, Label{a.name, "?"}), append(c.values, unknown)
	}
	return c
}

// maxCells bounds what one matrix expands to.
const maxCells = 1_000_000

func (a *axis) expand(s *Scope, d *decoder) ([]axisValue, bool) {
	list, from := a.values, s
	if list.scope != nil {
		from = list.scope
	}
	if list.template != nil {
		value, ok := d.eval(list, from)
		if !ok {
			if d.takeUnknown() {
				d.report(list.pos, "the values of the axis %s have to be known before the run: no step's result and no secret can give them", a.name)
			}
			return nil, false
		}
		if _, isList := value.([]any); !isList {
			d.report(list.pos, "the expression gives %s; the axis %s takes a list", typeName(value), a.name)
			return nil, false
		}
		list = nodeOf(value, list)
	}
	var out []axisValue
	ok := true
	seen := map[string]bool{}
	for _, item := range list.items {
		v, fine := a.value(item, from, d)
		if !fine {
			ok = false
			continue
		}
		if seen[v.label] {
			d.report(v.pos, "the axis %s has the value %q twice", a.name, v.label)
			ok = false
			continue
		}
		seen[v.label] = true
		out = append(out, v)
	}
	if len(list.items) == 0 {
		d.report(a.pos, "the axis %s has no values", a.name)
		return nil, false
	}
	return out, ok
}

// value works out one value of an axis: a scalar, or a mapping with an id.
func (a *axis) value(n *node, s *Scope, d *decoder) (axisValue, bool) {
	return valueWithLabel(n, s, d, "the axis "+a.name)
}

func valueWithLabel(n *node, s *Scope, d *decoder, what string) (axisValue, bool) {
	if n.scope != nil {
		s = n.scope
	}
	out := axisValue{pos: n.pos}
	label := n
	if n.kind == mapNode {
		if label = n.get("id"); label == nil {
			d.report(n.pos, "a value of %s that is a mapping needs an id: its label", what)
			return out, false
		}
	}
	if label.kind != scalarNode {
		d.report(label.pos, "a value of %s is a single value, or a mapping with an id; not %s", what, label.kind)
		return out, false
	}
	out.label = label.text
	if label.template != nil {
		value, ok := d.eval(label, s)
		if !ok {
			if d.takeUnknown() {
				d.report(label.pos, "the labels of %s have to be known before the run", what)
			}
			return out, false
		}
		if m, isMap := value.(map[string]any); isMap && n == label {
			return valueWithLabel(nodeOf(m, n), s, d, what)
		}
		text, err := textOf(value)
		if err != nil {
			d.report(label.pos, "%v", err)
			return out, false
		}
		label = &node{pos: label.pos, kind: scalarNode, text: text.value, value: value}
		out.label = text.value
	}
	if t, isText := label.value.(Text); isText && t.secret {
		d.report(label.pos, "a label cannot hold a secret: it is printed and stored")
		return out, false
	}
	if strings.TrimSpace(out.label) == "" {
		d.report(label.pos, "a label of %s is empty", what)
		return out, false
	}
	if n.kind == mapNode {
		out.value, _ = d.tree(n, s)
		if out.value != nil && d.takeUnknown() {
			out.value = withUnknown(n, out.value)
		}
		return out, true
	}
	out.value = label.value
	return out, true
}

// withUnknown puts unknown where a mapping's values could not be worked out yet: a secret's place, as a rule.
func withUnknown(n *node, tree any) any {
	m, ok := tree.(map[string]any)
	if !ok {
		return tree
	}
	for _, f := range n.fields {
		if m[f.key] == nil && f.value.dynamic {
			m[f.key] = unknown
		}
	}
	return m
}

// exclude takes out the cells that fit an entry of exclude: all that the entry names are equal, outer axes included.
func (m *matrix) exclude(cells []Cell, s *Scope, d *decoder) []Cell {
	for _, e := range m.excludes {
		wanted := map[string]string{}
		ok := true
		for _, f := range e.fields {
			if !m.has(f.key) && s.label(f.key) == "" {
				d.report(f.pos, "exclude: no axis %q is here or around%s", f.key, didYouMean(f.key, m.names(s)))
				ok = false
				continue
			}
			v, fine := valueWithLabel(f.value, s, d, "exclude")
			wanted[f.key], ok = v.label, ok && fine
		}
		if !ok {
			e.met = true // the mistake is told already
			continue
		}
		cells = slices.DeleteFunc(cells, func(c Cell) bool {
			for name, value := range wanted {
				if has := labelOf(c.Labels, name); has != value && (has != "" || s.label(name) != value) {
					return false
				}
			}
			e.met = true
			return true
		})
	}
	return cells
}

// include adds cells; an entry names every axis of the matrix.
func (m *matrix) include(cells []Cell, axes [][]axisValue, s *Scope, d *decoder) []Cell {
	for _, e := range m.includes {
		var c Cell
		ok := true
		for i, a := range m.axes {
			n := (&node{kind: mapNode, fields: e.fields}).get(a.name)
			if n == nil {
				d.report(e.pos, "include: the axis %s is missing; an entry names every axis", a.name)
				ok = false
				continue
			}
			v, fine := valueWithLabel(n, s, d, "the axis "+a.name)
			ok = ok && fine
			for _, known := range axes[i] {
				if known.label == v.label && n.kind == scalarNode {
					v.value = known.value // the id of a value that is written out on the axis
				}
			}
			c.Labels, c.values = append(c.Labels, Label{a.name, v.label}), append(c.values, v.value)
		}
		for _, f := range e.fields {
			if !m.has(f.key) && len(m.axes) > 0 {
				d.report(f.pos, "include: there is no axis %q%s", f.key, didYouMean(f.key, m.names(nil)))
				ok = false
			}
		}
		if len(m.axes) == 0 { // a matrix of include alone: its entries say the axes
			for _, f := range e.fields {
				v, fine := valueWithLabel(f.value, s, d, "the axis "+f.key)
				c.Labels, c.values, ok = append(c.Labels, Label{f.key, v.label}), append(c.values, v.value), ok && fine
			}
		}
		if !ok {
			continue
		}
		if slices.ContainsFunc(cells, func(o Cell) bool { return slices.Equal(o.Labels, c.Labels) }) {
			d.report(e.pos, "include: this cell is there already")
			continue
		}
		cells = append(cells, c)
	}
	return cells
}

func (m *matrix) has(name string) bool {
	return slices.ContainsFunc(m.axes, func(a *axis) bool { return a.name == name })
}

func (m *matrix) names(s *Scope) []string {
	var out []string
	for _, a := range m.axes {
		out = append(out, a.name)
	}
	if s != nil {
		for _, l := range s.labels {
			out = append(out, l.Name)
		}
	}
	return out
}

func labelOf(labels []Label, name string) string {
	for i := len(labels) - 1; i >= 0; i-- {
		if labels[i].Name == name {
			return labels[i].Value
		}
	}
	return ""
}

// inOrder multiplies cells by repeats in the order asked for. salt tells the shuffles of different steps apart.
func inOrder(cells []Cell, repeats int, order Order, seed int64, salt uint64) []Cell {
	out := make([]Cell, 0, len(cells)*repeats)
	add := func(c Cell, repeat int) {
		c.Repeat, c.Repeats = repeat, repeats
		out = append(out, c)
	}
	if order == Declared || order == "" {
		for _, c := range cells {
			for r := range repeats {
				add(c, r+1)
			}
		}
		return out
	}
	for r := range repeats {
		round := cells
		if order == Shuffled {
			round = slices.Clone(cells)
			random := rand.New(rand.NewPCG(uint64(seed), salt+uint64(r)))
			random.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		}
		for _, c := range round {
			add(c, r+1)
		}
	}
	return out
}

func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil (nothing)"
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	case Text:
		return "a text"
	case string:
		return fmt.Sprintf("the text %q", v)
	}
	return fmt.Sprintf("the value %v", v)
}
