//go:build unix

package steps

import (
	"fmt"
	"syscall"
	"testing"

	"benchplan/steps/localserver/servertest"
)

// TestFilesOfThisMachine: a client is a file of this process.
func TestFilesOfThisMachine(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	server := servertest.Shared(t)
	lower := before
	lower.Cur = 300
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lower); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	}()
	o := carryOut(t, fmt.Sprintf("target: { socket: %s }\ntables: { schema: benchyou }\nsteps:\n  - { name: mix, run: { workload: benchyou_random, threads: { write: 400 }, events: 10 } }\n", server.Socket()))
	o.fails(t, `p.yaml:4:18: run "mix": this machine lets benchplan open 300 files (RLIMIT_NOFILE), and 466 are needed: 400 clients and 2 connections that read the server's status and hold the lock of the tables and 64 of benchplan's own; raise the limit, as by `+"`ulimit -n 466`")
}
