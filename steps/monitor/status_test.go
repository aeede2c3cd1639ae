//go:build linux

package monitor

import (
	"log/slog"
	"syscall"

	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"benchplan/results"
	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
)

// answers is a server that is no real one: what it answers to SHOW GLOBAL STATUS is said by the test.
type answers struct {
	mu      sync.Mutex
	columns []string
	asked   int
	// answer gives variables, for the n-th question, from 0.
	answer func(n int) (map[string]string, error)
	read   chan struct{} // told of each answer
}

func (a *answers) Connect(context.Context) (driver.Conn, error) { return a, nil }
func (a *answers) Driver() driver.Driver                        { return nil }
func (a *answers) Prepare(string) (driver.Stmt, error)          { return nil, errors.New("not asked for") }
func (a *answers) Close() error                                 { return nil }
func (a *answers) Begin() (driver.Tx, error)                    { return nil, errors.New("not asked for") }

func (a *answers) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	a.mu.Lock()
	n := a.asked
	a.asked++
	a.mu.Unlock()
	defer func() { a.read <- struct{}{} }()
	if query != "SHOW GLOBAL STATUS" {
		return nil, fmt.Errorf("%s is asked", query)
	}
	status, err := a.answer(n)
	if err != nil {
		return nil, err
	}
	r := &answerRows{columns: a.columns}
	for name, value := range status {
		r.rows = append(r.rows, []driver.Value{name, value, ""}[:len(a.columns)])
	}
	return r, nil
}

type answerRows struct {
	columns []string
	rows    [][]driver.Value
}

