package plan

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// decoder fills options structs from nodes. It works out expressions on the way; what only the run tells leaves a field at
// its default and is remembered in unknown.
type decoder struct {
	report  func(p Position, format string, args ...any)
	check   *reporter // set while a plan is checked: references are looked up before they are worked out
	local   map[string]any
	voc     *Vocabulary
	unknown bool
	partial bool        // a required key may be missing: an inner group gives it
	exclude excludeFits // set while a plan is checked
	budget  *meter      // likewise: the values of all expressions together
}

// into decodes n into a pointer to a struct. what names it in messages: "run", "tables".
func (d *decoder) into(n *node, s *Scope, spec any, what string) {
	v := reflect.ValueOf(spec).Elem()
	setDefaults(v)
	if n.kind == nullNode {
		n = &node{pos: n.pos, kind: mapNode, scope: n.scope} // "prepare:" is prepare with nothing said
	}
	d.value(n, s, v, Option{Type: what, Fields: describe(v.Type())}, what)
}

// value decodes one node into one Go value.
func (d *decoder) value(n *node, s *Scope, v reflect.Value, o Option, what string) {
	if n.scope != nil {
		s = n.scope
	}
	if n.template != nil {
		value, ok := d.eval(n, s)
		if !ok {
			return
		}
		n = nodeOf(value, n)
	}
	if u, is := n.value.(unknownValue); is {
		d.undecided(u, n, v, o, what)
		return
	}
	if n.kind == nullNode && v.Type() != anyType {
		return // as if it were not written
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
			if isOptions(v.Type().Elem()) {
				setDefaults(v.Elem())
			}
		}
		d.value(n, s, v.Elem(), o, what)
		return
	}
	switch {
	case v.Type() == anyType:
		tree, _ := d.tree(n, s)
		if _, unknowns := inspect(tree); unknowns {
			d.unknown = true
		}
		if tree != nil {
			v.Set(reflect.ValueOf(plain(tree)))
		}
	case isOptions(v.Type()):
		d.structure(n, s, v, o, what)
	case v.Kind() == reflect.Map:
		d.mapping(n, s, v, o, what)
	case v.Kind() == reflect.Slice:
		d.list(n, s, v, o, what)
	default:
		d.scalar(n, v, o, what)
	}
}

var (
	anyType  = reflect.TypeFor[any]()
	textType = reflect.TypeFor[Text]()
)

// isOptions tells an options struct from the structs that are single values.
func isOptions(t reflect.Type) bool { return t.Kind() == reflect.Struct && scalarTypes[t] == "" }

// undecided leaves a field alone whose value only the run tells. Whether a secret may stand there does not wait for the run.
func (d *decoder) undecided(u unknownValue, n *node, v reflect.Value, o Option, what string) {
	d.unknown = true
	if i := slices.IndexFunc(o.Fields, func(f Option) bool { return f.Short }); i >= 0 && isOptions(v.Type()) {
		d.undecided(u, n, v.FieldByIndex(o.Fields[i].index), o.Fields[i], what)
		return
	}
	switch {
	case !u.secret:
	case v.Type() == textType && o.NoSecret != "":
		d.report(n.pos, "%s: %s", what, o.NoSecret)
	case v.Type() == textType:
		v.Set(reflect.ValueOf(SecretText("")))
	case !admitsSecret(v.Type(), o):
		d.report(n.pos, "%s", noSecret(what))
	}
}

// admitsSecret tells whether a single value that is a secret can be decoded into a type.
func admitsSecret(t reflect.Type, o Option) bool {
	switch {
	case t == anyType || t == textType:
		return true
	case t.Kind() == reflect.Pointer:
		return admitsSecret(t.Elem(), o)
	case t.Kind() == reflect.Slice && (o.Single || o.Short):
		return admitsSecret(t.Elem(), Option{})
	case isOptions(t):
		return slices.ContainsFunc(o.Fields, func(f Option) bool { return f.Short && admitsSecret(f.typ, f) })
	}
	return false
}

