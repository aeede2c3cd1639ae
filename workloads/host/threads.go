package host

import (
	"context"
	"math/rand/v2"
	"sync/atomic"

	"benchplan/workloads/engine"
)

// ThreadsOptions are the options of threads.
type ThreadsOptions struct {
	Yields int `key:"thread_yields" default:"1000" min:"1" max:"1000000000" doc:"how often an event locks, yields and unlocks"`
	Locks  int `key:"thread_locks" default:"8" min:"1" max:"1000000" unit:"locks" doc:"locks that the threads share; an event takes one of them, in turn"`
}

// Threads is the scheduler: each event locks, yields and unlocks one of a few locks, many times. On Linux the clients are OS
// threads that lock by a futex and yield by sched_yield, as pthreads do; with dozens of them at a lock, what the Go runtime does
// around each wait shows, and there are fewer events than in C. Elsewhere the lock is Go's sync.Mutex, which spins and
// then parks a goroutine, and the yield is that of Go's scheduler: figures of other systems are of Go as much as of the system.
func Threads() engine.Definition {
	return define(ThreadsName, "sysbench threads: an event locks, yields and unlocks one of thread_locks locks, thread_yields times", nil, nil,
		func(o *ThreadsOptions) engine.HostWorkload {
			return &threads{yields: o.Yields, locks: make([]paddedLock, o.Locks)}
		})
}

// paddedLock is a lock on cache lines of its own.
type paddedLock struct {
	mutex
	held int64 // how often it was locked
	_    [112]byte
}

type threads struct {
	bare
	yields int
	locks  []paddedLock
	events atomic.Uint64 // begun so far
}

// Client implements engine.HostWorkload.
func (t *threads) Client(int, int, *rand.Rand) engine.HostClient { return threadsClient{t} }

type threadsClient struct{ *threads }

// Do implements engine.HostClient.
func (t threadsClient) Do(ctx context.Context) (result engine.HostResult, err error) {
	lock := &t.locks[(t.events.Add(1)-1)%uint64(len(t.locks))]
	for i := range t.yields {
		if i%64 == 63 && ctx.Err() != nil {
			return result, ctx.Err()
		}
		lock.Lock()
		lock.held++
		yield()
		lock.Unlock()
	}
	return result, nil
}
