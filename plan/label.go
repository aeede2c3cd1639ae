package plan

import (
	"strings"
	"unicode"
)

// Label is one column of the comparison: an axis and its value, or what a step's labels say.
type Label struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// labelName refuses names of axes and labels that cannot head a column.
func labelName(r *reporter, f *field) bool {
	if strings.TrimSpace(f.key) == "" || strings.ContainsFunc(f.key, func(c rune) bool { return unicode.IsControl(c) || c == '=' }) {
		r.add(f.pos, "%q cannot name an axis or a label: it heads a column", f.key)
		return false
	}
	return true
}

// axisValue is one value of an axis, worked out.
type axisValue struct {
	label string
	value any
	pos   Position
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

func labelOf(labels []Label, name string) string {
	for i := len(labels) - 1; i >= 0; i-- {
		if labels[i].Name == name {
			return labels[i].Value
		}
	}
	return ""
}
