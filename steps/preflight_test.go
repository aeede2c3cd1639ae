package steps

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
	"benchplan/workloads"
	"benchplan/workloads/benchyou"
)

// narrow is a server that allows little, its target, and a handle on it.
func narrow(t *testing.T) (server *localserver.Server, target string) {
	t.Helper()
	server = servertest.Start(t, localserver.Config{Options: map[string]string{
		"max_connections": "10", "max_prepared_stmt_count": "100", "table_open_cache": "40",
	}})
	return server, fmt.Sprintf("target: { socket: %s, database: d }\ntables: { schema: benchyou, count: 8 }\n", server.Socket())
}

// TestShortagesAreToldBeforeTheRun: all at once, with what is needed and what there is, and nothing is touched.
func TestShortagesAreToldBeforeTheRun(t *testing.T) {
	server, target := narrow(t)
	tr := newTrace(t)
	o := carryOut(t, tr.steps(target+`
steps:
  - GET(a)
  - database: create
  - prepare:
  - name: mix
    matrix: { n: [ 4, 64, 32 ] }
    run: { workload: benchyou_random, threads: { write: "${{ matrix.n }}" }, ps_mode: auto, events: 10 }
finally:
  - GET(z)
`))
	at := `p.yaml:10:5: run "mix" [n=64]: ` + server.Socket() + ": "
	o.fails(t,
		at+"max_connections is 10, and 66 are needed: 64 clients and 2 connections that read the server's status and hold the lock of the tables; SET GLOBAL max_connections = 66, or use fewer clients … check_limits: off",
		at+"max_prepared_stmt_count is 100, and 512 are needed: 64 clients × 8 statements; SET GLOBAL max_prepared_stmt_count = 512, or send text by ps_mode: disable … check_limits: off",
	)
	if len(o.cells) != 0 || tr.seen() != "" || o.run.Status != results.RunFailed {
		t.Errorf("%d cells, requests %q, status %s", len(o.cells), tr.seen(), o.run.Status)
	}
	if len(o.notes) != 1 || o.notes[0] != server.Socket()+": table_open_cache is 40, and 64 clients on 8 tables want 512: the server closes and opens tables while it is measured; SET GLOBAL table_open_cache = 512" {
		t.Errorf("notes %q", o.notes)
	}
}

// TestShortagesThatAreNone: of steps that are not picked or skipped, in a rehearsal, where the target says so, and with what suffices.
func TestShortagesThatAreNone(t *testing.T) {
	_, target := narrow(t)
	page := func(target, beside, run string) string {
		return target + "steps:\n  - database: recreate\n  - prepare:\n  - { name: mix, " + beside + "run: { workload: benchyou_random, events: 10, " + run + " } }\n"
	}
	for name, c := range map[string]struct {
		plan   string
		change func(*Config)
	}{
		"enough":      {plan: page(target, "", "threads: { write: 8 }, ps_mode: auto")},
		"text":        {plan: page(target, "", "threads: { write: 8, read: 0 }, ps_mode: disable")},
		"a false if":  {plan: page(target, "if: false, ", "threads: { write: 500 }")},
		"not picked":  {plan: page(target, "", "threads: { write: 500 }"), change: func(c *Config) { c.Skip = []string{"mix"} }},
		"a rehearsal": {plan: page(target, "", "threads: { write: 60 }"), change: func(c *Config) { c.Rehearse = true }},
		"not heeded":  {plan: page(strings.Replace(target, "{ ", "{ check_limits: off, ", 1), "", "threads: { write: 9, read: 5 }, ps_mode: disable, on_error: { default: count }")},
	} {
		t.Run(name, func(t *testing.T) {
			o := trial{plan: c.plan, change: c.change}.carryOut(t)
			if name == "not heeded" { // then the server says it
				o.fails(t, `p.yaml:6:18: run "mix": … 1040`)
				return
			}
			o.done(t)
		})
	}
}

