package host

import (
	"context"
	"errors"
	"math/rand/v2"

	"benchplan/workloads/engine"
)

// MutexOptions are the options of mutex.
type MutexOptions struct {
	Number int `key:"mutex_num" default:"4096" min:"1" max:"10000000" unit:"locks" doc:"locks that the threads share"`
	Locks  int `key:"mutex_locks" default:"50000" min:"1" max:"1000000000" doc:"how often an event takes one of them at random"`
	Loops  int `key:"mutex_loops" default:"10000" min:"0" max:"1000000000" doc:"empty loops before each time"`
}

// Mutex is many threads and many locks: each thread does one event, which takes a lock at random again and again, with empty
// loops between. The cell ends when all have done it, so the latency of the events is its result. The lock is that
// of Threads.
func Mutex() engine.Definition {
	return define(MutexName, "sysbench mutex: each thread has one event, which takes one of mutex_num locks at random, mutex_locks times",
		nil,
		func(_ *MutexOptions, o *engine.Order) error {
			if o.Warmup > 0 {
				return errors.New("mutex has one event for each thread, so nothing can come before it: leave warmup out")
			}
			o.EventsEach = 1
			return nil
		},
		func(o *MutexOptions) engine.HostWorkload {
			return &mutexes{options: *o, locks: make([]paddedLock, o.Number)}
		})
}

type mutexes struct {
	bare
	options MutexOptions
	locks   []paddedLock
}

// Client implements engine.HostWorkload.
func (m *mutexes) Client(_, _ int, random *rand.Rand) engine.HostClient {
	return &mutexClient{mutexes: m, random: random}
}

type mutexClient struct {
	*mutexes
	random *rand.Rand
	looped int // that it is kept makes the loops ones that have to be done
}

// Do implements engine.HostClient.
func (m *mutexClient) Do(ctx context.Context) (result engine.HostResult, err error) {
	for i := range m.options.Locks {
		if i%64 == 63 && ctx.Err() != nil {
			return result, ctx.Err()
		}
		lock := &m.locks[m.random.IntN(len(m.locks))]
		m.looped += loop(m.options.Loops)
		lock.Lock()
		lock.held++
		lock.Unlock()
	}
	return result, nil
}

// loop counts to n, one by one.
//
//go:noinline
func loop(n int) int {
	c := 0
	for range n {
		c++
	}
	return c
}
