package tables_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"benchplan/plan"
	"benchplan/workloads/benchyou"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
	"benchplan/workloads/sysbench"
	"benchplan/workloads/tables"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// odd is a schema with all that is unusual: a name that needs quoting, an index made later, texts that need escaping.
type odd struct{ benchyou.Schema }

func (odd) Table(_ plan.Tables, i int) string { return fmt.Sprintf("an `odd` table%d", i) }

func (odd) Body(plan.Tables, int) string {
	return "`id` INT NOT NULL PRIMARY KEY, `group` VARCHAR(200) NOT NULL COMMENT 'COMMENT=''benchplan'''"
}

func (odd) Indexes(plan.Tables, int) []tables.Index {
	return []tables.Index{{Name: "later", Columns: []string{"group", "id"}}}
}

func (odd) Columns(plan.Tables) []string { return []string{"id", "group"} }

func (odd) Rows(plan.Tables, int) tables.Row {
	return func(row *engine.Args, n int64, random *rand.Rand) {
		row.Int(n)
		row.Text(func(dst []byte) []byte {
			const special = "\t\n\\'\"\x00\x1a a%_,"
			for range random.IntN(100) {
				dst = append(dst, special[random.IntN(len(special))])
			}
			return dst
		})
	}
}

func spec(count int, rows plan.Count) plan.Tables {
	return plan.Tables{Count: count, Rows: rows, Engine: "innodb"}
}

func prepare(t *testing.T, d *testdb.Database, schema tables.Schema, spec plan.Tables, o tables.PrepareOptions) tables.Report {
	t.Helper()
	r, err := tables.Prepare(t.Context(), d.Connector(), schema, spec, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func checksums(d *testdb.Database, schema tables.Schema, spec plan.Tables) (sums []string) {
	for _, name := range tables.Names(schema, spec) {
		sums = append(sums, d.Rows("CHECKSUM TABLE " + tables.Quote(name))[0][1])
	}
	return sums
}

func TestContentsDependOnTheSeedAlone(t *testing.T) {
	d := testdb.Shared(t)
	for _, tt := range []struct {
		name    string
		schema  tables.Schema
		rows    plan.Count
		options string
	}{
		{"benchyou", benchyou.Schema{}, 25_123, ""},
		{"odd", odd{}, 10_001, ""},
		{"sbtest", sysbench.Schema{}, 30_000, "DEFAULT CHARSET=utf8mb4"},
		{"wide characters", odd{}, 10_001, "DEFAULT CHARSET=utf16"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sp := spec(2, tt.rows)
			sp.Options = tt.options
			var all [][]string
			for _, o := range []tables.PrepareOptions{
				{Method: tables.Insert, Threads: 1, Seed: 7},
				{Method: tables.Insert, Threads: 5, Seed: 7, BatchBytes: 5000},
				{Method: tables.LoadData, Threads: 1, Seed: 7},
				{Method: tables.LoadData, Threads: 5, Seed: 7},
				{Method: tables.Prepared, Threads: 1, Seed: 7},
				{Method: tables.Prepared, Threads: 5, Seed: 7, BatchBytes: 5000},
				{Method: tables.Auto, Seed: 7},
			} {
				r := prepare(t, d, tt.schema, sp, o)
				if r.Rows != 2*int64(tt.rows) || r.Tables != 2 || r.Bytes == 0 || r.Elapsed <= 0 {
					t.Errorf("report %+v", r)
				}
				if want := o.Method; want != tables.Auto && r.Method != want || want == tables.Auto && r.Method != tables.Prepared {
					t.Errorf("asked for %s, used %s", o.Method, r.Method)
				}
				all = append(all, checksums(d, tt.schema, sp))
			}
			for _, sums := range all[1:] {
				if !slices.Equal(sums, all[0]) {
					t.Errorf("checksums differ: %v", all)
				}
			}
			if all[0][0] == all[0][1] {
				t.Error("both tables have the same rows")
			}
			prepare(t, d, tt.schema, sp, tables.PrepareOptions{Seed: 8})
			if slices.Equal(checksums(d, tt.schema, sp), all[0]) {
				t.Error("another seed made the same rows")
			}
		})
	}
}

// meeting is a schema in which both stretches of its one table come together halfway, or do not, which takes patience.
type meeting struct {
	odd
	counter  string
	patience time.Duration
	met      *atomic.Bool
	there    chan struct{}
}

func (m meeting) Body(spec plan.Tables, i int) string {
	return strings.Replace(m.odd.Body(spec, i), " PRIMARY KEY", m.counter+" PRIMARY KEY", 1)
}

func (m meeting) Rows(spec plan.Tables, i int) tables.Row {
	makeRow := m.odd.Rows(spec, i)
	return func(row *engine.Args, n int64, random *rand.Rand) {
		makeRow(row, n, random)
		if n%tables.StretchRows != tables.StretchRows/2 {
			return
		}
		select {
		case m.there <- struct{}{}:
			m.met.Store(true)
		case <-m.there:
		case <-time.After(m.patience):
		}
	}
}

// TestLoadersOfOneTable are several where they can be. LOAD DATA holds the lock of an AUTO_INCREMENT counter until its end: whoever
// else loads the table could only wait, and would fail after innodb_lock_wait_timeout.
func TestLoadersOfOneTable(t *testing.T) {
	const counter = " AUTO_INCREMENT"
	d := testdb.Own(t, map[string]string{"innodb_lock_wait_timeout": "1", "innodb_autoinc_lock_mode": "1"})
	interleaved := testdb.Own(t, map[string]string{"innodb_lock_wait_timeout": "1", "innodb_autoinc_lock_mode": "2"})
	for _, tt := range []struct {
		name    string
		d       *testdb.Database
		method  tables.Method
		counter string
		meet    bool
	}{
		{"load_data, no counter", d, tables.LoadData, "", true},
		{"load_data, counter", d, tables.LoadData, counter, false},
		{"load_data, counter without a lock", interleaved, tables.LoadData, counter, true},
		{"insert, counter", d, tables.Insert, counter, true},
		{"prepared, counter", d, tables.Prepared, counter, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			schema := meeting{counter: tt.counter, patience: 20 * time.Second, met: new(atomic.Bool), there: make(chan struct{})}
			if !tt.meet {
				schema.patience = 1500 * time.Millisecond
			}
			r := prepare(t, tt.d, schema, spec(1, 2*tables.StretchRows), tables.PrepareOptions{Method: tt.method, Threads: 2})
			if r.Rows != 2*tables.StretchRows || schema.met.Load() != tt.meet {
				t.Errorf("%+v, at once: %t", r, schema.met.Load())
			}
		})
	}
}

