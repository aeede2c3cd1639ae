package benchyou

import (
	"fmt"
	"math"
	"math/rand/v2"

	"benchplan/plan"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/rows"
	"benchplan/workloads/tables"
)

// SchemaName is the name of benchyou's tables in a plan.
const SchemaName = "benchyou"

// Schema is benchyou's tables: benchyou0, benchyou1, … Other than benchyou, prepare can fill them: ids 1 to rows.
type Schema struct{}

var _ tables.Schema = Schema{}

// Doc implements tables.Schema.
func (Schema) Doc() string {
	return "benchyou's tables benchyou0, benchyou1, …: id, an indexed number k, and two texts of 119 and 59 characters"
}

// Options implements tables.Schema: there are none.
func (Schema) Options() any { return nil }

// Check implements tables.Schema: anything goes.
func (Schema) Check(plan.Tables) error { return nil }

// Table implements tables.Schema.
func (Schema) Table(_ plan.Tables, i int) string { return tableName(i) }

func tableName(i int) string { return fmt.Sprintf("benchyou%d", i) }

// Body implements tables.Schema.
func (Schema) Body(plan.Tables, int) string {
	return "id bigint unsigned NOT NULL AUTO_INCREMENT, k bigint unsigned NOT NULL DEFAULT '0', " +
		"c char(120) NOT NULL DEFAULT '', pad char(60) NOT NULL DEFAULT '', PRIMARY KEY (id), KEY k_1 (k)"
}

// Indexes implements tables.Schema: they are all made with the table.
func (Schema) Indexes(plan.Tables, int) []tables.Index { return nil }

// Columns implements tables.Schema.
func (Schema) Columns(plan.Tables) []string { return []string{"id", "k", "c", "pad"} }

// Rows implements tables.Schema.
func (Schema) Rows(plan.Tables, int) tables.Row { return appendRow }

func appendRow(row *engine.Args, n int64, random *rand.Rand) {
	row.Int(n)
	row.Int(random.Int64N(math.MaxInt64))
	rows.AddC(row, random)
	rows.AddPad(row, random)
}
