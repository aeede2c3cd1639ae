package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// stepKeys describes the keys that any step may have beside its kind, for the JSON Schema.
type stepKeys struct {
	Name            Text     `key:"name" doc:"a column of the report and part of the identity of what the step holds"`
	ID              Text     `key:"id" doc:"one word, by which later steps read what this one yields: steps.ID"`
	Labels          any      `key:"labels" doc:"columns of the report, identity and baseline, as axes are"`
	If              any      `key:"if" doc:"expression; the step runs where it is true"`
	Matrix          any      `key:"matrix" doc:"axes, whose product is the step's cells; exclude takes cells out, include adds some"`
	Repeat          int      `key:"repeat" default:"1" min:"1" max:"1000000" doc:"how often each cell runs; six repeats or more carry a comparison"`
	Order           string   `key:"order" default:"declared" enum:"declared|interleaved|shuffled" doc:"the order of cells and repeats: a cell's repeats together, round by round, or permuted in each round"`
	Timeout         Duration `key:"timeout" doc:"how long the step may take, tries included"`
	Retry           *Retry   `key:"retry" doc:"try again until the step and its assert hold"`
	Assert          any      `key:"assert" doc:"expressions that have to be true of what the step yields"`
	ContinueOnError bool     `key:"continue_on_error" default:"off" doc:"go on when the step fails; the run still counts as failed"`
}

// scopeKeys describes the keys that a group may have, and the plan itself.
type scopeKeys struct {
	Vars    map[string]any `key:"vars" doc:"variables; one may use those above it"`
	Target  any            `key:"target" doc:"where SQL goes; left out: a private local server"`
	Tables  any            `key:"tables" doc:"the tables under test: prepare makes them, run uses them, cleanup drops them"`
	Files   any            `key:"files" doc:"the files under test of file workloads"`
	Finally any            `key:"finally" doc:"steps that run after each cell of the group, after success, failure and an interrupt"`
}

// planKeys describes the keys that only the plan itself has.
type planKeys struct {
	Name        Text  `key:"name" doc:"names the folder of the plan's runs; left out, the file's name"`
	Description Text  `key:"description" doc:"what the plan finds out, for its readers"`
	Seed        int64 `key:"seed" default:"0" doc:"the random numbers of the plan begin here"`
	Steps       any   `key:"steps" required:"true" doc:"what is done, in this order"`
	Report      any   `key:"report" doc:"how the cells are compared"`
	Rehearse    any   `key:"rehearse" doc:"how the plan is tried without its servers"`
}

// Schema gives the JSON Schema (draft 2020-12) of a plan, for editors. It is as strict as the language where a schema can be: keys, kinds,
// words, notations; what expressions give and what depends on other steps is left to Read. It is one line of JSON.
func Schema(voc *Vocabulary) (json.RawMessage, error) {
	b := schemaBuilder{voc}
	root := object(b.keys(planKeys{}), b.keys(scopeKeys{}))
	root.PatternProperties = map[string]*jsonschema.Schema{`^(x-|\.)`: jsonschema.TrueSchema}
	root.Required = []string{"steps"}
	root.Version = jsonschema.Version
	root.Title = "a benchplan plan"
	root.Description = "A benchmark method: ordered steps, matrices of workloads, and how their results are compared."
	root.Definitions = jsonschema.Definitions{
		"expression": {Type: "string", Pattern: `\$\{\{`, Description: "an expression in ${{ }}, worked out when the step runs"},
		"text":       {AnyOf: append(scalars(), &jsonschema.Schema{Type: "null"})},
		"steps":      {Type: "array", MinItems: count(1), Items: ref("step")},
		"step":       b.step(),
		"vars":       {Type: "object"},
		"target":     b.options(Describe(&Target{}), false),
		"tables":     b.tables(),
		"files":      b.options(Describe(&Files{}), false),
		"labels":     {Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "", AnyOf: scalars()}},
		"matrix":     b.matrix(),
		"condition":  {AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "boolean"}}},
		"conditions": {AnyOf: []*jsonschema.Schema{ref("condition"), {Type: "array", Items: ref("condition")}}},
		"report":     b.report(),
		"rehearse":   b.options(Describe(&Rehearse{}), true),
	}
	for name, kind := range voc.Kinds {
		root.Definitions["kind_"+name] = b.kind(kind)
	}
	document, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("the JSON Schema of a plan: %w", err)
	}
	return document, nil
}

