package engine

import (
	"sync"
	"time"
)

const (
	// coarse is how far ahead of an event a pacer still sleeps by the runtime's timers: they may be a millisecond late, but can
	// be broken off.
	coarse = int64(3 * time.Millisecond)
	// mostLead is how much earlier than an event is due a pacer wakes up at the most: so long may it keep a processor busy.
	mostLead = lead(40 * time.Microsecond)
)

// lead is how much too late this machine usually wakes up a thread, in nanoseconds: by that much one sleeps less than until an event
// is due.
type lead int64

// learn moves the lead so that a thread that wakes up is late three times out of four: then it seldom has to keep the processor
// until the event is due. late is how long after the event was due it woke up; negative is before.
func (l *lead) learn(late int64) {
	const step = lead(time.Microsecond)
	if late > 0 {
		*l = min(*l+step, mostLead)
	} else {
		*l = max(*l-3*step, 0)
	}
}

// pacer has the clients of one role wait until their events are due.
//
// The runtime's timers are up to a millisecond late when nothing else goes on, and handing an event from one thread to
// another takes as long as a short statement. So the client whose event is due first, the leader, sleeps by itself, in a
// system call that knows nanoseconds, and when it wakes up has the next one lead before it begins. However many clients
// wait, one thread sleeps.
type pacer struct {
	clock *clock
	ended chan struct{} // closed at the end of the cell

	mu    sync.Mutex
	over  bool
	led   bool  // there is a leader
	until int64 // when its event is due
	// first and last are of those that wait to lead: who is due earlier is before who is due later.
	first, last *waiter
	lead        lead
}

// waiter is a client's place in a pacer, used again for every wait.
type waiter struct {
	until int64
	next  *waiter
	wake  chan struct{}
	timer *time.Timer
}

func newPacer(c *clock) *pacer { return &pacer{clock: c, ended: make(chan struct{})} }

func newWaiter() *waiter {
	w := &waiter{wake: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	w.timer.Stop()
	return w
}

// wait returns at that time, or when the cell is over.
func (p *pacer) wait(w *waiter, until int64) {
	w.until = until
	leads := p.join(w)
	p.mu.Lock()
	over, lead := p.over, p.lead
	p.mu.Unlock()
	if over {
		return
	}
	late, measured := p.sleep(w, lead)
	p.mu.Lock()
	defer p.mu.Unlock()
	if measured {
		p.lead.learn(late)
	}
	if leads {
		p.promote()
	}
}

// join returns when the client has to sleep until its event is due, as the leader or beside it, or when the cell is over.
func (p *pacer) join(w *waiter) (leads bool) {
	p.mu.Lock()
	switch {
	case p.over:
		p.mu.Unlock()
		return false
	case !p.led:
		p.led, p.until = true, w.until
		p.mu.Unlock()
		return true
	case w.until < p.until:
		// After it claimed its event, another client claimed the next one and got here first.
		p.mu.Unlock()
		return false
	}
	p.insert(w)
	p.mu.Unlock()
	<-w.wake
	return true
}

// insert puts a client into its place, which is the last but for the race of clients from claiming to waiting.
func (p *pacer) insert(w *waiter) {
	w.next = nil
	if p.last == nil || p.last.until <= w.until {
		if p.last == nil {
			p.first = w
		} else {
			p.last.next = w
		}
		p.last = w
		return
	}
	place := &p.first
	for (*place).until <= w.until {
		place = &(*place).next
	}
	w.next, *place = *place, w
}

// promote makes the first of those that wait the leader.
func (p *pacer) promote() {
	w := p.first
	if w == nil {
		p.led = false
		return
	}
	if p.first = w.next; p.first == nil {
		p.last = nil
	}
	p.until = w.until
	w.wake <- struct{}{}
}

// end has all return that wait, and all that come.
func (p *pacer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	close(p.ended)
	for w := p.first; w != nil; w = w.next {
		w.wake <- struct{}{}
	}
	p.first, p.last = nil, nil
}

// sleep returns when the client's event is due, or at the end of the cell. Where it slept to the nanosecond it tells how late
// it woke up; negative is early.
func (p *pacer) sleep(w *waiter, lead lead) (late int64, measured bool) {
	for {
		left := w.until - p.clock.now()
		switch {
		case left <= 0:
			return late, measured
		case left > coarse:
			w.timer.Reset(time.Duration(left - coarse))
			select {
			case <-w.timer.C:
			case <-p.ended:
				w.timer.Stop()
				return 0, false
			}
		case left > int64(lead):
			sleepThread(time.Duration(left - int64(lead))) // a signal may break it off
			late, measured = p.clock.now()-w.until, true
		default:
			for p.clock.now() < w.until {
			}
			return late, measured
		}
	}
}
