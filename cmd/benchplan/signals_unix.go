//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// outliveWrites has a write that cannot be done give an error, as any other, rather than end the program by a signal before finally has
// run: one into a pipe that nobody reads any more (SIGPIPE), and one that makes a file larger than ulimit -f allows (SIGXFSZ). They are
// not set to be ignored: that the commands of shell steps would inherit.
func outliveWrites() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ) }
