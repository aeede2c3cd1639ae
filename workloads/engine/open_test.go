package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
)

// marked is a load of one short statement that a proxy knows.
func marked() load { return always(nil, plain("SELECT 1 "+marker, results.Read)) }

func rate(perSecond float64) *engine.Rate { return &engine.Rate{From: perSecond} }

// balanced checks what holds for the figures of every open loop.
func balanced(t *testing.T, out results.Outcome) {
	t.Helper()
	s := out.Schedule
	if s == nil {
		t.Fatal("an open loop without a schedule")
	}
	var failed int64
	for _, e := range out.Errors {
		failed += e.Count
	}
	if s.Begun+s.Dropped != s.Due || s.Wait.Count != s.Begun || s.Late+s.Overslept.Count != s.Begun || out.Events+out.Unfinished+failed < s.Begun {
		t.Errorf("%d events, %d unfinished: %+v", out.Events, out.Unfinished, s)
	}
	var due, events, reconnects, restarts int64
	for _, second := range out.Series {
		due, events = due+second.Due, events+second.Events
		reconnects, restarts = reconnects+second.Reconnects, restarts+second.Restarts
		if second.Queue > s.QueueMax {
			t.Errorf("a queue of %d at the end of a second, at most %d", second.Queue, s.QueueMax)
		}
	}
	if due != s.Due || events != out.Events || reconnects != out.Reconnects {
		t.Errorf("the series has %d due, %d events, %d reconnects; there were %d, %d, %d", due, events, reconnects, s.Due, out.Events, out.Reconnects)
	}
	if last := out.Series[len(out.Series)-1]; last.Queue != s.Dropped {
		t.Errorf("a queue of %d at the end, %d dropped", last.Queue, s.Dropped)
	}
}

// truth is what the latencies of the events of one client were, from when they were due (by the schedule) until the reply went
// to the client, and until it was seen to have it: the next event came, or nothing waited.
func truth(passed []passage, perSecond, phase float64) (least, most []time.Duration) {
	due := func(k int) time.Duration { return time.Duration((float64(k) + phase) / perSecond * 1e9) }
	// When the clock started: no event was begun before it was due, and of so many one was begun at once.
	start := passed[0].request.Add(-due(0))
	for k, p := range passed {
		if s := p.request.Add(-due(k)); s.Before(start) {
			start = s
		}
	}
	for k, p := range passed {
		if p.reply.IsZero() {
			break
		}
		at := start.Add(due(k))
		least = append(least, p.reply.Sub(at))
		seen := p.reply
		if k+1 < len(passed) && start.Add(due(k+1)).Before(p.reply) {
			seen = passed[k+1].request
		}
		most = append(most, seen.Sub(at))
	}
	slices.Sort(least)
	slices.Sort(most)
	return least, most
}

// percentile gives the value whose rank is nearest to p %, in milliseconds.
func percentile(sorted []time.Duration, p float64) float64 {
	return sorted[max(1, int(p/100*float64(len(sorted))+0.5))-1].Seconds() * 1000
}

// beside is a load of two roles: a does what a proxy knows, and b, with as many clients, what it does not.
type beside struct{ a, b load }

func (w beside) Templates(string) []string { return nil }

func (w beside) Client(role string, index, n int, random *rand.Rand) engine.Client {
	if role == "a" {
		return w.a.Client(role, index, n, random)
	}
	return w.b.Client(role, index, n, random)
}

// TestOpenLoopLatencyIsTheTruth: the replies to some events of one client are held up, and those that are due meanwhile wait. There is
// another client beside it, for which all goes well: a client alone needs no loop.
func TestOpenLoopLatencyIsTheTruth(t *testing.T) {
	everyIOAtOnce(t, testOpenLoopLatencyIsTheTruth)
}

