package engine

import "time"

// Observer is shown how a cell is doing, once an interval and always from the same goroutine. It has to return soon: the
// one-second series waits for it. nil is a fine observer.
type Observer func(Snapshot)

// Snapshot is the state of a cell under way. Rates, latency and counts are of the time since the snapshot before.
type Snapshot struct {
	Elapsed    time.Duration // since the clock started, warm-up included
	Warmup     bool          // nothing is counted yet
	Clients    int           // clients that have a connection
	Events     int64         // counted since the warm-up ended: the whole sum
	TPS        float64       // events per second
	QPS        float64       // statements per second
	P95        float64       // of events, milliseconds
	Errors     int64
	Restarts   int64
	Reconnects int64
}

// Meter is read beside the load, so that what it measures (of the machine, of the server) covers the same time. Its methods are called
// from one goroutine, in order, and have to return soon: they note the moment and leave the reading to another goroutine.
type Meter interface {
	// Begin is called when the measured part begins: after the warm-up.
	Begin()
	// Second is called when a second of the series is over; the last may be shorter.
	Second()
	// End is called when the measured part is over, before the events under way are waited for. It comes once, also after an error
	// or an interrupt in the warm-up; then without Begin.
	End()
}
