package steps

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"benchplan/plan"
	"benchplan/workloads/engine"
)

// rate makes the load of a run step an open loop: events are due by the clock, whether or not a client is free. Empty is a closed loop.
type rate struct {
	PerSecond *float64 `key:"per_second" json:"per_second,omitempty" short:"true" min:"0" max:"1000000" unit:"events/s" doc:"events that are due each second, over all clients; 0 is a closed loop"`
	From      float64  `key:"from" json:"from,omitzero" min:"0" max:"1000000" unit:"events/s" doc:"of a ramp: the rate at its begin, and of the warm-up"`
	To        float64  `key:"to" json:"to,omitzero" min:"0" max:"1000000" unit:"events/s" doc:"of a ramp: the rate at the end of the duration, reached in a straight line"`
	Arrivals  string   `key:"arrivals" json:"arrivals,omitempty" default:"constant" enum:"constant|poisson" doc:"constant: at equal distances; poisson: independently of each other, as many users come"`
}

// given tells whether a rate was written.
func (r *rate) given() bool { return r.PerSecond != nil || r.From > 0 || r.To > 0 }

// check says what of a rate does not go together.
func (r *rate) check(duration plan.Duration) []plan.Problem {
	switch ramp := r.From > 0 || r.To > 0; {
	case !r.given() && r.Arrivals == string(engine.Poisson):
		return []plan.Problem{problem("rate", "arrivals need a rate: add per_second, or from and to")}
	case ramp && r.PerSecond != nil:
		return []plan.Problem{problem("rate", "per_second is one rate, and from and to make a ramp: leave one of both out")}
	case ramp && (r.From == 0 || r.To == 0):
		return []plan.Problem{problem("rate", "a ramp needs both from and to, and both above 0")}
	case ramp && duration == 0:
		return []plan.Problem{problem("rate", "a ramp goes over the duration of the run: give the run one")}
	}
	return nil
}

// schedule gives the rate as the engine takes it; nil is a closed loop.
func (r *rate) schedule() *engine.Rate {
	s := engine.Rate{From: r.From, To: r.To, Arrivals: engine.Arrivals(r.Arrivals)}
	if r.PerSecond != nil {
		s.From = *r.PerSecond
	}
	if s.From == 0 {
		return nil
	}
	return &s
}

// leastTime is how long an order takes at the least: its warm-up and its duration, or how long its events are in coming. Of a closed loop
// with events the duration is what it takes at the most.
func leastTime(o engine.Order) time.Duration {
	measured := o.Duration.D()
	switch r := o.Rate; {
	case o.Events > 0 && r == nil:
		measured = 0
	case o.Events > 0 && r.To == 0:
		if due := float64(o.Events) / r.From * float64(time.Second); measured == 0 || due < float64(measured) {
			measured = time.Duration(min(due, math.MaxInt64/2)).Truncate(time.Millisecond) // people read it
		}
	}
	return o.Warmup.D() + measured
}

// rateText writes a rate as a summary of a step does: "1000/s", "100/s to 2000/s, poisson".
func rateText(r *engine.Rate) string {
	text := perSecond(r.From)
	if r.To > 0 {
		text += " to " + perSecond(r.To)
	}
	if r.Arrivals == engine.Poisson {
		text += fmt.Sprintf(" (%s)", r.Arrivals)
	}
	return text
}

func perSecond(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) + "/s" }
