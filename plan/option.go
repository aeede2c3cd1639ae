package plan

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
)

// Option describes one key of an options struct. Such a struct says each option once, in the tags of its field:
//
//	RowsPerInsert int `key:"rows_per_insert" default:"1" min:"1" unit:"rows" doc:"rows in one INSERT"`
//
// The tags are key (the name in a plan; "-" for a field that a plan does not fill, "*" for a map that takes the keys which no other
// field has), default, min and max (for numbers, counts, sizes and durations), enum (words divided by |), unit, doc (a sentence without its full
// stop), required ("true"), short ("true": the field that a value which is not a mapping fills), single ("true": a list of one may be written as its
// element), nosecret (why a secret cannot stand in a Text), onlysecret ("true": a Text that is a secret or empty) and more ("workload" or "schema": a field of type any that takes the options struct of the variant which the key of that name chooses).
type Option struct {
	Key      string
	Type     string // as a plan's author would call it: count, size, duration, text, true or false, …
	Default  string
	Min, Max string
	Enum     []string
	Unit     string
	Doc      string
	Required bool
	Short    bool
	Single   bool
	NoSecret string // why a secret cannot stand here; empty: it can
	// OnlySecret tells that nothing else can: a password.
	OnlySecret bool
	Fields     []Option // of a mapping
	Element    *Option  // of a list, or of a mapping with free keys

	index    []int
	typ      reflect.Type
	initial  reflect.Value // the default, converted; invalid where there is none
	from, to float64       // Min and Max; infinite where there is none
}

// Describe lists the options of a struct (or of a pointer to one) in the order of its fields; those of embedded structs as its own.
// For anything else it lists nothing.
func Describe(spec any) []Option {
	if spec == nil {
		return nil
	}
	return describe(reflect.TypeOf(spec))
}

// described remembers what the tags of a type say: a function of the type alone, asked for every value that is decoded.
var described sync.Map // reflect.Type → *description

// description is what the tags of an options struct say.
type description struct {
	options []Option
	variant string        // the key that chooses the variant whose options are keys too; empty: none does
	more    []int         // the field that takes those
	initial reflect.Value // one with the defaults of its tags; never changed
}

func describe(t reflect.Type) []Option { return descriptionOf(t).options }

func descriptionOf(t reflect.Type) *description {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known, ok := described.Load(t); ok {
		return known.(*description)
	}
	d := &description{}
	if isOptions(t) {
		d.options = describeFields(t)
		d.initial = initialOf(t, d.options)
		for _, f := range reflect.VisibleFields(t) {
			if key := f.Tag.Get("more"); key != "" {
				d.variant, d.more = key, f.Index
			}
		}
	}
	described.Store(t, d)
	return d
}

func describeFields(t reflect.Type) []Option {
	var options []Option
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			for _, o := range describe(f.Type) {
				o.index = append([]int{i}, o.index...)
				options = append(options, o)
			}
			continue
		}
		key := f.Tag.Get("key")
		if key == "" || key == "-" {
			continue
		}
		o := typeOption(f.Type)
		o.Key, o.Default, o.Min, o.Max = key, f.Tag.Get("default"), f.Tag.Get("min"), f.Tag.Get("max")
		o.Unit, o.Doc = f.Tag.Get("unit"), f.Tag.Get("doc")
		o.Required, o.Short = f.Tag.Get("required") == "true", f.Tag.Get("short") == "true"
		o.Single = f.Tag.Get("single") == "true"
		o.NoSecret = f.Tag.Get("nosecret")
		o.OnlySecret = f.Tag.Get("onlysecret") == "true"
		if enum := f.Tag.Get("enum"); enum != "" {
			o.Enum = strings.Split(enum, "|")
		}
		o.index, o.typ = []int{i}, f.Type
		o.limit(f.Type)
		o.initial = initial(f.Type, o)
		options = append(options, o)
	}
	return options
}

// initial converts the default of an option. A default that is none is a mistake in our own tags, met by the first test.
func initial(t reflect.Type, o Option) reflect.Value {
	if o.Default == "" {
		return reflect.Value{}
	}
	v := reflect.New(t).Elem()
	d := decoder{report: func(_ Position, format string, args ...any) {
		panic("plan: the default of " + o.Key + ": " + fmt.Sprintf(format, args...))
	}}
	d.value(&node{kind: scalarNode, text: o.Default, value: o.Default}, nil, v, o, o.Key)
	return v
}

// limit converts the bounds of an option of type t; those of a list or a mapping are bounds of what it holds.
func (o *Option) limit(t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if o.Element != nil {
		o.Element.Min, o.Element.Max, o.Element.Enum = o.Min, o.Max, o.Enum
		o.Element.limit(t.Elem())
		return
	}
	o.from, o.to = bound(t, o.Min, math.Inf(-1)), bound(t, o.Max, math.Inf(1))
}

// bound converts the min or the max of an option; otherwise where there is none.
func bound(t reflect.Type, text string, otherwise float64) float64 {
	if text == "" {
		return otherwise
	}
	v := reflect.New(t).Elem()
	if err := convert(&node{kind: scalarNode, text: text, value: text}, v, Option{Min: text}); err != nil {
		panic("plan: the bound " + text + ": " + err.Error()) // as of a default
	}
	return asFloat(v)
}

// SetDefaults gives the options struct that spec points to the defaults of its tags, as one that a plan says nothing of has them.
func SetDefaults(spec any) { setDefaults(reflect.ValueOf(spec).Elem()) }

// setDefaults gives an options struct, which is empty, the defaults of its tags.
func setDefaults(v reflect.Value) { v.Set(descriptionOf(v.Type()).initial) }

// initialOf makes an options struct with the defaults of its tags.
func initialOf(t reflect.Type, options []Option) reflect.Value {
	v := reflect.New(t).Elem()
	for _, o := range options {
		f := v.FieldByIndex(o.index)
		switch {
		case o.initial.IsValid() && f.Kind() != reflect.Pointer:
			f.Set(o.initial)
		case isOptions(f.Type()):
			setDefaults(f)
		}
	}
	return v
}

func optionOf(options []Option, key string) *Option {
	for i := range options {
		if options[i].Key == key {
			return &options[i]
		}
	}
	return nil
}

// keysOfOptions lists the keys by which options are called.
func keysOfOptions(options []Option) []string {
	var keys []string
	for _, o := range options {
		if o.Key != "*" {
			keys = append(keys, o.Key)
		}
	}
	return keys
}

var scalarTypes = map[reflect.Type]string{
	reflect.TypeFor[Text]():     "text",
	reflect.TypeFor[Duration](): "duration",
	reflect.TypeFor[Count]():    "count",
	reflect.TypeFor[Size]():     "size",
}

func typeOption(t reflect.Type) Option {
	if name := scalarTypes[t]; name != "" {
		return Option{Type: name}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeOption(t.Elem())
	case reflect.Bool:
		return Option{Type: "true or false"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return Option{Type: "whole number"}
	case reflect.Float32, reflect.Float64:
		return Option{Type: "number"}
	case reflect.String:
		return Option{Type: "text"}
	case reflect.Slice:
		element := typeOption(t.Elem())
		return Option{Type: "list", Element: &element}
	case reflect.Map:
		element := typeOption(t.Elem())
		return Option{Type: "mapping", Element: &element}
	case reflect.Struct:
		return Option{Type: "mapping", Fields: describe(t)}
	}
	return Option{Type: "any value"}
}
