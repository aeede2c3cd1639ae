package plan

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
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

// maxCells bounds what one step expands to, repeats included, and what a check walks in all.
const maxCells = 1_000_000

// matrix is the product of axes.
type matrix struct {
	pos      Position
	axes     []*axis
	excludes []*combination
	includes []*combination
	broken   bool // a mistake in it is told already; its axes may not be all
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
}

// axisValue is one value of an axis, worked out.
type axisValue struct {
	label string
	value any
	pos   Position
}

func readMatrix(r *reporter, n *node) *matrix {
	m := &matrix{pos: n.pos}
	if n.kind != mapNode || len(n.fields) == 0 {
		r.add(n.pos, "matrix takes a mapping of axes to lists of values, not %s", emptiness(n))
		m.broken = true
		return m
	}
	for _, f := range n.fields {
		ok := true
		switch f.key {
		case "exclude":
			m.excludes, ok = readCombinations(r, f)
		case "include":
			m.includes, ok = readCombinations(r, f)
		default:
			ok = labelName(r, f)
			if f.value.kind != listNode && (f.value.template == nil || f.value.template.sole() == nil && !f.value.template.broken) {
				r.add(f.value.pos, "the axis %s takes a list of values or one expression that gives a list, not %s", f.key, f.value.kind)
				ok = false
			}
			m.axes = append(m.axes, &axis{f.key, f.pos, f.value})
		}
		m.broken = m.broken || !ok
	}
	if len(m.axes) == 0 && m.includes == nil && !m.broken {
		r.add(n.pos, "the matrix has no axes")
		m.broken = true
	}
	return m
}

func emptiness(n *node) string {
	if n.kind == mapNode {
		return "an empty one"
	}
	return n.kind.String()
}

// labelName refuses names of axes and labels that cannot head a column.
func labelName(r *reporter, f *field) bool {
	if strings.TrimSpace(f.key) == "" || strings.ContainsFunc(f.key, func(c rune) bool { return unicode.IsControl(c) || c == '=' }) {
		r.add(f.pos, "%q cannot name an axis or a label: it heads a column", f.key)
		return false
	}
	return true
}

func readCombinations(r *reporter, f *field) (out []*combination, ok bool) {
	if f.value.kind != listNode {
		r.add(f.value.pos, "%s takes a list of mappings from axes to values, not %s", f.key, f.value.kind)
		return nil, false
	}
	ok = true
	for _, item := range f.value.items {
		if item.kind != mapNode || len(item.fields) == 0 {
			r.add(item.pos, "%s takes mappings from axes to values, not %s", f.key, emptiness(item))
			ok = false
			continue
		}
		out = append(out, &combination{pos: item.pos, fields: item.fields})
	}
	return out, ok
}

// expand works out the combinations of a matrix in a scope, in the order written; the first axis turns slowest.
func (m *matrix) expand(s *Scope, d *decoder) ([]Cell, bool) {
	axes := make([][]axisValue, len(m.axes))
	known, product := !m.broken, 1
	for i, a := range m.axes {
		if d.check != nil && s.label(a.name) != "" {
			d.report(a.pos, "the axis %q is there already: an axis or a label of a step around has this name", a.name)
			known = false
		}
		if a.values.kind == listNode || a.values.template != nil {
			var ok bool
			axes[i], ok = a.expand(s, d)
			known = known && ok
		}
		product = min(product*len(axes[i]), maxCells+1)
	}
	if product > maxCells {
		d.report(m.pos, "the matrix has more than %d cells", maxCells)
		return nil, false
	}
	excludes, fine := m.excluded(axes, s, d)
	known = known && fine
	for _, e := range m.excludes {
		fit := d.exclude.of(e)
		fit.tried, fit.spoiled = true, fit.spoiled || !known
	}
	var cells []Cell
	if known && len(axes) > 0 {
		cells = exclude(multiply(m.axes, axes, product), excludes, s, d)
	}
	cells, fine = m.include(cells, axes, s, d, known)
	return cells, known && fine
}

// multiply makes the product of the axes.
func multiply(names []*axis, axes [][]axisValue, product int) []Cell {
	cells := make([]Cell, product)
	labels := make([]Label, product*len(axes))
	values := make([]any, product*len(axes))
	for i := range cells {
		from, to := i*len(axes), (i+1)*len(axes)
		cells[i] = Cell{Labels: labels[from:to:to], values: values[from:to:to]}
		rest := i
		for a := len(axes) - 1; a >= 0; a-- {
			v := axes[a][rest%len(axes[a])]
			rest /= len(axes[a])
			cells[i].Labels[a], cells[i].values[a] = Label{names[a].name, v.label}, v.value
		}
	}
	return cells
}

