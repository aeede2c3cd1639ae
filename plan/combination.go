package plan

import (
	"slices"
	"strings"
)

// combination is an entry of exclude or include.
type combination struct {
	pos    Position
	fields []*field
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