func testOpenLoopLatencyIsTheTruth(t *testing.T, io engine.IOMode) {
	for _, tt := range []struct {
		name string
		rate float64
		n    plan.Count
		hold func(int) time.Duration
	}{
		{"every 60th reply is late", 60, 300, func(n int) time.Duration {
			if n%60 == 30 {
				return 400 * time.Millisecond
			}
			return 0
		}},
		{"one stall", 100, 400, func(n int) time.Duration {
			if n == 100 {
				return time.Second
			}
			return 0
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := testdb.Shared(t)
			p := newProxy(t, d, tt.hold)
			roles := []engine.RoleClients{{Role: "a", Count: 1}, {Role: "b", Count: 1}}
			o := engine.Order{IO: io, Clients: roles, Events: 2 * tt.n, Rate: rate(2 * tt.rate), PSMode: engine.PSDisable}
			out, err := engine.Run(t.Context(), d.Connector(p.through), beside{marked(), sleeps("0")}, o, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			balanced(t, out)
			least, most := truth(p.seen(), tt.rate, 0.25)
			held := out.Roles[0].Latency
			for _, f := range []struct {
				name  string
				got   float64
				p     float64
				floor float64 // that the truth must not be less than: what was meant
			}{{"p95", held.P95, 95, 0}, {"p99", held.P99, 99, 300}, {"max", held.Max, 100, 400}} {
				low, high := percentile(least, f.p), percentile(most, f.p)
				t.Logf("%s: %.3f ms, the truth is %.3f to %.3f", f.name, f.got, low, high)
				if low < f.floor || f.got < 0.99*low-0.5 || f.got > 1.01*high+0.5 {
					t.Errorf("%s is %.3f ms, the truth is %.3f to %.3f", f.name, f.got, low, high)
				}
			}
			if out.Roles[0].Events != int64(tt.n) || out.Schedule.Due != 2*int64(tt.n) || math.Abs(out.Schedule.Rate/(2*tt.rate)-1) > 0.001 {
				t.Errorf("%d events, %+v", out.Events, out.Schedule)
			}
			if out.Schedule.Late == 0 || out.Schedule.QueueMax < 10 || out.Schedule.Wait.Max > out.Latency.Max {
				t.Errorf("%+v", out.Schedule)
			}
			// A statement is timed from when it was sent: few of them are long, however many events are.
			if s := out.Statements[results.Read].Latency; s.P50 > 200 || s.Max < 400 {
				t.Errorf("statements: %+v", s)
			}
		})
	}
}

// TestStall: for a while no reply comes. The closed loop has one long latency a client, the open loop has them all; both have a
// second without events.
func TestStall(t *testing.T) { everyIOAtOnce(t, testStall) }

func testStall(t *testing.T, io engine.IOMode) {
	const stall = 1300 * time.Millisecond
	for _, tt := range []struct {
		name string
		rate *engine.Rate
	}{{"closed", nil}, {"open", rate(200)}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := testdb.Shared(t)
			var once sync.Once
			var begin time.Time
			p := newProxy(t, d, func(int) time.Duration {
				once.Do(func() { begin = time.Now().Add(850 * time.Millisecond) })
				if now := time.Now(); now.After(begin) {
					return max(0, begin.Add(stall).Sub(now))
				}
				return 0
			})
			o := engine.Order{IO: io, Clients: clients(4), Duration: 4 * second, Rate: tt.rate, PSMode: engine.PSDisable}
			out, err := engine.Run(t.Context(), d.Connector(p.through), marked(), o, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			long := func(limit time.Duration) (n int64) {
				for _, bar := range out.Histograms["events"].Distribution() {
					if bar.From > int64(limit) {
						n += bar.Count
					}
				}
				return n
			}
			var longest time.Duration // that the stall really was
			for _, p := range p.seen() {
				longest = max(longest, p.reply.Sub(p.request))
			}
			if longest < time.Second || out.Latency.Max < 0.99*longest.Seconds()*1000 {
				t.Errorf("max is %v ms, a reply took %s", out.Latency.Max, longest)
			}
			quiet := slices.IndexFunc(out.Series, func(s results.Second) bool { return s.Events < 10 })
			if quiet < 0 {
				t.Fatalf("no second shows it: %+v", out.Series)
			}
			after := out.Series[min(quiet+1, len(out.Series)-1)]
			if after.Max < 1000 || after.Max < after.P99 {
				t.Errorf("the second after it: %+v", after)
			}
			if tt.rate == nil {
				// One for each client, and no more than another one if the machine stood still besides.
				if n := long(time.Second); out.Schedule != nil || n < 4 || n > 8 || out.Series[quiet].Queue != 0 {
					t.Errorf("%d long latencies, 4 clients; %+v", n, out.Series)
				}
				return
			}
			balanced(t, out)
			// All that were due more than 0.1 s before its end, while each client waited for a reply.
			n, held := long(time.Second/10), heldUp(p.seen(), begin, begin.Add(stall), 4)
			rest := out.Schedule.Dropped + out.Unfinished // where the machine was too busy to catch up
			if want := int64(0.9 * 200 * (held.Seconds() - 0.1)); n+rest < want || held < 0 {
				t.Errorf("%d long latencies and %d without one, at least %d were due", n, rest, want)
			}
			if s := out.Series[quiet]; s.Due < 150 || s.Queue < 150 || s.Clients != 4 {
				t.Errorf("the second of the stall: %+v", s)
			}
		})
	}
}

