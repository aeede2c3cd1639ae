// Package benchyou is the workloads and tables of the tool benchyou (github.com/xelabs/benchyou): same tables, statements,
// roles and key ranges, so that a method written for it gives comparable figures.
//
// What it does not take over: statements that draw from 2⁶³ ids and never meet a row, where keys: existing is asked for;
// and the end of the run at the first error, which is the engine's business.
package benchyou

import (
	"errors"
	"fmt"

	"benchplan/plan"
	"benchplan/workloads/engine"
)

// Options are the options of benchyou_random and benchyou_seq.
type Options struct {
	RowsPerInsert  int    `key:"rows_per_insert" default:"1" min:"1" max:"10000" unit:"rows" doc:"rows that one INSERT has"`
	BatchPerCommit int    `key:"batch_per_commit" default:"1" min:"1" max:"1000000" unit:"statements" doc:"above 1, each write client puts begin and commit around that many of its statements"`
	XA             bool   `key:"xa" default:"off" doc:"each writing statement is a two-phase transaction of its own: xa start, end, prepare, commit (benchyou's mysql-enable-xa)"`
	Keys           string `key:"keys" default:"sliced" enum:"sliced|existing" doc:"which ids reads, updates and deletes draw: sliced, as benchyou does, from the client's slice of 63 bits, where they practically meet no row; existing, from those that prepare filled in, with inserts above them"`
}

// RangeOptions are the options of benchyou_range.
type RangeOptions struct {
	RowsPerInsert  int    `key:"rows_per_insert" default:"1" min:"1" max:"10000" unit:"rows" doc:"rows that one INSERT has"`
	BatchPerCommit int    `key:"batch_per_commit" default:"1" min:"1" max:"1000000" unit:"statements" doc:"above 1, each write client puts begin and commit around that many of its statements"`
	XA             bool   `key:"xa" default:"off" doc:"each writing statement is a two-phase transaction of its own: xa start, end, prepare, commit (benchyou's mysql-enable-xa)"`
	Keys           string `key:"keys" default:"sliced" enum:"sliced|existing" doc:"which ids the ranges lie in: sliced, as benchyou does, in the client's slice of 63 bits; existing, in those that prepare filled in, with inserts above them"`
	Order          string `key:"order" default:"asc" enum:"asc|desc" doc:"the order in which a range is read (benchyou's mysql-range-order)"`
}

// The values of keys and order.
const (
	KeysSliced   = "sliced"
	KeysExisting = "existing"
	orderDesc    = "desc"
)

// The roles.
const (
	roleWrite  = "write"
	roleRead   = "read"
	roleUpdate = "update"
	roleDelete = "delete"
)

// common gives the options that all three workloads have.
func (o RangeOptions) common() Options {
	return Options{RowsPerInsert: o.RowsPerInsert, BatchPerCommit: o.BatchPerCommit, XA: o.XA, Keys: o.Keys}
}

// check says what is wrong with the options together, and with the tables they meet.
func (o Options) check(tables plan.Tables) error {
	var errs []error
	if o.XA && o.BatchPerCommit > 1 {
		errs = append(errs, errors.New("xa and batch_per_commit exclude each other: with xa each statement is a transaction"))
	}
	if o.Keys == KeysExisting && tables.Rows == 0 {
		errs = append(errs, errors.New("keys: existing needs tables with rows: set rows of tables above 0"))
	}
	return errors.Join(errs...)
}

// roles are benchyou's, with its numbers of threads.
func roles() []engine.Role {
	return []engine.Role{
		{Name: roleWrite, Clients: 32, Doc: "clients that insert"},
		{Name: roleRead, Clients: 32, Doc: "clients that select"},
		{Name: roleUpdate, Clients: 0, Doc: "clients that update"},
		{Name: roleDelete, Clients: 0, Doc: "clients that delete"},
	}
}

// Random draws ids at random.
func Random() engine.Definition {
	return definition("benchyou_random", "benchyou random: inserts, selects by id, updates and deletes, at random ids", false)
}

// Seq counts ids up.
func Seq() engine.Definition {
	return definition("benchyou_seq", "benchyou seq: inserts at the end, selects by id, updates and deletes at ids that count up", true)
}

func definition(name, doc string, sequential bool) engine.Definition {
	return engine.Definition{
		Name: name, Doc: doc, Schema: SchemaName, Roles: roles(), PSMode: engine.PSDisable,
		Options: func() any { return new(Options) },
		Check: func(options any, tables plan.Tables) error {
			o, err := optionsOf[Options](options)
			if err != nil {
				return err
			}
			return o.check(tables)
		},
		New: func(options any, tables plan.Tables, _ map[string]int) (engine.Workload, error) {
			o, err := optionsOf[Options](options)
			if err != nil {
				return nil, err
			}
			return newWorkload(*o, tables, sequential)
		},
	}
}

// Range reads ranges of ids.
func Range() engine.Definition {
	return engine.Definition{
		Name: "benchyou_range", Doc: "benchyou range: inserts at random ids, and selects of up to 100 rows between two ids",
		Schema: SchemaName, Roles: roles()[:2], PSMode: engine.PSDisable,
		Options: func() any { return new(RangeOptions) },
		Check: func(options any, tables plan.Tables) error {
			o, err := optionsOf[RangeOptions](options)
			if err != nil {
				return err
			}
			return o.common().check(tables)
		},
		New: func(options any, tables plan.Tables, _ map[string]int) (engine.Workload, error) {
			o, err := optionsOf[RangeOptions](options)
			if err != nil {
				return nil, err
			}
			w, err := newWorkload(o.common(), tables, false)
			if err != nil {
				return nil, err
			}
			w.ranges = " ORDER BY id ASC LIMIT 100"
			if o.Order == orderDesc {
				w.ranges = " ORDER BY id DESC LIMIT 100"
			}
			return w, nil
		},
	}
}

func optionsOf[T any](options any) (*T, error) {
	o, ok := options.(*T)
	if !ok {
		return nil, fmt.Errorf("options are %T, want %T", options, o)
	}
	return o, nil
}
