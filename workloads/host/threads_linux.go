package host

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// yield gives the processor to another thread that is ready to run. The Go scheduler is not told, so that it does not put
// another goroutine into the thread's place.
func yield() { _, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }

// mutex is a lock of OS threads, as pthread_mutex_lock has it in glibc: one atomic instruction where it is free, else a futex.
// (Drepper, Futexes Are Tricky, mutex2.) Go's own parks goroutines and is fair to those that have waited for long, which is
// another thing to measure.
type mutex struct{ state uint32 }

// The states of a mutex.
const (
	unlocked  = 0
	locked    = 1
	contended = 2 // locked, and somebody may wait for it
)

const (
	futexWaitPrivate = 0 | 128
	futexWakePrivate = 1 | 128
)

// Lock waits until the lock is the thread's.
func (m *mutex) Lock() {
	if atomic.CompareAndSwapUint32(&m.state, unlocked, locked) {
		return
	}
	for atomic.SwapUint32(&m.state, contended) != unlocked {
		// It returns when woken, when the state is no longer contended, and on a signal: the loop looks again.
		_, _, _ = syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&m.state)), futexWaitPrivate, contended, 0, 0, 0)
	}
}

// Unlock gives the lock back, and wakes one of those that wait for it.
func (m *mutex) Unlock() {
	if atomic.SwapUint32(&m.state, unlocked) == contended {
		_, _, _ = syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&m.state)), futexWakePrivate, 1, 0, 0, 0)
	}
}