// heldUp is for how long of a stall so many clients waited for a reply, each on a connection of its own.
func heldUp(passed []passage, begin, end time.Time, clients int) time.Duration {
	for _, p := range passed {
		if p.request.Before(end) && p.reply.After(begin) {
			if clients--; clients == 0 {
				return end.Sub(p.request)
			}
		}
	}
	return -1
}

// TestRatesAreHeld asserts what a busy machine can do; BenchmarkPace tells what this one does at higher rates. Since a machine on which
// others work may stand still for a while, the rate has to be held in one of three tries; the rest holds in each.
func TestRatesAreHeld(t *testing.T) { everyIO(t, testRatesAreHeld) }

func testRatesAreHeld(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	for _, tt := range []struct {
		rate    engine.Rate
		clients int
	}{
		{engine.Rate{From: 100}, 4},
		{engine.Rate{From: 1000, Arrivals: engine.Poisson}, 32},
	} {
		t.Run(fmt.Sprint(tt.rate.From), func(t *testing.T) {
			const tries = 3
			var most float64
			for range tries {
				if most = max(most, holds(t, d, io, tt.rate, tt.clients)); most > 0.99 {
					return
				}
			}
			t.Errorf("only %.1f %% of what was due was begun, at the best of %d tries", 100*most, tries)
		})
	}
}

// holds runs a cell with a rate for a second, and gives the share of the events due that was begun.
func holds(t *testing.T, d *testdb.Database, io engine.IOMode, r engine.Rate, n int) (begun float64) {
	o := engine.Order{IO: io, Clients: clients(n), Duration: second, Warmup: second / 5, Rate: &r, Seed: 3}
	out, err := engine.Run(t.Context(), d.Connector(), always([]string{"DO ?"}, write(0, 1)), o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, out)
	if loops := io == engine.IOLoop; out.IO != string(io) || loops != (out.LoopBusy > 0) || out.LoopBusy > 1 {
		t.Errorf("driven by %s, busy %v", out.IO, out.LoopBusy)
	}
	s := out.Schedule
	t.Logf("%.0f/s: due %.1f/s, begun %.1f/s, %d late, %d dropped, queue %.1f at most %d, overslept p50 %.3f p99 %.3f ms, latency p50 %.3f ms",
		r.From, s.Rate, float64(s.Begun)/out.Elapsed, s.Late, s.Dropped, s.QueueMean, s.QueueMax, s.Overslept.P50, s.Overslept.P99, out.Latency.P50)
	allowed := 0.01
	if r.Arrivals == engine.Poisson {
		allowed = 4 * math.Sqrt(r.From)
	}
	if math.Abs(float64(s.Due)-r.From) > allowed || math.Abs(s.Rate-float64(s.Due)) > 0.01 {
		t.Errorf("%d due, %v/s", s.Due, s.Rate)
	}
	return float64(s.Begun) / float64(s.Due)
}

func TestARateThatCannotBeHeldIsTold(t *testing.T) {
	everyIOAtOnce(t, testARateThatCannotBeHeldIsTold)
}

func testARateThatCannotBeHeldIsTold(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	o := engine.Order{IO: io, Clients: clients(4), Duration: second, Warmup: second / 2, Rate: rate(20_000)}
	out, err := engine.Run(t.Context(), d.Connector(), sleeps("0.01"), o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, out)
	s := out.Schedule
	if s.Due != 20_000 || s.Rate != 20_000 || s.Begun > 400 || s.Begun < 20 || s.Late < s.Begun-4 || s.QueueMax < 19_000 || s.QueueMean < 1000 {
		t.Errorf("%+v", s)
	}
	// The warm-up's backlog would have been waited for too.
	if s.Wait.Max > 1000 || out.Stopped != results.ByDuration || out.Elapsed != 1 {
		t.Errorf("%+v, stopped by %s after %v s", s.Wait, out.Stopped, out.Elapsed)
	}
}

func TestARampIsInTheSeries(t *testing.T) { everyIOAtOnce(t, testARampIsInTheSeries) }

