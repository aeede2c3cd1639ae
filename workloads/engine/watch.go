package engine

import (
	"context"
	"math"
	"time"

	"benchplan/results"
)

// watch looks at a running cell once a second, keeps the series and calls the observer.
type watch struct {
	run      *run
	observer Observer
	meter    Meter
	every    int64 // between two calls of the observer, nanoseconds

	series   []results.Second
	from     int64 // where the second under way began
	second   *span
	events   int64 // of the measured part
	seen     *span // since the observer's last call
	seenFrom int64
}

func newWatch(r *run, observer Observer, meter Meter) *watch {
	every := (r.order.Interval.D() + time.Second - 1).Truncate(time.Second)
	return &watch{
		run: r, observer: observer, meter: meter, every: int64(max(every, time.Second)),
		from: r.cell.start, second: newSpan(), seen: newSpan(),
	}
}

// over returns when the cell is over, saying why; clients may still have an event under way then.
func (w *watch) over(ctx context.Context, done <-chan struct{}) results.Stop {
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
			w.look(now)
		}
		next = w.after(now)
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
	done := r.cell.each > 0 || r.cell.budget > 0 && r.cell.tickets.Load() >= r.cell.budget
	if done && r.clock.now() < limit {
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
	if warmup || w.seenFrom < w.run.cell.start {
		w.run.tally.collect(w.seen, true)
	}
	if !warmup {
		w.take(now)
	}
	if w.observer != nil && now-w.seenFrom >= w.every-int64(100*time.Millisecond) {
		w.show(now, warmup)
	}
}

// take closes the second under way.
func (w *watch) take(now int64) {
	w.run.tally.collect(w.second, false)
	defer w.second.reset()
	w.seen.add(w.second)
	w.events += w.second.events
	l := summarize(w.second.latency)
	w.series = append(w.series, results.Second{
		At:      seconds(w.from - w.run.cell.start),
		Length:  seconds(now - w.from),
		Events:  w.second.events,
		Queries: w.second.queries,
		P50:     l.P50,
		P95:     l.P95,
		P99:     l.P99,
		Errors:  w.second.errors,
	})
	w.from = now
}

// show calls the observer.
func (w *watch) show(now int64, warmup bool) {
	span := seconds(now - w.seenFrom)
	connected := 0
	for _, client := range w.run.runners {
		if !client.away.Load() {
			connected++
		}
	}
	w.observer(Snapshot{
		Elapsed:    time.Duration(now),
		Warmup:     warmup,
		Clients:    connected,
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
	if end > w.from || len(w.series) == 0 {
		w.take(max(end, w.from))
		return
	}
	w.run.tally.collect(w.second, false)
	last := &w.series[len(w.series)-1]
	last.Events += w.second.events
	last.Queries += w.second.queries
	last.Errors += w.second.errors
}
