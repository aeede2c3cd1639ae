package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"benchplan/results"
	"benchplan/steps/localserver/servertest"
)

// survivor is a run, as a process of its own, of a plan that changes a setting of the server and makes a table in finally.
type survivor struct {
	*exec.Cmd
	out, err bytes.Buffer
	folder   string
	setting  string             // that it changes
	before   string             // its value
	check    func(t *testing.T) // that finally has run, and that the setting is what it was
}

// settings of the server that nothing in a test depends on. Runs under way at the same time each have their own.
var settings = []string{
	"slow_launch_time", "net_retry_count", "max_connect_errors", "max_error_count", "net_write_timeout", "net_read_timeout",
	"max_seeks_for_key", "max_length_for_sort_data", "interactive_timeout", "group_concat_max_len", "query_alloc_block_size",
	"transaction_alloc_block_size",
}

var nextSetting atomic.Int64

// newSurvivor makes one that is not started yet. FOLDER in the steps stands for the run folder.
func newSurvivor(t *testing.T, folder, steps string, flags ...string) *survivor {
	t.Helper()
	target, database, server := onServer(t)
	setting := settings[int(nextSetting.Add(1)-1)%len(settings)]
	value := func() (v string) {
		if err := servertest.OpenDB(t, server, "").QueryRow("SELECT @@GLOBAL." + setting).Scan(&v); err != nil {
			t.Error(err)
		}
		return v
	}
	before := value()
	file := planFile(t, "p.yaml", target+`
tables: { schema: benchyou, count: 1 }
steps:
  - prepare:
  - server: { set: { `+setting+`: 4096 } }
`+strings.ReplaceAll(steps, "FOLDER", folder)+`
finally:
  - sql: CREATE TABLE finally_has_run (id INT)
`)
	program, err := exec.LookPath("benchplan") // put there by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	s := &survivor{folder: folder, setting: setting, before: before, Cmd: exec.Command(program, append([]string{"run", file, "--out", folder, "--allow-shell", "--yes"}, flags...)...)}
	s.Stdout, s.Stderr = &s.out, &s.err
	s.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	db := servertest.OpenDB(t, server, database)
	s.check = func(t *testing.T) {
		t.Helper()
		if _, err := db.Exec("SELECT * FROM finally_has_run"); err != nil {
			t.Errorf("finally has not run: %v", err)
		}
		if after := value(); after != before || after == "4096" {
			t.Errorf("%s is %s, was %s", setting, after, before)
		}
	}
	t.Cleanup(func() {
		if s.Process != nil && s.ProcessState == nil {
			_ = s.Process.Kill()
			_ = s.Wait()
		}
		if t.Failed() {
			t.Logf("standard output:\n%s\nstandard error:\n%s", s.out.String(), s.err.String())
		}
	})
	return s
}

// begin starts it.
func (s *survivor) begin(t *testing.T) {
	t.Helper()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
}

// end waits for it, and holds the exit status against what it has to be.
func (s *survivor) end(t *testing.T, status int) {
	t.Helper()
	limit := time.AfterFunc(time.Minute, func() { _ = s.Process.Kill() })
	defer limit.Stop()
	_ = s.Wait()
	if got := s.ProcessState.ExitCode(); got != status {
		t.Errorf("exit status %d, want %d (%s)", got, status, s.ProcessState)
	}
}

// loaded waits until the load of its first cell is under way.
func (s *survivor) loaded(t *testing.T) {
	t.Helper()
	waitFor(t, 30*time.Second, func() bool {
		record, _ := os.ReadFile(filepath.Join(s.folder, "run.json"))
		return strings.Contains(string(record), `"innodb_flush_log_at_trx_commit"`) // the server is written down just before the load
	})
	time.Sleep(1500 * time.Millisecond)
}

const (
	long = "  - { name: cell, run: { workload: benchyou_random, threads: { write: 2 }, duration: 1h } }\n"
	cell = "  - { name: %s, run: { workload: benchyou_random, threads: { write: 2 }, events: 50 } }\n"
)

// TestSignals: the first of any kind ends the cell, keeps it as partial, and runs finally. One that comes twice at once, as timeout(1)
// sends it, counts as one; and SIGHUP, which a closed terminal sends twice, never counts as the second.
func TestSignals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][]syscall.Signal{
		"SIGINT":            {syscall.SIGINT},
		"SIGTERM, as twice": {syscall.SIGTERM, syscall.SIGTERM},
		"SIGHUP, twice":     {syscall.SIGHUP, 0, syscall.SIGHUP},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSurvivor(t, filepath.Join(t.TempDir(), "run"), long)
			s.begin(t)
			s.loaded(t)
			for _, one := range c {
				if one == 0 {
					time.Sleep(sameSignal + 200*time.Millisecond)
				}
				_ = s.Process.Signal(one) // it may have ended by the second
			}
			s.end(t, exitInterrupted)
			s.check(t)
			run, cells := opened(t, s.folder)
			if run.Status != results.Interrupted || len(cells) != 1 || cells[0].Status != results.Partial || cells[0].Outcome.Events == 0 {
				t.Errorf("status %s, cells %+v", run.Status, cells)
			}
		})
	}
}

