package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// clock counts nanoseconds since the load started.
type clock struct{ base time.Time }

func (c *clock) now() int64 { return int64(time.Since(c.base)) }

// line is what carries out the events of one session: a connection to a server, or a client of this machine.
type line interface {
	// open makes the line ready; after a loss, again.
	open(ctx context.Context) error
	execute(s *Statement) (rows, affected int64, err error)
	// classify sorts an error of execute.
	classify(err error) fault
	// close gives back what open took. It may be called of a line that is not open.
	close()
	// sever ends by force what is under way and all that would come. Any goroutine may call it.
	sever()
}

// runner drives one session over a line, from one goroutine.
type runner struct {
	session  session
	line     line
	clock    *clock
	patience time.Duration // how long to try to reconnect
	pacer    *pacer        // of an open loop; nil: the loop is closed
	place    *waiter       // in the pacer

	streak    streak      // of losses of the connection
	lostAt    int64       // since when there is no connection; 0 while there is one
	lostError error       // why there is none
	away      atomic.Bool // there is none, for others to read
	waiting   atomic.Bool // no event is due for it, for others to read
	over      atomic.Bool // drive has returned
}

// drive runs the session to its end. ended is over once the cell is: then no new connection is tried.
func (r *runner) drive(ended context.Context) { r.goOn(ended, r.session.begin(r.clock.now())) }

// goOn runs the session from its next step to its end.
func (r *runner) goOn(ended context.Context, next step) {
	defer r.end()
	for next != stop {
		switch next {
		case execute:
			rows, affected, err := r.line.execute(&r.session.statement)
			now := r.clock.now()
			if err == nil {
				next = r.session.answered(now, rows, affected)
				continue
			}
			next = r.failed(now, err)
		case wait:
			r.waiting.Store(true)
			r.pacer.wait(r.place, r.session.turn.due)
			r.waiting.Store(false)
			next = r.session.arrived(r.clock.now())
		case reconnect:
			since := r.clock.now()
			if !r.reconnect(ended, since) {
				r.session.stranded = true
				return
			}
			now := r.clock.now()
			next = r.session.reconnected(now, time.Duration(now-since))
		}
	}
}

// failed tells the session of an error of its statement.
func (r *runner) failed(now int64, err error) step {
	f := r.line.classify(err)
	if f.lost {
		r.lostError = err
	}
	return r.session.failed(now, f)
}

// end puts down that nobody drives the session any more.
func (r *runner) end() {
	r.session.abandon(r.clock.now())
	r.line.close()
	r.over.Store(true)
}

const (
	firstBackOff = 10 * time.Millisecond
	mostBackOff  = time.Second
)

// streak counts how often a connection was lost in a row, with no event between that came to its end: who can connect and yet does nothing
// gets no further by connecting.
type streak struct {
	losses int
	first  int64 // when
	events int64 // that had come to their end by then
}

// add counts one more.
func (s *streak) add(now, events int64) {
	if s.losses == 0 || events != s.events {
		*s = streak{first: now, events: events}
	}
	s.losses++
}

// backOff is how long to wait before the next try to connect: not at all the first time.
func (s *streak) backOff() time.Duration {
	if s.losses == 1 {
		return 0
	}
	return min(firstBackOff<<min(s.losses-2, 10), mostBackOff)
}

// hopeless tells whether it has been so for that long. A few losses are none, however far apart: events may take long.
func (s *streak) hopeless(now int64, patience time.Duration) bool {
	const few = 3
	return s.losses > few && now-s.first >= int64(patience)
}

// reconnect tries, ever less often, until there is a connection (true), the cell is over, or patience is at its end.
func (r *runner) reconnect(ended context.Context, since int64) bool {
	r.line.close()
	r.lostAt = max(since, 1)
	r.away.Store(true)
	if r.streak.add(since, r.session.ended); r.streak.hopeless(since, r.patience) {
		r.session.cell.fail(since, fmt.Errorf("%w: the connection broke off %d times within %s, and no event came to its end between: %w",
			ErrServerLost, r.streak.losses, time.Duration(since-r.streak.first).Round(time.Second/10), r.reason()))
		return false
	}
	ctx, cancel := context.WithTimeout(ended, r.patience)
	defer cancel()
	pause(ctx, r.streak.backOff())
	for wait := firstBackOff; ; wait = min(2*wait, mostBackOff) {
		err := r.line.open(ctx)
		if err == nil {
			r.lostAt, r.lostError = 0, nil
			r.away.Store(false)
			return true
		}
		if ctx.Err() == nil {
			r.lostError = err
		}
		if pause(ctx, wait) {
			continue
		}
		if ended.Err() == nil {
			r.session.cell.fail(r.clock.now(), fmt.Errorf("%w: no connection for %s: %w", ErrServerLost, r.patience, r.reason()))
		}
		return false
	}
}

// pause waits; false: ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// reason gives the last error met while there is no connection, and what to do about it.
func (r *runner) reason() error {
	if r.lostError == nil {
		return errors.New("no answer")
	}
	return advise(r.lostError)
}
