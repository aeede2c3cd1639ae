//go:build unix

package steps

import (
	"math"
	"syscall"
)

// openFiles is how many files this process may open; 0 where there is no limit. The Go runtime has raised it to the hard limit.
func openFiles() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	if uint64(limit.Cur) > math.MaxInt64 {
		return 0
	}
	return int64(limit.Cur)
}
