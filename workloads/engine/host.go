package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"

	"benchplan/plan"
	"benchplan/results"
)

// Host is what a workload has that loads this machine, not a server. It has no roles, no tables and no target.
type Host struct {
	// Files tells that it works on the files of the scope.
	Files bool
	// SmallestFile is the size that one of them has at the least; nil for a workload without files.
	SmallestFile func(options any) plan.Size
	// Check says what is wrong with options that are each right by themselves, or with the files they meet (nil: there are
	// none); nil is fine.
	Check func(options any, files *plan.Files) error
	// Limit adds to the order when the workload's own options end it, and says what of the order cannot be with them; nil: they
	// do not.
	Limit func(options any, o *Order) error
	// New makes the workload for one cell. The files' folder is a path on this machine; force lets it write to files that
	// benchplan did not make.
	New func(options any, files *plan.Files, force bool) (HostWorkload, error)
}

// HostWorkload is a load on this machine: the events of its clients are calls.
type HostWorkload interface {
	// Counters names what the events add up, in the order of HostResult.Counts: at most MaxCounters.
	Counters() []string
	// Open makes ready what so many clients share, before the clock starts.
	Open(ctx context.Context, clients int) error
	// Client makes client index (from 0) of n, before the clock starts.
	Client(index, n int, random *rand.Rand) HostClient
	// Close gives back what Open took, also where that failed. It is called when all clients have ended, and gives what is to
	// be told of the cell beside the events, as counters of other names. When ctx has ended, it makes haste.
	Close(ctx context.Context) (map[string]int64, error)
}

// HostClient is the state of one client. The engine calls it from one OS thread, one event after the other.
type HostClient interface {
	// Do does one event. Its error ends the cell. ctx ends when the time for finishing the event is over too: what can take
	// longer than some seconds looks at it now and then.
	Do(ctx context.Context) (HostResult, error)
}

// MaxCounters is how many counters a host workload can have.
const MaxCounters = 8

// HostResult is what one event came to, beside having been done.
type HostResult struct {
	Counts [MaxCounters]int64 // in the order of HostWorkload.Counters
}

// RunHost is Run for a load on this machine: same clock, warm-up, tickets, latencies, series, interrupt and grace. Each
// client has an OS thread of its own, and while the cell runs GOMAXPROCS is at least that of all clients, so that it is
// the kernel that shares the processors among them, as among the threads of a program in C.
func RunHost(ctx context.Context, w HostWorkload, o Order, observer Observer, meter Meter) (results.Outcome, error) {
	if err := o.Validate(); err != nil {
		return results.Outcome{}, fmt.Errorf("workload %s: %w", o.Workload, err)
	}
	defer threadsFor(o.Total())()
	if err := w.Open(ctx, o.Total()); err != nil {
		_, closeErr := w.Close(ctx)
		out := results.Outcome{Clients: o.Total(), Stopped: results.ByError}
		if ctx.Err() != nil {
			out.Stopped, err = results.ByInterrupt, context.Cause(ctx)
		}
		return out, fmt.Errorf("workload %s: %w", o.Workload, errors.Join(err, closeErr))
	}
	severed, sever := context.WithCancel(context.Background())
	defer sever()
	r := newHostRun(severed, sever, w, o)
	out, err := r.measure(ctx, observer, meter)
	r.tally.fillCounters(&out, w.Counters())
	more, closeErr := w.Close(ctx)
	for name, n := range more {
		if out.Counters == nil {
			out.Counters = map[string]int64{}
		}
		out.Counters[name] = n
	}
	if closeErr != nil && err == nil {
		out.Stopped, err = results.ByError, fmt.Errorf("workload %s: %w", o.Workload, closeErr)
	}
	return out, err
}

// threadsFor lets so many threads execute Go code at once, besides the engine's own, and gives what puts that back.
func threadsFor(clients int) (putBack func()) {
	const own = 2
	before := runtime.GOMAXPROCS(0)
	if clients+own <= before {
		return func() {}
	}
	runtime.GOMAXPROCS(clients + own)
	return func() { runtime.GOMAXPROCS(before) }
}

// newHostRun makes the runners of a host workload.
func newHostRun(severed context.Context, sever func(), w HostWorkload, o Order) *run {
	r := newCell(o)
	r.threads = true
	for role, clients := range o.Clients {
		for i := range clients.Count {
			l := &hostLine{client: w.Client(i, clients.Count, clientRandom(o.Seed, clients.Role, i)), severed: severed, cut: sever}
			r.add(l, session{client: calls{}, result: &l.result, role: role, index: i})
		}
	}
	return r
}

// hostLine is the line of a session whose events are calls.
type hostLine struct {
	client  HostClient
	result  HostResult
	severed context.Context // ends when all clients of the cell are cut
	cut     func()
}

func (l *hostLine) open(context.Context) error { return nil }
func (l *hostLine) close()                     {}
func (l *hostLine) sever()                     { l.cut() }

func (l *hostLine) execute(*Statement) (rows, affected int64, err error) {
	l.result, err = l.client.Do(l.severed)
	return 0, 0, err
}

// classify gives an error the number that the operating system has for it.
func (l *hostLine) classify(err error) fault {
	number, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		number = syscall.EIO
	}
	return fault{code: int(number), message: err.Error(), err: err}
}

// calls is the client, as a session sees it, of a host workload: each event is one call, with nothing to undo.
type calls struct{}

func (calls) Next(s *Statement)          { s.Template, s.Last = Plain, true }
func (calls) Done(int64, int64)          {}
func (calls) Undo(*Statement, bool) bool { return false }
