package testdb

import "syscall"

// There are no such signals here: a test that sends one fails.
const (
	freeze = syscall.Signal(-1)
	thaw   = syscall.Signal(-2)
)

func stopped(int) error { return nil }