func (r *answerRows) Columns() []string { return r.columns }
func (r *answerRows) Close() error      { return nil }
func (r *answerRows) Next(to []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	copy(to, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

func answering(t *testing.T, columns []string, answer func(n int) (map[string]string, error)) (*sql.DB, *answers) {
	t.Helper()
	a := &answers{columns: columns, answer: answer, read: make(chan struct{}, 100)}
	db := sql.OpenDB(a)
	t.Cleanup(func() { db.Close() })
	return db, a
}

var nameAndValue = []string{"Variable_name", "Value"}

// asked is how often a Watch asks before the cell.
const asked = 3

func TestStatusOfACell(t *testing.T) {
	noLeak(t)
	// Each question counts itself; 7 and 9 more questions come in the two seconds, and between them none.
	questions := []int{100, 101, 102, 110, 118, 128}
	db, a := answering(t, nameAndValue, func(n int) (map[string]string, error) {
		return map[string]string{
			"Questions":                        fmt.Sprint(questions[n]),
			"Com_commit":                       fmt.Sprint(n * n),
			"Com_rollback":                     "5",
			"Threads_connected":                fmt.Sprint(n),
			"Innodb_buffer_pool_pages_dirty":   fmt.Sprint(n),
			"Innodb_buffer_pool_pages_flushed": fmt.Sprint(10 * n),
			"Innodb_row_lock_time":             fmt.Sprint(100 - n),
			"Innodb_buffer_pool_load_status":   "Loaded",
			"Slave_heartbeat_period":           fmt.Sprintf("%d.5", n),
		}, nil
	})
	read := func() { <-a.read }
	w := NewWatch(t.Context(), Config{Status: db})
	for range asked {
		read()
	}
	began := time.Now()
	w.Begin()
	read()
	w.Second()
	read()
	w.Second()
	w.End()
	machines, got, problems := w.Finish()
	if machines != nil || problems != nil || got == nil {
		t.Fatal(machines, got, problems)
	}
	if got.Elapsed <= 0 || got.Elapsed > time.Since(began).Seconds() {
		t.Errorf("it took %v s", got.Elapsed)
	}
	got.Elapsed = 0
	// From the fourth answer to the sixth.
	want := &results.ServerStatus{
		Counters: map[string]int64{"questions": 16, "com_commit": 16, "innodb_buffer_pool_pages_flushed": 20},
		Seconds: []map[string]int64{
			{"questions": 7, "com_commit": 7, "com_rollback": 0, "innodb_row_lock_time": 0},
			{"questions": 9, "com_commit": 9, "com_rollback": 0, "innodb_row_lock_time": 0},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestServersWithoutAStatus(t *testing.T) {
	noLeak(t)
	for name, c := range map[string]struct {
		columns []string
		answer  map[string]string
		err     error
	}{
		"it refuses (radon)":      {err: &mysql.MySQLError{Number: 1105, Message: "unsupported.query"}},
		"it has none":             {columns: nameAndValue},
		"it tells something else": {columns: []string{"a", "b", "c"}, answer: map[string]string{"1": "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := answering(t, c.columns, func(int) (map[string]string, error) { return c.answer, c.err })
			w := NewWatch(t.Context(), Config{Status: db})
			w.Begin()
			w.Second()
			w.End()
			if machines, status, problems := w.Finish(); machines != nil || status != nil || problems != nil {
				t.Error(machines, status, problems)
			}
		})
	}
}

func TestASlowStatusIsNotAskedEachSecond(t *testing.T) {
	noLeak(t)
	db, a := answering(t, nameAndValue, func(n int) (map[string]string, error) {
		if n == asked+1 {
			time.Sleep(slowStatus + 50*time.Millisecond)
		}
		return map[string]string{"Questions": fmt.Sprint(1000 * n)}, nil
	})
	w := NewWatch(t.Context(), Config{Status: db})
	for range asked {
		<-a.read
	}
	w.Begin()
	<-a.read
	w.Second()
	<-a.read
	for range 3 {
		w.Second()
	}
	w.End()
	_, status, problems := w.Finish()
	if len(problems) != 1 || !strings.Contains(problems[0].Error(), "not asked each second any more") {
		t.Errorf("the problems are %v", problems)
	}
	if a.asked != asked+3 || status == nil || status.Counters["questions"] != 2000-2 || len(status.Seconds) != 4 || status.Seconds[0] == nil || status.Seconds[3] != nil {
		t.Errorf("asked %d times, status %+v", a.asked, status)
	}
}

func TestAServerStartedAnewKeepsWhatWasCounted(t *testing.T) {
	noLeak(t)
	db, a := answering(t, nameAndValue, func(n int) (map[string]string, error) {
		if n > asked+1 {
			return map[string]string{"Questions": "3", "Uptime": "1"}, nil
		}
		return map[string]string{"Questions": fmt.Sprint(1000 * n), "Uptime": "500"}, nil
	})
	w := NewWatch(t.Context(), Config{Status: db})
	for range asked {
		<-a.read
	}
	w.Begin()
	<-a.read
	w.Second()
	<-a.read
	w.Second()
	<-a.read
	w.End()
	_, status, problems := w.Finish()
	if len(problems) != 1 || !strings.Contains(problems[0].Error(), "started anew") || status == nil || status.Counters["questions"] != 999 {
		t.Error(status, problems)
	}
}

func TestStatusOfARealServer(t *testing.T) {
	noLeak(t)
	server := servertest.Shared(t)
	db := servertest.OpenDB(t, server, servertest.Database(t, server))
	ctx := t.Context()
	client, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	run := func(statement string) {
		t.Helper()
		if _, err := client.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB")
	// Without a Watch around it, so that the test knows when it asks.
	r := &statusReader{db: db, notes: notes{log: slog.New(slog.DiscardHandler)}}
	defer r.drop()
	if has, err := r.prepare(ctx); !has || err != nil {
		t.Fatal(has, err)
	}
	r.heed(ctx, strokes{begin: time.Now()})
	for i := range 20 {
		run(fmt.Sprintf("INSERT INTO t VALUES (%d)", i))
	}
	for range 30 {
		run("SELECT COUNT(*) FROM t")
	}
	r.heed(ctx, strokes{seconds: 1})
	r.heed(ctx, strokes{over: true})
	status := r.result()
	if status == nil || len(r.problems) > 0 {
		t.Fatal(status, r.problems)
	}
	got := maps.Clone(status.Counters)
	maps.DeleteFunc(got, func(name string, _ int64) bool {
		return name != "questions" && name != "com_insert" && name != "com_select" && name != "com_show_status" && name != "created_tmp_tables"
	})
	// What the Watch asks itself is taken off, and what nobody else changed is there as 0.
	if diff := cmp.Diff(map[string]int64{"questions": 50, "com_insert": 20, "com_select": 30, "com_show_status": 0, "created_tmp_tables": 0}, got); diff != "" {
		t.Error(diff)
	}
	cell := &results.Cell{Status: results.Complete, Server: status, Outcome: results.Outcome{Events: 50, Elapsed: status.Elapsed}}
	for name, want := range map[string]float64{"tmp_tables_s": 0, "tmp_disk_tables_s": 0, "rows_written_op": 0.4} {
		metric, known := results.MetricByName(name)
		if got, ok := metric.Value(cell); !known || !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v (%v), not %v", name, got, ok, want)
		}
	}
	if len(status.Seconds) != 1 || status.Seconds[0]["questions"] != 50 || status.Elapsed <= 0 {
		t.Errorf("%+v", status)
	}
	for name := range status.Counters {
		if name != strings.ToLower(name) || strings.HasPrefix(name, "threads_") && name != "threads_created" || strings.Contains(name, "_pages_data") || name == "uptime" {
			t.Errorf("%s is among the counters", name)
		}
	}
}

func TestAKilledServerIsAProblemAndNoWait(t *testing.T) {
	noLeak(t)
	server := servertest.Start(t, localserver.Config{})
	db := servertest.OpenDB(t, server, "")
	r := &statusReader{db: db, notes: notes{log: slog.New(slog.DiscardHandler)}}
	defer r.drop()
	if has, err := r.prepare(t.Context()); !has || err != nil {
		t.Fatal(has, err)
	}
	r.heed(t.Context(), strokes{begin: time.Now()})
	r.heed(t.Context(), strokes{seconds: 1})
	if err := syscall.Kill(server.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-server.Exited()
	began := time.Now()
	r.heed(t.Context(), strokes{seconds: 1})
	r.heed(t.Context(), strokes{over: true})
	if took := time.Since(began); took > 2*readLimit+5*time.Second {
		t.Errorf("asking took %v", took)
	}
	if len(r.problems) != 1 || !strings.Contains(r.problems[0].Error(), "SHOW GLOBAL STATUS failed") {
		t.Errorf("the problems are %v", r.problems)
	}
	if status := r.result(); status == nil || len(status.Seconds) != 2 || status.Seconds[1] != nil {
		t.Errorf("what was read until then is %+v", status)
	}
}