// TestHangupThatIsIgnored: what nohup starts goes on.
func TestHangupThatIsIgnored(t *testing.T) {
	t.Parallel()
	s := newSurvivor(t, filepath.Join(t.TempDir(), "run"), "  - { name: cell, run: { workload: benchyou_random, threads: { write: 2 }, duration: 4s } }\n")
	s.Args = append([]string{"nohup", s.Path}, s.Args[1:]...)
	path, err := exec.LookPath("nohup")
	if err != nil {
		t.Fatal(err)
	}
	s.Path = path
	s.begin(t)
	s.loaded(t)
	if err := s.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.end(t, exitDone)
	s.check(t)
}

// TestSecondSignal ends finally too, at once, and what was not put back is told.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	s := newSurvivor(t, filepath.Join(t.TempDir(), "run"), "  - { name: group, steps: [ wait: 1h ], finally: [ { name: slow, sql: SELECT SLEEP(77) } ] }\n")
	s.begin(t)
	waitFor(t, 30*time.Second, func() bool {
		b, _ := os.ReadFile(filepath.Join(s.folder, "log.jsonl"))
		return strings.Contains(string(b), `"server set"`)
	})
	_ = s.Process.Signal(os.Interrupt)
	time.Sleep(sameSignal + time.Second)
	begin := time.Now()
	_ = s.Process.Signal(os.Interrupt)
	s.end(t, exitInterrupted)
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	text := s.err.String()
	for _, want := range []string{
		`sql "slow": interrupted: finally was broken off`,
		"\nNot put back: do this by hand\n", "SELECT SLEEP(77);", "CREATE TABLE finally_has_run (id INT);", "SET GLOBAL " + s.setting + " = " + s.before + ";",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("stderr lacks %q", want)
		}
	}
	run, _ := opened(t, s.folder)
	if run.Status != results.Interrupted || len(run.NotPutBack) != 3 {
		t.Fatalf("status %s, not put back %+v", run.Status, run.NotPutBack)
	}
	server := servertest.Shared(t)
	if _, err := servertest.OpenDB(t, server, "").Exec(run.NotPutBack[2].Send[0]); err != nil {
		t.Error(err)
	}
}

// TestNobodyReads: a pipe whose reader has gone ends nothing, before, in, or after finally.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	s := newSurvivor(t, filepath.Join(t.TempDir(), "run"), fmt.Sprintf(cell, "one")+"  - { name: rest, wait: 500ms }\n"+fmt.Sprintf(cell, "two"))
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.Stdout, s.Stderr = write, write
	s.begin(t)
	_ = write.Close()
	if _, err := io.ReadFull(read, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	_ = read.Close()
	s.end(t, exitFailed) // since the table could not be printed
	s.check(t)
	if run, cells := opened(t, s.folder); run.Status != results.Done || len(cells) != 2 {
		t.Errorf("status %s, %d cells", run.Status, len(cells))
	}
}

// TestAPipeThatIsFull: who does not read holds the run up, as any program; but a signal ends it, and finally runs.
func TestAPipeThatIsFull(t *testing.T) {
	t.Parallel()
	s := newSurvivor(t, filepath.Join(t.TempDir(), "run"), "  - { name: "+strings.Repeat("tick", 20)+", repeat: 5000, wait: 1ms }\n")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	s.Stderr = write
	s.begin(t)
	_ = write.Close()
	lines := func() int {
		b, _ := os.ReadFile(filepath.Join(s.folder, "log.jsonl"))
		return bytes.Count(b, []byte("\n"))
	}
	waitFor(t, 60*time.Second, func() bool {
		before := lines()
		time.Sleep(700 * time.Millisecond)
		return before > 100 && lines() == before // it is held up
	})
	_ = s.Process.Signal(os.Interrupt)
	waitFor(t, 30*time.Second, func() bool {
		b, _ := os.ReadFile(filepath.Join(s.folder, "run.json"))
		return strings.Contains(string(b), `"status": "interrupted"`)
	})
	_, _ = io.Copy(io.Discard, read)
	s.end(t, exitInterrupted)
	s.check(t)
}

// TestATerminalThatIsClosed is the SIGHUP of the kernel, and from then on each write is an error.
func TestATerminalThatIsClosed(t *testing.T) {
	t.Parallel()
	s := newSurvivor(t, filepath.Join(t.TempDir(), "run"), long)
	master, slave := openTerminal(t, 100, 30)
	s.Env = append(os.Environ(), "TERM=xterm")
	s.Stdin, s.Stdout, s.Stderr = slave, slave, slave
	s.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	s.begin(t)
	_ = slave.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		for b := make([]byte, 4096); ; {
			if _, err := master.Read(b); err != nil {
				return
			}
		}
	}()
	s.loaded(t)
	_ = master.Close()
	s.end(t, exitInterrupted)
	<-read
	s.check(t)
	run, cells := opened(t, s.folder)
	if run.Status != results.Interrupted || len(cells) != 1 || cells[0].Status != results.Partial {
		t.Errorf("status %s, cells %+v", run.Status, cells)
	}
}

