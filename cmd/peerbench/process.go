//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// effort is what a child process took from its start to its end, as the kernel tells it to wait4.
type effort struct {
	Elapsed time.Duration `json:"elapsed_ns"`
	CPU     time.Duration `json:"cpu_ns"` // user and system, of all its threads
	Memory  int64         `json:"memory"` // bytes: the most that was resident at any time
}

// run starts a program and waits for it. When ctx ends the program is asked to end, and killed where it does not within ten seconds.
// env is added to the environment.
func run(ctx context.Context, env []string, program string, args ...string) (stdout []byte, e effort, err error) {
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C reaches it through ctx only
	began := time.Now()
	err = cmd.Run()
	e.Elapsed = time.Since(began)
	if ctx.Err() != nil {
		return nil, e, context.Cause(ctx)
	}
	if err != nil {
		return nil, e, fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, tail(out.String()), tail(complaint.String()))
	}
	e.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return nil, e, errors.New("this system does not tell what a process has used")
	}
	e.Memory = int64(usage.Maxrss) * maxrssUnit
	return out.Bytes(), e, nil
}

// tail gives the last lines of what a program printed.
func tail(text string) string {
	const most = 2000
	text = strings.TrimSpace(text)
	if len(text) > most {
		text = "…" + text[len(text)-most:]
	}
	if text != "" {
		text += "\n"
	}
	return text
}

// liftFileLimit lets this process, and those that it starts, open as many files as the system allows: the runtime does so for this
// process only.
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