func noSecret(what string) string {
	return what + " cannot hold a secret: its value is printed and stored"
}

// eval works out a scalar's template; false where that failed and is told.
func (d *decoder) eval(n *node, s *Scope) (any, bool) {
	if s == nil {
		d.report(n.pos, "no expression can stand here")
		return unknown, false
	}
	if n.template.broken {
		d.unknown = true
		return unknown, false
	}
	if d.check != nil {
		all := true
		for _, p := range n.template.parts {
			if p.expr != nil && !s.checkReferences(d.check, p.expr, keysOf(d.local)) {
				all = false
			}
		}
		if !all {
			d.unknown = true
			return unknown, false
		}
	}
	value, err := n.template.eval(s, d.local)
	if err != nil {
		d.report(placeOf(err, n.pos), "%v", err)
		d.unknown = true
		return unknown, false
	}
	if d.budget != nil {
		if (&meter{left: maxNodes}).charge(value) != nil || d.budget.charge(value) != nil {
			d.report(n.pos, "what the expressions give is too large")
			d.unknown = true
			return unknown, false
		}
	}
	return value, true
}

// spend takes what is worked out anew in each cell off the budget of a check.
func (d *decoder) spend(n *node) {
	if d.budget == nil || !n.dynamic || d.budget.left <= 0 {
		return
	}
	if d.budget.left -= n.size; d.budget.left <= 0 {
		d.report(n.pos, "this is worked out anew in so many cells that all of it is too large: take out of the matrix what is the same in all cells")
	}
}

// nodeOf makes a node of a value, at the place of the node that it came from.
func nodeOf(value any, from *node) *node {
	n := &node{pos: from.pos, kind: scalarNode, value: value}
	switch v := value.(type) {
	case nil:
		n.kind = nullNode
	case Text:
		n.text = v.Reveal()
	case []any:
		n.kind, n.items = listNode, make([]*node, len(v))
		for i, item := range v {
			n.items[i] = nodeOf(item, from)
		}
	case map[string]any:
		n.kind = mapNode
		for _, k := range sortedKeys(v) {
			n.fields = append(n.fields, &field{key: k, pos: from.pos, value: nodeOf(v[k], from)})
		}
	default:
		n.text = scalarText(v)
	}
	return n
}

// tree works a node out to a tree of values. What failed is unknown in it, and tree is false then.
func (d *decoder) tree(n *node, s *Scope) (any, bool) {
	if n.scope != nil {
		s = n.scope
	}
	switch n.kind {
	case nullNode:
		return nil, true
	case scalarNode:
		if n.template != nil {
			return d.eval(n, s)
		}
		return n.value, true
	case listNode:
		out, all := make([]any, len(n.items)), true
		for i, item := range n.items {
			v, ok := d.tree(item, s)
			out[i], all = v, all && ok
		}
		return out, all
	}
	out, all := make(map[string]any, len(n.fields)), true
	for _, f := range n.fields {
		v, ok := d.tree(f.value, s)
		out[f.key], all = v, all && ok
	}
	return out, all
}

func (d *decoder) structure(n *node, s *Scope, v reflect.Value, o Option, what string) {
	options := o.Fields
	if n.kind != mapNode {
		d.short(n, s, v, options, what)
		return
	}
	more := d.more(n, s, v)
	rest := optionOf(options, "*")
	for _, f := range n.fields {
		if own := optionOf(options, f.key); own != nil && own != rest {
			d.value(f.value, s, v.FieldByIndex(own.index), *own, f.key)
		} else if its := optionOf(more.options, f.key); its != nil {
			d.value(f.value, s, more.spec.FieldByIndex(its.index), *its, f.key)
		} else if rest != nil {
			d.entry(f, s, v.FieldByIndex(rest.index), *rest.Element)
		} else if !more.open || more.passed != nil && !more.passed[f.key] {
			known := slices.Concat(keysOfOptions(options), keysOfOptions(more.options))
			d.report(f.pos, "%s has no %q%s", strings.TrimSpace(what+" "+more.label), f.key, unknownHint(f.key, known))
		}
	}
	d.required(n, options, what, "")
	d.required(n, more.options, what, more.label)
	if more.spec.IsValid() {
		v.FieldByIndex(more.index).Set(more.spec.Addr())
	}
}

