package monitor

import (
	"context"
	"sync"
	"time"
)

// strokes are the moments of a cell that a reader has not heeded yet.
type strokes struct {
	begin   time.Time // when the measured part began; zero: not among them
	seconds int       // so many are over
	over    bool      // the measured part is over, or the watch is
	finish  bool      // the watch is over
}

// bell hands the moments of a cell to one reader, without waiting for it. A reader that is late finds several at once, and reads once for all.
type bell struct {
	mu   sync.Mutex
	rung strokes
	wake chan struct{}

	prepared chan struct{} // closed once the reader listens, or never will
	once     sync.Once
}

func newBell() *bell { return &bell{wake: make(chan struct{}, 1), prepared: make(chan struct{})} }

// ready tells that the reader has reached what it reads, or cannot; it may be told twice.
func (b *bell) ready() { b.once.Do(func() { close(b.prepared) }) }

func (b *bell) ring(add func(*strokes)) {
	b.mu.Lock()
	add(&b.rung)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default: // it is awake
	}
}

// wait gives what was rung since it last did; once the context is over, a finish.
func (b *bell) wait(ctx context.Context) strokes {
	select {
	case <-ctx.Done():
		return strokes{over: true, finish: true}
	case <-b.wake:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.rung
	b.rung = strokes{}
	return s
}