func testARampIsInTheSeries(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	o := engine.Order{IO: io, Clients: clients(4), Duration: 3 * second, Rate: &engine.Rate{From: 20, To: 320}}
	out, err := engine.Run(t.Context(), d.Connector(), sleeps("0"), o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, out)
	if s := out.Schedule; s.Due != 510 || math.Abs(s.Rate-170) > 0.01 {
		t.Errorf("%+v", s)
	}
	due := func(at float64) float64 { return 20*at + 50*at*at }
	for _, s := range out.Series {
		if want := due(s.At+s.Length) - due(s.At); math.Abs(float64(s.Due)-want) > 1.01 {
			t.Errorf("%d due from %v for %v s, the line says %.2f", s.Due, s.At, s.Length, want)
		}
	}
}

// TestRolesAndEventsOfAnOpenLoop: the events are exact, and shared as the clients are.
func TestRolesAndEventsOfAnOpenLoop(t *testing.T) {
	everyIOAtOnce(t, testRolesAndEventsOfAnOpenLoop)
}

func testRolesAndEventsOfAnOpenLoop(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	counterTable(d, 1)
	o := engine.Order{IO: io, Clients: []engine.RoleClients{{Role: "a", Count: 1}, {Role: "b", Count: 3}}, Events: 400, Rate: rate(800), Warmup: second / 4}
	out, err := engine.Run(t.Context(), d.Connector(), always(nil, plain("SELECT 1", results.Read)), o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, out)
	if out.Events != 400 || out.Roles[0].Events != 100 || out.Roles[1].Events != 300 || out.Stopped != results.ByEvents || out.Schedule.Due != 400 {
		t.Errorf("%d events, roles %+v, stopped by %s, %+v", out.Events, out.Roles, out.Stopped, out.Schedule)
	}
	if out.Elapsed < 0.49 || math.Abs(out.Schedule.Rate-800) > 1 {
		t.Errorf("%v s, due %v/s", out.Elapsed, out.Schedule.Rate)
	}
}

func TestAnErrorLeavesTheSchedule(t *testing.T) { everyIOAtOnce(t, testAnErrorLeavesTheSchedule) }

func testAnErrorLeavesTheSchedule(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	counterTable(d, 1)
	n := int64(0)
	w := load{templates: []string{"INSERT INTO counters VALUES (?, 0)"}, event: func(int, *rand.Rand) []engine.Statement {
		n++
		return []engine.Statement{write(0, n%20)} // the 20th meets the row that is there
	}}
	o := engine.Order{IO: io, Clients: clients(1), Duration: 60 * second, Rate: rate(100)}
	out, err := engine.Run(t.Context(), d.Connector(), w, o, nil, nil)
	if _, ok := errors.AsType[*engine.StatementError](err); !ok || out.Stopped != results.ByError {
		t.Fatalf("stopped by %s: %v", out.Stopped, err)
	}
	balanced(t, out)
	if s := out.Schedule; out.Events != 19 || s.Begun != 20 || math.Abs(s.Rate/100-1) > 0.06 || find(out.Errors, 1062).Count != 1 {
		t.Errorf("%d events, %+v, errors %+v", out.Events, s, out.Errors)
	}
}

func TestHostWorkloadsHaveARateToo(t *testing.T) {
	w := &calls{do: pause(time.Millisecond)}
	o := engine.Order{Workload: "w", Clients: clients(3), Events: 100, Rate: rate(200)}
	out, err := engine.RunHost(t.Context(), w, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, out)
	if out.Events != 100 || out.Counters["ones"] != 100 || out.Elapsed < 0.49 || out.Stopped != results.ByEvents {
		t.Errorf("%+v", out)
	}
}

// TestClientsThatWaitEndAtOnce: no event is due for a long time, when the time is up or the user has had enough.
func TestClientsThatWaitEndAtOnce(t *testing.T) { everyIOAtOnce(t, testClientsThatWaitEndAtOnce) }

func testClientsThatWaitEndAtOnce(t *testing.T, io engine.IOMode) {
	for _, tt := range []struct {
		name  string
		after time.Duration // of an interrupt; 0: none
		want  results.Stop
	}{{"duration", 0, results.ByDuration}, {"interrupt", time.Second / 2, results.ByInterrupt}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := testdb.Shared(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := engine.Order{IO: io, Clients: clients(16), Duration: second, Rate: rate(0.01), Grace: 20 * second}
			if tt.after > 0 {
				o.Duration = 60 * second
				defer time.AfterFunc(tt.after, cancel).Stop()
			}
			began := time.Now()
			out, err := engine.Run(ctx, d.Connector(), sleeps("0"), o, nil, nil)
			if took := time.Since(began); took > 10*time.Second || (err != nil) != (tt.after > 0) {
				t.Errorf("%v after %s", err, took)
			}
			balanced(t, out)
			if s := out.Schedule; s.Due != 0 || out.Cut != 0 || out.Unfinished != 0 || out.Stopped != tt.want || out.Series[0].Clients != 16 {
				t.Errorf("stopped by %s, %d cut, %+v, %+v", out.Stopped, out.Cut, s, out.Series)
			}
		})
	}
}

