package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchplan/plan"
	"benchplan/results"
)

// moments lists when a schedule's events are due before end.
func moments(s schedule, end int64) (list []int64) {
	for ; s.at < end; s.advance() {
		list = append(list, s.at)
	}
	return list
}

func TestConstantArrivalsAreEquallyFarApart(t *testing.T) {
	s := newSchedule(Rate{From: 200}, 0.5, 7*ms, 0, 0.5, math.MaxInt64, rand.NewPCG(1, 1))
	got := moments(s, 57*ms)
	if diff := cmp.Diff([]int64{12 * ms, 22 * ms, 32 * ms, 42 * ms, 52 * ms}, got); diff != "" {
		t.Error(diff)
	}
	// A second of any rate has as many events as it says, to one.
	for _, rate := range []float64{1, 3, 99.9, 100, 1000.0 / 3, 20_000, 1_000_000} {
		s := newSchedule(Rate{From: rate}, 1, 0, 0, 0.5, math.MaxInt64, rand.NewPCG(1, 1))
		if n := len(moments(s, int64(time.Second))); math.Abs(float64(n)-rate) > 0.51 {
			t.Errorf("%v/s: %d in a second", rate, n)
		}
	}
}

func TestRampsFollowTheLine(t *testing.T) {
	const seconds = 10
	for _, r := range []Rate{{From: 100, To: 1100}, {From: 1000, To: 10}, {From: 0.5, To: 2000}, {From: 300, To: 300}} {
		for _, arrivals := range []Arrivals{Constant, Poisson} {
			r.Arrivals = arrivals
			t.Run(fmt.Sprint(r), func(t *testing.T) {
				const origin = 5 * int64(time.Second)
				s := newSchedule(r, 1, origin, seconds*time.Second, 0.5, math.MaxInt64, rand.NewPCG(3, 4))
				list := moments(s, origin+seconds*int64(time.Second))
				if !slices.IsSorted(list) || list[0] < origin {
					t.Error("out of order, or before the beginning")
				}
				for i := range seconds {
					from, to := origin+int64(i)*int64(time.Second), origin+int64(i+1)*int64(time.Second)
					n := 0
					for _, at := range list {
						if at >= from && at < to {
							n++
						}
					}
					want := r.From + (r.To-r.From)*(float64(i)+0.5)/seconds // the mean rate of that second
					allowed := 1.0
					if arrivals == Poisson {
						allowed = 4*math.Sqrt(want) + 1 // standard deviations
					}
					if math.Abs(float64(n)-want) > allowed {
						t.Errorf("second %d: %d events, the line says %.1f", i, n, want)
					}
				}
			})
		}
	}
}

// A rate that falls would get to 0 after the cell's end: from there on nothing is due, and nothing goes wrong.
func TestAFallingRampEnds(t *testing.T) {
	s := newSchedule(Rate{From: 100, To: 1}, 1, 0, time.Second, 0.5, math.MaxInt64, rand.NewPCG(1, 1))
	list := moments(s, never)
	if n := len(list); n != 50 && n != 51 {
		t.Errorf("%d events", n)
	}
}

// TestPoissonDistancesAreExponential is a Kolmogorov-Smirnov test of the distances, and one of their independence.
func TestPoissonDistancesAreExponential(t *testing.T) {
	const rate, n = 5000.0, 50_000
	for seed := range uint64(3) {
		s := newSchedule(Rate{From: rate, Arrivals: Poisson}, 1, 0, 0, 0.5, n, rand.NewPCG(seed, stream("/arrivals", 1)))
		list := moments(s, never)
		if len(list) != n {
			t.Fatalf("%d events", len(list))
		}
		distances := make([]float64, n)
		before := int64(0)
		for i, at := range list {
			distances[i], before = float64(at-before)/1e9*rate, at
		}
		var product float64
		for i := range n - 1 {
			product += (distances[i] - 1) * (distances[i+1] - 1) / n
		}
		// The correlation of neighbours is 0 with a standard deviation of 1/√n.
		if math.Abs(product) > 4/math.Sqrt(n) {
			t.Errorf("seed %d: neighbours are correlated by %.4f", seed, product)
		}
		slices.Sort(distances)
		var d float64
		for i, x := range distances {
			p := 1 - math.Exp(-x)
			d = max(d, p-float64(i)/n, float64(i+1)/n-p)
		}
		// 1.63/√n is the critical value for a significance of 1 %.
		if d > 1.63/math.Sqrt(n) {
			t.Errorf("seed %d: the greatest difference from the exponential distribution is %.5f", seed, d)
		}
	}
}

