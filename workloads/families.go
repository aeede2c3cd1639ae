// Package workloads is the registry of the families of workloads: what load there is, and on which tables.
package workloads

import (
	"maps"

	"benchplan/workloads/benchyou"
	"benchplan/workloads/engine"
	"benchplan/workloads/sysbench"
	"benchplan/workloads/tables"
)

// Families lists all workloads by the name that a plan gives them.
func Families() map[string]engine.Definition {
	families := map[string]engine.Definition{}
	for _, d := range append([]engine.Definition{
		benchyou.Random(),
		benchyou.Seq(),
		benchyou.Range(),
	}, sysbench.Workloads()...) {
		families[d.Name] = d
	}
	return families
}

// Schemas lists all table schemas by the name that a plan gives them.
func Schemas() map[string]tables.Schema {
	schemas := map[string]tables.Schema{
		benchyou.SchemaName: benchyou.Schema{},
	}
	maps.Copy(schemas, sysbench.Schemas())
	return schemas
}
