package sysbench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"benchplan/plan"
	"benchplan/workloads/engine"
	"benchplan/workloads/tables"
)

// Version4TableOptions are the options of the table of oltp_0_4.
type Version4TableOptions struct {
	AutoInc   bool       `key:"auto_inc" default:"on" doc:"AUTO_INCREMENT on the column id; off, for systems that have none, inserts give ids themselves"`
	Secondary bool       `key:"secondary" default:"off" doc:"a secondary key on id in place of the primary key; needs auto_inc: off"`
	MaxRows   plan.Count `key:"myisam_max_rows" default:"1000000" min:"1" unit:"rows" doc:"MAX_ROWS of a MyISAM table"`
}

// Version4Schema is the one table sbtest of sysbench 0.4.
type Version4Schema struct{}

var (
	_ tables.Schema   = Version4Schema{}
	_ tables.Optioned = Version4Schema{}
)

const tableVersion4 = "sbtest"

// Doc implements tables.Schema.
func (Version4Schema) Doc() string {
	return "the one table sbtest of sysbench 0.4: id, an indexed number k that is 0 everywhere, and two texts that are the same in each row"
}

// Options implements tables.Schema.
func (Version4Schema) Options() any { return new(Version4TableOptions) }

// Check implements tables.Schema.
func (Version4Schema) Check(spec plan.Tables) error {
	var errs []error
	if spec.Count != 1 {
		errs = append(errs, fmt.Errorf("count is %d: sysbench 0.4 has one table", spec.Count))
	}
	if o := version4Options(spec); o.AutoInc && o.Secondary {
		errs = append(errs, errors.New("secondary needs auto_inc: off"))
	}
	return errors.Join(append(errs, checkRows(spec, true))...)
}

// version4Options gives the options of the table.
func version4Options(spec plan.Tables) Version4TableOptions {
	return more(spec, Version4TableOptions{AutoInc: true, MaxRows: defaultMaxRows})
}

// Table implements tables.Schema.
func (Version4Schema) Table(_ plan.Tables, i int) string {
	if i > 0 {
		return fmt.Sprintf("%s%d", tableVersion4, i+1) // refused by Check
	}
	return tableVersion4
}

// Body implements tables.Schema.
func (Version4Schema) Body(spec plan.Tables, _ int) string {
	o := version4Options(spec)
	return body(true, o.AutoInc, o.Secondary)
}

// TableOptions implements tables.Optioned.
func (Version4Schema) TableOptions(spec plan.Tables, _ int) string {
	if !strings.EqualFold(spec.Engine, "myisam") {
		return ""
	}
	return maxRows(version4Options(spec).MaxRows)
}

// Indexes implements tables.Schema. sysbench 0.4 makes the index before it loads; that the rows are in the order of ids and k is
// 0 everywhere makes it the same.
func (Version4Schema) Indexes(plan.Tables, int) []tables.Index {
	return []tables.Index{{Name: "k", Columns: []string{"k"}}}
}

// Columns implements tables.Schema.
func (Version4Schema) Columns(plan.Tables) []string { return columns() }

// Rows implements tables.Schema.
func (Version4Schema) Rows(plan.Tables, int) tables.Row {
	return func(row *engine.Args, n int64, _ *rand.Rand) {
		row.Int(n)
		row.Int(0)
		addConstant(row, " ")
		addConstant(row, "qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt")
	}
}