func TestSchedulesAreReproducible(t *testing.T) {
	o := Order{Seed: 9, Clients: []RoleClients{{"a", 1}, {"b", 3}}, Duration: plan.Duration(time.Second), Rate: &Rate{From: 400, To: 800, Arrivals: Poisson}}
	first, second := newQueues(o), newQueues(o)
	o.Seed = 10
	other := newQueues(o)
	for i := range first {
		list := moments(first[i].anew, int64(time.Second))[:100]
		if !slices.Equal(list, moments(second[i].anew, int64(time.Second))[:100]) {
			t.Errorf("role %d: another schedule with the same seed", i)
		}
		if slices.Equal(list, moments(other[i].anew, int64(time.Second))[:100]) {
			t.Errorf("role %d: the same schedule with another seed", i)
		}
	}
	if slices.Equal(moments(first[0].anew, int64(time.Second))[:100], moments(first[1].anew, int64(time.Second))[:100]) {
		t.Error("two roles have the same schedule")
	}
}

func TestRolesShareTheEvents(t *testing.T) {
	role := func(counts ...int) (list []RoleClients) {
		for i, n := range counts {
			list = append(list, RoleClients{fmt.Sprint(i), n})
		}
		return list
	}
	const unlimited = math.MaxInt64
	for _, tt := range []struct {
		o    Order
		want []int64
	}{
		{Order{Clients: role(1, 3), Events: 1000}, []int64{250, 750}},
		{Order{Clients: role(1, 1, 1), Events: 100}, []int64{34, 33, 33}},
		{Order{Clients: role(5, 0, 2), Events: 1}, []int64{1, 0, 0}},
		{Order{Clients: role(2, 1), EventsEach: 7}, []int64{14, 7}},
		{Order{Clients: role(2, 1), EventsEach: 7, Events: 6}, []int64{4, 2}},
		{Order{Clients: role(2, 1), EventsEach: 7, Events: 600}, []int64{14, 7}},
		{Order{Clients: role(2, 1)}, []int64{unlimited, unlimited}},
		{Order{Clients: role(3, 4), Events: 7e15, EventsEach: 1e17}, []int64{3e15, 4e15}},
	} {
		if diff := cmp.Diff(tt.want, tt.o.limits()); diff != "" {
			t.Errorf("%+v: %s", tt.o, diff)
		}
	}
}

func TestRatesAreChecked(t *testing.T) {
	base := Order{Clients: []RoleClients{{Count: 1}}, Events: 1}
	timed := base
	timed.Duration = plan.Duration(time.Second)
	for name, tt := range map[string]struct {
		o     Order
		rate  Rate
		valid bool
	}{
		"constant":                  {base, Rate{From: 100, Arrivals: Constant}, true},
		"poisson":                   {base, Rate{From: 0.1, Arrivals: Poisson}, true},
		"a ramp":                    {timed, Rate{From: 1, To: 100}, true},
		"to where it is":            {base, Rate{From: 100, To: 100}, true},
		"a ramp without a duration": {base, Rate{From: 1, To: 100}, false},
		"none":                      {base, Rate{}, false},
		"negative":                  {base, Rate{From: -1}, false},
		"no number":                 {base, Rate{From: math.NaN()}, false},
		"infinite":                  {base, Rate{From: math.Inf(1)}, false},
		"to infinity":               {timed, Rate{From: 1, To: math.Inf(1)}, false},
		"to below 0":                {timed, Rate{From: 1, To: -1}, false},
		"too much":                  {base, Rate{From: 1e9}, false},
		"odd arrivals":              {base, Rate{From: 1, Arrivals: "uniform"}, false},
	} {
		tt.o.Rate = &tt.rate
		if err := tt.o.Validate(); (err == nil) != tt.valid {
			t.Errorf("%s: %v", name, err)
		}
	}
	base.Silence = -1
	if base.Validate() == nil {
		t.Error("a negative silence is allowed")
	}
}

// simulation drives sessions over a server in which a statement takes as long as service says, with a clock of its own: as an
// event loop would, without goroutines and without waiting.
type simulation struct {
	run     *run
	service func(event int) int64
	begun   int
}

type simulated struct {
	session *session
	at      int64 // when the next thing happens to it
	arrives bool  // its event is due; otherwise its answer comes
	stopped bool
}