// mounted gives a folder that is a file system of its own, of which so much is free; false where this user may not have one.
func mounted(t *testing.T, size string) (string, bool) {
	t.Helper()
	dir := t.TempDir()
	if output, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "benchplan-test", dir).CombinedOutput(); err != nil {
		t.Logf("no file system of the test's own: %v: %s", err, output)
		return dir, false
	}
	t.Cleanup(func() {
		for mounts, _ := os.ReadFile("/proc/mounts"); strings.Contains(string(mounts), " "+dir+" "); mounts, _ = os.ReadFile("/proc/mounts") {
			if output, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, output)
			}
		}
	})
	return dir, true
}

// TestTheRunFolderIsLost in the midst of a run: what is said, that finally runs, that the figures of all cells are printed, and that
// nothing is begun any more.
func TestTheRunFolderIsLost(t *testing.T) {
	t.Parallel()
	const fill = `shell: "cat /dev/zero > FOLDER/fill || true"`
	for name, c := range map[string]struct {
		own   string   // size of the file system that it has to be on; empty: any
		shell string   // before the program
		step  string   // what happens
		cells int      // that are printed
		says  []string // on standard error
	}{
		"full disk": {own: "2m", step: fill, cells: 2, says: []string{
			`p.yaml:9:18: run "two": run folder `, "the disk is full: free some space, or put the run elsewhere with --out: cell two{}",
		}},
		// Files that are open for writing keep a file system from being made read-only: it gets a view of itself laid over that is.
		"read only": {own: "20m", step: `shell: "d=$(dirname FOLDER) && mount --bind $d $d && mount -o remount,bind,ro $d"`, cells: 2, says: []string{
			`p.yaml:9:18: run "two": run folder `, "cannot be written: allow it, or put the run elsewhere with --out: cell two{}",
		}},
		"removed": {step: `shell: "rm -rf FOLDER"`, cells: 2, says: []string{
			`p.yaml:9:18: run "two": run folder `, "was removed or moved", "cell two{}",
		}},
		"moved": {step: `shell: "mv FOLDER FOLDER.away"`, cells: 2, says: []string{`p.yaml:9:18: run "two": run folder `, "was removed or moved"}},
		"limit of file sizes": {shell: "ulimit -f 200", step: "wait: 1ms\n  - { name: many, repeat: 100, run: { workload: benchyou_random, threads: { write: 2 }, events: 2 } }", cells: 3, says: []string{
			`p.yaml:9:32: run "many" [#`, "a file would be larger than this process may make it: raise the limit, as by `ulimit -f unlimited`",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, ok := t.TempDir(), true
			if c.own != "" {
				if dir, ok = mounted(t, c.own); !ok {
					return // told by then: the limit of file sizes stands for it
				}
			}
			steps := fmt.Sprintf(cell, "one") + "  - " + c.step + "\n" + fmt.Sprintf(cell, "two") + "  - { name: never, sql: CREATE TABLE not_reached (id INT) }\n"
			s := newSurvivor(t, filepath.Join(dir, "run"), steps)
			if c.shell != "" {
				s.Args = append([]string{"sh", "-c", c.shell + `; exec "$0" "$@"`, s.Path}, s.Args[1:]...)
				s.Path = "/bin/sh"
			}
			s.begin(t)
			s.end(t, exitFailed)
			s.check(t)
			for _, want := range c.says {
				if !strings.Contains(s.err.String(), want) {
					t.Errorf("standard error lacks %q", want)
				}
			}
			if n := len(regexp.MustCompile(`(?m)^ (one|two|many)\b.*\d`).FindAllString(s.out.String(), -1)); name != "limit of file sizes" && n != c.cells || n == 0 {
				t.Errorf("%d rows of the table, want %d", n, c.cells)
			}
		})
	}
}

// TestAReadOnlyFolder: before anything is touched.
func TestAReadOnlyFolder(t *testing.T) {
	dir, ok := mounted(t, "1m")
	if ok {
		if output, err := exec.Command("mount", "-o", "remount,ro", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
	} else if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	file := planFile(t, "p.yaml", "steps:\n  - shell: touch "+filepath.Join(t.TempDir(), "made")+"\n")
	benchplan(t, "run", file, "--out", filepath.Join(dir, "run"), "--allow-shell").want(t, exitUsage).says(t, "cannot be written: allow it, or put the run elsewhere with --out")
	benchplan(t, "run", file, "--runs", dir, "--allow-shell").want(t, exitFailed).says(t, "cannot be written")
}