func TestMethods(t *testing.T) {
	d := testdb.Own(t, map[string]string{"local_infile": "ON", "max_allowed_packet": "16K"})
	sp := spec(1, 3000)
	for _, tt := range []struct {
		set  string
		want tables.Method
	}{
		{"max_prepared_stmt_count = 100", tables.Prepared},
		{"max_prepared_stmt_count = 0", tables.Insert},
		{"max_allowed_packet = 17408", tables.LoadData},
		{"local_infile = OFF", tables.Insert},
	} {
		d.Exec("SET GLOBAL " + tt.set)
		if r := prepare(t, d, benchyou.Schema{}, sp, tables.PrepareOptions{}); r.Method != tt.want || r.Rows != 3000 {
			t.Errorf("after %s auto became %+v, want %s", tt.set, r, tt.want)
		}
	}
	_, err := tables.Prepare(t.Context(), d.Connector(), benchyou.Schema{}, sp, tables.PrepareOptions{Method: tables.LoadData}, nil)
	if err == nil || !strings.Contains(err.Error(), "benchyou0") || !strings.Contains(err.Error(), "local_infile") {
		t.Errorf("got %v", err)
	}
	d.Exec("SET GLOBAL local_infile = ON, max_allowed_packet = 16384")
	_, err = tables.Prepare(t.Context(), d.Connector(), benchyou.Schema{}, sp, tables.PrepareOptions{Method: tables.LoadData}, nil)
	if err == nil || !strings.Contains(err.Error(), "max_allowed_packet is 16384") {
		t.Errorf("got %v", err)
	}
	_, err = tables.Prepare(t.Context(), d.Connector(), benchyou.Schema{}, sp, tables.PrepareOptions{Method: "copy"}, nil)
	if err == nil || !strings.Contains(err.Error(), "insert") {
		t.Errorf("got %v", err)
	}
}

// fickle is a schema that has the server refuse prepared statements once the first row is made.
type fickle struct {
	benchyou.Schema
	refuse func()
}

func (f fickle) Rows(spec plan.Tables, i int) tables.Row {
	makeRow := f.Schema.Rows(spec, i)
	return func(row *engine.Args, n int64, random *rand.Rand) {
		f.refuse()
		makeRow(row, n, random)
	}
}