// TestOpenLoopEndsOnTimeWhenTheServerHangs also when some clients have nothing to do.
func TestOpenLoopEndsOnTimeWhenTheServerHangs(t *testing.T) {
	everyIOAtOnce(t, testOpenLoopEndsOnTimeWhenTheServerHangs)
}

func testOpenLoopEndsOnTimeWhenTheServerHangs(t *testing.T, io engine.IOMode) {
	d := testdb.Own(t, nil)
	counterTable(d, 1)
	stopped := false
	began := time.Now()
	o := engine.Order{IO: io, Clients: clients(8), Duration: 2 * second, Grace: second / 2, Rate: rate(200)}
	out, err := engine.Run(t.Context(), d.Connector(), unhurried(0), o, func(engine.Snapshot) {
		if !stopped {
			stopped = true
			d.Signal(testdb.Freeze)
		}
	}, nil)
	took := time.Since(began)
	d.Signal(testdb.Thaw)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, out)
	if out.Stopped != results.ByDuration || out.Elapsed != 2 || out.Cut != 8 || out.Unfinished != 8 || took > 10*time.Second {
		t.Errorf("stopped by %s, elapsed %v s, %d cut, %d unfinished, took %s", out.Stopped, out.Elapsed, out.Cut, out.Unfinished, took)
	}
	// Events wait in the queue that no client could begin any more, and the longest of those under way was due a second ago.
	if s := out.Schedule; s.Due != 400 || s.Dropped < 100 || out.LongestUnfinished < 900 {
		t.Errorf("%+v, the longest unfinished %v ms", s, out.LongestUnfinished)
	}
}

// TestAConnectionThatEndsWhileItsClientWaits is noticed by the next event; until then nobody looks at it again and again.
func TestAConnectionThatEndsWhileItsClientWaits(t *testing.T) {
	everyIOAtOnce(t, testAConnectionThatEndsWhileItsClientWaits)
}

func testAConnectionThatEndsWhileItsClientWaits(t *testing.T, io engine.IOMode) {
	d := testdb.Own(t, nil)
	killed := false
	o := engine.Order{IO: io, Clients: clients(2), Events: 5, Rate: rate(1)}
	out, err := engine.Run(t.Context(), d.Connector(), sleeps("0"), o, func(engine.Snapshot) {
		if !killed {
			killed = true
			for _, row := range d.Rows("SELECT id FROM information_schema.processlist WHERE db='test' AND id<>CONNECTION_ID()") {
				d.Exec("KILL CONNECTION " + row[0])
			}
		}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, out)
	if out.Events != 5 || out.Reconnects != 2 || lost(out.Restarts) != 2 || len(out.Errors) != 0 {
		t.Errorf("%d events, %d reconnects, restarts %+v, errors %+v", out.Events, out.Reconnects, out.Restarts, out.Errors)
	}
	if out.LoopBusy > 0.1 {
		t.Errorf("the loop was busy %.0f %% of the time with next to nothing to do", 100*out.LoopBusy)
	}
}

// TestASilentServerIsLost: nothing but events would end the cell, and none ends.
func TestASilentServerIsLost(t *testing.T) { everyIOAtOnce(t, testASilentServerIsLost) }

func testASilentServerIsLost(t *testing.T, io engine.IOMode) {
	for _, tt := range []struct {
		name string
		rate *engine.Rate
	}{{"closed", nil}, {"open", rate(50)}} {
		if tt.rate == nil && io == engine.IODriver {
			continue // each way of sending, and each kind of loop, is met by the others
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := testdb.Own(t, nil)
			counterTable(d, 1)
			stopped := false
			o := engine.Order{IO: io, Clients: clients(4), Events: 1e9, Silence: 2 * second, Rate: tt.rate}
			began := time.Now()
			out, err := engine.Run(t.Context(), d.Connector(), unhurried(0), o, func(engine.Snapshot) {
				if !stopped {
					stopped = true
					d.Signal(testdb.Freeze)
				}
			}, nil)
			took := time.Since(began)
			d.Signal(testdb.Thaw)
			if !errors.Is(err, engine.ErrServerLost) || !strings.Contains(err.Error(), "answered no statement of any client for ") {
				t.Errorf("error %v", err)
			}
			if out.Stopped != results.ByError || out.Cut != 4 || out.Unfinished != 4 || out.Events == 0 || out.Elapsed < 2.5 || took > 15*time.Second {
				t.Errorf("stopped by %s after %v s (%s), %d events, %d cut, %d unfinished", out.Stopped, out.Elapsed, took, out.Events, out.Cut, out.Unfinished)
			}
			if s := out.Series[len(out.Series)-1]; s.Events != 0 || s.Clients != 4 {
				t.Errorf("last second %+v", s)
			}
		})
	}
}

