package steps

import (
	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads"
)

// Vocabulary tells the language what there is: step kinds, workloads, schemas, metrics.
func Vocabulary() *plan.Vocabulary {
	v := &plan.Vocabulary{
		Kinds:     map[string]plan.Kind{},
		Workloads: map[string]plan.Variant{},
		Schemas:   map[string]plan.Variant{},
		Assert:    results.CheckAssert,
	}
	for name, kind := range Kinds() {
		v.Kinds[name] = kind.Kind
	}
	for name, definition := range workloads.Families() {
		v.Workloads[name] = plan.Variant{Doc: definition.Doc, Options: definition.Options}
	}
	for name, schema := range workloads.Schemas() {
		variant := plan.Variant{Doc: schema.Doc()}
		if schema.Options() != nil {
			variant.Options = schema.Options
		}
		v.Schemas[name] = variant
	}
	for _, m := range results.Metrics() {
		v.Metrics = append(v.Metrics, m.Name)
	}
	return v
}
