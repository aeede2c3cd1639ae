package plan

import (
	"fmt"
	"math"
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
	at      map[string]Position // of every key, by dotted path
}

// into decodes n into a pointer to a struct. what names it in messages: "run", "tables".
func (d *decoder) into(n *node, s *Scope, spec any, what string) {
	v := reflect.ValueOf(spec).Elem()
	setDefaults(v)
	if n.kind == nullNode {
		n = &node{pos: n.pos, kind: mapNode, scope: n.scope} // "prepare:" is prepare with nothing said
	}
	d.value(n, s, v, Option{Type: what, Fields: describe(v.Type())}, "", what)
}

// setDefaults gives every field the default of its tag.
func setDefaults(v reflect.Value) {
	for _, o := range describe(v.Type()) {
		f := v.FieldByIndex(o.index)
		if o.Default != "" {
			n := &node{kind: scalarNode, text: o.Default, value: o.Default}
			d := decoder{report: func(_ Position, format string, args ...any) {
				panic("plan: default of " + o.Key + ": " + fmt.Sprintf(format, args...)) // a mistake in our own tags, met by the first test
			}}
			d.value(n, nil, f, o, "", "")
		} else if f.Kind() == reflect.Struct && scalarTypes[f.Type()] == "" {
			setDefaults(f)
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// value decodes one node into one Go value.
func (d *decoder) value(n *node, s *Scope, v reflect.Value, o Option, path, what string) {
	if n.scope != nil {
		s = n.scope
	}
	if d.at != nil && path != "" {
		if _, there := d.at[path]; !there {
			d.at[path] = n.pos
		}
	}
	if n.template != nil {
		value, ok := d.eval(n, s)
		if !ok {
			return
		}
		n = nodeOf(value, n)
	}
	if n.kind == nullNode && v.Type() != anyType {
		return // as if it were not written
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
			if e := v.Elem(); e.Kind() == reflect.Struct && scalarTypes[e.Type()] == "" {
				setDefaults(e)
			}
		}
		d.value(n, s, v.Elem(), o, path, what)
		return
	}
	switch {
	case v.Type() == anyType:
		if tree, ok := d.tree(n, s); ok && tree != nil {
			v.Set(reflect.ValueOf(tree))
		}
	case scalarTypes[v.Type()] != "":
		d.scalar(n, v, o, what)
	case v.Kind() == reflect.Struct:
		d.structure(n, s, v, o, path, what)
	case v.Kind() == reflect.Map:
		d.mapping(n, s, v, path, what)
	case v.Kind() == reflect.Slice:
		d.list(n, s, v, o, path, what)
	default:
		d.scalar(n, v, o, what)
	}
}

var anyType = reflect.TypeFor[any]()

// eval works out a scalar's template; false where that failed or is not known yet.
func (d *decoder) eval(n *node, s *Scope) (any, bool) {
	if s == nil {
		d.report(n.pos, "no expression can stand here")
		return nil, false
	}
	if d.check != nil {
		all := true
		for _, p := range n.template.parts {
			if p.expr != nil && !s.checkReferences(d.check, p.expr, keysOf(d.local)) {
				all = false
			}
		}
		if !all {
			return nil, false
		}
	}
	value, err := n.template.eval(s, d.local)
	if err != nil {
		d.report(n.pos, "%v", err)
		return nil, false
	}
	if value == any(unknown) {
		d.unknown = true
		return nil, false
	}
	return value, true
}

// nodeOf makes a node of a value, at the place of the node that it came from.
func nodeOf(value any, from *node) *node {
	n := &node{pos: from.pos, kind: scalarNode, value: value}
	switch v := value.(type) {
	case nil:
		n.kind = nullNode
	case Text:
		n.text = v.value
	case []any:
		n.kind = listNode
		for _, item := range v {
			n.items = append(n.items, nodeOf(item, from))
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

// tree works a node out to a tree of values: nil, bool, int64, float64, string, Text, []any, map[string]any. false where a
// part of it failed or is not known yet.
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
		out, all := make([]any, 0, len(n.items)), true
		for _, item := range n.items {
			v, ok := d.tree(item, s)
			out, all = append(out, v), all && ok
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

func (d *decoder) structure(n *node, s *Scope, v reflect.Value, o Option, path, what string) {
	options := o.Fields
	if n.kind != mapNode {
		for _, f := range options {
			if f.Short {
				field := v.FieldByIndex(f.index)
				if n.kind == scalarNode && field.Kind() == reflect.Slice {
					n = &node{pos: n.pos, kind: listNode, items: []*node{n}, scope: n.scope}
				}
				d.value(n, s, field, f, join(path, f.Key), what)
				return
			}
		}
		d.report(n.pos, "%s takes a mapping, not %s%s", what, n.kind, keysHint(options))
		return
	}
	more := d.more(n, s, v)
	known := make([]string, 0, len(options))
	var rest *Option
	for i, f := range options {
		if f.Key == "*" {
			rest = &options[i]
		} else {
			known = append(known, f.Key)
		}
	}
	seen := map[string]bool{}
	for _, f := range n.fields {
		seen[f.key] = true
		at := join(path, f.key)
		if d.at != nil {
			d.at[at] = f.pos
		}
		if i := slices.IndexFunc(options, func(o Option) bool { return o.Key == f.key }); i >= 0 {
			d.value(f.value, s, v.FieldByIndex(options[i].index), options[i], at, f.key)
		} else if i := slices.IndexFunc(more.options, func(o Option) bool { return o.Key == f.key }); i >= 0 {
			d.value(f.value, s, more.spec.FieldByIndex(more.options[i].index), more.options[i], at, f.key)
		} else if rest != nil {
			d.entry(f, s, v.FieldByIndex(rest.index), at)
		} else if !more.open {
			for _, m := range more.options {
				known = append(known, m.Key)
			}
			d.report(f.pos, "%s has no %q%s", strings.TrimSpace(what+" "+more.label), f.key, unknownHint(f.key, known))
		}
	}
	for _, f := range options {
		if f.Required && !seen[f.Key] {
			d.report(n.pos, "%s needs %q: %s", what, f.Key, f.Doc)
		}
	}
	if more.spec.IsValid() {
		v.FieldByIndex(more.index).Set(more.spec.Addr())
	}
}

// moreOptions is the options struct of the variant that a key chooses: the workload of a run, the schema of tables.
type moreOptions struct {
	spec    reflect.Value
	options []Option
	index   []int
	label   string
	chosen  bool
	open    bool // the variant is not known (yet): any key may be its option
}

func (d *decoder) more(n *node, s *Scope, v reflect.Value) (m moreOptions) {
	t := v.Type()
	for i := range t.NumField() {
		key := t.Field(i).Tag.Get("more")
		if key == "" {
			continue
		}
		m.index, m.chosen = []int{i}, true
		chooser := n.get(key)
		if chooser == nil {
			m.open = true // "needs workload" is reported by the caller
			return m
		}
		name, ok := d.tree(chooser, s)
		if !ok || d.voc == nil {
			m.open = true
			return m
		}
		variants := d.voc.variants(key)
		variant, ok := variants[fmt.Sprint(name)]
		if !ok {
			names := sortedKeys(variants)
			d.report(chooser.pos, "there is no %s %q (there are: %s)%s", key, fmt.Sprint(name), strings.Join(names, " "), didYouMean(fmt.Sprint(name), names))
			m.open = true
			return m
		}
		m.label = fmt.Sprint(name)
		if variant.Options == nil {
			return m
		}
		spec := reflect.ValueOf(variant.Options())
		if spec.Kind() != reflect.Pointer {
			return m
		}
		m.spec = spec.Elem()
		setDefaults(m.spec)
		m.options = describe(m.spec.Type())
	}
	return m
}

func keysHint(options []Option) string {
	var keys []string
	for _, o := range options {
		if o.Key != "*" {
			keys = append(keys, o.Key)
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return " (its keys: " + strings.Join(keys, " ") + ")"
}

func unknownHint(key string, known []string) string {
	if s := didYouMean(key, known); s != "" {
		return s
	}
	if len(known) == 0 {
		return ": it takes no keys"
	}
	return " (it has: " + strings.Join(known, " ") + ")"
}

// entry decodes one entry of a mapping with free keys.
func (d *decoder) entry(f *field, s *Scope, m reflect.Value, path string) {
	if m.IsNil() {
		m.Set(reflect.MakeMap(m.Type()))
	}
	element := reflect.New(m.Type().Elem()).Elem()
	d.value(f.value, s, element, typeOption(element.Type()), path, f.key)
	key := reflect.New(m.Type().Key()).Elem()
	if key.Kind() == reflect.String {
		key.SetString(f.key)
	} else if i, err := strconv.ParseUint(f.key, 10, key.Type().Bits()); err == nil {
		key.SetUint(i)
	} else {
		d.report(f.pos, "%q is not a whole number", f.key)
		return
	}
	m.SetMapIndex(key, element)
}

func (d *decoder) mapping(n *node, s *Scope, v reflect.Value, path, what string) {
	if n.kind != mapNode {
		d.report(n.pos, "%s takes a mapping, not %s", what, n.kind)
		return
	}
	for _, f := range n.fields {
		if d.at != nil {
			d.at[join(path, f.key)] = f.pos
		}
		d.entry(f, s, v, join(path, f.key))
	}
}

func (d *decoder) list(n *node, s *Scope, v reflect.Value, o Option, path, what string) {
	if n.kind == scalarNode && o.Short {
		n = &node{pos: n.pos, kind: listNode, items: []*node{n}}
	}
	if n.kind != listNode {
		d.report(n.pos, "%s takes a list, not %s", what, n.kind)
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		e := out.Index(i)
		if e.Kind() == reflect.Struct && scalarTypes[e.Type()] == "" {
			setDefaults(e)
		}
		d.value(item, s, e, typeOption(e.Type()), join(path, strconv.Itoa(i)), what)
	}
	v.Set(out)
}

// scalar converts a single value. Conversion comes after evaluation: "64" from an expression is as good as 64.
func (d *decoder) scalar(n *node, v reflect.Value, o Option, what string) {
	if n.kind != scalarNode {
		name := o.Type
		if name == "" {
			name = "value"
		}
		d.report(n.pos, "%s takes a %s, not %s", what, name, n.kind)
		return
	}
	if v.Type() == reflect.TypeFor[Text]() {
		text, ok := n.value.(Text)
		if !ok {
			text = PlainText(n.text)
		}
		v.Set(reflect.ValueOf(text))
		return
	}
	if _, secret := n.value.(Text); secret {
		d.report(n.pos, "%s cannot hold a secret: its value is printed and stored", what)
		return
	}
	if err := convert(n, v, o); err != nil {
		d.report(n.pos, "%s: %v", what, err)
		return
	}
	if err := inRange(v, o); err != nil {
		d.report(n.pos, "%s: %v", what, err)
	}
}

// convert sets v from the node's text.
func convert(n *node, v reflect.Value, o Option) error {
	switch v.Interface().(type) {
	case Duration:
		x, err := ParseDuration(n.text)
		v.SetInt(int64(x))
		return err
	case Count:
		x, err := parseWhole(n, ParseCount)
		v.SetInt(int64(x))
		return err
	case Size:
		x, err := parseWhole(n, ParseSize)
		v.SetInt(int64(x))
		return err
	}
	switch v.Kind() {
	case reflect.String:
		if len(o.Enum) > 0 && !slices.Contains(o.Enum, n.text) {
			return fmt.Errorf("%q is not one of: %s%s", n.text, strings.Join(o.Enum, ", "), didYouMean(n.text, o.Enum))
		}
		v.SetString(n.text)
	case reflect.Bool:
		b, err := parseBool(n)
		v.SetBool(b)
		return err
	case reflect.Int, reflect.Int32, reflect.Int64:
		x, err := parseWhole(n, ParseCount)
		if err != nil {
			if i, e := strconv.ParseInt(n.text, 10, 64); e == nil {
				x, err = Count(i), nil // below 0: the range says whether that is right
			}
		}
		if err != nil {
			return err
		}
		if v.OverflowInt(int64(x)) {
			return fmt.Errorf("%s is too large", n.text)
		}
		v.SetInt(int64(x))
	case reflect.Uint16, reflect.Uint64:
		x, err := parseWhole(n, ParseCount)
		if err != nil || v.OverflowUint(uint64(x)) {
			return fmt.Errorf("%q is not a whole number in range", n.text)
		}
		v.SetUint(uint64(x))
	case reflect.Float64:
		f, err := strconv.ParseFloat(strings.ReplaceAll(n.text, "_", ""), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%q is not a number", n.text)
		}
		v.SetFloat(f)
	default:
		return fmt.Errorf("%q cannot stand here", n.text)
	}
	return nil
}

// parseWhole lets 1e6 count as the whole number that it is.
func parseWhole[T ~int64](n *node, parse func(string) (T, error)) (T, error) {
	x, err := parse(n.text)
	if err != nil {
		if f, ok := n.value.(float64); ok && f == math.Trunc(f) && f >= 0 && f < 1e15 {
			return T(f), nil
		}
		if i, ok := n.value.(int64); ok && i >= 0 {
			return T(i), nil // 0x10, 0o17
		}
	}
	return x, err
}

func parseBool(n *node) (bool, error) {
	if b, ok := n.value.(bool); ok {
		return b, nil
	}
	switch strings.ToLower(n.text) {
	case "true", "on", "yes":
		return true, nil
	case "false", "off", "no":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", n.text)
}

// inRange holds a number against the min and max of its option.
func inRange(v reflect.Value, o Option) error {
	if o.Min == "" && o.Max == "" {
		return nil
	}
	bound := func(text string) float64 {
		limit := reflect.New(v.Type()).Elem()
		if convert(&node{kind: scalarNode, text: text, value: text}, limit, Option{}) != nil {
			return math.NaN()
		}
		return number(limit)
	}
	x := number(v)
	if o.Min != "" && x < bound(o.Min) {
		return fmt.Errorf("at least %s is needed", o.Min)
	}
	if o.Max != "" && x > bound(o.Max) {
		return fmt.Errorf("at most %s is possible", o.Max)
	}
	return nil
}

func number(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return v.Float()
	}
	return math.NaN()
}