// A server that has nothing to answer is not silent.
func TestWaitingForTheNextEventIsNoSilence(t *testing.T) {
	everyIOAtOnce(t, testWaitingForTheNextEventIsNoSilence)
}

func testWaitingForTheNextEventIsNoSilence(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	o := engine.Order{IO: io, Clients: clients(2), Events: 2, Silence: 2 * second, Rate: rate(0.4)}
	out, err := engine.Run(t.Context(), d.Connector(), sleeps("0"), o, nil, nil)
	if err != nil || out.Events != 2 {
		t.Errorf("%v, %+v", err, out)
	}
	balanced(t, out)
}

// TestAKilledServerLeavesAGap: killed and started again two seconds later, on the same data and socket.
func TestAKilledServerLeavesAGap(t *testing.T) { everyIOAtOnce(t, testAKilledServerLeavesAGap) }

func testAKilledServerLeavesAGap(t *testing.T, io engine.IOMode) {
	for _, tt := range []struct {
		name string
		rate *engine.Rate
	}{{"closed", nil}, {"open", rate(100)}} {
		if tt.rate == nil && io == engine.IODriver {
			continue // each way of sending, and each kind of loop, is met by the others
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := testdb.Own(t, nil)
			counterTable(d, 4)
			restarted := make(chan error, 1)
			killed := false
			o := engine.Order{IO: io, Clients: clients(4), Duration: 60 * second, Rate: tt.rate}
			// It goes on until the server has been there again for a while, however long that takes.
			ctx, enough := context.WithCancel(t.Context())
			defer enough()
			again := 0
			out, err := engine.Run(ctx, d.Connector(), unhurried(1), o, func(s engine.Snapshot) {
				switch {
				case killed && again > 0 && s.Clients == 4 && s.TPS > 0:
					if again++; again > 2 {
						enough()
					}
				case killed && s.Reconnects > 0:
					again = 1
				case !killed:
					killed = true
					d.Signal(os.Kill)
					go func() {
						time.Sleep(2200 * time.Millisecond) // a whole second of the series is within
						restarted <- d.Server.Restart(context.Background(), nil)
					}()
				}
			}, nil)
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if err := <-restarted; err != nil {
				t.Fatal(err)
			}
			if out.Stopped != results.ByInterrupt || len(out.Errors) != 0 {
				t.Errorf("stopped by %s, errors %+v", out.Stopped, out.Errors)
			}
			if out.Reconnects != 4 || out.ReconnectTime < 4*2 || lost(out.Restarts) != 4 {
				t.Errorf("%d reconnects in %v s, restarts %+v", out.Reconnects, out.ReconnectTime, out.Restarts)
			}
			gap := slices.IndexFunc(out.Series, func(s results.Second) bool { return s.Events == 0 && s.Clients == 0 })
			last := out.Series[len(out.Series)-1]
			if gap < 1 || last.Clients != 4 || out.Series[0].Clients != 4 {
				t.Errorf("series %+v", out.Series)
			}
			var reconnects, restarts int64
			for _, s := range out.Series {
				reconnects, restarts = reconnects+s.Reconnects, restarts+s.Restarts
			}
			if reconnects != 4 || restarts != 4 {
				t.Errorf("%d reconnects and %d restarts in the series", reconnects, restarts)
			}
			if out.Latency.Max < 2000 {
				t.Errorf("the longest latency is %v ms", out.Latency.Max)
			}
			if tt.rate != nil {
				balanced(t, out)
				if s := out.Schedule; math.Abs(float64(s.Due)-100*out.Elapsed) > 1 || out.Series[gap].Queue < 80 {
					t.Errorf("%+v, in the gap %+v", s, out.Series[gap])
				}
			}
		})
	}
}