type schemaBuilder struct{ voc *Vocabulary }

func ref(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

func count(n uint64) *uint64 { return &n }

// explained gives a schema an explanation; one that stands elsewhere keeps its own.
func explained(s *jsonschema.Schema, doc string) *jsonschema.Schema {
	out := *s
	out.Description = doc
	return &out
}

// property is one key of a mapping.
type property struct {
	name   string
	schema *jsonschema.Schema
}

func object(properties ...[]property) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
	for _, p := range slices.Concat(properties...) {
		s.Properties.Set(p.name, p.schema)
	}
	return s
}

// keys gives the schemas of keys whose shape has a definition of its own, and of the others.
func (b schemaBuilder) keys(of any) []property {
	shapes := map[string]string{
		"labels": "labels", "if": "condition", "matrix": "matrix", "assert": "conditions", "vars": "vars", "target": "target", "tables": "tables",
		"files": "files", "finally": "steps", "steps": "steps", "report": "report", "rehearse": "rehearse",
	}
	var out []property
	for _, o := range Describe(of) {
		s := b.value(o)
		if shape := shapes[o.Key]; shape != "" {
			s = explained(ref(shape), o.Doc)
		}
		out = append(out, property{o.Key, s})
	}
	return out
}

// step has exactly one kind, the keys of every step, and those of a group only where it is one.
func (b schemaBuilder) step() *jsonschema.Schema {
	kinds := []property{}
	for _, name := range sortedKeys(b.voc.Kinds) {
		kinds = append(kinds, property{name, explained(ref("kind_"+name), b.voc.Kinds[name].Doc)})
	}
	kinds = append(kinds, property{groupKind, explained(ref("steps"), "a group of steps, which may have a matrix, variables, a target and tables of its own")})
	s := object(kinds, b.keys(stepKeys{}), b.keys(scopeKeys{}))
	for _, k := range kinds {
		s.OneOf = append(s.OneOf, &jsonschema.Schema{Required: []string{k.name}})
	}
	s.DependentRequired = map[string][]string{}
	for _, key := range groupKeys {
		s.DependentRequired[key] = []string{groupKind}
	}
	s.Description = "One step: exactly one kind, and keys beside it."
	return s
}

// kind is what stands behind a kind's key. Nothing is a mapping without keys.
func (b schemaBuilder) kind(k Kind) *jsonschema.Schema {
	options := Describe(k.Spec())
	s := b.options(options, true)
	if !slices.ContainsFunc(options, func(o Option) bool { return o.Required }) {
		s = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
	}
	s.Description = sentence(k.Doc)
	if key := descriptionOf(reflect.TypeOf(k.Spec())).variant; key != "" {
		b.variants(s, options, key, b.voc.variants(key))
	}
	return s
}

func (b schemaBuilder) tables() *jsonschema.Schema {
	options := Describe(&Tables{})
	s := b.options(options, false) // an inner group may say the rest
	b.variants(s, options, "schema", b.voc.Schemas)
	return s
}

