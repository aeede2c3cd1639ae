package testdb

import "syscall"

// Signals for Database.Signal. There are none here: a test that sends one fails.
const (
	Freeze = syscall.Signal(-1)
	Thaw   = syscall.Signal(-2)
)
