package engine

import (
	"context"
	"fmt"
	"math"
	"time"

	"benchplan/results"
)

// watch looks at a running cell once a second, keeps the series and calls the observer and the meter.
type watch struct {
	run      *run
	observer Observer
	meter    Meter
	every    int64 // between two calls of the observer, nanoseconds

	series   []results.Second
	from     int64 // where the second under way began
	second   *span
	due      int64 // of an open loop: how many events were due until then
	events   int64 // of the measured part
	seen     *span // since the observer's last call
	seenFrom int64
	heard    int64 // when there last was an answer, or none was to be waited for

	begun     bool // the measured part
	last      bool // when the cell was over a second was under way; otherwise it ended with a second
	connected int  // clients that had a connection then
}

func newWatch(r *run, observer Observer, meter Meter) *watch {
	every := (r.order.Interval.D() + time.Second - 1).Truncate(time.Second)
	if meter == nil {
		meter = noMeter{}
	}
	return &watch{
		run: r, observer: observer, meter: meter, every: int64(max(every, time.Second)),
		from: r.cell.start, second: newSpan(), seen: newSpan(),
	}
}

// over returns when the cell is over, saying why; clients may still have an event under way then.
func (w *watch) over(ctx context.Context, done <-chan struct{}) results.Stop {
	stopped := w.follow(ctx, done)
	end := w.run.endOf(stopped)
	w.begin(end)
	w.last = end > w.from || len(w.series) == 0
	w.connected = w.run.connected()
	if w.begun && w.last {
		w.meter.Second()
	}
	w.meter.End()
	return stopped
}

// follow looks at the cell until it is over.
func (w *watch) follow(ctx context.Context, done <-chan struct{}) results.Stop {
	r := w.run
	limit := r.cell.end.Load()
	tick := time.NewTimer(time.Second)
	defer tick.Stop()
	var timeUp <-chan time.Time
	if limit != math.MaxInt64 {
		timer := time.NewTimer(time.Duration(limit - r.clock.now()))
		defer timer.Stop()
		timeUp = timer.C
	}
	w.begin(0)
	for next := w.after(0); ; {
		tick.Reset(time.Duration(next - r.clock.now()))
		select {
		case <-r.failure:
			return results.ByError
		case <-done:
			return w.allDone(limit)
		case <-timeUp:
			return results.ByDuration
		case <-ctx.Done():
			r.endAt(r.clock.now())
			return results.ByInterrupt
		case <-tick.C:
		}
		now := r.clock.now()
		// The last second is read when all clients have ended: its end is the cell's, not that of a tick.
		if now < limit {
			w.begin(now)
			w.look(now)
		}
		next = w.after(now)
	}
}

// begin tells the meter, once, that the measured part began.
func (w *watch) begin(now int64) {
	if !w.begun && now >= w.run.cell.start {
		w.begun = true
		w.meter.Begin()
	}
}

// allDone says why all clients ended by themselves.
func (w *watch) allDone(limit int64) results.Stop {
	r := w.run
	select {
	case <-r.failure:
		return results.ByError
	default:
	}
	if r.exhausted() && r.clock.now() < limit {
		return results.ByEvents
	}
	return results.ByDuration
}

// after gives the next whole second: of the warm-up, then of the measured part.
func (w *watch) after(now int64) int64 {
	start := w.run.cell.start
	if now < start {
		return min(start, now-now%int64(time.Second)+int64(time.Second))
	}
	return now - (now-start)%int64(time.Second) + int64(time.Second)
}

// look takes what the clients put down since it last looked.
func (w *watch) look(now int64) {
	// A tick is a little late, so the one that ends the warm-up comes when the first second has hardly begun.
	warmup := now < w.run.cell.start+int64(time.Second)/2
	answered := false
	if warmup || w.seenFrom < w.run.cell.start {
		answered = w.run.tally.collect(w.seen, true)
	}
	if !warmup {
		answered = w.take(now, w.run.connected()) || answered
		w.meter.Second()
	}
	w.listen(now, answered)
	if w.observer != nil && now-w.seenFrom >= w.every-int64(100*time.Millisecond) {
		w.show(now, warmup)
	}
}

// listen ends a cell that would wait for ever for a server that says nothing.
func (w *watch) listen(now int64, answered bool) {
	r := w.run
	if answered || !r.awaited() {
		w.heard = now
	}
	patience := orDefault(r.order.Silence, defaultSilence)
	if r.order.Duration > 0 || len(r.connections) == 0 || now-w.heard < int64(patience) {
		return
	}
	r.fail(now, fmt.Errorf("%w: it answered no statement of any client for %s; where statements take that long, give the run a duration",
		ErrServerLost, time.Duration(now-w.heard).Round(time.Second/10)))
}

// take closes the second under way, at whose end so many clients are connected. It tells whether anything happened in it.
func (w *watch) take(now int64, connected int) (any bool) {
	any = w.run.tally.collect(w.second, false)
	defer w.second.reset()
	w.seen.add(w.second)
	w.events += w.second.events
	l := summarize(w.second.latency)
	due, queue := w.run.backlog(now)
	w.series = append(w.series, results.Second{
		At:         seconds(w.from - w.run.cell.start),
		Length:     seconds(now - w.from),
		Events:     w.second.events,
		Queries:    w.second.queries,
		P50:        l.P50,
		P95:        l.P95,
		P99:        l.P99,
		Max:        l.Max,
		Errors:     w.second.errors,
		Restarts:   w.second.restarts,
		Reconnects: w.second.reconnects,
		Clients:    connected,
		Due:        due - w.due,
		Queue:      queue,
	})
	w.from, w.due = now, due
	return any
}

// show calls the observer.
func (w *watch) show(now int64, warmup bool) {
	span := seconds(now - w.seenFrom)
	w.observer(Snapshot{
		Elapsed:    time.Duration(now),
		Warmup:     warmup,
		Clients:    w.run.connected(),
		Events:     w.events,
		TPS:        float64(w.seen.events) / span,
		QPS:        float64(w.seen.queries) / span,
		P95:        summarize(w.seen.latency).P95,
		Errors:     w.seen.errors,
		Restarts:   w.seen.restarts,
		Reconnects: w.seen.reconnects,
	})
	w.seen.reset()
	w.seenFrom = now
}

// finish closes the last second, at the end of the cell. The last event may have ended just before a tick and been put down
// just after it: it belongs to the second before.
func (w *watch) finish(end int64) {
	if w.last {
		w.take(max(end, w.from), w.connected)
		return
	}
	w.run.tally.collect(w.second, false)
	last := &w.series[len(w.series)-1]
	last.Events += w.second.events
	last.Queries += w.second.queries
	last.Max = max(last.Max, summarize(w.second.latency).Max)
	last.Errors += w.second.errors
	last.Restarts += w.second.restarts
	last.Reconnects += w.second.reconnects
	due, queue := w.run.backlog(end)
	last.Due, last.Queue = last.Due+due-w.due, queue
}

// noMeter measures nothing.
type noMeter struct{}

func (noMeter) Begin()  {}
func (noMeter) Second() {}
func (noMeter) End()    {}
