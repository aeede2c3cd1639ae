package engine

import (
	"errors"
	"math"
	"testing"
	"time"

	"benchplan/results"
)

// stub is a client of one-statement events.
type stub struct{ done, undone int }

func (c *stub) Next(s *Statement)          { s.Class, s.Last = results.Write, true }
func (c *stub) Done(int64, int64)          { c.done++ }
func (c *stub) Undo(*Statement, bool) bool { c.undone++; return false }

func newSession(start, end, budget int64) (*session, *stub) {
	c := &cell{clients: []RoleClients{{Count: 1}}, start: start, budget: budget, fallback: Stop}
	c.fail = func(int64, error) bool { return true }
	c.end.Store(end)
	client := new(stub)
	return &session{cell: c, shard: newShard(1), client: client, templates: []string{"INSERT"}}, client
}

const ms = int64(time.Millisecond)

func TestWhatEndsWithinTheMeasuredPartCounts(t *testing.T) {
	s, client := newSession(100*ms, 200*ms, 0)
	step := s.begin(0)
	for _, now := range []int64{50 * ms, 120 * ms, 190 * ms, 230 * ms} {
		if step != execute {
			t.Fatalf("step %d before %d", step, now)
		}
		step = s.answered(now, 0, 1)
	}
	if step != stop {
		t.Errorf("goes on after the end: %d", step)
	}
	s.abandon(230 * ms)
	// Of four events, the one from 50 to 120 counts, the one from 190 to 230 does not.
	h := s.shard.roles[0]
	if h.TotalCount() != 2 || s.shard.unfinished != 1 || client.done != 4 {
		t.Errorf("%d events, %d unfinished, %d done", h.TotalCount(), s.shard.unfinished, client.done)
	}
	if got := summarize(h); math.Abs(got.Mean-70) > 0.1 || math.Abs(got.Max-70) > 0.1 {
		t.Errorf("latency %+v", got)
	}
	if s.shard.warm.events != 1 || s.shard.classes[1].affected != 2 {
		t.Errorf("%d in the warm-up, %d affected", s.shard.warm.events, s.shard.classes[1].affected)
	}
}

func TestTheLongestUnfinishedEventIsKept(t *testing.T) {
	s, _ := newSession(100*ms, 200*ms, 0)
	s.begin(50 * ms)
	s.answered(190*ms, 0, 1)
	s.answered(500*ms, 0, 1) // began at 190
	hung, _ := newSession(100*ms, 200*ms, 0)
	hung.shard = s.shard
	hung.begin(60 * ms) // in the warm-up
	hung.abandon(900 * ms)
	away, _ := newSession(100*ms, 200*ms, 0)
	away.shard = s.shard
	away.begin(150 * ms)
	if step := away.failed(300*ms, fault{lost: true}); step != stop {
		t.Fatalf("step %d", step)
	}
	away.abandon(300 * ms)
	if s.shard.unfinished != 3 || s.shard.longestUnfinished != 840*ms {
		t.Errorf("%d unfinished, the longest for %d ms", s.shard.unfinished, s.shard.longestUnfinished/ms)
	}
}

func TestEventsOfTheWarmupTakeTheirTicketWhenTheyEnd(t *testing.T) {
	s, _ := newSession(100*ms, math.MaxInt64, 2)
	step := s.begin(90 * ms)
	n := 0
	for now := 110 * ms; step == execute; now += 10 * ms {
		step = s.answered(now, 0, 1)
		n++
	}
	if n != 2 || s.shard.roles[0].TotalCount() != 2 || s.shard.lastEnd != 120*ms {
		t.Errorf("%d executed, %d counted, the last at %d ms", n, s.shard.roles[0].TotalCount(), s.shard.lastEnd/ms)
	}
}

func TestLatencyGoesOnOverARestart(t *testing.T) {
	s, client := newSession(0, math.MaxInt64, 1)
	s.begin(0)
	if step := s.failed(10*ms, fault{code: codeDeadlock, message: "Deadlock"}); step != execute || client.undone != 1 {
		t.Fatalf("step %d, %d undone", step, client.undone)
	}
	if step := s.failed(20*ms, fault{lost: true, message: "gone"}); step != reconnect {
		t.Fatalf("step %d", step)
	}
	if step := s.reconnected(30*ms, time.Duration(10*ms)); step != execute || client.undone != 2 {
		t.Fatalf("step %d, %d undone", step, client.undone)
	}
	if step := s.answered(40*ms, 0, 1); step != stop {
		t.Fatalf("step %d", step)
	}
	if got := summarize(s.shard.roles[0]); got.Count != 1 || math.Abs(got.Max-40) > 0.1 {
		t.Errorf("latency %+v", got)
	}
	// The statement's own latency is that of its last try.
	if got := summarize(s.shard.classes[1].latency); got.Count != 1 || math.Abs(got.Max-10) > 0.1 {
		t.Errorf("statement's latency %+v", got)
	}
	if len(s.shard.restarts) != 2 || len(s.shard.errors) != 0 || s.shard.reconnects != 1 {
		t.Errorf("restarts %v, errors %v, reconnects %d", s.shard.restarts, s.shard.errors, s.shard.reconnects)
	}
}

