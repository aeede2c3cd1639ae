package steps

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"benchplan/plan"

	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
)

// holdLock has a connection of the test hold a lock, until the test ends or release is called.
func holdLock(t *testing.T, server *localserver.Server, name string) (id string, release func()) {
	t.Helper()
	conn, err := servertest.OpenDB(t, server, "").Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release = func() { _, _ = conn.ExecContext(t.Context(), "SELECT RELEASE_LOCK(?)", name) }
	t.Cleanup(func() { _ = conn.Close() })
	var got int
	if err := conn.QueryRowContext(t.Context(), "SELECT GET_LOCK(?, 0), CONNECTION_ID()", name).Scan(&got, &id); err != nil || got != 1 {
		t.Fatal(got, err)
	}
	return id, release
}

// TestARunKeepsOthersOffItsTables: from before anything is touched until after finally; who holds the lock is told, and what is there stays.
func TestARunKeepsOthersOffItsTables(t *testing.T) {
	target, database, server := onShared(t)
	tr := newTrace(t)
	plan := tr.steps(target + `
tables: { schema: benchyou, rows: 10 }
steps:
  - GET(a)
  - prepare:
  - { sql: "SELECT IS_USED_LOCK('benchplan:` + database + `') AS id", assert: "rows[0].id != nil" }
  - { name: mix, run: { workload: benchyou_random, threads: { write: 1 }, events: 5 } }
finally:
  - { sql: "SELECT IS_USED_LOCK('benchplan:` + database + `') AS id", assert: "rows[0].id != nil" }
  - cleanup:
`)
	carryOut(t, plan).done(t)
	asked := tr.seen()

	trial{plan: target + "tables: { schema: benchyou, rows: 10 }\nsteps: [ prepare: ]\n"}.carryOut(t).done(t)
	id, release := holdLock(t, server, "benchplan:"+database)
	text := "database " + database + " on " + server.Socket() + ": the tables are in use by another benchplan: connection " + id + " of root@localhost holds the lock benchplan:" + database +
		"; wait for it to end, or give this run another database; if that run is dead, KILL " + id
	o := carryOut(t, plan).fails(t, "p.yaml:6:5: prepare: "+text)
	if tr.seen() != asked || len(o.run.NotPutBack) > 0 {
		t.Errorf("requests %q, not put back %+v", tr.seen(), o.run.NotPutBack)
	}
	// Where it is met later only, finally runs, and drops nothing.
	o = trial{change: func(c *Config) { c.AllowShell = true }, plan: target + `
tables: { schema: benchyou, rows: 10 }
steps: [ shell: "true", prepare: ]
finally: [ cleanup: , database: drop ]
`}.carryOut(t)
	o.fails(t, "p.yaml:4:25: prepare: database … KILL "+id, "p.yaml:5:12: cleanup: database … KILL "+id, "p.yaml:5:23: database: database … KILL "+id)
	if len(o.run.NotPutBack) > 0 {
		t.Errorf("a person is told to drop the tables of another run: %+v", o.run.NotPutBack)
	}
	if n := scalar(t, server, database, "SELECT COUNT(*) FROM benchyou0"); n != "10" {
		t.Errorf("%s rows are left", n)
	}
	release()
	carryOut(t, plan).done(t)
	if used := scalar(t, server, "", "SELECT IFNULL(IS_USED_LOCK('benchplan:"+database+"'), 'free')"); used != "free" {
		t.Errorf("connection %s holds the lock after the run", used)
	}
}

// TestALockThatIsLostIsTakenAnew, with a word about it; only where another run has taken it meanwhile does that end the run.
func TestALockThatIsLostIsTakenAnew(t *testing.T) {
	target, database, server := onShared(t)
	db := servertest.OpenDB(t, server, "")
	kill := func() {
		if _, err := db.Exec("KILL " + scalar(t, server, "", "SELECT IS_USED_LOCK('benchplan:"+database+"')")); err != nil {
			t.Error(err)
		}
	}
	plan := target + `
tables: { schema: benchyou, rows: 10 }
steps:
  - prepare:
  - { name: mix, run: { workload: benchyou_random, threads: { write: 1 }, events: 5 } }
  - { sql: "SELECT IS_USED_LOCK('benchplan:` + database + `') AS id", assert: "rows[0].id != nil" }
finally: [ cleanup: ]
`
	o := trial{plan: plan, on: func(event string) {
		if event == `step run "mix"` {
			kill()
		}
	}}.carryOut(t).done(t)
	if len(o.cells) != 1 || !strings.Contains(strings.Join(o.notes, "\n"), "the connection that held the lock of the tables on "+server.Socket()+" was lost; it is taken anew") {
		t.Errorf("%d cells, notes %q", len(o.cells), o.notes)
	}
	o = trial{plan: plan, on: func(event string) {
		if event == `step run "mix"` {
			kill()
			holdLock(t, server, "benchplan:"+database)
		}
	}}.carryOut(t)
	o.fails(t, `p.yaml:6:18: run "mix": database … in use by another`, `p.yaml:8:12: cleanup: database … in use by another`)
}