// drive goes on until all sessions have stopped.
func (m *simulation) drive() {
	clients := make([]*simulated, len(m.run.runners))
	for i, r := range m.run.runners {
		clients[i] = &simulated{session: &r.session}
		m.next(clients[i], 0, r.session.begin(0))
	}
	for {
		var first *simulated
		for _, c := range clients {
			if !c.stopped && (first == nil || c.at < first.at) {
				first = c
			}
		}
		if first == nil {
			return
		}
		if first.arrives {
			m.next(first, first.at, first.session.arrived(first.at))
		} else {
			m.next(first, first.at, first.session.answered(first.at, 0, 1))
		}
	}
}

func (m *simulation) next(c *simulated, now int64, s step) {
	switch s {
	case execute:
		c.at, c.arrives = now+m.service(m.begun), false
		m.begun++
	case wait:
		c.at, c.arrives = min(c.session.turn.due, m.run.cell.end.Load()), true
	default:
		c.session.abandon(now)
		c.stopped = true
	}
}

// simulate runs an order whose n-th event takes service(n).
func simulate(o Order, service func(event int) int64) results.Outcome {
	r := newRun(idle{}, lookups{results.Read}, o)
	m := &simulation{run: r, service: service}
	m.drive()
	end := r.cell.end.Load()
	if o.Duration == 0 {
		end = r.tally.lastEnd()
	}
	var out results.Outcome
	r.tally.fill(&out, o.Clients)
	r.tally.fillStatements(&out)
	r.cell.queues[0].close(end)
	out.Schedule = r.account(end)
	return out
}

// queueing computes what a first-come, first-served queue with so many servers does: the latency of each event that is over
// before the end, and the waits of all that are begun.
func queueing(due []int64, servers int, end int64, service func(int) int64) (latencies, waits []int64) {
	free := make([]int64, servers)
	for k, at := range due {
		i := slices.Index(free, slices.Min(free))
		begin := max(at, free[i])
		if begin >= end {
			break
		}
		waits = append(waits, begin-at)
		free[i] = begin + service(k)
		if free[i] < end {
			latencies = append(latencies, free[i]-at)
		}
	}
	return latencies, waits
}

// TestOpenLoopIsAQueue holds the engine's figures against those of a queue computed from the schedule and the service times.
func TestOpenLoopIsAQueue(t *testing.T) {
	stall := func(event int) int64 {
		if event == 500 {
			return int64(time.Second)
		}
		return ms / 10
	}
	every := func(event int) int64 {
		if event%97 == 0 {
			return 80 * ms
		}
		return ms
	}
	for _, tt := range []struct {
		name    string
		clients int
		rate    Rate
		service func(int) int64
	}{
		{"a stall, one client", 1, Rate{From: 100}, stall},
		{"every 97th is slow", 1, Rate{From: 300}, every},
		{"every 97th is slow, three clients", 3, Rate{From: 900, Arrivals: Poisson}, every},
		{"too much, a ramp", 2, Rate{From: 100, To: 4000}, func(int) int64 { return 2 * ms }},
		{"much too much", 4, Rate{From: 20_000, Arrivals: Poisson}, func(int) int64 { return 7 * ms }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const end = 10 * int64(time.Second)
			o := Order{Clients: []RoleClients{{Count: tt.clients}}, Duration: plan.Duration(end), Rate: &tt.rate, Seed: 5}
			out := simulate(o, tt.service)
			due := moments(newQueues(o)[0].anew, end)
			latencies, waits := queueing(due, tt.clients, end, tt.service)
			want := latencyOf(latencies)
			near(t, "latency", out.Latency, want)
			near(t, "wait", out.Schedule.Wait, latencyOf(waits))
			s := out.Schedule
			if s.Due != int64(len(due)) || s.Begun != int64(len(waits)) || s.Dropped != s.Due-s.Begun || math.Abs(s.Rate-float64(s.Due)/10) > 1e-9 {
				t.Errorf("%+v; want %d due, %d begun", s, len(due), len(waits))
			}
			late := 0
			for _, w := range waits {
				if w > 0 {
					late++
				}
			}
			if s.Late != int64(late) || s.Overslept.Count != s.Begun-s.Late || s.Overslept.Max > 0.001 {
				t.Errorf("%d late, want %d; overslept %+v", s.Late, late, s.Overslept)
			}
			if read := out.Statements[results.Read]; read.Count != out.Events || read.Latency.Max > 1001 {
				t.Errorf("statements %+v", read)
			}
		})
	}
}

