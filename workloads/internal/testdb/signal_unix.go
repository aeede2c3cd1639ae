//go:build unix

package testdb

import "syscall"

// Signals for Database.Signal.
const (
	Freeze = syscall.SIGSTOP // the server stands still
	Thaw   = syscall.SIGCONT // and goes on
)