// placeholder is a cell whose axes are there and whose values nobody knows.
func (m *matrix) placeholder() Cell {
	var c Cell
	add := func(name string) {
		c.Labels, c.values = append(c.Labels, Label{name, "?"}), append(c.values, unknown)
	}
	for _, a := range m.axes {
		add(a.name)
	}
	if len(m.axes) == 0 && len(m.includes) > 0 {
		for _, f := range m.includes[0].fields {
			add(f.key)
		}
	}
	return c
}

func (a *axis) expand(s *Scope, d *decoder) ([]axisValue, bool) {
	list := a.values
	if list.template != nil {
		value, ok := d.eval(list, s)
		if !ok {
			return nil, false
		}
		if isUnknown(value) {
			d.report(list.pos, "the values of the axis %s have to be known before the run: no step's result and no secret can give them", a.name)
			return nil, false
		}
		if _, isList := value.([]any); !isList {
			d.report(list.pos, "the expression gives %s; the axis %s takes a list", typeName(value), a.name)
			return nil, false
		}
		list = nodeOf(value, list)
	}
	if len(list.items) == 0 {
		d.report(a.pos, "the axis %s has no values", a.name)
		return nil, false
	}
	out := make([]axisValue, 0, len(list.items))
	ok := true
	seen := make(map[string]bool, len(list.items))
	for _, item := range list.items {
		v, fine := labelled(item, s, d, "a value of the axis "+a.name)
		if fine && seen[v.label] {
			d.report(v.pos, "the axis %s has the value %q twice", a.name, v.label)
			fine = false
		}
		ok = ok && fine
		seen[v.label] = true
		out = append(out, v)
	}
	return out, ok
}

// labelled works out a value of an axis: a single value, or a mapping with an id, its label.
func labelled(n *node, s *Scope, d *decoder, what string) (axisValue, bool) {
	if n.template != nil {
		value, ok := d.eval(n, s)
		if !ok {
			return axisValue{pos: n.pos}, false
		}
		n = nodeOf(value, n)
	}
	if n.kind != mapNode {
		return wordOf(n, s, d, what)
	}
	id := n.get("id")
	if id == nil {
		d.report(n.pos, "%s that is a mapping needs an id: its label", what)
		return axisValue{pos: n.pos}, false
	}
	v, ok := wordOf(id, s, d, "the id of "+what)
	v.value, _ = d.tree(n, s)
	v.pos = n.pos
	return v, ok
}

// wordOf works out a single value that is printed and stored, and tells cells apart: a label, or a name.
func wordOf(n *node, s *Scope, d *decoder, what string) (axisValue, bool) {
	out := axisValue{pos: n.pos}
	value, ok := d.tree(n, s)
	if !ok {
		return out, false
	}
	out.value, out.label = value, n.text
	if n.template != nil {
		out.label = scalarText(value)
	}
	secret, _ := inspect(value)
	switch value.(type) {
	case nil:
		d.report(n.pos, "%s is missing", what)
	case []any, map[string]any:
		d.report(n.pos, "%s takes a single value, not %s", what, typeName(value))
	default:
		switch {
		case secret:
			d.report(n.pos, "%s cannot hold a secret: it is printed and stored", what)
		case isUnknown(value):
			d.report(n.pos, "%s has to be known before the run: no step's result can give it", what)
		case strings.TrimSpace(out.label) == "":
			d.report(n.pos, "%s is empty", what)
		case strings.ContainsFunc(out.label, unicode.IsControl):
			d.report(n.pos, "%s is more than one line", what)
		default:
			return out, true
		}
	}
	return out, false
}

// excludeFits counts, while a plan is checked, what the entries of exclude took out.
type excludeFits map[*combination]*excludeFit

type excludeFit struct {
	tried   bool
	met     bool
	spoiled bool   // in one of the cells around, the matrix has a mistake
	unknown string // the first value that no axis has, with a hint
}

// exclusion is an entry of exclude, worked out.
type exclusion struct {
	entry  *combination
	wanted []Label
}

// excluded works out the entries of exclude; each names axes of the matrix or of the steps around.
func (m *matrix) excluded(axes [][]axisValue, s *Scope, d *decoder) ([]exclusion, bool) {
	var out []exclusion
	all := true
	for _, e := range m.excludes {
		x := exclusion{entry: e}
		fit := d.exclude.of(e)
		for _, f := range e.fields {
			i := m.index(f.key)
			if i < 0 && s.label(f.key) == "" {
				if !m.broken {
					d.report(f.pos, "exclude: no axis %q is here or around%s", f.key, didYouMean(f.key, m.names(s)))
				}
				all = false
				continue
			}
			v, fine := labelled(f.value, s, d, "exclude: the value of "+f.key)
			all = all && fine
			x.wanted = append(x.wanted, Label{f.key, v.label})
			if i >= 0 && fit.unknown == "" && !slices.ContainsFunc(axes[i], func(a axisValue) bool { return a.label == v.label }) {
				fit.unknown = ": the axis " + f.key + " has no value " + v.label + didYouMean(v.label, labelsOf(axes[i]))
			}
		}
		out = append(out, x)
	}
	return out, all
}

