package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
)

const second = plan.Duration(time.Second)

// counterTable makes a table of n counters, all 0.
func counterTable(d *testdb.Database, n int) {
	d.Exec("CREATE TABLE counters (id INT PRIMARY KEY, v BIGINT NOT NULL) ENGINE=innodb")
	for i := range n {
		d.Exec(fmt.Sprintf("INSERT INTO counters VALUES (%d, 0)", i))
	}
}

func sum(d *testdb.Database) (n int64) {
	if _, err := fmt.Sscan(d.Rows("SELECT SUM(v) FROM counters")[0][0], &n); err != nil {
		panic(err)
	}
	return n
}

func find(list []results.ErrorCount, code int) results.ErrorCount {
	for _, e := range list {
		if e.Code == code {
			return e
		}
	}
	return results.ErrorCount{}
}

// lost counts the connections that were lost.
func lost(list []results.ErrorCount) (n int64) {
	for _, e := range list {
		if e.Code == 0 {
			n += e.Count
		}
	}
	return n
}

var increment = []string{"UPDATE counters SET v=v+1 WHERE id=?"}

// unhurried is a load on one counter that leaves the machine to the tests beside it.
func unhurried(id int64) load {
	return always(increment, write(0, id), plain("DO SLEEP(0.002)", results.Other))
}

func TestDeadlocksRestartTheEvent(t *testing.T) { everyIOAtOnce(t, testDeadlocksRestartTheEvent) }

