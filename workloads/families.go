// Package workloads is the registry of the families of workloads: what load there is, and on which tables.
package workloads

import (
	"maps"
	"slices"
	"sync"

	"benchplan/workloads/benchyou"
	"benchplan/workloads/engine"
	"benchplan/workloads/host"
	"benchplan/workloads/sysbench"
	"benchplan/workloads/tables"
)

// Families lists all workloads by the name that a plan gives them.
func Families() map[string]engine.Definition { return maps.Clone(families()) }

// Family gives the workload of a name.
func Family(name string) (engine.Definition, bool) {
	d, ok := families()[name]
	return d, ok
}

// families is never changed: a plan of many cells asks for a workload in each.
var families = sync.OnceValue(func() map[string]engine.Definition {
	families := map[string]engine.Definition{}
	for _, d := range slices.Concat([]engine.Definition{
		benchyou.Random(),
		benchyou.Seq(),
		benchyou.Range(),
	}, sysbench.Workloads(), host.Workloads()) {
		families[d.Name] = d
	}
	return families
})

// Schemas lists all table schemas by the name that a plan gives them.
func Schemas() map[string]tables.Schema { return maps.Clone(schemas()) }

// Schema gives the table schema of a name; nil where there is none.
func Schema(name string) tables.Schema { return schemas()[name] }

// schemas is never changed either.
var schemas = sync.OnceValue(func() map[string]tables.Schema {
	schemas := map[string]tables.Schema{
		benchyou.SchemaName: benchyou.Schema{},
	}
	maps.Copy(schemas, sysbench.Schemas())
	return schemas
})