// latencyOf gives the exact figures of latencies: the percentile p is the value whose rank is nearest to p % of their number.
func latencyOf(latencies []int64) results.Latency {
	sorted := slices.Sorted(slices.Values(latencies))
	rank := func(p float64) float64 {
		i := int(p/100*float64(len(sorted)) + 0.5)
		return float64(sorted[max(i, 1)-1]) / 1e6
	}
	var sum float64
	for _, v := range sorted {
		sum += float64(v)
	}
	return results.Latency{
		Count: int64(len(sorted)), Min: rank(0), Mean: sum / float64(len(sorted)) / 1e6,
		P50: rank(50), P95: rank(95), P99: rank(99), P999: rank(99.9), Max: rank(100),
	}
}

// near checks that figures are within 0.1 %, or as near as a histogram resolves.
func near(t *testing.T, what string, got, want results.Latency) {
	t.Helper()
	if got.Count != want.Count {
		t.Errorf("%s: %d, want %d", what, got.Count, want.Count)
	}
	for _, f := range []struct {
		name      string
		got, want float64
	}{
		{"min", got.Min, want.Min}, {"mean", got.Mean, want.Mean}, {"p50", got.P50, want.P50}, {"p95", got.P95, want.P95},
		{"p99", got.P99, want.P99}, {"p99.9", got.P999, want.P999}, {"max", got.Max, want.Max},
	} {
		if math.Abs(f.got-f.want) > max(0.001*f.want, 64e-6) {
			t.Errorf("%s: %s is %v ms, want %v (%+.3f %%)", what, f.name, f.got, f.want, 100*(f.got/f.want-1))
		}
	}
}

// TestTheWarmupLeavesNoBacklog: in the warm-up far more is due than can be done.
func TestTheWarmupLeavesNoBacklog(t *testing.T) {
	service := func(event int) int64 {
		if event < 20 { // the warm-up, and what it has under way
			return 100 * ms
		}
		return ms
	}
	second := plan.Duration(time.Second)
	for _, tt := range []struct {
		name        string
		o           Order
		due, events int64
	}{
		{"for a time", Order{Duration: second}, 500, 499}, // the last is due 1 ms before the end
		{"so many events", Order{Events: 300}, 300, 300},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Clients, tt.o.Warmup, tt.o.Rate = []RoleClients{{Count: 2}}, second, &Rate{From: 500}
			out := simulate(tt.o, service)
			s := out.Schedule
			if s.Due != tt.due || s.Begun != tt.due || s.Dropped != 0 || out.Events != tt.events {
				t.Errorf("%d events, %+v", out.Events, s)
			}
			if s.Wait.Max > 2 || s.QueueMax > 2 || math.Abs(s.Rate-500) > 0.001 {
				t.Errorf("what the warm-up left is waited for: %+v", s)
			}
		})
	}
}

// An event that a restart begins anew was due once.
func TestLatencyFromWhenDueGoesOnOverARestart(t *testing.T) {
	s, _ := newSession(0, math.MaxInt64, 0)
	s.cell.queues = newQueues(Order{Clients: s.cell.clients, Events: 1, Rate: &Rate{From: 50}}) // due at 10 ms
	s.queue = s.cell.queues[0]
	if step := s.begin(0); step != wait || s.turn.due != 10*ms {
		t.Fatalf("step %d, due at %d ms", step, s.turn.due/ms)
	}
	if step := s.arrived(9 * ms); step != wait {
		t.Fatalf("step %d too early", step)
	}
	s.arrived(15 * ms)
	s.failed(20*ms, fault{code: codeDeadlock})
	s.failed(30*ms, fault{lost: true})
	s.reconnected(35*ms, time.Duration(5*ms))
	if step := s.answered(40*ms, 0, 1); step != stop {
		t.Fatalf("step %d", step)
	}
	near(t, "event", summarize(s.shard.roles[0]), latencyOf([]int64{30 * ms}))
	near(t, "statement", summarize(s.shard.classes[1].latency), latencyOf([]int64{5 * ms}))
	near(t, "overslept", summarize(s.queue.overslept), latencyOf([]int64{5 * ms}))
	if s.queue.begun != 1 || s.queue.late != 0 || s.busy != 25*ms {
		t.Errorf("begun %d times, %d late, busy for %d ms", s.queue.begun, s.queue.late, s.busy/ms)
	}
}
