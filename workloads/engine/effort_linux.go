//go:build amd64 || arm64 || loong64 || ppc64le || riscv64

package engine

import "golang.org/x/sys/unix"

// effort is how long a thread had a processor, and when.
type effort struct{ at, processor int64 }

// effortAt reads it for the calling thread.
func effortAt(now int64) effort {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // it cannot fail
	return effort{now, t.Nano()}
}

// since gives the share of the time, from 0 to 1, for which the thread had a processor.
func (e effort) since(from effort) float64 {
	if from.at == 0 || e.at <= from.at {
		return 0 // the measured part never began
	}
	return min(float64(e.processor-from.processor)/float64(e.at-from.at), 1)
}
