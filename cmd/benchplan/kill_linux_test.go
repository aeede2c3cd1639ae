package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"benchplan/results"
	"benchplan/steps/localserver/servertest"

	"github.com/google/go-cmp/cmp"
)

var killSeed = flag.Uint64("kill.seed", 0, "of the moments at which runs are killed; 0: one is drawn")

// killedPlan has all that a run may be killed in. It takes a target, or none.
const killedPlan = `
name: killed
seed: 7
%stables: { schema: benchyou, count: 2, rows: 60 }
steps:
  - name: config
    matrix: { flush: [1, 2] }
    repeat: 2
    order: shuffled
    steps:
      - server: { set: { innodb_flush_log_at_trx_commit: "${{ matrix.flush }}" } }
      - prepare:
      - name: mix
        matrix: { clients: [1, 2] }
        run: { workload: benchyou_random, threads: { write: "${{ matrix.clients }}" }, warmup: 20ms, duration: 60ms }
    finally:
      - sql: SELECT SLEEP(0.02)
  - { name: host, run: { workload: cpu, cpu_max_prime: 1000, events: 50 } }
finally:
  - cleanup:
report: { baseline: { flush: 1 } }
`

// TestKilledRunsAreResumed kills a run at a few random moments, on a server of its own and on one of somebody else; make soak does so
// at many.
func TestKilledRunsAreResumed(t *testing.T) {
	killRuns(t, 10)
}