// variants adds the options of the variant that a key chooses. All are listed, so that editors offer them; which of them may stand beside
// a variant is the condition's to say.
func (b schemaBuilder) variants(s *jsonschema.Schema, common []Option, key string, variants map[string]Variant) {
	known := []any{}
	for _, name := range sortedKeys(variants) {
		known = append(known, name)
		var options []Option
		if variants[name].Options != nil {
			options = Describe(variants[name].Options())
		}
		allowed := []any{}
		for _, k := range slices.Concat(keysOfOptions(common), keysOfOptions(options)) {
			allowed = append(allowed, k)
		}
		when, then := object(), object()
		when.AdditionalProperties, then.AdditionalProperties = nil, nil
		when.Properties.Set(key, &jsonschema.Schema{Const: name})
		when.Required = []string{key}
		then.Description = sentence(variants[name].Doc)
		then.PropertyNames = &jsonschema.Schema{Enum: allowed}
		for _, o := range options {
			then.Properties.Set(o.Key, b.value(o))
			if o.Required && key == "workload" { // the rest of tables may be said by an inner group
				then.Required = append(then.Required, o.Key)
			}
			if _, there := s.Properties.Get(o.Key); !there {
				s.Properties.Set(o.Key, &jsonschema.Schema{Description: documentation(o)})
			}
		}
		s.AllOf = append(s.AllOf, &jsonschema.Schema{If: when, Then: then})
	}
	chooser, _ := s.Properties.Get(key)
	s.Properties.Set(key, &jsonschema.Schema{Description: chooser.Description, AnyOf: []*jsonschema.Schema{{Enum: known}, ref("expression")}})
}

func (b schemaBuilder) matrix() *jsonschema.Schema {
	withID := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{"id"}}
	withID.Properties.Set("id", &jsonschema.Schema{AnyOf: scalars(), Description: "the value's label"})
	value := &jsonschema.Schema{AnyOf: append(scalars(), withID)}
	cells := &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "object", MinProperties: count(1), AdditionalProperties: value}}
	s := object([]property{
		{"exclude", explained(cells, "cells to take out: all that fit an entry, which may name outer axes too")},
		{"include", explained(cells, "cells to add; each entry names every axis")},
	})
	s.MinProperties = count(1)
	s.AdditionalProperties = &jsonschema.Schema{
		Description: "an axis: a list of values, each a single value or a mapping with an id; or one expression that gives a list",
		AnyOf:       []*jsonschema.Schema{{Type: "array", MinItems: count(1), Items: value}, ref("expression")},
	}
	return s
}

func (b schemaBuilder) report() *jsonschema.Schema {
	s := b.options(Describe(&Report{}), true)
	metrics, _ := s.Properties.Get("metrics")
	var known []any
	for _, m := range b.voc.Metrics {
		known = append(known, m)
	}
	one := &jsonschema.Schema{Enum: known}
	s.Properties.Set("metrics", explained(&jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "array", Items: one}, one}}, metrics.Description))
	return s
}

// options is a mapping with the keys of an options struct, or what its short form takes.
func (b schemaBuilder) options(options []Option, required bool) *jsonschema.Schema {
	s := object()
	for _, o := range options {
		if o.Key == "*" {
			s.AdditionalProperties = b.value(*o.Element)
			continue
		}
		s.Properties.Set(o.Key, b.value(o))
		if o.Required && required {
			s.Required = append(s.Required, o.Key)
		}
	}
	i := slices.IndexFunc(options, func(o Option) bool { return o.Short })
	if i < 0 {
		return s
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, b.value(options[i])}}
}

// notations are the texts that a type of option takes, as patterns.
var notations = map[string]string{
	"whole number": `^\s*[-+]?[0-9]+(_[0-9]+)*(\.[0-9]+)?([eE]\+?[0-9]+)?[kKMGT]?\s*$`,
	"count":        `^\s*\+?[0-9]+(_[0-9]+)*(\.[0-9]+)?([eE]\+?[0-9]+)?[kKMGT]?\s*$`,
	"size":         `^\s*\+?[0-9]+(_[0-9]+)*(\.[0-9]+)?([eE]\+?[0-9]+)?([kKmMgGtT](i?[bB])?|[bB])?\s*$`,
	"duration":     `^\s*\+?(0|([0-9]*\.?[0-9]+(ns|us|µs|μs|ms|s|m|h))+)\s*$`,
	"number":       `^\s*[-+]?[0-9][0-9_]*(\.[0-9]*)?([eE][-+]?[0-9]+)?[kKMGT]?\s*$`,
}

