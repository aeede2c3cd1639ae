package plan

import (
	"reflect"
	"strings"
)

// Option describes one key of an options struct. Such a struct says each option once, in the tags of its field:
//
//	RowsPerInsert int `key:"rows_per_insert" default:"1" min:"1" unit:"rows" doc:"rows in one INSERT"`
//
// The tags are key (the name in a plan; "-" for a field that a plan does not fill, "*" for a map that takes the keys which no other
// field has), default, min and max (for numbers, counts, sizes and durations), enum (words divided by |), unit, doc (a sentence without its full
// stop), required ("true"), short ("true": the field that a value which is not a mapping fills) and more ("workload" or
// "schema": a field of type any that takes the options struct of the variant which the key of that name chooses).
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
	Fields   []Option // of a mapping
	Element  *Option  // of a list, or of a mapping with free keys

	index []int
	typ   reflect.Type
}

// Describe lists the options of a struct (or of a pointer to one) in the order of its fields; those of embedded structs as its own.
// For anything else it lists nothing.
func Describe(spec any) []Option {
	if spec == nil {
		return nil
	}
	return describe(reflect.TypeOf(spec))
}

func describe(t reflect.Type) []Option {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || scalarTypes[t] != "" {
		return nil
	}
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
		if enum := f.Tag.Get("enum"); enum != "" {
			o.Enum = strings.Split(enum, "|")
		}
		o.index, o.typ = []int{i}, f.Type
		options = append(options, o)
	}
	return options
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
	case reflect.Int, reflect.Int64, reflect.Uint16, reflect.Uint64, reflect.Int32:
		return Option{Type: "whole number"}
	case reflect.Float64:
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
