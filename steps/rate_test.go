package steps

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
)

// TestRateOfARun: the record says what was wanted and what came of it.
func TestRateOfARun(t *testing.T) {
	target, _, _ := onShared(t)
	o := carryOut(t, target+`
tables: { schema: benchyou, rows: 100 }
steps:
  - prepare:
  - name: mix
    matrix:
      rate: [ 0, 200.5, "0.2k" ]
    run: { workload: benchyou_random, threads: { read: 4 }, rate: "${{ matrix.rate }}", duration: 500ms }
  - { name: poisson, run: { workload: benchyou_random, threads: { read: 4 }, rate: { per_second: 300, arrivals: poisson }, duration: 1s, warmup: 200ms } }
  - { name: ramp, run: { workload: benchyou_random, threads: { read: 4 }, rate: { from: 50, to: 450 }, duration: 1s } }
`).done(t)
	const half = 500 * time.Millisecond
	for i, want := range []results.Wanted{
		{Duration: plan.Duration(half)},
		{Duration: plan.Duration(half), Rate: 200.5, Arrivals: "constant"},
		{Duration: plan.Duration(half), Rate: 200, Arrivals: "constant"},
		{Duration: plan.Duration(time.Second), Rate: 300, Arrivals: "poisson", Warmup: plan.Duration(200 * time.Millisecond)},
		{Duration: plan.Duration(time.Second), Rate: 50, RateTo: 450, Arrivals: "constant"},
	} {
		cell := o.cells[i]
		if cell.Wanted != want {
			t.Errorf("%s: wanted %+v, want %+v", cell.Key(), cell.Wanted, want)
		}
		schedule := cell.Outcome.Schedule
		if (schedule != nil) != (want.Rate > 0) {
			t.Errorf("%s: schedule %+v", cell.Key(), schedule)
		}
		if schedule == nil {
			continue
		}
		// So many events were due, whatever the machine made of them: the integral of the rate over the time measured.
		due := want.Rate * cell.Outcome.Elapsed
		if want.RateTo > 0 {
			due = (want.Rate + want.RateTo) / 2 * cell.Outcome.Elapsed
		}
		if slack := 2 + due*0.3; float64(schedule.Due) < due-slack || float64(schedule.Due) > due+slack {
			t.Errorf("%s: %d events were due, want %.0f", cell.Key(), schedule.Due, due)
		}
	}
}

func TestRateFaults(t *testing.T) {
	for text, want := range map[string]string{
		"rate: fast":                                   `3:60: rate: "fast" is not a number`,
		"rate: -1":                                     "3:60: rate: at least 0 is needed",
		"rate: [ 100, 200 ]":                           "3:60: rate takes a number, not a list; for several values in turn make them an axis of a matrix",
		"rate: { from: 100, to: 200 }":                 "3:54: a ramp goes over the duration of the run: give the run one",
		"rate: { from: 100 }, duration: 1s":            "3:54: a ramp needs both from and to, and both above 0",
		"rate: { from: 0, to: 100 }, duration: 1s":     "3:54: a ramp needs both from and to, and both above 0",
		"rate: { per_second: 1, to: 2 }, duration: 1s": "3:54: per_second is one rate, and from and to make a ramp: leave one of both out",
		"rate: { arrivals: poisson }":                  "3:54: arrivals need a rate: add per_second, or from and to",
		"rate: 2M":                                     "3:60: rate: at most 1000000 is possible",
		"rate: { per_second: 1, arrivals: random }":    `3:87: arrivals: "random" is not one of: constant, poisson`,
		"tx_rate: 100":                                 `3:54: run oltp_read_only has no "tx_rate"; did you mean "rate"?`,
		"tx-rate: 100":                                 `3:54: run oltp_read_only has no "tx-rate"; did you mean "rate"?`,
		"threads: { from: 1, to: 64 }":                 "3:54: steps of threads are cells of the comparison: use a matrix",
		"threads: [ 1, 64 ]":                           "3:63: threads takes a whole number, not a list; for several values in turn make them an axis of a matrix",
		"grace: 1ms":                                   "3:61: grace: at least 10ms is needed",
		"silence: 100ms":                               "3:63: silence: at least 1s is needed",
		"reconnect_timeout: 48h":                       "3:73: reconnect_timeout: at most 24h is possible",
	} {
		err := read("tables: { schema: sbtest, rows: 1 }\nsteps:\n  - { run: { workload: oltp_read_only, events: 1000, " + text + " } }\n")
		if err == nil || !strings.HasPrefix(err.Error(), "p.yaml:"+want) {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
	for _, option := range []string{"silence: 1s", "reconnect_timeout: 1s"} {
		if err := read("steps:\n  - run: { workload: cpu, events: 1, " + option + " }\n"); err == nil || !strings.Contains(err.Error(), "means nothing here") {
			t.Errorf("%s: %v", option, err)
		}
	}
}

// TestOrderOfARun: what a plan says reaches the engine, and a rehearsal goes slowly.
func TestOrderOfARun(t *testing.T) {
	var orders []engine.Order
	p, err := plan.Read(plan.Source{Name: "p.yaml", Text: []byte(`
tables: { schema: sbtest, rows: 1 }
steps:
  - name: a
    run: { workload: oltp_read_only, events: 100k, rate: 2k, grace: 2s, reconnect_timeout: 1m, silence: 10m, on_error: { 1062: restart, 1105: count, default: stop } }
  - { name: b, run: { workload: oltp_read_only, duration: 1m, rate: { from: 100, to: 20k, arrivals: poisson } } }
`)}, Vocabulary(), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	p.Walk(func(v plan.Visit) {
		if spec, ok := v.Spec.(*runSpec); ok {
			order, problems := spec.order(engine.Definition{}, nil)
			if len(problems) > 0 {
				t.Error(problems)
			}
			orders = append(orders, order)
			texts = append(texts, Describe("run", spec))
		}
	})
	a, b := orders[0], orders[1]
	if a.Grace.D() != 2*time.Second || a.ServerLost.D() != time.Minute || a.Silence.D() != 10*time.Minute || fmt.Sprint(a.OnError) != "map[1062:restart 1105:count]" || a.OnErrorDefault != engine.Stop {
		t.Errorf("%+v", a)
	}
	if *a.Rate != (engine.Rate{From: 2000, Arrivals: engine.Constant}) || *b.Rate != (engine.Rate{From: 100, To: 20000, Arrivals: engine.Poisson}) {
		t.Errorf("rates %+v %+v", a.Rate, b.Rate)
	}
	if got := p.Summary.Least; got != 50*time.Second+time.Minute {
		t.Errorf("it takes %s at the least: 100,000 events at 2,000/s, and a minute", got)
	}
	if got := leastTime(engine.Order{Events: 4, Rate: &engine.Rate{From: 0.7}}); got != 5714*time.Millisecond {
		t.Errorf("4 events at 0.7/s take %s at the least", got)
	}
	if texts[0] != "run oltp_read_only, 1 client, 100000 events, at 2000/s" || texts[1] != "run oltp_read_only, 1 client, 1m, at 100/s to 20000/s (poisson)" {
		t.Errorf("%q", texts)
	}
	if r := rehearsed(b); *r.Rate != (engine.Rate{From: 100, To: 1000, Arrivals: engine.Poisson}) || b.Rate.To != 20000 {
		t.Errorf("rehearsed: %+v, and the order is %+v", r.Rate, b.Rate)
	}
}
