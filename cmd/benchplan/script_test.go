package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchplan/results"
	"benchplan/steps/localserver/servertest"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the command line as a user does: testdata/*.txtar.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			server := servertest.Shared(t)
			e.Setenv("SOCKET", server.Socket())
			e.Setenv("BENCHPLAN_SERVER", server.Program().Path)
			e.Setenv("NO_COLOR", "1")
			return nil
		},
	})
}

// TestInterruptKeepsWhatWasMeasured: the first Ctrl-C ends the cell, finally runs, and the exit status is 130.
func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	target, database, server := onServer(t)
	folder := filepath.Join(t.TempDir(), "run")
	file := planFile(t, "p.yaml", target+`
tables: { schema: benchyou, count: 1 }
steps:
  - prepare:
  - name: group
    steps:
      - { name: cell, run: { workload: benchyou_random, threads: { write: 2 }, duration: 1h } }
      - sql: CREATE TABLE not_reached (id INT)
    finally:
      - sql: CREATE TABLE inner_finally (id INT)
finally:
  - sql: CREATE TABLE outer_finally (id INT)
`)
	command := start(t, "run", file, "--out", folder)
	waitFor(t, 20*time.Second, func() bool {
		db := servertest.OpenDB(t, server, database)
		var n int
		return db.QueryRow("SELECT COUNT(*) FROM benchyou0").Scan(&n) == nil && n > 100
	})
	time.Sleep(1200 * time.Millisecond) // so that the series has a second
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	if got := command.ProcessState.ExitCode(); got != exitInterrupted {
		t.Errorf("exit status %d, want 130", got)
	}
	run, cells := opened(t, folder)
	if run.Status != results.Interrupted {
		t.Errorf("run status %s", run.Status)
	}
	if len(cells) != 1 || cells[0].Status != results.Partial || cells[0].Outcome.Events == 0 || cells[0].Outcome.Stopped != results.ByInterrupt {
		t.Errorf("cells %+v", cells)
	}
	db := servertest.OpenDB(t, server, database)
	for table, want := range map[string]bool{"inner_finally": true, "outer_finally": true, "not_reached": false} {
		if _, err := db.Exec("SELECT * FROM " + table); (err == nil) != want {
			t.Errorf("table %s: %v", table, err)
		}
	}
}

// TestASignalIsHeededThoughNobodyReads: where standard error takes no more text, what tells of the signal waits for ever.
func TestASignalIsHeededThoughNobodyReads(t *testing.T) {
	read := make(chan struct{})
	defer close(read)
	s := interruptible(func() { <-read }, func() {})
	defer s.stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.first.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on")
	}
	if s.second.Err() != nil {
		t.Error("one signal counts as two")
	}
}

// TestKillLeavesNoServer: kill -9 of benchplan ends its private server, and the next start sweeps the folder. What server the load was on
// is in the record by then.
func TestKillLeavesNoServer(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	folder := filepath.Join(temp, "run")
	file := planFile(t, "p.yaml", "tables: { schema: benchyou }\nsteps:\n  - prepare:\n  - run: { workload: benchyou_random, threads: { write: 1 }, duration: 1h }\n")
	command := start(t, "run", file, "--out", folder)
	var server string
	waitFor(t, 20*time.Second, func() bool {
		b, _ := os.ReadFile(filepath.Join(folder, "log.jsonl"))
		server = serverFolder(temp)
		record, _ := os.ReadFile(filepath.Join(folder, "run.json"))
		return server != "" && strings.Contains(string(b), `"prepared"`) && strings.Contains(string(record), `"innodb_flush_log_at_trx_commit"`)
	})
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	waitFor(t, 20*time.Second, func() bool { return processWith(server) == "" })

	again := planFile(t, "q.yaml", "steps:\n  - sql: SELECT 1\n")
	benchplan(t, "run", again, "--runs", filepath.Join(temp, "runs")).want(t, exitDone)
	if left := serverFolder(temp); left != "" {
		t.Errorf("%s was left", left)
	}
}

func serverFolder(temp string) string {
	found, _ := filepath.Glob(filepath.Join(temp, "benchplan-server-*"))
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// processWith gives the folder in /proc of a process whose command line holds a text.
func processWith(text string) string {
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range found {
		if b, _ := os.ReadFile(file); strings.Contains(string(b), text) && !strings.Contains(string(b), "test") {
			return filepath.Dir(file)
		}
	}
	return ""
}

// start starts the program as a process of its own, which ends with the test.
func start(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("benchplan") // put there by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(path, args...)
	var output strings.Builder
	command.Stdout, command.Stderr = &output, &output
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if command.ProcessState == nil {
			_ = command.Process.Kill()
			_ = command.Wait()
		}
		if t.Failed() {
			t.Log(output.String())
		}
	})
	return command
}

// waitFor waits until something holds.
func waitFor(t *testing.T, limit time.Duration, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come about in time")
		}
	}
}
