//go:build amd64 || arm64 || loong64 || ppc64le || riscv64

package engine

import (
	"fmt"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm wakes a loop when an event is due. It is a timer of the kernel's that is as exact as its clock, where the time limit of
// epoll_wait is not.
type alarm struct {
	fd   int
	due  int64 // the event for which it is set; never: none
	rang bool  // it has gone off for that
	lead lead  // by that much it goes off before
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("event loop: %w", os.NewSyscallError("timerfd_create", err))
	}
	return &alarm{fd: fd, due: never}, nil
}

// patience gives how long epoll may wait, in milliseconds, for an event that is due then: not at all when that is so near that waking
// up would be late, else until the alarm, or a socket, wakes the loop.
func (a *alarm) patience(due, now int64) (timeout int) {
	left := due - now
	switch {
	case left <= int64(a.lead) || due == a.due && a.rang:
		return 0
	case due == a.due:
		return forever
	}
	at := unix.ItimerSpec{Value: unix.NsecToTimespec(min(left, math.MaxInt64/2) - int64(a.lead))}
	if err := unix.TimerfdSettime(a.fd, 0, &at, nil); err != nil {
		return int(min(left/int64(time.Millisecond), math.MaxInt32)) // it cannot fail; should it, there still is epoll's own
	}
	a.due, a.rang = due, false
	return forever
}

// ring reports that the alarm has gone off. slept tells that the loop waited for it, and was not busy.
func (a *alarm) ring(now int64, slept bool) {
	if a.rang = true; slept {
		a.lead.learn(now - a.due)
	}
}