// TestWhatIsPreparedMayBeRefusedLater, as by a proxy to which the tables are of several servers. Who asked for it is told, auto goes on.
func TestWhatIsPreparedMayBeRefusedLater(t *testing.T) {
	d := testdb.Own(t, nil)
	sp := spec(2, 30_000)
	for _, method := range []tables.Method{tables.Auto, tables.Prepared} {
		d.Exec("SET GLOBAL max_prepared_stmt_count = 100")
		var once sync.Once
		schema := fickle{refuse: func() { once.Do(func() { d.Exec("SET GLOBAL max_prepared_stmt_count = 0") }) }}
		r, err := tables.Prepare(t.Context(), d.Connector(), schema, sp, tables.PrepareOptions{Method: method, Threads: 1, Seed: 7}, nil)
		if method == tables.Prepared {
			if err == nil || !strings.Contains(err.Error(), "Error 1461") {
				t.Errorf("got %v", err)
			}
			continue
		}
		if err != nil || r.Method != tables.Insert || r.Rows != 60_000 {
			t.Errorf("got %+v, %v", r, err)
		}
		got := checksums(d, schema, sp)
		prepare(t, d, benchyou.Schema{}, sp, tables.PrepareOptions{Method: tables.Insert, Seed: 7})
		if want := checksums(d, schema, sp); !slices.Equal(got, want) {
			t.Errorf("checksums %v, want %v", got, want)
		}
	}
}

func TestOptionsFollowTheComment(t *testing.T) {
	d := testdb.Shared(t)
	sp := spec(2, 100)
	sp.Options = "PARTITION BY HASH(id) PARTITIONS 4"
	prepare(t, d, benchyou.Schema{}, sp, tables.PrepareOptions{})
	ddl := d.Rows("SHOW CREATE TABLE benchyou1")[0][1]
	if !strings.Contains(ddl, "PARTITIONS 4") || !strings.Contains(ddl, "COMMENT='benchplan ") || !strings.Contains(ddl, "KEY `k_1`") {
		t.Error(ddl)
	}
	sp.Options = "COMMENT='mine'"
	if _, err := tables.Prepare(t.Context(), d.Connector(), benchyou.Schema{}, sp, tables.PrepareOptions{}, nil); err == nil || !strings.Contains(err.Error(), "COMMENT") {
		t.Errorf("got %v", err)
	}
	sp.Options, sp.Engine = "", "nonsense"
	if _, err := tables.Prepare(t.Context(), d.Connector(), benchyou.Schema{}, sp, tables.PrepareOptions{}, nil); err == nil || !strings.Contains(err.Error(), "create table benchyou") {
		t.Errorf("got %v", err)
	}
}

func TestTablesOfOthersAreLeftAlone(t *testing.T) {
	d := testdb.Shared(t)
	sp := spec(3, 10)
	for _, foreign := range []string{
		"CREATE TABLE benchyou1 (a INT)",
		"CREATE TABLE benchyou1 (a INT) COMMENT='benchplanned'",
		"CREATE TABLE benchyou1 (a INT COMMENT 'benchplan', b VARCHAR(50) DEFAULT 'COMMENT=''benchplan''')",
	} {
		d.Exec(foreign)
		_, err := tables.Prepare(t.Context(), d.Connector(), benchyou.Schema{}, sp, tables.PrepareOptions{}, nil)
		if !errors.Is(err, tables.ErrForeign) || !strings.Contains(err.Error(), "benchyou1") || !strings.Contains(err.Error(), "--force") {
			t.Errorf("%s: prepare: %v", foreign, err)
		}
		if _, err := tables.Cleanup(t.Context(), d.Connector(), benchyou.Schema{}, sp, false); !errors.Is(err, tables.ErrForeign) {
			t.Errorf("%s: cleanup: %v", foreign, err)
		}
		if got := d.Rows("SHOW TABLES"); len(got) != 1 {
			t.Errorf("%s: something was made: %v", foreign, got)
		}
		d.Exec("DROP TABLE benchyou1")
	}
	d.Exec("CREATE TABLE benchyou1 (a INT)")
	prepare(t, d, benchyou.Schema{}, sp, tables.PrepareOptions{Force: true})
	prepare(t, d, benchyou.Schema{}, sp, tables.PrepareOptions{})
	d.Exec("DROP TABLE benchyou0", "CREATE TABLE other (a INT)")
	dropped, err := tables.Cleanup(t.Context(), d.Connector(), benchyou.Schema{}, sp, false)
	if err != nil || !slices.Equal(dropped, []string{"benchyou1", "benchyou2"}) {
		t.Errorf("dropped %v, %v", dropped, err)
	}
	if got := d.Rows("SHOW TABLES"); len(got) != 1 || got[0][0] != "other" {
		t.Errorf("left: %v", got)
	}
	if dropped, err := tables.Cleanup(t.Context(), d.Connector(), benchyou.Schema{}, sp, false); err != nil || len(dropped) != 0 {
		t.Errorf("dropped %v, %v", dropped, err)
	}
}