func (f excludeFits) of(e *combination) *excludeFit {
	if f == nil {
		return &excludeFit{}
	}
	if f[e] == nil {
		f[e] = &excludeFit{}
	}
	return f[e]
}

func labelsOf(values []axisValue) []string {
	var out []string
	for _, v := range values {
		out = append(out, v.label)
	}
	return out
}

// exclude takes out the cells that fit an entry: all that the entry names are equal, outer axes included.
func exclude(cells []Cell, excludes []exclusion, s *Scope, d *decoder) []Cell {
	for _, x := range excludes {
		fit := d.exclude.of(x.entry)
		cells = slices.DeleteFunc(cells, func(c Cell) bool {
			for _, l := range x.wanted {
				if has := labelOf(c.Labels, l.Name); has != l.Value && (has != "" || s.label(l.Name) != l.Value) {
					return false
				}
			}
			fit.met = true
			return true
		})
	}
	return cells
}

// include adds cells; an entry names every axis of the matrix. A matrix of include alone has the axes that its first entry names.
func (m *matrix) include(cells []Cell, axes [][]axisValue, s *Scope, d *decoder, known bool) ([]Cell, bool) {
	if len(m.includes) == 0 {
		return cells, true
	}
	var names []string
	for _, a := range m.axes {
		names = append(names, a.name)
	}
	if len(names) == 0 {
		for _, f := range m.includes[0].fields {
			names = append(names, f.key)
		}
	}
	there := make(map[string]bool, len(cells))
	for _, c := range cells {
		there[cellKey(c)] = true
	}
	all := true
	for _, e := range m.includes {
		c, ok := m.included(e, names, axes, s, d)
		if ok && known && there[cellKey(c)] {
			d.report(e.pos, "include: this cell is there already")
			ok = false
		}
		there[cellKey(c)] = true
		all = all && ok
		cells = append(cells, c)
	}
	return cells, all
}

// included works out one entry of include.
func (m *matrix) included(e *combination, names []string, axes [][]axisValue, s *Scope, d *decoder) (Cell, bool) {
	var c Cell
	ok := true
	entry := &node{kind: mapNode, fields: e.fields}
	for i, name := range names {
		n := entry.get(name)
		if n == nil {
			d.report(e.pos, "include: the axis %s is missing; an entry names every axis", name)
			ok = false
			continue
		}
		v, fine := labelled(n, s, d, "include: the value of "+name)
		ok = ok && fine
		if n.kind == scalarNode && i < len(axes) {
			for _, known := range axes[i] {
				if known.label == v.label {
					v.value = known.value // the id of a value that is written out on the axis
				}
			}
		}
		c.Labels, c.values = append(c.Labels, Label{name, v.label}), append(c.values, v.value)
	}
	for _, f := range e.fields {
		if !slices.Contains(names, f.key) && !m.broken {
			d.report(f.pos, "include: there is no axis %q%s", f.key, didYouMean(f.key, names))
			ok = false
		}
	}
	return c, ok
}

func cellKey(c Cell) string {
	var b strings.Builder
	for _, l := range c.Labels {
		b.WriteString(l.Value)
		b.WriteByte(0)
	}
	return b.String()
}

func (m *matrix) index(name string) int {
	return slices.IndexFunc(m.axes, func(a *axis) bool { return a.name == name })
}

func (m *matrix) names(s *Scope) []string {
	var out []string
	for _, a := range m.axes {
		out = append(out, a.name)
	}
	for _, l := range s.labels {
		out = append(out, l.Name)
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

// shuffle gives the source of a step's permutations in this cell: the same for the same seed, another for every step, cell and repeat.
func (s *Scope) shuffle(step *Step) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(s.identity()))
	return rand.New(rand.NewPCG(uint64(s.plan.Seed), h.Sum64()^step.salt^uint64(s.repeat)))
}

// inOrder multiplies cells by repeats in the order asked for.
func inOrder(cells []Cell, repeats int, order Order, random *rand.Rand) []Cell {
	out := make([]Cell, 0, len(cells)*repeats)
	add := func(c Cell, repeat int) {
		c.Repeat, c.Repeats = repeat, repeats
		out = append(out, c)
	}
	if order == Declared {
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
			random.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		}
		for _, c := range round {
			add(c, r+1)
		}
	}
	return out
}
