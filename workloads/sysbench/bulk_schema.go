package sysbench

import (
	"math/rand/v2"

	"benchplan/plan"
	"benchplan/workloads/engine"
	"benchplan/workloads/tables"
)

// BulkSchema is the tables of bulk_insert: sbtest1, sbtest2, … with two columns.
type BulkSchema struct{}

var _ tables.Schema = BulkSchema{}

// Doc implements tables.Schema.
func (BulkSchema) Doc() string {
	return "the tables of sysbench bulk_insert, sbtest1, sbtest2, …: id and a number k, both the same; one table for each client"
}

// Options implements tables.Schema: there are none.
func (BulkSchema) Options() any { return nil }

// Check implements tables.Schema.
func (BulkSchema) Check(spec plan.Tables) error { return checkRows(spec, false) }

// Table implements tables.Schema.
func (BulkSchema) Table(_ plan.Tables, i int) string { return tableName(i) }

// Body implements tables.Schema.
func (BulkSchema) Body(plan.Tables, int) string {
	return "id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY (id)"
}

// Indexes implements tables.Schema: there are none.
func (BulkSchema) Indexes(plan.Tables, int) []tables.Index { return nil }

// Columns implements tables.Schema.
func (BulkSchema) Columns(plan.Tables) []string { return []string{"id", "k"} }

// Rows implements tables.Schema.
func (BulkSchema) Rows(plan.Tables, int) tables.Row {
	return func(row *engine.Args, n int64, _ *rand.Rand) {
		row.Int(n)
		row.Int(n)
	}
}