func testDeadlocksRestartTheEvent(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	counterTable(d, 2)
	// Two rows in either order, with time in between: half of the meetings are deadlocks.
	w := load{templates: increment, event: func(index int, _ *rand.Rand) []engine.Statement {
		a, b := int64(index%2), int64(1-index%2)
		return []engine.Statement{
			plain("BEGIN", results.Other), write(0, a), plain("DO SLEEP(0.001)", results.Other), write(0, b), plain("COMMIT", results.Other),
		}
	}}
	out, err := engine.Run(t.Context(), d.Connector(), w, engine.Order{IO: io, Clients: clients(4), Events: 200}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Events != 200 || sum(d) != 400 {
		t.Errorf("%d events, sum %d; want 200 and 400", out.Events, sum(d))
	}
	if r := find(out.Restarts, 1213); r.Count == 0 || r.Class != results.Write || !strings.Contains(r.Message, "Deadlock") {
		t.Errorf("restarts: %+v", out.Restarts)
	}
	if len(out.Errors) != 0 {
		t.Errorf("errors: %+v", out.Errors)
	}
	if got := out.Statements[results.Other].Count; got < 600 {
		t.Errorf("%d other statements", got)
	}
}

func TestErrorsFollowThePolicy(t *testing.T) { everyIO(t, testErrorsFollowThePolicy) }

func testErrorsFollowThePolicy(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	counterTable(d, 1)
	d.Exec("INSERT INTO counters VALUES (7, 7)")
	// Every third event meets the row that is there.
	n := 0
	w := load{templates: []string{"INSERT INTO counters VALUES (?, 0)"}, event: func(int, *rand.Rand) []engine.Statement {
		if n++; n%3 == 0 {
			return []engine.Statement{plain("BEGIN", results.Other), write(0, 7), plain("COMMIT", results.Other)}
		}
		return []engine.Statement{plain("BEGIN", results.Other), write(0, int64(1000+n)), plain("COMMIT", results.Other)}
	}}
	t.Run("stop", func(t *testing.T) {
		out, err := engine.Run(t.Context(), d.Connector(), w, engine.Order{IO: io, Workload: "test", Clients: clients(1), Events: 30}, nil, nil)
		failed, ok := errors.AsType[*engine.StatementError](err)
		if !ok || failed.Class != results.Write || !strings.Contains(err.Error(), "1062") || !strings.Contains(err.Error(), "INSERT INTO counters") {
			t.Errorf("error %v", err)
		}
		if out.Stopped != results.ByError || out.Events != 2 || find(out.Errors, 1062).Count != 1 {
			t.Errorf("outcome: stopped by %s, %d events, errors %+v", out.Stopped, out.Events, out.Errors)
		}
	})
	t.Run("count", func(t *testing.T) {
		n = 100
		o := engine.Order{IO: io, Clients: clients(1), Events: 30, OnError: map[int]engine.Action{1062: engine.Count}}
		out, err := engine.Run(t.Context(), d.Connector(), w, o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := find(out.Errors, 1062).Count; out.Events != 20 || got != 10 || out.Stopped != results.ByEvents {
			t.Errorf("%d events and %d errors, stopped by %s; a failed event uses up its ticket", out.Events, got, out.Stopped)
		}
	})
	t.Run("restart", func(t *testing.T) {
		n = 1000
		o := engine.Order{IO: io, Clients: clients(1), Events: 30, OnErrorDefault: engine.Restart}
		out, err := engine.Run(t.Context(), d.Connector(), w, o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := find(out.Restarts, 1062).Count; out.Events != 30 || got < 14 || len(out.Errors) != 0 {
			t.Errorf("%d events, %d restarts, errors %+v", out.Events, got, out.Errors)
		}
	})
}

func TestKilledConnectionsAreReopened(t *testing.T) {
	everyIOAtOnce(t, testKilledConnectionsAreReopened)
}

func testKilledConnectionsAreReopened(t *testing.T, io engine.IOMode) {
	d := testdb.Own(t, nil)
	counterTable(d, 4)
	w := load{templates: increment, event: func(index int, _ *rand.Rand) []engine.Statement {
		return []engine.Statement{plain("BEGIN", results.Other), write(0, int64(index)), plain("DO SLEEP(0.005)", results.Other), plain("COMMIT", results.Other)}
	}}
	killed := false
	ctx, enough := context.WithCancel(t.Context())
	defer enough()
	var reconnects int64
	o := engine.Order{IO: io, Clients: clients(4), Duration: 60 * second}
	out, err := engine.Run(ctx, d.Connector(), w, o, func(s engine.Snapshot) {
		switch {
		case !killed:
			killed = true
			d.KillConnections(100)
		case reconnects >= 4 && s.TPS > 0: // in a second of its own
			enough()
		}
		reconnects += s.Reconnects
	}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if out.Reconnects != 4 || out.ReconnectTime <= 0 || lost(out.Restarts) != 4 {
		t.Errorf("%d reconnects in %v s, restarts %+v", out.Reconnects, out.ReconnectTime, out.Restarts)
	}
	if len(out.Errors) != 0 || out.Stopped != results.ByInterrupt {
		t.Errorf("errors %+v, stopped by %s", out.Errors, out.Stopped)
	}
	// A commit whose answer was lost may count in the table and not with the client, no more than one each.
	acknowledged := out.Ledger["events"].Inserted
	if got := sum(d); got < acknowledged || got > acknowledged+4 {
		t.Errorf("the table says %d, the clients %d", got, acknowledged)
	}
}

// TestALostConnectionDoesNotMoveTheEnd: the others go on, and so does the clock.
func TestALostConnectionDoesNotMoveTheEnd(t *testing.T) {
	everyIOAtOnce(t, testALostConnectionDoesNotMoveTheEnd)
}

func testALostConnectionDoesNotMoveTheEnd(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	counterTable(d, 1)
	killed := false
	o := engine.Order{IO: io, Clients: clients(4), Duration: 2 * second}
	out, err := engine.Run(t.Context(), d.Connector(), unhurried(0), o, func(engine.Snapshot) {
		if !killed {
			killed = true
			d.KillConnections(3)
		}
	}, nil)
	if err != nil || out.Stopped != results.ByDuration || out.Elapsed != 2 || len(out.Errors) != 0 {
		t.Fatalf("stopped by %s after %v s, errors %+v, %v", out.Stopped, out.Elapsed, out.Errors, err)
	}
	if n := lost(out.Restarts); !killed || n > 3 || out.Reconnects > n || out.Reconnects < n-out.Unfinished {
		t.Errorf("%d reconnects, %d unfinished, restarts %+v", out.Reconnects, out.Unfinished, out.Restarts)
	}
}

func TestServerThatStaysAwayIsLost(t *testing.T) { everyIOAtOnce(t, testServerThatStaysAwayIsLost) }

func testServerThatStaysAwayIsLost(t *testing.T, io engine.IOMode) {
	for _, tt := range []struct {
		name               string
		duration, patience plan.Duration
		want               string
	}{
		{"within the cell", 60 * second, second, "no connection for 1s"},
		{"until its end", 4 * second, 0, "when the time was up"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := testdb.Own(t, nil)
			counterTable(d, 4)
			killed := false
			o := engine.Order{IO: io, Clients: clients(4), Duration: tt.duration, ServerLost: tt.patience}
			out, err := engine.Run(t.Context(), d.Connector(), unhurried(1), o, func(engine.Snapshot) {
				if !killed {
					killed = true
					d.Kill()
				}
			}, nil)
			if !errors.Is(err, engine.ErrServerLost) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v", err)
			}
			if out.Stopped != results.ByError || out.Events == 0 || out.Elapsed < 1.5 {
				t.Errorf("stopped by %s after %v s with %d events", out.Stopped, out.Elapsed, out.Events)
			}
			t.Log(err)
		})
	}
}

func TestServerThatComesBackIsUsedAgain(t *testing.T) {
	everyIOAtOnce(t, testServerThatComesBackIsUsedAgain)
}

func testServerThatComesBackIsUsedAgain(t *testing.T, io engine.IOMode) {
	d := testdb.Own(t, nil)
	counterTable(d, 4)
	restarted := make(chan error, 1)
	started := false
	ctx, enough := context.WithCancel(t.Context())
	defer enough()
	var reconnects int64
	o := engine.Order{IO: io, Clients: clients(4), Duration: 60 * second}
	out, err := engine.Run(ctx, d.Connector(), unhurried(1), o, func(s engine.Snapshot) {
		switch {
		case !started:
			started = true
			go func() { restarted <- d.Server.Restart(context.Background(), nil) }()
		case reconnects >= 4 && s.TPS > 0: // in a second of its own
			enough()
		}
		reconnects += s.Reconnects
	}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := <-restarted; err != nil {
		t.Fatal(err)
	}
	if out.Reconnects != 4 || out.Stopped != results.ByInterrupt {
		t.Errorf("%d reconnects, stopped by %s", out.Reconnects, out.Stopped)
	}
}

func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	everyIOAtOnce(t, testInterruptKeepsWhatWasMeasured)
}

func testInterruptKeepsWhatWasMeasured(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("ctrl-c")
	began := time.Now()
	out, err := engine.Run(ctx, d.Connector(), sleeps("0.01"), engine.Order{IO: io, Clients: clients(8), Duration: 60 * second}, func(engine.Snapshot) { cancel(reason) }, nil)
	if !errors.Is(err, reason) || out.Stopped != results.ByInterrupt {
		t.Errorf("error %v, stopped by %s", err, out.Stopped)
	}
	if out.Events == 0 || out.Elapsed < 0.9 || out.Elapsed > time.Since(began).Seconds() || time.Since(began) > 45*time.Second {
		t.Errorf("%d events in %v s, returned after %s", out.Events, out.Elapsed, time.Since(began))
	}
}

func TestInterruptCutsWhatHangs(t *testing.T) { everyIOAtOnce(t, testInterruptCutsWhatHangs) }

func testInterruptCutsWhatHangs(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := time.Now()
	out, err := engine.Run(ctx, d.Connector(), sleeps("60"), engine.Order{IO: io, Clients: clients(3), Duration: 90 * second, Grace: 60 * second}, func(engine.Snapshot) { cancel() }, nil)
	if !errors.Is(err, context.Canceled) || out.Stopped != results.ByInterrupt {
		t.Errorf("error %v, stopped by %s", err, out.Stopped)
	}
	if out.LongestUnfinished < 500 {
		t.Errorf("the longest event that was cut took %v ms", out.LongestUnfinished)
	}
	if out.Cut != 3 || out.Unfinished != 3 || time.Since(began) > 45*time.Second {
		t.Errorf("%d cut, %d unfinished, returned after %s", out.Cut, out.Unfinished, time.Since(began))
	}
}

func TestDurationEndsOnTimeWhenTheServerHangs(t *testing.T) {
	everyIOAtOnce(t, testDurationEndsOnTimeWhenTheServerHangs)
}

func testDurationEndsOnTimeWhenTheServerHangs(t *testing.T, io engine.IOMode) {
	d := testdb.Own(t, nil)
	counterTable(d, 8)
	frozen := time.Duration(0) // when, at the latest
	began := time.Now()
	o := engine.Order{IO: io, Clients: clients(8), Duration: 3 * second, Grace: second / 2}
	out, err := engine.Run(t.Context(), d.Connector(), unhurried(1), o, func(engine.Snapshot) {
		if frozen == 0 {
			d.Freeze()
			frozen = time.Since(began)
		}
	}, nil)
	took := time.Since(began)
	d.Thaw()
	if err != nil {
		t.Fatal(err)
	}
	inTime := frozen < 2*time.Second // then each client comes to a statement that hangs
	if out.Stopped != results.ByDuration || out.Elapsed != 3 || inTime && out.Cut != 8 || out.Unfinished < out.Cut || out.Unfinished > 8 || took > 45*time.Second {
		t.Errorf("frozen at %s, stopped by %s, elapsed %v s, %d cut, %d unfinished, took %s", frozen, out.Stopped, out.Elapsed, out.Cut, out.Unfinished, took)
	}
	if len(out.Errors)+len(out.Restarts) != 0 {
		t.Errorf("cutting is no error: %+v %+v", out.Errors, out.Restarts)
	}
	// The server is fine again.
	if _, err := engine.Run(t.Context(), d.Connector(), unhurried(1), engine.Order{IO: io, Clients: clients(8), Events: 100}, nil, nil); err != nil {
		t.Error(err)
	}
}

func TestEventsUnderWayAtTheEndAreLeftOut(t *testing.T) {
	everyIOAtOnce(t, testEventsUnderWayAtTheEndAreLeftOut)
}

func testEventsUnderWayAtTheEndAreLeftOut(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	out, err := engine.Run(t.Context(), d.Connector(), sleeps("0.7"), engine.Order{IO: io, Clients: clients(5), Duration: second}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Unfinished != 5 || out.Cut != 0 || out.Elapsed != 1 || out.Latency.Max > 1001 {
		t.Errorf("%d unfinished, %d cut, %v s, a latency of %v ms", out.Unfinished, out.Cut, out.Elapsed, out.Latency.Max)
	}
	// One of each client ends in time, unless it took too long.
	if out.Events > 5 || out.Events < 5 && out.LongestUnfinished < 999 || out.LongestUnfinished < 699 {
		t.Errorf("%d events, the longest unfinished took %v ms", out.Events, out.LongestUnfinished)
	}
}

// TestAStallAtTheEndIsInTheOutcome: one client hangs from the middle of the cell until after its end, the others go on.
func TestAStallAtTheEndIsInTheOutcome(t *testing.T) {
	everyIOAtOnce(t, testAStallAtTheEndIsInTheOutcome)
}

func testAStallAtTheEndIsInTheOutcome(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	w := load{event: func(index int, _ *rand.Rand) []engine.Statement {
		sleep := "SELECT SLEEP(0.01)"
		if index == 0 {
			sleep = "SELECT SLEEP(2)"
		}
		return []engine.Statement{plain(sleep, results.Read)}
	}}
	began := time.Now()
	out, err := engine.Run(t.Context(), d.Connector(), w, engine.Order{IO: io, Clients: clients(3), Duration: second}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began).Seconds() * 1000
	if out.LongestUnfinished < 1990 || out.LongestUnfinished > 1.001*took || out.Unfinished < 1 || out.Latency.Max > 1001 {
		t.Errorf("%d unfinished, the longest for %v ms; the longest counted took %v ms", out.Unfinished, out.LongestUnfinished, out.Latency.Max)
	}
	marks := results.Check(&results.Cell{Status: results.Complete, Outcome: out})
	if !slices.ContainsFunc(marks, func(m results.Mark) bool { return m.Code == results.MarkUnfinished }) {
		t.Errorf("no mark says so: %+v", marks)
	}
}

func TestLittlesLawHolds(t *testing.T) { everyIOAtOnce(t, testLittlesLawHolds) }

func testLittlesLawHolds(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	short := always([]string{"SELECT ?"}, func() engine.Statement { s := write(0, 1); s.Class = results.Read; return s }())
	for _, tt := range []struct {
		name string
		w    load
		o    engine.Order
	}{
		{"short events", short, engine.Order{IO: io, Duration: second / 2, Warmup: second / 4}},
		{"long events", sleeps("0.02"), engine.Order{IO: io, Duration: second}},
		{"events as long as the warm-up", sleeps("0.3"), engine.Order{IO: io, Duration: second, Warmup: second / 4}},
		{"clients for which no event is left", sleeps("0.1"), engine.Order{IO: io, Events: 100}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Clients = clients(64)
			out, err := engine.Run(t.Context(), d.Connector(), tt.w, tt.o, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			n := float64(out.Events)*out.Latency.Mean/1000/out.Elapsed + out.Roles[0].Uncounted/out.Elapsed
			t.Logf("%d events, mean %.3f ms, uncounted %.3f s: %.2f clients", out.Events, out.Latency.Mean, out.Roles[0].Uncounted, n)
			if math.Abs(n/64-1) > 0.01 {
				t.Errorf("throughput times latency is %.2f with what no latency holds, there are 64 clients", n)
			}
			if out.Statements[results.Read].Rows != out.Statements[results.Read].Count {
				t.Errorf("rows %d of %d statements", out.Statements[results.Read].Rows, out.Statements[results.Read].Count)
			}
		})
	}
}

func TestWarmupIsNotCounted(t *testing.T) { everyIOAtOnce(t, testWarmupIsNotCounted) }

func testWarmupIsNotCounted(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	counterTable(d, 1)
	var snapshots []engine.Snapshot
	o := engine.Order{IO: io, Clients: clients(8), Events: 100, Warmup: 2 * second, Duration: 60 * second}
	out, err := engine.Run(t.Context(), d.Connector(), sleeps("0.05"), o, func(s engine.Snapshot) { snapshots = append(snapshots, s) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Events != 100 || out.Stopped != results.ByEvents || out.Warmup != 2 {
		t.Errorf("%d events in %v s after %v s, stopped by %s", out.Events, out.Elapsed, out.Warmup, out.Stopped)
	}
	if len(snapshots) == 0 || !snapshots[0].Warmup {
		t.Errorf("the warm-up was not observed: %+v", snapshots)
	}
	for _, s := range snapshots {
		if s.Warmup && (s.Events != 0 || s.TPS == 0 || s.P95 < 49 || s.Clients != 8 || s.Elapsed > 2500*time.Millisecond) {
			t.Errorf("observed %+v", s)
		}
	}
	var events int64
	for _, s := range out.Series {
		events += s.Events
	}
	if events != 100 || out.Series[0].At != 0 {
		t.Errorf("series %+v", out.Series)
	}
}

func TestConnectingFailsWithAReasonAndARemedy(t *testing.T) {
	everyIOAtOnce(t, testConnectingFailsWithAReasonAndARemedy)
}

func testConnectingFailsWithAReasonAndARemedy(t *testing.T, io engine.IOMode) {
	d := testdb.Own(t, map[string]string{"max_connections": "20", "max_prepared_stmt_count": "10"})
	counterTable(d, 1)
	for _, tt := range []struct {
		name   string
		change func(*mysql.Config)
		load   load
		n      int
		want   []string
	}{
		{"too many connections", nil, always(nil, plain("SELECT 1", results.Read)), 40, []string{"of 40 clients connected", "1040", "max_connections"}},
		{"wrong password", func(c *mysql.Config) { c.User = "nobody"; c.Passwd = "hunter2" }, sleeps("0"), 2, []string{"0 of 2 clients connected", "1045", "user and password"}},
		{"no such database", func(c *mysql.Config) { c.DBName = "nowhere" }, sleeps("0"), 2, []string{"1049", "database: create"}},
		{"no such table", nil, always([]string{"SELECT * FROM nothing WHERE id=?"}, write(0, 1)), 2, []string{"1146", "step prepare", "SELECT * FROM nothing"}},
		{"too many prepared statements", nil, always(increment, write(0, 0)), 15, []string{"of 15 clients connected", "1461", "ps_mode: disable"}},
		{"no server", func(c *mysql.Config) { c.Addr += "x" }, sleeps("0"), 2, []string{"0 of 2 clients connected", "no such file"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			change := tt.change
			if change == nil {
				change = func(*mysql.Config) {}
			}
			_, err := engine.Run(t.Context(), d.Connector(change), tt.load, engine.Order{IO: io, Workload: "w", Clients: clients(tt.n), Events: 10}, nil, nil)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the password is in: %v", err)
			}
			t.Log(err)
		})
	}
}

func TestAConnectorWithoutSocketsIsRefused(t *testing.T) {
	everyIO(t, testAConnectorWithoutSocketsIsRefused)
}

func testAConnectorWithoutSocketsIsRefused(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.DBName = "unix", d.Server.Socket(), d.Server.User(), d.Name
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	_, err = engine.Run(t.Context(), connector, sleeps("0"), engine.Order{IO: io, Clients: clients(1), Events: 1}, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "engine.NewConnector") {
		t.Errorf("got %v", err)
	}
}

func TestTextAndPreparedGiveEqualResults(t *testing.T) {
	everyIOAtOnce(t, testTextAndPreparedGiveEqualResults)
}

func testTextAndPreparedGiveEqualResults(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	d.Exec("CREATE TABLE texts (id BIGINT UNSIGNED PRIMARY KEY, n BIGINT, t VARBINARY(300)) ENGINE=innodb")
	random := rand.New(rand.NewPCG(1, 2))
	const special = "\x00\n\r\x1a'\"\\%_?`;- aZ\x80\xff"
	noise := func(dst []byte) []byte {
		for range random.IntN(300) {
			dst = append(dst, special[random.IntN(len(special))])
		}
		return dst
	}
	numbers := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 42}
	var checksums []string
	for _, mode := range []engine.PSMode{engine.PSAuto, engine.PSDisable} {
		for _, sqlMode := range []string{"''", "'NO_BACKSLASH_ESCAPES'"} {
			d.Exec("DELETE FROM texts")
			random = rand.New(rand.NewPCG(1, 2))
			id := uint64(math.MaxUint64 - 1000)
			w := load{templates: []string{"INSERT INTO texts VALUES (?, ?, ?) /* really? */"}, event: func(int, *rand.Rand) []engine.Statement {
				s := engine.Statement{Class: results.Write}
				s.Args.Uint(id)
				s.Args.Int(numbers[id%uint64(len(numbers))])
				s.Args.Text(noise)
				id++
				return []engine.Statement{s}
			}}
			connector := d.Connector(func(c *mysql.Config) {
				c.Params = map[string]string{"sql_mode": sqlMode, "character_set_client": "binary"}
			})
			out, err := engine.Run(t.Context(), connector, w, engine.Order{IO: io, Clients: clients(1), Events: 200, PSMode: mode}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if out.Statements[results.Write].Affected != 200 {
				t.Errorf("%d rows", out.Statements[results.Write].Affected)
			}
			checksums = append(checksums, d.Rows("CHECKSUM TABLE texts")[0][1])
		}
	}
	if slices.Sort(checksums); checksums[0] != checksums[len(checksums)-1] {
		t.Errorf("the tables differ: %v", checksums)
	}
}