func TestDatabasesOfTheServerAreLeftAlone(t *testing.T) {
	d := testdb.Shared(t)
	for _, name := range []string{"mysql", "information_schema", ""} {
		c := d.Connector(func(c *mysql.Config) { c.DBName = name })
		if _, err := tables.Cleanup(t.Context(), c, benchyou.Schema{}, spec(1, 1), true); err == nil || !strings.Contains(err.Error(), "database") {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := tables.Prepare(t.Context(), c, benchyou.Schema{}, spec(1, 1), tables.PrepareOptions{Force: true}, nil); err == nil || !strings.Contains(err.Error(), "database") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestReuseKeepsWhatIsAsWanted(t *testing.T) {
	d := testdb.Shared(t)
	o := tables.PrepareOptions{Reuse: true, Seed: 1}
	sp := spec(4, 50)
	schema := odd{}
	names := tables.Names(schema, sp)
	if r := prepare(t, d, schema, sp, o); r.Reused != 0 || r.Rows != 200 {
		t.Errorf("first: %+v", r)
	}
	if r := prepare(t, d, schema, sp, o); r.Reused != 4 || r.Rows != 0 || r.Method != "" {
		t.Errorf("again: %+v", r)
	}
	d.Exec("DELETE FROM "+tables.Quote(names[1])+" WHERE id=1", "DROP INDEX later ON "+tables.Quote(names[2]))
	if r := prepare(t, d, schema, sp, o); r.Reused != 2 || r.Rows != 100 {
		t.Errorf("a row and an index missing: %+v", r)
	}
	o.Seed = 2
	if r := prepare(t, d, schema, sp, o); r.Reused != 0 {
		t.Errorf("another seed: %+v", r)
	}
	sp.Options = "ROW_FORMAT=COMPRESSED"
	if r := prepare(t, d, schema, sp, o); r.Reused != 0 {
		t.Errorf("other options: %+v", r)
	}
	o.Reuse = false
	if r := prepare(t, d, schema, sp, o); r.Reused != 0 || r.Rows != 200 {
		t.Errorf("without reuse: %+v", r)
	}
}

func TestCount(t *testing.T) {
	d := testdb.Shared(t)
	sp := spec(3, 20)
	prepare(t, d, benchyou.Schema{}, sp, tables.PrepareOptions{})
	d.Exec("DELETE FROM benchyou1 WHERE id<=5")
	got, err := tables.Count(t.Context(), d.Connector(), benchyou.Schema{}, sp)
	want := []tables.TableRows{{Table: "benchyou0", Rows: 20}, {Table: "benchyou1", Rows: 15}, {Table: "benchyou2", Rows: 20}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	sp.Count = 4
	if _, err := tables.Count(t.Context(), d.Connector(), benchyou.Schema{}, sp); err == nil || !strings.Contains(err.Error(), "benchyou3") {
		t.Errorf("got %v", err)
	}
}

func TestPrepareEndsWhenItIsInterrupted(t *testing.T) {
	d := testdb.Shared(t)
	for _, method := range tables.Methods[1:] {
		ctx, cancel := context.WithCancel(t.Context())
		var last, total int64
		_, err := tables.Prepare(ctx, d.Connector(), benchyou.Schema{}, spec(4, 200_000), tables.PrepareOptions{Method: method, Threads: 4}, func(done, all int64) {
			if done <= last {
				t.Errorf("progress went from %d to %d", last, done)
			}
			last, total = done, all
			cancel()
		})
		cancel()
		if !errors.Is(err, context.Canceled) || total != 800_000 || last >= total {
			t.Errorf("%s: %v after %d of %d rows", method, err, last, total)
		}
	}
}

func TestALoadThatFailsNamesTheTableAndTheCause(t *testing.T) {
	d := testdb.Shared(t)
	for _, method := range tables.Methods[1:] {
		_, err := tables.Prepare(t.Context(), d.Connector(), clash{}, spec(1, 100), tables.PrepareOptions{Method: method}, nil)
		if err == nil || !strings.Contains(err.Error(), "fill table benchyou0") || !strings.Contains(err.Error(), "rows 1 to 100") {
			t.Errorf("%s: %v", method, err)
		}
		t.Log(err)
	}
}

// clash makes rows that have one id.
type clash struct{ benchyou.Schema }

func (clash) Rows(spec plan.Tables, i int) tables.Row {
	makeRow := benchyou.Schema{}.Rows(spec, i)
	return func(row *engine.Args, _ int64, random *rand.Rand) { makeRow(row, 1, random) }
}
