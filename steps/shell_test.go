package steps

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell runs a plan that may execute commands.
func shell(t *testing.T, text string) outcome {
	t.Helper()
	return trial{plan: text, env: map[string]string{"S": "correct-horse"}, change: func(c *Config) { c.AllowShell = true }}.carryOut(t)
}

func TestShell(t *testing.T) {
	o := shell(t, `
steps:
  - { id: out, shell: "echo one; echo two >&2", assert: stdout == "one" }
  - { if: steps.out.stdout == "one", shell: "cat; pwd", assert: stdout contains "run" }
  - { shell: { command: 'printf "%s" "$A-$B"', env: { A: a, B: "${{ secrets.S }}" } }, assert: 'stdout == "a-" + secrets.S' }
  - { shell: { command: cat, stdin: "in\n" }, assert: stdout == "in" }
  - { shell: { command: pwd, dir: run }, assert: stdout endsWith "/run" }
  - { shell: "ls p.yaml 2>&1 || ls -d run", assert: stdout contains "run" }
`)
	if len(o.errs) > 0 && !strings.Contains(o.errs[0], "p.yaml:4") {
		t.Error(o.errs)
	}
	o.noneHolds(t, "correct-horse")
	for _, text := range []string{"one", `"stderr":"two`} {
		if !strings.Contains(o.log, text) {
			t.Errorf("the log lacks %s", text)
		}
	}
}

func TestShellFaults(t *testing.T) {
	for name, c := range map[string]struct{ step, want string }{
		"its status and its words": {`"echo fine; echo no such thing >&2; exit 3"`, "exit status 3: no such thing"},
		"a secret in its words":    {`{ command: 'echo bad $P >&2; false', env: { P: "${{ secrets.S }}" } }`, "exit status 1: bad ***"},
		"a signal":                 {`kill -9 $$`, "signal: killed"},
		"no such command":          {`no-such-command-here`, "exit status 127: … not found"},
		"no such folder":           {`{ command: "true", dir: missing }`, " … missing"},
	} {
		t.Run(name, func(t *testing.T) {
			shell(t, "steps:\n  - shell: "+c.step+"\n").fails(t, "p.yaml:2:5: shell: "+strings.TrimPrefix(c.want, " "))
		})
	}
	carryOut(t, "steps:\n  - shell: touch made\n").fails(t, "p.yaml:2:5: shell: commands are not executed without --allow-shell")
}

// TestShellTimeoutEndsAllThatItStarted: the children of the command too.
func TestShellTimeoutEndsAllThatItStarted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	begin := time.Now()
	o := shell(t, fmt.Sprintf("steps:\n  - { timeout: 300ms, shell: \"sleep 300 & echo $! > %s; wait\" }\n", file))
	o.fails(t, "p.yaml:2:23: shell: it took longer than its timeout of 300ms")
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(b), &pid); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(3 * time.Second); alive(pid); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// alive tells whether a process is there and no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && syscall.Kill(pid, 0) == nil && !strings.Contains(string(stat), ") Z ")
}

// TestShellOutputIsBounded: what a command writes does not fill the memory.
func TestShellOutputIsBounded(t *testing.T) {
	o := shell(t, "steps:\n  - { shell: \"head -c 5000000 /dev/zero | tr '\\\\0' x\", assert: len(stdout) == 1048576 }\n").done(t)
	if !strings.Contains(o.log, "(3951424 bytes more)") || len(o.log) > 2<<20 {
		t.Errorf("a log of %d bytes", len(o.log))
	}
}