// TestShortageBehindAStepThatMaySetTheServerUp: it is told at the load, by what the server has then.
func TestShortageBehindAStepThatMaySetTheServerUp(t *testing.T) {
	server, target := narrow(t)
	load := func(n int) string {
		return fmt.Sprintf("  - database: create\n  - prepare:\n  - { name: mix, run: { workload: benchyou_random, threads: { write: %d }, ps_mode: disable, events: 20 } }\n", n)
	}
	wider := func(name, first string, n int, want string) {
		t.Run(name, func(t *testing.T) {
			o := trial{plan: target + "steps:\n" + first + load(n), change: func(c *Config) { c.AllowShell = true }}.carryOut(t)
			if want == "" {
				o.done(t)
				return
			}
			o.fails(t, want)
			for _, event := range []string{"prepared 8 reused 0", "step run \"mix\""} {
				if !strings.Contains(strings.Join(o.events, "\n"), event) {
					t.Errorf("it was not told at the load: %q", o.events)
				}
			}
		})
	}
	text := fmt.Sprintf(`: run "mix": %s: max_connections is 10, and 42 are needed`, server.Socket())
	wider("shell", "  - shell: 'true'\n", 40, "p.yaml:7:18"+text)
	wider("server set", "  - server: { set: { max_connections: 60 } }\n", 40, "")
	wider("server set, too little", "  - server: { set: { max_connections: 60 } }\n", 70, strings.ReplaceAll("p.yaml:7:18"+text, "is 10, and 42", "is 60, and 72"))
	wider("sql", "  - sql: { statements: SET GLOBAL max_connections = 60, database: '' }\n", 40, "")
}

// TestDiskOfAServer: so many rows fit on no disk. Tables that are there already make room.
func TestDiskOfAServer(t *testing.T) {
	target, database, server := onShared(t)
	page := "tables: { schema: benchyou, count: 100, rows: 10G }\nsteps:\n  - name: fill\n    prepare:\n"
	o := carryOut(t, target+page)
	folder := scalar(t, server, "", "SELECT @@datadir")
	o.fails(t, `p.yaml:5:5: prepare "fill": `+server.Socket()+": 1000000000000 rows in 100 tables take about 292.0 TiB of disk (321 bytes a row, indexes included), and … are free under "+folder+": make room, or lower rows")
	carryOut(t, page).fails(t, `p.yaml:4:5: prepare "fill": private server: 1000000000000 rows in 100 tables take about 292.0 TiB`)
	carryOut(t, target+strings.Replace(page, "steps:", "steps:\n  - sql: SET GLOBAL max_connections = @@max_connections", 1)).fails(t, `p.yaml:6:5: prepare "fill": `+server.Socket()+": 1000000000000 rows")
	carryOut(t, strings.Replace(target, "{ ", "{ monitor: none, ", 1)+"tables: { schema: benchyou, rows: 1k }\nsteps: [ prepare: ]\n").done(t)
	r := &run{targets: &targets{}}
	conn, err := r.targets.connect(t.Context(), &plan.Target{Socket: server.Socket(), User: plan.PlainText("root")})
	if err == nil {
		if size := r.sizeOf(t.Context(), conn, &plan.Target{Database: database}, &plan.Tables{Schema: benchyou.SchemaName, Count: 1}); size < 16<<10 {
			t.Errorf("tables of 1,000 rows take %d bytes", size)
		}
	}
}