// TestAFailedEventKeptItsClientBusy: without that, Little's law would not hold where errors are counted.
func TestAFailedEventKeptItsClientBusy(t *testing.T) {
	s, _ := newSession(100*ms, 200*ms, 0)
	s.cell.fallback = Count
	s.begin(80 * ms)
	s.failed(90*ms, fault{code: 1105})  // in the warm-up
	s.failed(130*ms, fault{code: 1105}) // began at 90
	s.answered(150*ms, 0, 1)
	s.failed(170*ms, fault{code: 1105})
	s.answered(210*ms, 0, 1)
	if got, want := s.shard.uncounted[0], 30*ms+20*ms+30*ms; got != want {
		t.Errorf("%d ms are in no latency, want %d", got/ms, want/ms)
	}
	open, _ := newSession(0, 200*ms, 0)
	open.queue, open.cell.fallback = newQueues(Order{Rate: &Rate{From: 100}, Clients: []RoleClients{{Count: 1}}})[0], Count
	open.begin(5 * ms)
	open.failed(9*ms, fault{code: 1105})
	if got := open.shard.uncounted[0]; got != 0 {
		t.Errorf("%d ms of an open loop", got/ms)
	}
}

func TestPolicy(t *testing.T) {
	c := &cell{fallback: Stop, onError: map[int]Action{1105: Count, 1213: Stop, codeServerLost: Stop}}
	for _, tt := range []struct {
		name string
		cell *cell
		f    fault
		s    Statement
		want Action
	}{
		{"unknown error", c, fault{code: 1146}, Statement{}, Stop},
		{"as the plan says", c, fault{code: 1105}, Statement{}, Count},
		{"the plan goes before what is built in", c, fault{code: 1213}, Statement{}, Stop},
		{"deadlock", &cell{fallback: Stop}, fault{code: 1213}, Statement{}, Restart},
		{"lock wait timeout", c, fault{code: 1205}, Statement{}, Restart},
		{"duplicate key", c, fault{code: 1062}, Statement{}, Stop},
		{"duplicate key that is expected", c, fault{code: 1062}, Statement{RestartDuplicate: true}, Restart},
		{"lost", &cell{fallback: Stop}, fault{lost: true}, Statement{}, Reconnect},
		{"lost, and the plan says 2013", c, fault{lost: true}, Statement{}, Stop},
		{"default of the plan", &cell{fallback: Count}, fault{code: 1146}, Statement{}, Count},
	} {
		if got := tt.cell.action(tt.f, &tt.s); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestHistogramsClampAndNeverDrop(t *testing.T) {
	h := results.NewHistogram()
	for _, v := range []int64{-5, 0, 50_000, int64(3 * time.Hour)} {
		record(h, v)
	}
	if h.TotalCount() != 4 || h.Max() < int64(time.Hour) {
		t.Errorf("%d values, max %s", h.TotalCount(), time.Duration(h.Max()))
	}
	// 50 µs is told apart from 50.1 µs.
	if got := time.Duration(h.ValueAtPercentile(75)); got < 49950 || got > 50100 {
		t.Errorf("50 µs became %s", got)
	}
}

func TestOrdersAreChecked(t *testing.T) {
	good := Order{Clients: []RoleClients{{Role: "a", Count: 1}}, Events: 1}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, o := range map[string]Order{
		"no end":     {Clients: good.Clients},
		"no clients": {Clients: []RoleClients{{Role: "a"}}, Events: 1},
		"twice":      {Clients: []RoleClients{{Role: "a", Count: 1}, {Role: "a", Count: 1}}, Events: 1},
		"mode":       {Clients: good.Clients, Events: 1, PSMode: "yes"},
		"action":     {Clients: good.Clients, Events: 1, OnError: map[int]Action{1: "ignore"}},
		"negative":   {Clients: good.Clients, Events: 1, Warmup: -1},
	} {
		if o.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestFaultsAreSorted(t *testing.T) {
	if f := classify(errors.New("driver: odd")); f.lost || f.code != codeUnknown {
		t.Errorf("%+v", f)
	}
}
