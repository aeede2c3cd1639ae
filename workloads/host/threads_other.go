//go:build !linux

package host

import (
	"runtime"
	"sync"
)

// yield gives the processor to another goroutine that is ready to run.
func yield() { runtime.Gosched() }

// mutex is Go's own.
type mutex = sync.Mutex
