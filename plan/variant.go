package plan

import (
	"fmt"
	"reflect"
)

// moreOptions is the options struct of the variant that a key chooses: the workload of a run, the schema of tables.
type moreOptions struct {
	spec    reflect.Value
	options []Option
	index   []int
	label   string
	open    bool // the variant is not known (yet): any key may be its option
}

func (d *decoder) more(n *node, s *Scope, v reflect.Value) (m moreOptions) {
	described := descriptionOf(v.Type())
	key := described.variant
	if key == "" {
		return m
	}
	m.index = described.more
	chooser := n.get(key)
	if chooser == nil || chooser.kind == nullNode || d.voc == nil {
		m.open = true // that it is missing is reported by the caller
		return m
	}
	if chooser.scope != nil {
		s = chooser.scope
	}
	tree, _ := d.tree(chooser, s)
	if isUnknown(tree) {
		m.open = true
		return m
	}
	m.label = fmt.Sprint(tree)
	variants := d.voc.variants(key)
	variant, ok := variants[m.label]
	if !ok {
		if chooser.kind == scalarNode {
			d.report(chooser.pos, "there is no %s %q%s", key, m.label, unknownHint(m.label, sortedKeys(variants)))
		}
		m.open = true
		return m
	}
	if variant.Options == nil {
		return m
	}
	if spec := reflect.ValueOf(variant.Options()); spec.Kind() == reflect.Pointer && !spec.IsNil() {
		m.spec = spec.Elem()
		setDefaults(m.spec)
		m.options = describe(m.spec.Type())
	}
	return m
}
