package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"benchplan/results"
)

// queue hands the events of one role of an open loop to its clients, in the order in which they are due, and keeps account of
// it. Nothing is stored for an event that waits: how many do is what the schedule says was due, less what was begun.
//
// A client that is free claims the next event even before it is due, and waits for it. So an event that is claimed after it
// was due is one for which no client was free.
type queue struct {
	mu    sync.Mutex
	start int64    // when the measured part begins
	warm  bool     // the next event to be claimed is one of the warm-up
	next  schedule // of what was not claimed
	anew  schedule // that of the measured part, at its beginning

	// Of the measured part:
	limit           int64    // how many events there are
	coming          schedule // what was not due when an event was last begun
	arrived         int64    // how many were
	unseen          schedule // what was not due when the queue was last looked at
	due             int64    // how many were
	begun, late     int64
	depths, deepest int64 // the sum of the depths that events found when they were begun; the greatest depth that was seen
	wait, overslept *hdrhistogram.Histogram
}

// turn is an event that a client claimed.
type turn struct {
	due  int64
	warm bool // it is of the warm-up
	late bool // it was due before a client was free
}

// newQueues makes the queues of an order's roles; nil for a closed loop, and for a role without clients.
func newQueues(o Order) []*queue {
	queues := make([]*queue, len(o.Clients))
	if o.Rate == nil {
		return queues
	}
	limits := o.limits()
	for i, role := range o.Clients {
		if role.Count == 0 {
			continue
		}
		share := float64(role.Count) / float64(o.Total())
		phase := (float64(i) + 0.5) / float64(len(o.Clients)) // so that roles alike do not all have their events at one time
		random := func(part int) *rand.PCG { return rand.NewPCG(o.Seed, stream(role.Role+"/arrivals", part)) }
		warmup := Rate{From: o.Rate.From, Arrivals: o.Rate.Arrivals}
		measured := newSchedule(*o.Rate, share, int64(o.Warmup), o.Duration.D(), phase, limits[i], random(1))
		queues[i] = &queue{
			start: int64(o.Warmup), warm: true, limit: limits[i],
			next: newSchedule(warmup, share, 0, 0, phase, math.MaxInt64, random(0)),
			anew: measured, coming: measured, unseen: measured,
			wait: results.NewHistogram(), overslept: results.NewHistogram(),
		}
	}
	return queues
}

// limits gives how many events each role of an open loop has: those of the order, in proportion to the clients (by the method
// of largest remainders), so that the roles together have exactly so many.
func (o Order) limits() []int64 {
	limits, remainders := make([]int64, len(o.Clients)), make([]int64, len(o.Clients))
	all, total := int64(math.MaxInt64), int64(o.Total())
	if o.Events > 0 {
		all = int64(o.Events)
	}
	if each := int64(o.EventsEach); each > 0 && each <= all/total {
		all = each * total
	}
	left := all
	for i, role := range o.Clients {
		if limits[i] = all; all == math.MaxInt64 {
			continue
		}
		rest := all % total * int64(role.Count)
		limits[i], remainders[i] = all/total*int64(role.Count)+rest/total, rest%total
		left -= limits[i]
	}
	for ; left > 0 && all < math.MaxInt64; left-- {
		i := slices.Index(remainders, slices.Max(remainders))
		limits[i]++
		remainders[i] = 0
	}
	return limits
}

// claim gives a client that is free the next event; false: there is none left.
func (q *queue) claim(now int64) (t turn, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.warm && (now >= q.start || q.next.at >= q.start) {
		q.warm, q.next = false, q.anew // what was still due from the warm-up is forgotten
	}
	if q.next.left == 0 {
		return turn{}, false
	}
	t = turn{due: q.next.at, warm: q.warm, late: q.next.at < now}
	q.next.advance()
	return t, true
}

// begin reports that a client begins an event that it claimed.
func (q *queue) begin(now int64, t turn) {
	if t.warm {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.arrived += q.coming.pass(now)
	q.begun++
	depth := q.arrived - q.begun
	q.depths += depth
	q.deepest = max(q.deepest, depth)
	record(q.wait, now-t.due)
	if t.late {
		q.late++
	} else {
		record(q.overslept, now-t.due)
	}
}

// look gives how many events of the measured part were due before now, and how many of these were not begun. Who looks may
// come a little later than now, so that more were begun.
func (q *queue) look(now int64) (due, depth int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.due += q.unseen.pass(now - 1)
	depth = max(0, q.due-q.begun)
	q.deepest = max(q.deepest, depth)
	return q.due, depth
}

// close takes in what was due before the end. An event that was begun while an error or an interrupt moved the end forward was
// due too.
func (q *queue) close(end int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.due += q.unseen.pass(end - 1); q.due < q.begun; q.due++ {
		q.unseen.advance()
	}
}

// done tells whether all events that there are were begun.
func (q *queue) done() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.begun == q.limit
}

// span is the time over which the events were due: a measured part of that length, or, where all were due, as long as the
// schedule needs for so many, however long the server took.
func (q *queue) span(elapsed int64) int64 {
	if q.unseen.left > 0 {
		return elapsed
	}
	level := float64(q.limit)
	if q.unseen.poisson {
		level = q.unseen.level
	}
	return int64(q.unseen.reach(level))
}

// backlog gives how many events of an open loop were due before now, over all roles, and how many of these were not begun.
func (r *run) backlog(now int64) (due, depth int64) {
	for _, q := range r.cell.queues {
		if q != nil {
			d, n := q.look(now)
			due, depth = due+d, depth+n
		}
	}
	return due, depth
}

// account sums up how well the open loop kept to its rate, when no client runs any more; nil for a closed loop.
func (r *run) account(end int64) *results.Schedule {
	if r.order.Rate == nil {
		return nil
	}
	s := new(results.Schedule)
	wait, overslept := results.NewHistogram(), results.NewHistogram()
	var depths int64
	for _, q := range r.cell.queues {
		if q == nil {
			continue
		}
		due, left := q.look(end)
		s.Due += due
		s.Dropped += left
		s.Begun += q.begun
		s.Late += q.late
		s.QueueMax += q.deepest
		depths += q.depths
		if span := q.span(end - q.start); span > 0 {
			s.Rate += float64(due) / time.Duration(span).Seconds()
		}
		wait.Merge(q.wait)
		overslept.Merge(q.overslept)
	}
	if s.Begun > 0 {
		s.QueueMean = float64(depths) / float64(s.Begun)
	}
	s.Wait, s.Overslept = summarize(wait), summarize(overslept)
	return s
}
