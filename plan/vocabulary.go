package plan

import (
	"maps"
	"slices"
	"time"
)

// Vocabulary is what the language does not know by itself: the step kinds, the workloads, the tables' schemas and the metrics.
type Vocabulary struct {
	Kinds     map[string]Kind
	Workloads map[string]Variant
	Schemas   map[string]Variant
	Metrics   []string                // what report.metrics may name, and what a run step with an id yields
	Assert    func(expr string) error // says what is wrong with an expression of report.assert; nil checks nothing
}

// Kind is a step kind.
type Kind struct {
	Doc string // a sentence
	// Spec gives a new struct (a pointer) for what stands behind the key; its tags say what may stand there. See Option.
	Spec func() any
	// Yields are the names that the step's own assert, and steps.<id> of later steps, can read.
	Yields []string
	// Check says what is wrong with a spec that is right key by key.
	Check func(spec any, in Place) []Problem
	// Load tells that the step is one cell of the comparison: it has an identity and a record.
	Load bool
	// Least is the time that a spec takes at the least; nil is none.
	Least func(spec any) time.Duration
}

// Variant is a workload or a schema: what it is, and its own options.
type Variant struct {
	Doc     string
	Options func() any // a new struct (a pointer), nil where there are none
}

// Place is where a step stands, for a Kind's Check.
type Place struct {
	Tables *Tables // of the scope; nil where there are none, or where they could not be decoded
	Files  *Files
	Target *Target
	// BadTables tells that the scope has tables that could not be decoded, which is reported by itself.
	BadTables bool
	InLoop    bool // inside a matrix or repeat
}

// Problem is what a Check found: the dotted path of the option below the kind, and what is wrong with it.
type Problem struct {
	Path    string
	Message string
}

func (v *Vocabulary) variants(key string) map[string]Variant {
	switch key {
	case "workload":
		return v.Workloads
	case "schema":
		return v.Schemas
	}
	return nil
}

func sortedKeys[M ~map[string]V, V any](m M) []string { return slices.Sorted(maps.Keys(m)) }

func keysOf(m map[string]any) []string {
	if len(m) == 0 {
		return nil
	}
	return sortedKeys(m)
}