// TestBytesOfARow holds the estimate against what a server makes of the rows.
func TestBytesOfARow(t *testing.T) {
	target, database, server := onShared(t)
	const rows = 50_000
	for _, schema := range []string{"benchyou", "sbtest", "sbtest_bulk"} {
		if _, known := workloads.Schemas()[schema]; !known {
			continue
		}
		carryOut(t, target+fmt.Sprintf("tables: { schema: %s, rows: %d }\nsteps: [ prepare: ]\n", schema, rows)).done(t)
		data := plan.Tables{Schema: schema, Count: 1, Rows: rows}
		if schema == "sbtest" {
			data.More = workloads.Schemas()[schema].Options()
		}
		name := workloads.Schemas()[schema].Table(data, 0)
		var size float64
		for range 50 { // the server counts in the background
			query := fmt.Sprintf("SELECT data_length + index_length FROM information_schema.tables WHERE table_schema = '%s' AND table_name = '%s'", database, name)
			if _, err := servertest.OpenDB(t, server, database).Exec("ANALYZE TABLE " + name); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Sscan(scalar(t, server, "", query), &size); err != nil {
				t.Fatal(err)
			}
			if size > rows*20 {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		wants := needOfPrepare(&prepareSpec{}, &data)
		if estimate := float64(wants.bytes); estimate+4<<20 < size || estimate > 2*size+4<<20 { // tables grow by up to 4 MiB at once
			t.Errorf("%s: %.0f bytes a row, estimated at %.0f", schema, size/rows, estimate/rows)
		}
	}
}

func TestClockWarnings(t *testing.T) {
	server := servertest.Shared(t)
	page := fmt.Sprintf("target: { socket: %s, database: %s, params: { timestamp: %%d } }\ntables: { schema: benchyou }\nsteps:\n  - prepare:\n", server.Socket(), servertest.Database(t, server))
	now := time.Now().Unix()
	for seconds, want := range map[int64]string{now - 3600: "behind that of this machine", now + 7200: "ahead of that of this machine"} {
		o := carryOut(t, fmt.Sprintf(page, seconds)).done(t)
		if len(o.notes) != 1 || !strings.HasPrefix(o.notes[0], "the clock of "+server.Socket()+" is ") || !strings.Contains(o.notes[0], want) {
			t.Errorf("%q", o.notes)
		}
	}
	if o := carryOut(t, strings.Replace(fmt.Sprintf(page, 1), ", params: { timestamp: 1 }", "", 1)).done(t); len(o.notes) != 0 {
		t.Errorf("clocks of one machine: %q", o.notes)
	}
	if text := clockCostWarning(3 * time.Microsecond); !strings.HasPrefix(text, "reading this machine's clock takes 3µs (clock source: ") {
		t.Error(text)
	}
	if text := clockCostWarning(40 * time.Nanosecond); text != "" {
		t.Error(text)
	}
	if cost := clockCost(); cost <= 0 || cost > time.Millisecond {
		t.Errorf("the clock takes %s", cost)
	}
}

// TestLimitOfAnAccount: of the account or of all, and administrators of MariaDB are free from the latter.
func TestLimitOfAnAccount(t *testing.T) {
	server := servertest.Start(t, localserver.Config{Options: map[string]string{"max_user_connections": "7"}})
	db := servertest.OpenDB(t, server, "")
	for _, statement := range []string{"CREATE USER few@localhost WITH MAX_USER_CONNECTIONS 3", "CREATE USER all@localhost", "GRANT SELECT ON *.* TO few@localhost", "GRANT SELECT ON *.* TO all@localhost"} {
		if _, err := db.Exec(strings.ReplaceAll(statement, "all@", "`all`@")); err != nil {
			t.Fatal(err)
		}
	}
	for user, want := range map[string]int64{"root": 0, "few": 3, "all": 7} {
		ts := &targets{}
		conn, err := ts.connect(t.Context(), &plan.Target{Socket: server.Socket(), User: plan.PlainText(user), ConnectTimeout: plan.Duration(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		handle, err := conn.db(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := accountLimit(t.Context(), handle, conn); got != want {
			t.Errorf("%s: %d, want %d", user, got, want)
		}
		if err := handle.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestShortages of a server that tells other limits than MariaDB does.
func TestShortages(t *testing.T) {
	n := need{clients: 100, prepared: 3300, tables: 33}
	for name, c := range map[string]struct {
		limits limits
		want   string
	}{
		"enough":                {limits{connections: 102, account: 102, prepared: 3300, files: 235, tables: 1}, ""},
		"none told":             {limits{prepared: -1}, ""},
		"no prepared at all":    {limits{prepared: 0}, "max_prepared_stmt_count"},
		"each one short by one": {limits{connections: 101, account: 101, prepared: 3299, files: 234}, "max_connections max_user_connections max_prepared_stmt_count open_files_limit"},
	} {
		var got []string
		for _, s := range n.shortages(machineLimits{}, &c.limits) {
			got = append(got, s.what)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
