package engine

import (
	"syscall"
	"testing"
	"time"
)

// processorTime gives the time that this process has had on processors.
func processorTime(b *testing.B) time.Duration {
	process, err := syscall.GetCurrentProcess()
	if err != nil {
		b.Fatal(err)
	}
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(process, &created, &exited, &kernel, &user); err != nil {
		b.Fatal(err)
	}
	of := func(f syscall.Filetime) time.Duration { // counts of 100 ns
		return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
	}
	return of(kernel) + of(user)
}
