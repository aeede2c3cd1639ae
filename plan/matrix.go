package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Cell is one combination of a matrix's axes, run for the Repeat-th time. A step without a matrix has one cell without labels.
type Cell struct {
	Labels  []Label
	Repeat  int // from 1
	Repeats int

	values []any // of the axes, in the order of Labels
}

// maxCells bounds what one step expands to, repeats included, and what a check walks in all.
const maxCells = 200_000

// maxLabels bounds the labels of one cell, and maxCells times 10 those that the cells of one matrix have together.
const maxLabels = 100

// maxExcluding bounds the entries of exclude that all cells of a matrix are held against.
const maxExcluding = 100 * maxCells

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
		d.report(m.pos, "the matrix has %s cells, more than %d", productText(axes), maxCells)
		return nil, false
	}
	if len(m.axes) > maxLabels || product*len(m.axes) > 10*maxCells {
		d.report(m.pos, "the matrix has %d cells with %d axes each, which is too much", product, len(m.axes))
		return nil, false
	}
	if product*len(m.excludes) > maxExcluding {
		d.report(m.pos, "the matrix has %d cells and %d entries of exclude: all cells against all entries is more than can be gone through; take values off the axes instead", product, len(m.excludes))
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

// productText writes a product that may be beyond any integer, with its factors: 1440000 = 1200 × 1200.
func productText(axes [][]axisValue) string {
	product := big.NewInt(1)
	var factors []string
	for _, values := range axes {
		product.Mul(product, big.NewInt(int64(len(values))))
		factors = append(factors, strconv.Itoa(len(values)))
	}
	if len(factors) == 1 {
		return factors[0]
	}
	digits := product.String()
	if len(digits) > 20 {
		digits = fmt.Sprintf("%.3g", new(big.Float).SetInt(product))
	}
	if len(factors) > 10 {
		return digits
	}
	return digits + " = " + strings.Join(factors, " × ")
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
