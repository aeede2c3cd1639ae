//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// ownGroup gives a child a process group of its own: a Ctrl-C on the terminal then reaches it through this process only.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// endGroup asks a child that has a group of its own to end, with all that it has started.
func endGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGTERM) }

// peakMemory gives the most bytes that an ended process had resident at any time.
func peakMemory(p *os.ProcessState) (int64, error) {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, errors.New("this system does not tell what a process has used")
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss), nil // which counts bytes, where others count KiB
	}
	return int64(usage.Maxrss) << 10, nil
}

// liftFileLimit lets the processes that this one starts open as many files as the system allows. The Go runtime lifts the limit for
// this process only.
func liftFileLimit() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("the limit of open files: %w", err)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("raising the limit of open files to %d: %w", limit.Max, err)
	}
	return nil
}
