package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"benchplan/workloads/guard"
)

// Times of heeding signals.
const (
	// sameSignal is how long after the first signal others count as that one: timeout(1), a shell in a pipeline and others that
	// pass a signal on have it come twice at once.
	sameSignal = time.Second
	// mostAbandoned is how long the program may take to end after the second signal: to cut off what is under way, and to say
	// what was not put back.
	mostAbandoned = 5 * time.Second
)

// signals are the contexts that signals end.
type signals struct {
	first  context.Context // the cell under way ends, and finally runs
	second context.Context // finally ends
	stop   func()          // gives the signals back
}

// interruptible has the first SIGINT, SIGTERM or SIGHUP end one context, and the second another; if the program is not at its end a
// few seconds after that, or upon a third, it is ended. Of the first interrupted is told, of being ended abandoned.
//
// SIGHUP is never the second: a terminal that is closed sends it twice, by the shell and by the kernel. Where it is ignored from the
// start, as by nohup, it stays so.
func interruptible(interrupted, abandoned func()) *signals {
	first, interrupt := context.WithCancel(context.Background())
	second, abandon := context.WithCancel(context.Background())
	arrived := make(chan os.Signal, 4)
	signal.Notify(arrived, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(arrived, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go func() {
		if _, ok := await(arrived, done, nil); !ok {
			return
		}
		at := time.Now()
		briefly(interrupted)
		interrupt()
		for {
			s, ok := await(arrived, done, nil)
			if !ok {
				return
			}
			if s != syscall.SIGHUP && time.Since(at) >= sameSignal {
				break
			}
		}
		abandon()
		limit := time.NewTimer(mostAbandoned)
		defer limit.Stop()
		for {
			s, ok := await(arrived, done, limit.C)
			if !ok {
				return
			}
			if s != syscall.SIGHUP {
				briefly(abandoned)
				os.Exit(exitInterrupted)
			}
		}
	}()
	return &signals{first, second, func() {
		signal.Stop(arrived)
		close(done)
		interrupt()
		abandon()
	}}
}

// await gives the next signal, or none (nil) once the time is up; false: nobody waits for signals any more.
func await(arrived <-chan os.Signal, done <-chan struct{}, up <-chan time.Time) (os.Signal, bool) {
	select {
	case s := <-arrived:
		return s, true
	case <-up:
		return nil, true
	case <-done:
		return nil, false
	}
}

// briefly tells something, and waits for that a second at the most: a terminal that was stopped, or who reads a pipe, may take no text, and
// a signal is heeded nevertheless.
func briefly(tell func()) {
	told := make(chan struct{})
	go func() {
		defer close(told)
		_ = guard.Call(func() error { tell(); return nil })
	}()
	select {
	case <-told:
	case <-time.After(time.Second):
	}
}
