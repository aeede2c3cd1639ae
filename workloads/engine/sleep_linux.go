package engine

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sleepThread blocks the thread for d, or until a signal comes. The kernel lets timers of ordinary threads be 50 µs late so as
// to fire several at once (see timer slack in prctl(2)); for the time of the sleep it does not. What threads made later, and
// the processes that they start, inherit stays as it was.
func sleepThread(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // without it the sleep is less exact, no more
	defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }()
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil)
}
