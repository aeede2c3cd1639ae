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

// bounds are the least and the most that each of some things took.
type bounds struct{ least, most []time.Duration }

func (b *bounds) add(least, most time.Duration) {
	b.least, b.most = append(b.least, least), append(b.most, most)
}

// percentile gives the bounds of the value whose rank is nearest to p %, in milliseconds.
func (b *bounds) percentile(p float64) (low, high float64) {
	of := func(list []time.Duration) float64 {
		sorted := slices.Sorted(slices.Values(list))
		return sorted[max(1, int(p/100*float64(len(sorted))+0.5))-1].Seconds() * 1000
	}
	return of(b.least), of(b.most)
}

// mean gives the bounds of the mean, in milliseconds.
func (b *bounds) mean() (low, high float64) {
	of := func(list []time.Duration) (mean float64) {
		for _, d := range list {
			mean += d.Seconds() * 1000 / float64(len(list))
		}
		return mean
	}
	return of(b.least), of(b.most)
}

// longer counts what took longer than a limit.
func (b *bounds) longer(limit time.Duration) (low, high int64) {
	of := func(list []time.Duration) (n int64) {
		for _, d := range list {
			if d > limit {
				n++
			}
		}
		return n
	}
	return of(b.least), of(b.most)
}

// within checks a figure, in milliseconds, against its bounds. What is allowed besides is the resolution of histograms.
func within(t *testing.T, what string, got, low, high float64) {
	t.Helper()
	t.Logf("%s: %.3f ms, the truth is %.3f to %.3f", what, got, low, high)
	if got < 0.99*low-0.5 || got > 1.01*high+0.5 {
		t.Errorf("%s is %.3f ms, the truth is %.3f to %.3f", what, got, low, high)
	}
}

// begun gives when the clock of a run that took so many seconds began, at the earliest: the run ended when a client had the last reply.
func begun(passed []passage, elapsed float64) (earliest time.Time) {
	for _, p := range passed {
		if p.reply.After(earliest) {
			earliest = p.reply
		}
	}
	return earliest.Add(-time.Duration(elapsed * 1e9))
}

