package sysbench_test

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
	"benchplan/workloads/sysbench"
	"benchplan/workloads/tables"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// options gives the options of a workload or a schema: the defaults of their tags, then what a test changes.
func options[T any](t testing.TB, change func(o *T)) *T {
	t.Helper()
	o := new(T)
	plan.SetDefaults(o)
	if change != nil {
		change(o)
	}
	return o
}

// workload finds a definition.
func workload(t testing.TB, name string) engine.Definition {
	t.Helper()
	for _, d := range sysbench.Workloads() {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("no workload %s", name)
	return engine.Definition{}
}

// standard gives the workload's options by their defaults.
func standard(t testing.TB, name string) any {
	t.Helper()
	o := workload(t, name).Options()
	plan.SetDefaults(o)
	return o
}

func spec(schema string, count int, rows plan.Count) plan.Tables {
	return plan.Tables{Schema: schema, Count: count, Rows: rows, Engine: "innodb"}
}

// with gives the spec with options of the schema's own.
func with(s plan.Tables, more any) plan.Tables {
	s.More = more
	return s
}

func prepare(t testing.TB, d *testdb.Database, spec plan.Tables) {
	t.Helper()
	if _, err := tables.Prepare(t.Context(), d.Connector(), sysbench.Schemas()[spec.Schema], spec, tables.PrepareOptions{Force: true, Seed: 1}, nil); err != nil {
		t.Fatal(err)
	}
}

func clients(n int) []engine.RoleClients { return []engine.RoleClients{{Count: n}} }

func run(t testing.TB, d *testdb.Database, name string, options any, spec plan.Tables, o engine.Order) results.Outcome {
	t.Helper()
	definition := workload(t, name)
	o.Workload = name
	o.PSMode = cmp.Or(o.PSMode, definition.PSMode)
	w, err := definition.New(options, spec, map[string]int{"": o.Total()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := engine.Run(ctx, d.Connector(), w, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkLedger holds the tables against what the run says was acknowledged.
func checkLedger(t *testing.T, d *testdb.Database, spec plan.Tables, out results.Outcome) {
	t.Helper()
	counted, err := tables.Count(t.Context(), d.Connector(), sysbench.Schemas()[spec.Schema], spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range counted {
		l := out.Ledger[table.Table]
		if want := int64(spec.Rows) + l.Inserted - l.Deleted; table.Rows != want || l.Unsure != 0 {
			t.Errorf("%s has %d rows, the ledger %+v says %d", table.Table, table.Rows, l, want)
		}
	}
}

// counters are the server's counts of statements by class.
type counters struct{ read, write, other int64 }

func statements(d *testdb.Database) counters {
	sum := func(names ...string) (n int64) {
		for _, name := range names {
			n += d.Status("Com_" + name)
		}
		return n
	}
	return counters{
		read:  sum("select"),
		write: sum("insert", "update", "delete"),
		other: sum("begin", "commit", "rollback", "lock_tables", "unlock_tables"),
	}
}

func (c counters) minus(other counters) counters {
	return counters{c.read - other.read, c.write - other.write, c.other - other.other}
}

// logged has the server write down the statements that clients send meanwhile.
func logged(d *testdb.Database, do func()) []string {
	d.Exec("SET GLOBAL log_output='TABLE'", "TRUNCATE TABLE mysql.general_log", "SET GLOBAL general_log=ON")
	func() {
		defer d.Exec("SET GLOBAL general_log=OFF")
		do()
	}()
	var sent []string
	for _, row := range d.Rows("SELECT argument FROM mysql.general_log WHERE command_type IN ('Query','Execute')") {
		q := strings.Join(strings.Fields(row[0]), " ")
		if q == "" || strings.Contains(q, "@@") || strings.Contains(q, "general_log") {
			continue
		}
		sent = append(sent, q)
	}
	return sent
}

var (
	texts   = regexp.MustCompile(`'[^']*'`)
	numbers = regexp.MustCompile(`(?:\B-)?\b\d+\b`)
	names   = regexp.MustCompile(`\bsbtest\d*\b`)
)

// shape is a statement without its values: what matters when statements are compared.
func shape(q string) string {
	q = texts.ReplaceAllString(q, "text")
	q = names.ReplaceAllString(q, "T")
	q = numbers.ReplaceAllString(q, "#")
	return q
}

func shapes(list []string) []string {
	out := make([]string, len(list))
	for i, q := range list {
		out[i] = shape(q)
	}
	return out
}

// values gives the numbers of a statement outside of its texts and of the table's name.
func values(t testing.TB, q string) (list []int64) {
	t.Helper()
	for _, text := range numbers.FindAllString(names.ReplaceAllString(texts.ReplaceAllString(q, ""), ""), -1) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

func table(q string) string { return names.FindString(q) }

// repeat writes a statement n times.
func repeat(n int, q string) []string { return slices.Repeat([]string{q}, n) }

func sum(list []results.ErrorCount) (n int64) {
	for _, e := range list {
		n += e.Count
	}
	return n
}

func describe(list []results.ErrorCount) string {
	var parts []string
	for _, e := range list {
		parts = append(parts, fmt.Sprintf("%d: %d %s", e.Code, e.Count, e.Message))
	}
	return strings.Join(parts, "; ")
}
