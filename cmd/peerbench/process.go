package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// effort is what a child process took from its start to its end, as the kernel tells it to wait4.
type effort struct {
	Elapsed time.Duration `json:"elapsed_ns"`
	CPU     time.Duration `json:"cpu_ns"`       // user and system, of all its threads
	Memory  int64         `json:"memory_bytes"` // the most that was resident at any time
}

// run starts a program, with env added to its environment, and waits for it. When ctx ends the program, and what it has started, is
// asked to end, and killed where it does not.
func run(ctx context.Context, env []string, program string, args ...string) (stdout []byte, e effort, err error) {
	const patience = 10 * time.Second
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return endGroup(cmd.Process) }
	cmd.WaitDelay = patience
	cmd.SysProcAttr = ownGroup()
	began := time.Now()
	err = cmd.Run()
	e.Elapsed = time.Since(began)
	if ctx.Err() != nil {
		return nil, e, fmt.Errorf("%s: %w", program, context.Cause(ctx))
	}
	if err != nil {
		return nil, e, fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, tail(out.String()), tail(complaint.String()))
	}
	e.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	e.Memory, err = peakMemory(cmd.ProcessState)
	return out.Bytes(), e, err
}

// tail gives the end of what a program printed.
func tail(text string) string {
	const most = 2000
	text = strings.TrimSpace(text)
	if len(text) > most {
		text = "…" + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	if text != "" {
		text += "\n"
	}
	return text
}