// TestLocksOfOneRunDoNotMeet: two targets that lead to the same server, for two databases each.
func TestLocksOfOneRunDoNotMeet(t *testing.T) {
	_, first, server := onShared(t)
	second := servertest.Database(t, server)
	group := func(at, database string) string {
		return fmt.Sprintf("  - target: { %s, user: %s, database: %s }\n    steps: [ prepare: ]\n    finally: [ cleanup: ]\n", at, server.User(), database)
	}
	here := "socket: " + server.Socket()
	there := fmt.Sprintf("address: %q, password: \"${{ secrets.P }}\"", server.Address())
	trial{env: map[string]string{"P": server.Password()}, plan: "tables: { schema: benchyou, rows: 1 }\nsteps:\n" + group(here, first) + group(there, second) + group(here, second) + group(there, first)}.carryOut(t).done(t)
}

func TestLockNames(t *testing.T) {
	long := strings.Repeat("x", 64)
	for database, want := range map[string]string{
		"sbtest": "benchplan:sbtest", "it's`": "benchplan:it's`",
		long[:54]: "benchplan:" + long[:54],
		long:      "benchplan:" + long[:37] + "~",
	} {
		if got := lockName(database); !strings.HasPrefix(got, want) || len([]rune(got)) > longestLock {
			t.Errorf("%s: %s", database, got)
		}
	}
	if lockName(long) == lockName(long[:63]+"y") {
		t.Error("two databases have one lock")
	}
}

// lockless stands for a server that has no GET_LOCK, or only the word: such a one cannot be had here.
type lockless struct{ answer error }

func (l lockless) Connect(context.Context) (driver.Conn, error) { return l, nil }
func (lockless) Driver() driver.Driver                          { return nil }
func (lockless) Prepare(string) (driver.Stmt, error)            { return nil, driver.ErrSkip }
func (lockless) Close() error                                   { return nil }
func (lockless) Begin() (driver.Tx, error)                      { return nil, driver.ErrSkip }
func (l lockless) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	if l.answer != nil {
		return nil, l.answer
	}
	return &null{}, nil
}

// null is one row of one NULL.
type null struct{ read bool }

func (*null) Columns() []string { return []string{"GET_LOCK"} }
func (*null) Close() error      { return nil }
func (n *null) Next(row []driver.Value) error {
	if n.read {
		return io.EOF
	}
	n.read, row[0] = true, nil
	return nil
}

// TestAServerWithoutLocksIsWorkedOnWithout: it is asked once, and the log has a word about it.
func TestAServerWithoutLocksIsWorkedOnWithout(t *testing.T) {
	for name, answer := range map[string]error{
		"no such function": &mysql.MySQLError{Number: 1305, Message: "FUNCTION GET_LOCK does not exist"},
		"a proxy's own":    &mysql.MySQLError{Number: 1105, Message: "unsupported"},
		"NULL":             nil,
	} {
		t.Run(name, func(t *testing.T) {
			db := sql.OpenDB(lockless{answer})
			t.Cleanup(func() { db.Close() })
			session, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var log strings.Builder
			c := &connection{target: &plan.Target{Address: "a:1"}}
			c.lock = &dataLock{db: db, session: session, held: map[string]bool{}, log: slog.New(slog.NewTextHandler(&log, nil))}
			for range 2 {
				if err := (&run{}).hold(t.Context(), c, "d"); err != nil {
					t.Error(err)
				}
			}
			if n := strings.Count(log.String(), "the lock of the tables could not be taken, so nothing keeps another run off them"); n != 1 {
				t.Errorf("told %d times: %s", n, log.String())
			}
			c.lock.release()
		})
	}
}
