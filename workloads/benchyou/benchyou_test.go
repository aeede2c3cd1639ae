package benchyou_test

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps/localserver/servertest"
	"benchplan/workloads/benchyou"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
	"benchplan/workloads/tables"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func spec(rows plan.Count) plan.Tables {
	return plan.Tables{Schema: benchyou.SchemaName, Count: 4, Rows: rows, Engine: "innodb"}
}

func prepare(t *testing.T, s *testdb.Database, spec plan.Tables) {
	t.Helper()
	if _, err := tables.Prepare(t.Context(), s.Connector(), benchyou.Schema{}, spec, tables.PrepareOptions{}, nil); err != nil {
		t.Fatal(err)
	}
}

// clients by role, in the order of benchyou.
func clients(write, read, update, deletes int) []engine.RoleClients {
	return []engine.RoleClients{{Role: "write", Count: write}, {Role: "read", Count: read}, {Role: "update", Count: update}, {Role: "delete", Count: deletes}}
}

func run(t *testing.T, s *testdb.Database, d engine.Definition, options any, spec plan.Tables, o engine.Order) results.Outcome {
	t.Helper()
	o.Workload = d.Name
	if o.PSMode == "" {
		o.PSMode = d.PSMode
	}
	w, err := d.New(options, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := engine.Run(ctx, s.Connector(), w, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func count(t *testing.T, s *testdb.Database, spec plan.Tables) map[string]int64 {
	t.Helper()
	rows, err := tables.Count(t.Context(), s.Connector(), benchyou.Schema{}, spec)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]int64{}
	for _, r := range rows {
		m[r.Table] = r.Rows
	}
	return m
}

// checkLedger holds the tables against what the run says was acknowledged.
func checkLedger(t *testing.T, s *testdb.Database, spec plan.Tables, out results.Outcome) {
	t.Helper()
	for table, n := range count(t, s, spec) {
		l := out.Ledger[table]
		if want := int64(spec.Rows) + l.Inserted - l.Deleted; n != want || l.Unsure != 0 {
			t.Errorf("%s has %d rows, the ledger %+v says %d", table, n, l, want)
		}
	}
}

func counters(s *testdb.Database, names ...string) map[string]int64 {
	m := map[string]int64{}
	for _, name := range names {
		m[name] = s.Status(name)
	}
	return m
}

func TestEventsAreExactAndAreWhatTheServerSaw(t *testing.T) {
	s := testdb.Shared(t)
	for _, tt := range []struct {
		name    string
		def     engine.Definition
		options any
		mode    engine.PSMode
		clients []engine.RoleClients
	}{
		{"random", benchyou.Random(), &benchyou.Options{RowsPerInsert: 1, BatchPerCommit: 1, Keys: "sliced"}, "", clients(4, 2, 1, 1)},
		{"random prepared", benchyou.Random(), &benchyou.Options{RowsPerInsert: 3, BatchPerCommit: 1, Keys: "existing"}, engine.PSAuto, clients(2, 2, 2, 2)},
		{"seq", benchyou.Seq(), &benchyou.Options{RowsPerInsert: 2, BatchPerCommit: 1, Keys: "existing"}, "", clients(2, 2, 2, 2)},
		{"range", benchyou.Range(), &benchyou.RangeOptions{RowsPerInsert: 1, BatchPerCommit: 1, Keys: "existing", Order: "desc"}, "", clients(4, 4, 0, 0)},
		{"batch", benchyou.Random(), &benchyou.Options{RowsPerInsert: 1, BatchPerCommit: 7, Keys: "existing"}, "", clients(4, 0, 2, 2)},
		{"xa", benchyou.Random(), &benchyou.Options{RowsPerInsert: 1, BatchPerCommit: 1, XA: true, Keys: "existing"}, engine.PSAuto, clients(4, 0, 2, 2)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sp := spec(1000)
			prepare(t, s, sp)
			names := []string{"Com_insert", "Com_update", "Com_delete", "Com_select", "Com_stmt_prepare"}
			before := counters(s, names...)
			out := run(t, s, tt.def, tt.options, sp, engine.Order{Clients: tt.clients, Events: 4000, Seed: 3, PSMode: tt.mode})
			after := counters(s, names...)
			if out.Events != 4000 || out.Stopped != results.ByEvents || out.Latency.Count != 4000 {
				t.Errorf("events %d (%d in the histogram), stopped by %s; want 4000", out.Events, out.Latency.Count, out.Stopped)
			}
			writes := after["Com_insert"] + after["Com_update"] + after["Com_delete"] - before["Com_insert"] - before["Com_update"] - before["Com_delete"]
			// The server also counts those that failed: a client of batches can meet another in a deadlock.
			for _, r := range out.Restarts {
				writes -= r.Count
			}
			if got := out.Statements[results.Write].Count; got != writes {
				t.Errorf("the record has %d writes, the server had %d beside the restarts %+v", got, writes, out.Restarts)
			}
			// The checks of this test and the first look at sql_mode select too.
			reads := after["Com_select"] - before["Com_select"]
			if got := out.Statements[results.Read].Count; got > reads || got < reads-10 {
				t.Errorf("the record has %d reads, the server had %d", got, reads)
			}
			if got := out.Statements[results.Read].Count + out.Statements[results.Write].Count; got != 4000 {
				t.Errorf("reads and writes are %d, want 4000", got)
			}
			if prepared := after["Com_stmt_prepare"] > before["Com_stmt_prepare"]; prepared != (tt.mode == engine.PSAuto) {
				t.Errorf("prepared statements were used: %v", prepared)
			}
			var sum int64
			for _, second := range out.Series {
				sum += second.Events
			}
			if sum != 4000 {
				t.Errorf("the series has %d events", sum)
			}
			checkLedger(t, s, sp, out)
		})
	}
}

// TestStatementsOnTheServer reads the server's general log.
func TestStatementsOnTheServer(t *testing.T) {
	s := testdb.Own(t, nil)
	s.Exec("SET GLOBAL log_output='TABLE'")
	for _, tt := range []struct {
		name    string
		def     engine.Definition
		options any
		clients []engine.RoleClients
		events  plan.Count
		want    string // the verbs that one connection sent, as a pattern
	}{
		{"batch", benchyou.Random(), &benchyou.Options{RowsPerInsert: 2, BatchPerCommit: 3, Keys: "sliced"}, clients(1, 0, 0, 0), 7,
			"begin INSERT INSERT INSERT commit begin INSERT INSERT INSERT commit begin INSERT commit"},
		{"xa", benchyou.Random(), &benchyou.Options{RowsPerInsert: 1, BatchPerCommit: 1, XA: true, Keys: "sliced"}, clients(0, 0, 1, 0), 2,
			"xa-start UPDATE xa-end xa-prepare xa-commit xa-start UPDATE xa-end xa-prepare xa-commit"},
		{"plain", benchyou.Random(), &benchyou.Options{RowsPerInsert: 1, BatchPerCommit: 1, Keys: "sliced"}, clients(0, 0, 0, 1), 2, "DELETE DELETE"},
		{"range", benchyou.Range(), &benchyou.RangeOptions{RowsPerInsert: 1, BatchPerCommit: 1, Keys: "sliced", Order: "asc"}, clients(0, 1, 0, 0), 2, "SELECT SELECT"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sp := spec(0)
			prepare(t, s, sp)
			s.Exec("TRUNCATE TABLE mysql.general_log", "SET GLOBAL general_log=ON")
			run(t, s, tt.def, tt.options, sp, engine.Order{Clients: tt.clients, Events: tt.events, Seed: 3})
			s.Exec("SET GLOBAL general_log=OFF")
			var verbs []string
			for _, row := range s.Rows("SELECT argument FROM mysql.general_log WHERE command_type='Query' AND argument NOT LIKE '%@@%' AND argument NOT LIKE 'SET %' AND argument NOT LIKE 'USE %' ORDER BY event_time") {
				words := strings.Fields(row[0])
				verb := words[0]
				if verb == "xa" {
					verb += "-" + words[1]
				}
				verbs = append(verbs, verb)
			}
			if got := strings.Join(verbs, " "); got != tt.want {
				t.Errorf("sent\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

var writers = []struct {
	name    string
	options benchyou.Options
}{
	{"alone", benchyou.Options{RowsPerInsert: 2, BatchPerCommit: 1, Keys: "existing"}},
	{"batch", benchyou.Options{RowsPerInsert: 2, BatchPerCommit: 5, Keys: "existing"}},
	{"xa", benchyou.Options{RowsPerInsert: 2, BatchPerCommit: 1, XA: true, Keys: "existing"}},
}

func TestFailedWritesAreRolledBack(t *testing.T) {
	s := testdb.Shared(t)
	for _, tt := range writers {
		t.Run(tt.name, func(t *testing.T) {
			sp := spec(500)
			prepare(t, s, sp)
			// Inserts into this table fail after the statement began, those into that one before.
			s.Exec("CREATE TRIGGER refuse BEFORE INSERT ON benchyou1 FOR EACH ROW SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO=1105, MESSAGE_TEXT='refused'",
				"RENAME TABLE benchyou3 TO elsewhere")
			out := run(t, s, benchyou.Random(), &tt.options, sp, engine.Order{
				Clients: clients(4, 0, 0, 2), Events: 1000, Seed: 3, OnError: map[int]engine.Action{1105: engine.Count, 1146: engine.Count},
			})
			s.Exec("RENAME TABLE elsewhere TO benchyou3")
			var failed int64
			for _, e := range out.Errors {
				failed += e.Count
			}
			if failed < 200 || out.Events+failed != 1000 || len(out.Restarts) != 0 || out.Reconnects != 0 {
				t.Errorf("%d events, errors %+v, restarts %+v, %d reconnects", out.Events, out.Errors, out.Restarts, out.Reconnects)
			}
			checkLedger(t, s, sp, out)
			if left := s.Rows("XA RECOVER"); len(left) != 0 {
				t.Errorf("left prepared: %v", left)
			}
		})
	}
}

func TestTheLedgerKnowsWhatItDoesNotKnow(t *testing.T) {
	s := testdb.Own(t, nil)
	for _, tt := range writers {
		t.Run(tt.name, func(t *testing.T) {
			sp := spec(500)
			prepare(t, s, sp)
			w, err := benchyou.Random().New(&tt.options, sp, nil)
			if err != nil {
				t.Fatal(err)
			}
			o := engine.Order{Clients: clients(8, 0, 0, 4), Duration: plan.Duration(2 * time.Second), PSMode: engine.PSDisable}
			out, err := engine.Run(t.Context(), s.Connector(), w, o, func(engine.Snapshot) {
				for _, row := range s.Rows("SELECT id FROM information_schema.processlist WHERE db='test' AND id<>CONNECTION_ID()") {
					s.Exec("KILL CONNECTION " + row[0])
				}
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if out.Reconnects < 10 {
				t.Errorf("%d reconnects", out.Reconnects)
			}
			var unsure int64
			for table, n := range count(t, s, sp) {
				l := out.Ledger[table]
				unsure += l.Unsure
				if want := 500 + l.Inserted - l.Deleted; n < want-l.Unsure || n > want+l.Unsure {
					t.Errorf("%s has %d rows, the ledger %+v says %d", table, n, l, want)
				}
			}
			t.Logf("%d reconnects, %d rows unsure, %d events", out.Reconnects, unsure, out.Events)
			if left := s.Rows("XA RECOVER"); len(left) != 0 {
				t.Errorf("left prepared: %v", left)
			}
		})
	}
}

// TestSameSeedSameStatements draws from two workloads made alike.
func TestSameSeedSameStatements(t *testing.T) {
	draw := func(seed uint64, role string) (all []string) {
		w, err := benchyou.Random().New(&benchyou.Options{RowsPerInsert: 2, BatchPerCommit: 2, Keys: "existing"}, spec(100), nil)
		if err != nil {
			t.Fatal(err)
		}
		return engine.Preview(w, role, 1, 4, seed, 50)
	}
	shapes := map[string]string{
		"write":  `^(begin|commit|INSERT INTO benchyou[0-3]\(k,c,pad,id\) VALUES \(\d+,'(\d{11}-){9}\d{11}','(\d{11}-){4}\d{11}',\d+\),\(.*\))$`,
		"read":   `^SELECT \* FROM benchyou[0-3] WHERE id=\d+$`,
		"update": `^(begin|commit|UPDATE benchyou[0-3] SET c='(\d{11}-){9}\d{11}' WHERE id=\d+)$`,
		"delete": `^(begin|commit|DELETE FROM benchyou[0-3] WHERE id=\d+)$`,
	}
	for _, role := range slices.Sorted(maps.Keys(shapes)) {
		a, b, other := draw(1, role), draw(1, role), draw(2, role)
		if !slices.Equal(a, b) {
			t.Errorf("%s: two runs with one seed differ", role)
		}
		if slices.Equal(a, other) {
			t.Errorf("%s: two seeds give the same", role)
		}
		for _, q := range a {
			if !regexp.MustCompile(shapes[role]).MatchString(q) {
				t.Errorf("%s: %s", role, q)
			}
		}
	}
}

func TestTextAndPreparedFindTheSame(t *testing.T) {
	s := testdb.Shared(t)
	sp := spec(500)
	o := engine.Order{Clients: clients(0, 2, 0, 0), Events: 1000, Seed: 5}
	var rows []int64
	for _, mode := range []engine.PSMode{engine.PSAuto, engine.PSDisable} {
		prepare(t, s, sp)
		o.PSMode = mode
		// One client, so that which statements come is fixed.
		o.Clients = clients(0, 1, 0, 0)
		out := run(t, s, benchyou.Range(), &benchyou.RangeOptions{RowsPerInsert: 1, BatchPerCommit: 1, Keys: "existing", Order: "asc"}, sp, o)
		rows = append(rows, out.Statements[results.Read].Rows)
	}
	if rows[0] != rows[1] || rows[0] < 1000 {
		t.Errorf("rows read: %d prepared, %d as text", rows[0], rows[1])
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options benchyou.Options
		rows    plan.Count
		want    string // part of the error
	}{
		{"defaults", benchyou.Options{BatchPerCommit: 1, Keys: "sliced"}, 0, ""},
		{"existing on empty tables", benchyou.Options{BatchPerCommit: 1, Keys: "existing"}, 0, "needs tables with rows"},
		{"existing", benchyou.Options{BatchPerCommit: 1, Keys: "existing"}, 1, ""},
		{"xa in batches", benchyou.Options{BatchPerCommit: 2, XA: true, Keys: "sliced"}, 0, "exclude each other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := benchyou.Random().Check(&tt.options, spec(tt.rows))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestNothingStaysPreparedWhenConnectionsAreCut: a server that hangs over the end of a cell has its connections cut, some of them
// between xa prepare and xa commit. What is prepared outlives that, with its locks, so it is rolled back on other connections.
func TestNothingStaysPreparedWhenConnectionsAreCut(t *testing.T) {
	t.Parallel()
	s := testdb.Own(t, nil)
	sp := spec(100)
	prepare(t, s, sp)
	d := benchyou.Random()
	w, err := d.New(&benchyou.Options{RowsPerInsert: 1, BatchPerCommit: 1, XA: true, Keys: "sliced"}, sp, map[string]int{"write": 32})
	if err != nil {
		t.Fatal(err)
	}
	seconds := 0
	order := engine.Order{Clients: clients(32, 0, 0, 0), Duration: plan.Duration(2 * time.Second), Grace: plan.Duration(300 * time.Millisecond), PSMode: d.PSMode}
	out, err := engine.Run(t.Context(), s.Connector(), w, order, func(engine.Snapshot) {
		if seconds++; seconds == 1 {
			s.Freeze()
			time.AfterFunc(2500*time.Millisecond, s.Thaw)
		}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Cut == 0 || out.Stranded != 0 {
		t.Errorf("%d cut, %d stranded", out.Cut, out.Stranded)
	}
	time.Sleep(200 * time.Millisecond) // the server may yet be busy with connections that were cut
	db := servertest.OpenDB(t, s.Server, s.Name)
	rows, err := db.Query("XA RECOVER")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		t.Error("a transaction is still prepared")
	}
}
