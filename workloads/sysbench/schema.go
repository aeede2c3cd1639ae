package sysbench

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"

	"benchplan/plan"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/rows"
	"benchplan/workloads/tables"
)

// TableOptions are the options of the tables sbtest1, sbtest2, …
type TableOptions struct {
	AutoInc         bool   `key:"auto_inc" default:"on" doc:"AUTO_INCREMENT on the column id; off, for systems that have none, oltp_insert gives ids itself"`
	Secondary       bool   `key:"secondary" default:"off" doc:"a secondary key on id in place of the primary key"`
	CreateSecondary bool   `key:"create_secondary" default:"on" doc:"an index on k, built when the rows are in"`
	CreateTable     string `key:"create_table" doc:"your own CREATE TABLE with columns id, k, c and pad, in place of engine, options, auto_inc and secondary; ${table} stands for the table's name, which with one table may be written out as sbtest1"`
	Distribution           // of k
}

// LegacyTableOptions are the options of the tables of oltp_legacy.
type LegacyTableOptions struct {
	TableOptions
	MaxRows plan.Count `key:"myisam_max_rows" default:"1000000" min:"1" unit:"rows" doc:"MAX_ROWS of the tables, which only MyISAM heeds"`
}

// Schema is the tables of sysbench 1.0, and with Legacy those of its legacy scripts and of 0.5: sbtest1, sbtest2, …
type Schema struct {
	Legacy bool // unsigned columns
}

var (
	_ tables.Schema   = Schema{}
	_ tables.Custom   = Schema{}
	_ tables.Optioned = Schema{}
	_ tables.Portable = Schema{}
)

// Doc implements tables.Schema.
func (s Schema) Doc() string {
	if s.Legacy {
		return "the tables of sysbench 0.5 and of the legacy scripts of 1.0: as sbtest, with unsigned columns"
	}
	return "sysbench's tables sbtest1, sbtest2, …: id, an indexed number k, and two texts of 119 and 59 characters"
}

// Options implements tables.Schema.
func (s Schema) Options() any {
	if s.Legacy {
		return new(LegacyTableOptions)
	}
	return new(TableOptions)
}

// Check implements tables.Schema.
func (s Schema) Check(spec plan.Tables) error {
	return errors.Join(checkRows(spec, s.Legacy), s.checkCreateTable(spec))
}

// checkRows refuses more rows than the column id has numbers for.
func checkRows(spec plan.Tables, unsigned bool) error {
	most := int64(math.MaxInt32)
	if unsigned {
		most = math.MaxUint32
	}
	if int64(spec.Rows) > most {
		return fmt.Errorf("rows is %d: the column id, an INTEGER, takes at most %d", spec.Rows, most)
	}
	return nil
}

// placeholder stands for the table's name in a plan's own CREATE TABLE.
const placeholder = "${table}"

// createsFirst finds the name of the first table where a plan's own CREATE TABLE has its name.
var createsFirst = regexp.MustCompile("(?is)^\\s*CREATE\\s+TABLE\\s+`?sbtest1\\b")

// whereMissing finds what would have a table of somebody else's taken for the plan's own.
var whereMissing = regexp.MustCompile(`(?i)\bIF\s+NOT\s+EXISTS\b`)

func (s Schema) checkCreateTable(spec plan.Tables) error {
	ddl := s.of(spec).CreateTable
	switch {
	case ddl == "":
		return nil
	case spec.Options != "":
		return errors.New("options has no place beside create_table: write it into create_table")
	case whereMissing.MatchString(ddl):
		return errors.New("create_table has to make its table: leave IF NOT EXISTS out")
	case strings.Contains(ddl, placeholder):
		return nil
	case spec.Count > 1:
		return fmt.Errorf("create_table has to make %d tables: write %s where the table's name stands", spec.Count, placeholder)
	case !createsFirst.MatchString(ddl):
		return fmt.Errorf("create_table has to make the table sbtest1: begin it with CREATE TABLE sbtest1, or write %s where the name stands", placeholder)
	}
	return nil
}

// of gives the options of the tables.
func (s Schema) of(spec plan.Tables) TableOptions {
	if s.Legacy {
		return more(spec, LegacyTableOptions{TableOptions: defaultTables}).TableOptions
	}
	return sbtestOptions(spec)
}

var defaultTables = TableOptions{AutoInc: true, CreateSecondary: true}

// sbtestOptions gives the options of tables of the schema sbtest.
func sbtestOptions(spec plan.Tables) TableOptions { return more(spec, defaultTables) }

// more gives the options that only this schema has; the defaults where nobody has filled them in.
func more[T any](spec plan.Tables, defaults T) T {
	if o, ok := spec.More.(*T); ok && o != nil {
		return *o
	}
	return defaults
}

// Table implements tables.Schema.
func (Schema) Table(_ plan.Tables, i int) string { return tableName(i) }

// Body implements tables.Schema.
func (s Schema) Body(spec plan.Tables, _ int) string {
	o := s.of(spec)
	return body(s.Legacy, o.AutoInc, o.Secondary)
}

// body gives the columns and the key of id as sysbench writes them.
func body(unsigned, autoInc, secondary bool) string {
	integer, id, key := "INTEGER", "NOT NULL", "PRIMARY KEY"
	if unsigned {
		integer = "INTEGER UNSIGNED"
	}
	if autoInc {
		id = "NOT NULL AUTO_INCREMENT"
	}
	if secondary {
		key = "KEY xid"
	}
	return fmt.Sprintf("id %s %s, k %s DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, %s (id)", integer, id, integer, key)
}

// TableOptions implements tables.Optioned.
func (s Schema) TableOptions(spec plan.Tables, _ int) string {
	if !s.Legacy {
		return ""
	}
	return maxRows(more(spec, LegacyTableOptions{MaxRows: defaultMaxRows}).MaxRows)
}

const defaultMaxRows = 1_000_000

func maxRows(n plan.Count) string { return fmt.Sprintf("MAX_ROWS=%d", n) }

// CreateTable implements tables.Custom.
func (s Schema) CreateTable(spec plan.Tables, i int) string {
	ddl := strings.TrimRight(s.of(spec).CreateTable, "; \t\r\n")
	return strings.ReplaceAll(ddl, placeholder, tableName(i))
}

// Portable implements tables.Portable: without a CREATE TABLE of the plan's own.
func (s Schema) Portable(spec plan.Tables) plan.Tables {
	switch o := spec.More.(type) {
	case *TableOptions:
		plain := *o
		plain.CreateTable = ""
		spec.More = &plain
	case *LegacyTableOptions:
		plain := *o
		plain.CreateTable = ""
		spec.More = &plain
	}
	return spec
}

// Indexes implements tables.Schema.
func (s Schema) Indexes(spec plan.Tables, i int) []tables.Index {
	if !s.of(spec).CreateSecondary {
		return nil
	}
	return []tables.Index{{Name: fmt.Sprintf("k_%d", i+1), Columns: []string{"k"}}}
}

// Columns implements tables.Schema.
func (Schema) Columns(plan.Tables) []string { return columns() }

func columns() []string { return []string{"id", "k", "c", "pad"} }

// Rows implements tables.Schema.
func (s Schema) Rows(spec plan.Tables, _ int) tables.Row {
	o := s.of(spec)
	k := o.sampler(1, int64(spec.Rows))
	return func(row *engine.Args, n int64, random *rand.Rand) {
		row.Int(n)
		row.Int(k.draw(random))
		rows.AddC(row, random)
		rows.AddPad(row, random)
	}
}
