// Package sysbench is the workloads and tables of the tool sysbench (github.com/akopytov/sysbench): its OLTP tests of 1.0, the
// "legacy" one of 0.5, and that of 0.4, statement for statement, so that their figures can be held against those that people
// have. transfer is one of its own, on the same tables, whose result can be verified.
//
// What it does not take over: after a deadlock or a lock wait timeout sysbench begins anew without rolling back, and then
// commits half of the old transaction with the new one; a duplicate key ends it; it draws from a small hot part of the rows
// unless told otherwise; and an event of bulk_insert is a row in memory, so that its latency says nothing. BEGIN and COMMIT are
// sent as text whatever the PSMode, since not every server prepares them; sysbench tries to.
package sysbench

import (
	"fmt"

	"benchplan/plan"
	"benchplan/workloads/engine"
	"benchplan/workloads/tables"
)

// The names of the tables' schemas in a plan.
const (
	SchemaName     = "sbtest"
	SchemaLegacy   = "sbtest_legacy"
	SchemaVersion4 = "sbtest_0_4"
	SchemaBulk     = "sbtest_bulk"
)

// Workloads lists the family.
func Workloads() []engine.Definition {
	return []engine.Definition{
		readWrite(), readOnly(), writeOnly(),
		pointSelects(), updateIndex(), updateNonIndex(), inserts(), deletes(),
		randomPoints(), randomRanges(), bulkInsert(),
		legacy(), version4(),
		transfers(),
	}
}

// Schemas lists the tables by the name that a plan gives them.
func Schemas() map[string]tables.Schema {
	return map[string]tables.Schema{
		SchemaName:     Schema{},
		SchemaLegacy:   Schema{Legacy: true},
		SchemaVersion4: Version4Schema{},
		SchemaBulk:     BulkSchema{},
	}
}

// definition makes a Definition of a workload with the options T.
type definition[T any] struct {
	name, doc, schema string
	mode              engine.PSMode
	check             func(o *T, tables plan.Tables) error
	build             func(o *T, tables plan.Tables, clients int) (engine.Workload, error)
}

func (d definition[T]) definition() engine.Definition {
	check := func(options any, tables plan.Tables) (*T, error) {
		o, ok := options.(*T)
		if !ok {
			return nil, fmt.Errorf("options are %T, want %T", options, o)
		}
		if tables.Count < 1 {
			return nil, fmt.Errorf("%s works on at least one table, not %d", d.name, tables.Count)
		}
		return o, d.check(o, tables)
	}
	return engine.Definition{
		Name: d.name, Doc: d.doc, Schema: d.schema, PSMode: d.mode,
		Options: func() any { return new(T) },
		Check: func(options any, tables plan.Tables) error {
			_, err := check(options, tables)
			return err
		},
		New: func(options any, tables plan.Tables, clients map[string]int) (engine.Workload, error) {
			o, err := check(options, tables)
			if err != nil {
				return nil, err
			}
			return d.build(o, tables, clients[""])
		},
	}
}