// truth is what came of the events of a role with a rate, all of which went through, in a run that took so many seconds: how long after
// they were due, by the schedule, their clients had the reply, and how long the statements took by themselves. Of several clients only
// the mean and what it is made of is right: which of them has which event is not known. start is when the clock of the run began, at
// the latest.
func truth(passed []passage, perSecond, phase, elapsed float64) (events, statements bounds, start time.Time) {
	due := func(k int) time.Duration { return time.Duration((float64(k) + phase) / perSecond * 1e9) }
	// No event was begun before it was due, and of so many one was begun at once.
	start = passed[0].request.Add(-due(0))
	for k, p := range passed {
		if s := p.request.Add(-due(k)); s.Before(start) {
			start = s
		}
	}
	earliest := begun(passed, elapsed) // where none was, since the machine was busy
	for k, p := range passed {
		at := earliest.Add(due(k))
		events.add(p.reply.Sub(start.Add(due(k))), p.latest.Sub(at))
		sent := p.earliest
		if sent.Before(at) {
			sent = at
		}
		statements.add(p.reply.Sub(p.request), p.latest.Sub(sent))
	}
	return events, statements, start
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
		hold func(int)
	}{
		{"every 60th reply is late", 60, 300, func(n int) {
			if n%60 == 30 {
				time.Sleep(400 * time.Millisecond)
			}
		}},
		{"one stall", 100, 400, func(n int) {
			if n == 100 {
				time.Sleep(time.Second)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := testdb.Shared(t)
			p := newProxy(t, d, tt.hold)
			roles := []engine.RoleClients{{Role: "a", Count: 1}, {Role: "b", Count: 1}}
			o := engine.Order{IO: io, Clients: roles, Events: 2 * tt.n, Rate: rate(2 * tt.rate), PSMode: engine.PSDisable}
			began := time.Now()
			out, err := engine.Run(t.Context(), d.Connector(p.through), beside{marked(), always(nil, plain("DO 1", results.Other))}, o, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			balanced(t, out)
			passed := p.seen(began, time.Now())
			events, statements, _ := truth(passed, tt.rate, 0.25, out.Elapsed)
			// A statement is timed from when it was sent: few of them are long, however many events are.
			held, sent := out.Roles[0].Latency, out.Statements[results.Read].Latency
			for _, f := range []struct {
				name  string
				got   float64
				truth bounds
				p     float64
				floor float64 // that the truth cannot be less than: what was meant
			}{
				{"p95", held.P95, events, 95, 0}, {"p99", held.P99, events, 99, 300}, {"max", held.Max, events, 100, 400},
				{"p50 of statements", sent.P50, statements, 50, 0}, {"p95 of statements", sent.P95, statements, 95, 0},
				{"max of statements", sent.Max, statements, 100, 400},
			} {
				low, high := f.truth.percentile(f.p)
				within(t, f.name, f.got, max(low, f.floor), high)
			}
			if n := int64(tt.n); int64(len(passed)) != n || out.Roles[0].Events != n || out.Events != 2*n || out.Unfinished != 0 {
				t.Errorf("%d events, %+v; %d passed", out.Events, out.Roles, len(passed))
			}
			if s := out.Schedule; s.Due != 2*int64(tt.n) || s.Dropped != 0 || math.Abs(s.Rate/(2*tt.rate)-1) > 0.001 || s.Late == 0 || s.QueueMax < 10 || s.Wait.Max > out.Latency.Max {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestStall: for a while no reply comes. The closed loop has one long latency a client, the open loop has them all; both have a
// second without events. Whatever was due in the stall is done after it: a client that the stall had stopped for good would have the run
// never end.
func TestStall(t *testing.T) { everyIOAtOnce(t, testStall) }

func testStall(t *testing.T, io engine.IOMode) {
	const n, perSecond = 4, 200
	for _, tt := range []struct {
		name   string
		rate   *engine.Rate
		events plan.Count
	}{{"closed", nil, 400}, {"open", rate(perSecond), 4 * perSecond}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := testdb.Shared(t)
			pause := newStall(t, 100, n, 2300*time.Millisecond)
			p := newProxy(t, d, pause.hold)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			o := engine.Order{IO: io, Clients: clients(n), Events: tt.events, Rate: tt.rate, PSMode: engine.PSDisable}
			began := time.Now()
			out, err := engine.Run(ctx, d.Connector(p.through), marked(), o, nil, nil)
			if err != nil {
				t.Fatalf("%v; %d events, %d unfinished, %+v", err, out.Events, out.Unfinished, out.Schedule)
			}
			passed := p.seen(began, time.Now())
			if out.Events != int64(tt.events) || len(passed) != int(tt.events) || out.Unfinished != 0 || out.Stopped != results.ByEvents {
				t.Errorf("%d events, %d passed, %d unfinished, stopped by %s", out.Events, len(passed), out.Unfinished, out.Stopped)
			}
			long := func(limit time.Duration) (n int64) {
				for _, bar := range out.Histograms["events"].Distribution() {
					if bar.From > int64(limit) {
						n += bar.Count
					}
				}
				return n
			}
			start := passed[0].request // at the latest
			if tt.rate == nil {
				var events bounds
				for _, p := range passed {
					events.add(p.reply.Sub(p.request), p.latest.Sub(p.earliest))
				}
				low, high := events.longer(time.Second)
				if got := long(time.Second); low < n || got < low || got > high || out.Schedule != nil {
					t.Errorf("%d long latencies of %d clients, the truth is %d to %d", got, n, low, high)
				}
				low50, high50 := events.percentile(50)
				within(t, "p50", out.Latency.P50, low50, high50)
			} else {
				var events bounds
				events, _, start = truth(passed, perSecond, 0.5, out.Elapsed)
				low, high := events.mean()
				within(t, "mean", out.Latency.Mean, low, high)
				balanced(t, out)
				if out.Schedule.Due != int64(tt.events) || out.Schedule.Dropped != 0 {
					t.Errorf("%+v", out.Schedule)
				}
				// What was due while each client waited, and more than 0.1 s before that was over.
				want := int64(perSecond*(pause.end.Sub(pause.begin)-time.Second/10).Seconds()) - 2
				if got := long(time.Second / 10); got < want {
					t.Errorf("%d long latencies, at least %d were due", got, want)
				}
			}
			checkQuiet(t, out, passed, pause, start, tt.rate)
		})
	}
}

// checkQuiet checks the seconds that are all within a stall. The clock of the run began at start, or earlier.
func checkQuiet(t *testing.T, out results.Outcome, passed []passage, pause *stall, start time.Time, rate *engine.Rate) {
	t.Helper()
	earliest := begun(passed, out.Elapsed)
	dueBefore := func(at float64) float64 { return min(math.Floor(at*rate.From+0.5), float64(len(passed))) }
	checked, longest := 0, 0.0
	for i, s := range out.Series {
		longest = max(longest, s.Length)
		from, to := time.Duration(s.At*1e9), time.Duration((s.At+s.Length)*1e9)
		if earliest.Add(from).Before(pause.begin) || start.Add(to).After(pause.end) {
			continue
		}
		checked++
		if s.Events != 0 || s.Queries != 0 || s.Max != 0 || s.Clients != pause.clients {
			t.Errorf("a second of the stall: %+v", s)
		}
		switch {
		case rate == nil && (s.Due != 0 || s.Queue != 0):
			t.Errorf("a second of the stall of a closed loop: %+v", s)
		case rate != nil && (math.Abs(float64(s.Due)-dueBefore(s.At+s.Length)+dueBefore(s.At)) > 2 || s.Queue < s.Due):
			t.Errorf("a second of the stall of an open loop: %+v", s)
		}
		// The replies that were held up are in the first second that has any.
		if next := slices.IndexFunc(out.Series[i:], func(s results.Second) bool { return s.Events > 0 }); next < 0 || out.Series[i+next].Max < 1000 {
			t.Errorf("nothing of the stall is in the series after it: %+v", out.Series)
		}
	}
	if checked == 0 && longest < 1.1 {
		t.Errorf("no second is within the stall from %s to %s: %+v", pause.begin.Sub(start), pause.end.Sub(start), out.Series)
	}
}

// TestRatesAreHeld asserts what a busy machine can do; BenchmarkPace tells what this one does at higher rates. Since a machine on which
// others work may stand still for a while, the rate has to be held in one of three tries; the rest holds in each.
func TestRatesAreHeld(t *testing.T) { everyIO(t, testRatesAreHeld) }

func testRatesAreHeld(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	for _, tt := range []struct {
		rate    engine.Rate
		clients int
		tries   int // 0: it need not hold
	}{
		{engine.Rate{From: 100}, 4, 3},
		{engine.Rate{From: 1000, Arrivals: engine.Poisson}, 32, 3},
		{engine.Rate{From: 10_000}, 64, 0},
	} {
		t.Run(fmt.Sprint(tt.rate.From), func(t *testing.T) {
			if tt.tries == 0 {
				holds(t, d, io, tt.rate, tt.clients)
				return
			}
			var most float64
			for range tt.tries {
				if most = max(most, holds(t, d, io, tt.rate, tt.clients)); most > 0.99 {
					return
				}
			}
			t.Errorf("only %.1f %% of what was due was begun, at the best of %d tries", 100*most, tt.tries)
		})
	}
}

// holds runs a cell with a rate for a while, and gives the share of the events due that was begun.
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
	if s.Due != 20_000 || s.Rate != 20_000 || s.Begun > 400 || s.Begun < 4 || s.Late < s.Begun-4 || s.QueueMax < 19_000 || s.QueueMean < 1000 {
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
			if took := time.Since(began); took > 18*time.Second || (err != nil) != (tt.after > 0) {
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
	frozen := 0.0 // when, in seconds, at the latest
	began := time.Now()
	o := engine.Order{IO: io, Clients: clients(8), Duration: 3 * second, Grace: second / 2, Rate: rate(200)}
	out, err := engine.Run(t.Context(), d.Connector(), unhurried(0), o, func(engine.Snapshot) {
		if frozen == 0 {
			d.Freeze()
			frozen = time.Since(began).Seconds()
		}
	}, nil)
	took := time.Since(began)
	d.Thaw()
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, out)
	if out.Stopped != results.ByDuration || out.Elapsed != 3 || out.Schedule.Due != 600 || out.Unfinished < out.Cut || took > 45*time.Second {
		t.Errorf("stopped by %s, elapsed %v s, %d cut, %d unfinished, took %s, %+v", out.Stopped, out.Elapsed, out.Cut, out.Unfinished, took, out.Schedule)
	}
	// When so many more were due, each client has an event under way that is not answered; what was due later waits in the queue. Less
	// than a second is too little to say so: a client may not have come to read the answer that the server gave before.
	const soon = 0.2
	if hung := 3 - frozen - soon; hung > 1 && (out.Cut != 8 || out.Schedule.Dropped < int64(200*hung) || out.LongestUnfinished < 1000*hung) {
		t.Errorf("frozen at %v s: %d cut, the longest unfinished %v ms, %+v", frozen, out.Cut, out.LongestUnfinished, out.Schedule)
	}
}

// TestAConnectionThatEndsWhileItsClientWaits is noticed by the next event; until then nobody looks at it again and again.
func TestAConnectionThatEndsWhileItsClientWaits(t *testing.T) {
	everyIOAtOnce(t, testAConnectionThatEndsWhileItsClientWaits)
}

func testAConnectionThatEndsWhileItsClientWaits(t *testing.T, io engine.IOMode) {
	d := testdb.Own(t, nil)
	killed := 0.0 // when, in seconds, at the latest
	began := time.Now()
	o := engine.Order{IO: io, Clients: clients(2), Events: 5, Rate: rate(1)}
	out, err := engine.Run(t.Context(), d.Connector(), sleeps("0"), o, func(engine.Snapshot) {
		if killed == 0 {
			d.KillConnections(100)
			killed = time.Since(began).Seconds()
		}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, out)
	// Events are due at 0.5 s and every second from then on, and the clients take turns.
	inTime := killed < 3.4
	if n := lost(out.Restarts); out.Events != 5 || inTime && n != 2 || out.Reconnects != n || len(out.Errors) != 0 {
		t.Errorf("killed at %v s: %d events, %d reconnects, restarts %+v, errors %+v", killed, out.Events, out.Reconnects, out.Restarts, out.Errors)
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
					d.Freeze()
				}
			}, nil)
			took := time.Since(began)
			d.Thaw()
			if !errors.Is(err, engine.ErrServerLost) || !strings.Contains(err.Error(), "answered no statement of any client for ") {
				t.Errorf("error %v", err)
			}
			if out.Stopped != results.ByError || out.Cut != 4 || out.Unfinished != 4 || out.Events == 0 || out.Elapsed < 2.5 || took > 60*time.Second {
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
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := testdb.Own(t, nil)
			counterTable(d, 4)
			restarted := make(chan error, 1)
			killed := false
			o := engine.Order{IO: io, Clients: clients(4), Events: 600, Rate: tt.rate, ServerLost: 90 * second}
			ctx, enough := context.WithTimeout(t.Context(), 100*time.Second)
			defer enough()
			if tt.rate == nil {
				o.Events, o.Duration = 0, 90*second // it is ended when the server has been there again for a while
			}
			again := 0
			out, err := engine.Run(ctx, d.Connector(), unhurried(1), o, func(s engine.Snapshot) {
				switch {
				case tt.rate == nil && again > 0 && s.Clients == 4 && s.TPS > 0:
					if again++; again > 2 {
						enough()
					}
				case killed && s.Reconnects > 0:
					again = 1
				case !killed:
					killed = true
					d.Kill()
					go func() {
						time.Sleep(2200 * time.Millisecond) // a whole second of the series is within
						restarted <- d.Server.Restart(context.Background(), nil)
					}()
				}
			}, nil)
			if want := map[bool]error{true: context.Canceled, false: nil}[tt.rate == nil]; !errors.Is(err, want) {
				t.Fatal(err)
			}
			if err := <-restarted; err != nil {
				t.Fatal(err)
			}
			if len(out.Errors) != 0 {
				t.Errorf("errors %+v", out.Errors)
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
				// What was due while the server was away is done afterwards; none of it was begun but what the clients had under way.
				if s, in := out.Schedule, out.Series[gap]; out.Events != 600 || s.Due != 600 || s.Dropped != 0 || out.Unfinished != 0 || in.Due == 0 || in.Queue < in.Due-4 {
					t.Errorf("%d events, %d unfinished, %+v, in the gap %+v", out.Events, out.Unfinished, s, in)
				}
			}
		})
	}
}
