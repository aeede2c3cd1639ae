package plan

import (
	"reflect"
)

// moreOptions is the options struct of the variant that a key chooses: the workload of a run, the schema of tables.
type moreOptions struct {
	spec    reflect.Value
	options []Option
	index   []int
	label   string
	open    bool            // the variant is not known (yet): any key may be its option
	passed  map[string]bool // where open: the options of all variants; nil: any key may be one
}

func (d *decoder) more(n *node, s *Scope, v reflect.Value) (m moreOptions) {
	described := descriptionOf(v.Type())
	key := described.variant
	if key == "" {
		return m
	}
	m.index = described.more
	chooser := n.get(key)
	if d.voc == nil {
		m.open = true
		return m
	}
	if chooser == nil || chooser.kind == nullNode {
		m.any(d.voc.variants(key)) // that it is missing is reported by the caller
		return m
	}
	if chooser.scope != nil {
		s = chooser.scope
	}
	tree, _ := d.tree(chooser, s)
	if isUnknown(tree) {
		m.any(d.voc.variants(key))
		return m
	}
	m.label = scalarText(tree)
	variants := d.voc.variants(key)
	variant, ok := variants[m.label]
	if !ok {
		if chooser.kind == scalarNode {
			d.report(chooser.pos, "there is no %s %q%s", key, m.label, unknownHint(m.label, sortedKeys(variants)))
		}
		m.any(variants)
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

// any says that the variant is not known (yet): the options of all of them are passed over, and what none has is a mistake.
func (m *moreOptions) any(variants map[string]Variant) {
	m.open, m.passed = true, map[string]bool{}
	for _, variant := range variants {
		if variant.Options != nil {
			for _, o := range Describe(variant.Options()) {
				m.passed[o.Key] = true
			}
		}
	}
}