// required reports the options that have to be said and are not.
func (d *decoder) required(n *node, options []Option, what, variant string) {
	for i := range options {
		f := &options[i]
		if !f.Required || d.partial {
			continue
		}
		if given := n.get(f.Key); given == nil || given.kind == nullNode {
			d.report(n.pos, "%s needs %q: %s", strings.TrimSpace(what+" "+variant), f.Key, f.Doc)
		}
	}
}

// short decodes a value that is no mapping into the one field that takes it.
func (d *decoder) short(n *node, s *Scope, v reflect.Value, options []Option, what string) {
	i := slices.IndexFunc(options, func(o Option) bool { return o.Short })
	if i < 0 {
		d.report(n.pos, "%s takes a mapping, not %s%s", what, n.kind, keysHint(options))
		return
	}
	d.value(n, s, v.FieldByIndex(options[i].index), options[i], what)
}

func keysHint(options []Option) string {
	keys := keysOfOptions(options)
	if len(keys) == 0 {
		return ""
	}
	return " (its keys: " + strings.Join(keys, " ") + ")"
}

// unknownHint helps with a word that is not among those that are known.
func unknownHint(key string, known []string) string {
	if s := didYouMean(key, known); s != "" {
		return s
	}
	if len(known) == 0 {
		return "; there are none here"
	}
	return " (known: " + strings.Join(known, " ") + ")"
}

// entry decodes one entry of a mapping with free keys.
func (d *decoder) entry(f *field, s *Scope, m reflect.Value, o Option) {
	if m.IsNil() {
		m.Set(reflect.MakeMap(m.Type()))
	}
	element := reflect.New(m.Type().Elem()).Elem()
	if isOptions(element.Type()) {
		setDefaults(element)
	}
	d.value(f.value, s, element, o, f.key)
	key := reflect.New(m.Type().Key()).Elem()
	switch {
	case key.Kind() == reflect.String:
		key.SetString(f.key)
	case key.CanUint():
		i, err := strconv.ParseUint(f.key, 10, key.Type().Bits())
		if err != nil {
			d.report(f.pos, "%q is not a whole number, at least 0", f.key)
			return
		}
		key.SetUint(i)
	default:
		d.report(f.pos, "%q cannot be a key here", f.key)
		return
	}
	m.SetMapIndex(key, element)
}

func (d *decoder) mapping(n *node, s *Scope, v reflect.Value, o Option, what string) {
	if n.kind != mapNode {
		d.report(n.pos, "%s takes a mapping, not %s", what, n.kind)
		return
	}
	for _, f := range n.fields {
		d.entry(f, s, v, *o.Element)
	}
}

func (d *decoder) list(n *node, s *Scope, v reflect.Value, o Option, what string) {
	if n.kind == scalarNode && o.Short || n.kind != listNode && o.Single {
		n = &node{pos: n.pos, kind: listNode, items: []*node{n}}
	}
	if n.kind != listNode {
		d.report(n.pos, "%s takes a list, not %s", what, n.kind)
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		e := out.Index(i)
		if isOptions(e.Type()) {
			setDefaults(e)
		}
		d.value(item, s, e, *o.Element, what)
	}
	v.Set(out)
}

// positionOf gives the place of an option by its dotted path below a spec, or of the nearest thing around it.
func positionOf(path string, spec *node, otherwise Position) Position {
	at := otherwise
	for key := range strings.SplitSeq(path, ".") {
		if f := spec.field(key); f != nil {
			at, spec = f.pos, f.value
			continue
		}
		i, err := strconv.Atoi(key)
		if err != nil || spec == nil || i < 0 || i >= len(spec.items) {
			break
		}
		spec = spec.items[i]
		at = spec.pos
	}
	return at
}
