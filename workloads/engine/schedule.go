package engine

import (
	"math"
	"math/rand/v2"
	"time"
)

// never is when an event is due that does not come.
const never = math.MaxInt64

// schedule is the sequence of moments at which the events of an open loop are due, whatever the server does. It is a plain
// value: a copy goes on by itself from the same place, through the same moments.
//
// The events are points on a scale that is bent to the rate: with L(t) the integral of the rate, the k-th event is due when
// L(t) = level(k). For constant arrivals the levels are one apart; for Poisson arrivals they are a Poisson process of rate 1
// (Çinlar's inversion of the cumulative rate). The rate is a straight line, from + 2·bend·t, so L(t) = from·t + bend·t².
type schedule struct {
	origin  int64   // nanoseconds, as all moments
	from    float64 // events per nanosecond at the origin
	bend    float64 // half of what a nanosecond adds to that
	poisson bool
	random  rand.PCG
	level   float64 // of the next event
	left    int64   // events to come, the next included
	at      int64   // when the next is due; never: there is none
}

// newSchedule gives share (0 to 1) of a rate, from origin on. over is the time in which a rate that is a ramp gets to its end;
// phase (0 to 1) is where between two events constant arrivals begin; limit is how many events there are.
func newSchedule(r Rate, share float64, origin int64, over time.Duration, phase float64, limit int64, random *rand.PCG) schedule {
	s := schedule{origin: origin, from: r.From * share / 1e9, poisson: r.Arrivals == Poisson, random: *random, left: limit}
	if r.ramp() {
		s.bend = (r.To - r.From) * share / 1e9 / (2 * float64(over))
	}
	s.level = phase
	if s.poisson {
		s.level = s.exponential()
	}
	s.at = s.moment()
	return s
}

// advance goes on to the next event.
func (s *schedule) advance() {
	if s.left--; s.left <= 0 {
		s.left, s.at = 0, never
		return
	}
	if s.poisson {
		s.level += s.exponential()
	} else {
		s.level++
	}
	s.at = s.moment()
}

// pass goes on until the next event is due after now, and gives the number of those that were passed.
func (s *schedule) pass(now int64) (n int64) {
	for ; s.at <= now; n++ {
		s.advance()
	}
	return n
}

// moment gives when the next event is due.
func (s *schedule) moment() int64 {
	if s.left <= 0 {
		return never
	}
	t := s.reach(s.level)
	if !(t < math.MaxInt64/2) { // also when it is no number
		return never
	}
	return s.origin + int64(math.Round(t))
}

// reach gives after how many nanoseconds the integral of the rate is level: the solution of from·t + bend·t² = level, written
// so that it holds for a bend of 0 too. There is none (NaN) where a falling rate gets to 0 before.
func (s *schedule) reach(level float64) float64 {
	return 2 * level / (s.from + math.Sqrt(s.from*s.from+4*s.bend*level))
}

// exponential draws from the exponential distribution with mean 1, by inversion.
func (s *schedule) exponential() float64 {
	u := float64(s.random.Uint64()>>11) / (1 << 53) // 0 to 1, 1 not included
	return -math.Log1p(-u)
}