// killRuns kills runs of a small matrix, and the resumes of these, at so many random moments of their life, and holds what comes out
// against a run that nothing disturbed.
func killRuns(t *testing.T, moments int) {
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	fmt.Fprintf(os.Stderr, "%s: -kill.seed %d\n", t.Name(), seed)
	random := rand.New(rand.NewPCG(seed, 0))
	target, database, server := onServer(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	own := newVictim(t, random, temp, "")
	other := newVictim(t, random, temp, target)
	flush := func() (v string) {
		if err := servertest.OpenDB(t, server, database).QueryRow("SELECT @@GLOBAL.innodb_flush_log_at_trx_commit").Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	before := flush()
	for trial := 0; own.kills+other.kills < moments && !t.Failed(); trial++ {
		v := other
		if trial%3 == 0 {
			v = own // which takes its time to start
		}
		v.trial()
		if now := flush(); now != before {
			t.Errorf("trial %d: the variable that the plan sets was left at %s, and was %s", trial, now, before)
		}
	}
	for name, v := range map[string]*victim{"a server of its own": own, "another server": other} {
		fmt.Fprintf(os.Stderr, "%s, on %s: killed %v; a torn line %d times; %d times before there was a record\n", t.Name(), name, v.moments, v.torn, v.early)
	}
}

// victim is a plan whose runs are killed.
type victim struct {
	t      *testing.T
	random *rand.Rand
	temp   string // where private servers have their folders
	file   string
	life   time.Duration // of a run that nothing disturbs
	whole  *results.Report
	cells  []results.Cell // of that

	kills, torn, early int
	moments            map[string]int
}

func newVictim(t *testing.T, random *rand.Rand, temp, target string) *victim {
	t.Helper()
	v := &victim{t: t, random: random, temp: temp, file: planFile(t, "killed.yaml", fmt.Sprintf(killedPlan, target)), moments: map[string]int{}}
	root := t.TempDir()
	begin := time.Now()
	command := start(t, "run", v.file, "--yes", "--runs", root)
	if err := command.Wait(); err != nil {
		t.Fatal(err)
	}
	v.life = time.Since(begin)
	v.whole, v.cells = v.report(runFolder(root))
	return v
}

// runFolder gives the only run folder below a root; empty where there is none with a record.
func runFolder(root string) string {
	found, _ := filepath.Glob(filepath.Join(root, "*", "*", "run.json"))
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[0])
}

func (v *victim) report(folder string) (*results.Report, []results.Cell) {
	run, cells := opened(v.t, folder)
	return results.ReportOf(results.Recorded{Name: "x", Folder: folder, Run: run, Cells: cells}, results.Options{}), cells
}

// trial kills a run one to three times, and resumes it to its end.
func (v *victim) trial() {
	root := v.t.TempDir()
	kills, left := 0, 1+v.random.IntN(3)
	for ; left > 0; left-- {
		if !v.kill(root, kills > 0) {
			break
		}
		if runFolder(root) == "" { // there is nothing yet to be resumed
			benchplan(v.t, "run", v.file, "--yes", "--runs", root, "--resume", "killed").want(v.t, exitUsage)
			v.early++
			root, kills = v.t.TempDir(), 0
			continue
		}
		kills++
	}
	if kills == 0 {
		return
	}
	folder := runFolder(root)
	done, lines, over := v.leftBehind(folder)
	v.resume(root)
	v.check(folder, kills, over, done, lines)
}

// kill starts a run, or the resume of one, and kills it at a moment of its life. It is false where that was over before.
func (v *victim) kill(root string, resume bool) bool {
	args := []string{"run", v.file, "--yes", "--runs", root}
	if resume {
		args = append(args, "--resume", "killed")
	}
	command := start(v.t, args...)
	over := make(chan error, 1)
	go func() { over <- command.Wait() }()
	name, due := v.moment(root)
	for tick := time.NewTicker(time.Millisecond); ; {
		select {
		case err := <-over:
			tick.Stop()
			if err != nil {
				v.t.Errorf("it ended by itself: %v", err)
			}
			return false
		case <-tick.C:
		}
		if due() {
			tick.Stop()
			_ = command.Process.Kill()
			<-over
			v.kills++
			v.moments[name]++
			return true
		}
	}
}

// moment chooses when to kill: at some time, while a cell is recorded, when the last of them is, or when a server is being made.
func (v *victim) moment(root string) (name string, due func() bool) {
	began := time.Now()
	after := func(limit time.Duration, holds func() bool) func() bool {
		pause := time.Duration(v.random.Int64N(int64(limit)))
		var since time.Time
		return func() bool {
			if since.IsZero() && holds() {
				since = time.Now()
			}
			return !since.IsZero() && time.Since(since) >= pause
		}
	}
	n := 1 + v.random.IntN(len(v.cells))
	switch v.random.IntN(6) {
	case 0:
		return "while a cell is recorded", after(4*time.Millisecond, func() bool {
			found, _ := filepath.Glob(filepath.Join(root, "*", "*", "histograms", fmt.Sprintf("%04d.hlog*", n)))
			return len(found) > 0
		})
	case 1:
		return "in finally", after(30*time.Millisecond, func() bool { return bytes.Count(journal(runFolder(root)), []byte("\n")) >= len(v.cells) })
	case 2:
		return "after a step", after(20*time.Millisecond, func() bool {
			b, _ := os.ReadFile(filepath.Join(runFolder(root), "log.jsonl"))
			return bytes.Count(b, []byte(`"step done"`)) >= n
		})
	}
	at := time.Duration(v.random.Int64N(int64(v.life)))
	return "at some time", func() bool { return time.Since(began) >= at }
}

func journal(folder string) []byte {
	b, _ := os.ReadFile(filepath.Join(folder, "cells.jsonl"))
	return b
}

// cellName names a cell and its repeat.
func cellName(c *results.Cell) string { return fmt.Sprintf("%s #%d", c.Key(), c.Repeat) }

// leftBehind gives what the killed run had finished, the whole lines of its journal, and whether it was killed after all was done.
func (v *victim) leftBehind(folder string) (done map[string]results.Cell, lines []byte, over bool) {
	run, cells, warnings, err := results.Open(folder)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, w := range warnings {
		if !strings.Contains(w, "the last, is torn or damaged") {
			v.t.Errorf("after the kill: %s", w)
		}
		v.torn++
	}
	done = map[string]results.Cell{}
	for _, c := range cells {
		if c.Status != results.Complete {
			v.t.Errorf("%s is %s: a kill leaves no record of a cell that was cut", cellName(&c), c.Status)
		}
		done[cellName(&c)] = c
	}
	lines = journal(folder)
	return done, lines[:bytes.LastIndexByte(lines, '\n')+1], run.Status == results.Done
}

// resume goes on with the run to its end.
func (v *victim) resume(root string) {
	command := start(v.t, "run", v.file, "--yes", "--runs", root, "--resume", "killed")
	if err := command.Wait(); err != nil {
		v.t.Fatalf("resume: %v", err)
	}
}

// check holds a run that was killed so often and then resumed against one that nothing disturbed.
func (v *victim) check(folder string, kills int, over bool, done map[string]results.Cell, lines []byte) {
	t := v.t
	report, cells := v.report(folder)
	run, _ := opened(t, folder)
	// A resume that was killed before it said so is none.
	if n := len(run.Resumed); run.Status != results.Done || n < 1 && !over || n > kills || len(run.Unset) > 0 {
		t.Errorf("status %s, resumed %d times after %d kills, not put back %v", run.Status, len(run.Resumed), kills, run.Unset)
	}
	if !bytes.HasPrefix(journal(folder), lines) {
		t.Error("the lines that were in the journal are not there as they were")
	}
	complete := map[string]int{}
	for line := range bytes.Lines(journal(folder)) {
		var c results.Cell
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		complete[cellName(&c)]++
	}
	type told struct {
		Seq  int
		Cell string
		Seed any
	}
	var got, want []told
	for i := range v.cells {
		want = append(want, told{v.cells[i].Seq, cellName(&v.cells[i]), v.cells[i].Options["seed"]})
	}
	for i := range cells {
		c := &cells[i]
		got = append(got, told{c.Seq, cellName(c), c.Options["seed"]})
		if c.Status != results.Complete || complete[cellName(c)] != 1 {
			t.Errorf("%s is %s and stands %d times in the journal", cellName(c), c.Status, complete[cellName(c)])
		}
		if before, ok := done[cellName(c)]; ok && !before.Finished.Equal(c.Finished) {
			t.Errorf("%s was finished at %s, and is now of %s", cellName(c), before.Finished, c.Finished)
		}
		if _, err := results.ReadHistograms(folder, c); err != nil {
			t.Error(err)
		}
		if _, err := results.ReadSeries(folder, c); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
		t.Errorf("cells (-undisturbed +resumed):\n%s", diff)
	}
	if diff := cmp.Diff(identities(v.whole), identities(report)); diff != "" {
		t.Errorf("rows of the table (-undisturbed +resumed):\n%s", diff)
	}
	v.clean(folder, cells)
}

// identities gives what tells the rows of a table from each other and what each is compared with, in their order.
func identities(r *results.Report) []string {
	var list []string
	for _, table := range r.Tables() {
		for _, row := range table.Rows() {
			list = append(list, fmt.Sprintf("%s: %s, %d repeats, against %q", row.Key, row.Status, row.Repeats, row.Baseline))
		}
	}
	return list
}

// clean sees that nothing is left over: no file of a cell that is not there, no server, no socket.
func (v *victim) clean(folder string, cells []results.Cell) {
	t := v.t
	known := map[string]bool{}
	for i := range cells {
		known[fmt.Sprintf("%04d", cells[i].Seq)] = true
	}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		number, _, _ := strings.Cut(d.Name(), ".")
		if err == nil && !d.IsDir() && filepath.Dir(path) != folder && !known[number] || strings.HasSuffix(path, ".tmp") {
			t.Errorf("%s is left over", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	waitFor(t, 20*time.Second, func() bool { return processWith("--socket="+v.temp) == "" })
	left, _ := filepath.Glob(filepath.Join(v.temp, "benchplan-server-*"))
	left = slices.DeleteFunc(left, func(path string) bool { // one that was never claimed is left for a minute
		_, err := os.Stat(filepath.Join(path, "benchplan-server.json"))
		return errors.Is(err, fs.ErrNotExist)
	})
	for _, path := range left {
		inside, _ := filepath.Glob(filepath.Join(path, "*"))
		log, _ := os.ReadFile(filepath.Join(folder, "log.jsonl"))
		warnings := slices.DeleteFunc(strings.Split(string(log), "\n"), func(line string) bool { return !strings.Contains(line, "WARN") })
		t.Errorf("%s is left over, with %q; the log warns %q", path, inside, warnings)
	}
	if sockets, _ := filepath.Glob(filepath.Join(v.temp, "*", "socket")); len(sockets) > 0 {
		t.Errorf("left over: %q", sockets)
	}
}