// value is the schema of one option: its type in every notation, or an expression.
func (b schemaBuilder) value(o Option) *jsonschema.Schema {
	var any []*jsonschema.Schema
	pattern := &jsonschema.Schema{Type: "string", Pattern: notations[o.Type]}
	switch {
	case o.Fields != nil:
		any = append(any, b.options(o.Fields, true))
	case o.Type == "list":
		any = append(any, &jsonschema.Schema{Type: "array", Items: b.value(*o.Element)})
		if o.Single || o.Short {
			any = append(any, b.value(*o.Element))
		}
	case o.Type == "mapping":
		any = append(any, &jsonschema.Schema{Type: "object", AdditionalProperties: b.value(*o.Element)})
	case len(o.Enum) > 0:
		any = append(any, enumeration(o.Enum))
	case o.Type == "text":
		return &jsonschema.Schema{Ref: "#/$defs/text", Description: documentation(o), Default: initialValue(o)}
	case o.Type == "any value":
		return &jsonschema.Schema{Description: documentation(o)}
	case o.Type == "true or false":
		any = append(any, &jsonschema.Schema{Type: "boolean"}, &jsonschema.Schema{Type: "string", Pattern: `^([oO][nN]|[oO][fF][fF]|[yY][eE][sS]|[nN][oO]|[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])$`})
	case o.Type == "duration":
		any = append(any, pattern, &jsonschema.Schema{Const: 0})
	case o.Type == "number":
		any = append(any, bounded("number", o), pattern)
	default:
		any = append(any, bounded("integer", o), pattern)
	}
	return &jsonschema.Schema{AnyOf: append(any, ref("expression")), Description: documentation(o), Default: initialValue(o)}
}

// bounded is a JSON number within the option's range.
func bounded(kind string, o Option) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: kind}
	if n, ok := initialValue(Option{Type: o.Type, Default: o.Min}).(json.Number); ok {
		s.Minimum = n
	} else if o.Type == "count" || o.Type == "size" {
		s.Minimum = "0"
	}
	if n, ok := initialValue(Option{Type: o.Type, Default: o.Max}).(json.Number); ok {
		s.Maximum = n
	}
	return s
}

// initialValue is the default of an option as JSON; nil where it has none or writes it in a notation of its own.
func initialValue(o Option) any {
	switch o.Type {
	case "true or false":
		if b, err := parseBool(nil, o.Default); err == nil {
			return b
		}
	case "text", "duration":
		if o.Default != "" {
			return o.Default
		}
	default:
		if _, err := strconv.ParseFloat(o.Default, 64); err == nil {
			return json.Number(o.Default)
		}
	}
	return nil
}

// enumeration lists words; true and false may be written as such.
func enumeration(words []string) *jsonschema.Schema {
	var out []any
	for _, w := range words {
		out = append(out, w)
		if w == "true" || w == "false" {
			out = append(out, w == "true")
		}
	}
	return &jsonschema.Schema{Enum: out}
}

// scalars are the types that a text takes: what YAML reads as a number or a boolean keeps its notation.
func scalars() []*jsonschema.Schema {
	return []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}
}

// documentation is an option's sentence with its unit, range and default.
func documentation(o Option) string {
	parts := []string{o.Doc}
	if o.Unit != "" && !strings.Contains(o.Doc, o.Unit) {
		parts = append(parts, "in "+o.Unit)
	}
	if o.Min != "" {
		parts = append(parts, "at least "+o.Min)
	}
	if o.Max != "" {
		parts = append(parts, "at most "+o.Max)
	}
	if o.Default != "" {
		parts = append(parts, "default "+o.Default)
	}
	return sentence(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; "))
}

func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
