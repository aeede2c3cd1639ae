package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"benchplan/results"
	"benchplan/steps/localserver/servertest"
)

// TestResumeStatus: what is refused is a mistake of the command line; what is finished is none.
func TestResumeStatus(t *testing.T) {
	root := t.TempDir()
	text := "steps:\n  - { name: a, run: { workload: cpu, cpu_max_prime: 100, events: 5 } }\n"
	file := planFile(t, "p.yaml", text)
	benchplan(t, "run", file, "--runs", root).want(t, exitDone)
	benchplan(t, "run", file, "--runs", root, "--resume", "last").want(t, exitDone).says(t, "is finished, with 1 cell: there is nothing to resume")
	benchplan(t, "run", planFile(t, "p.yaml", text+"# a word\n"), "--runs", root, "--resume", "last").want(t, exitUsage).says(t, "the plan has changed", "+# a word")
	benchplan(t, "run", file, "--runs", root, "--resume", "last", "--skip", "a").want(t, exitUsage).says(t, "--skip a was not given then")
	benchplan(t, "run", file, "--runs", root, "--resume", "q").want(t, exitUsage).says(t, `there is no run "q"`)

	// What the plan guards is guarded after a resume too.
	strict := planFile(t, "strict.yaml", text+"report: { assert: [ events > 5 ] }\n")
	benchplan(t, "run", strict, "--runs", root).want(t, exitNotHeld)
	benchplan(t, "run", strict, "--runs", root, "--resume", "strict").want(t, exitNotHeld).says(t, "events > 5 does not hold")
}

// TestResumeShowsNoSecret: of a secret that was given by --set, it is said that it is another one, and neither value.
func TestResumeShowsNoSecret(t *testing.T) {
	const secret = "hunter22-that-nobody-sees"
	t.Setenv("A_PASSWORD", secret)
	root := t.TempDir()
	file := planFile(t, "p.yaml", `vars: { note: "" }
steps:
  - shell: { command: "true", env: { P: "${{ secrets.A_PASSWORD }}" } }
  - run: { workload: cpu, cpu_max_prime: 100, events: 10 }
`)
	benchplan(t, "run", file, "--runs", root, "--allow-shell", "--set", "vars.note="+secret).want(t, exitDone)
	got := benchplan(t, "run", file, "--runs", root, "--allow-shell", "--set", "vars.note=x", "--resume", "last").want(t, exitUsage).says(t, "--set vars.note: it was ")
	if strings.Contains(got.err, secret) {
		t.Errorf("the secret is shown:\n%s", got.err)
	}
	benchplan(t, "run", file, "--runs", root, "--allow-shell", "--set", "vars.note="+secret, "--resume", "last").want(t, exitDone)
}

// interruptedPlan has a shuffled order and, where it is not set, a seed that each run draws.
const interruptedPlan = `
%stables: { schema: benchyou, count: 1, rows: 50 }
steps:
  - prepare:
  - name: mix
    matrix: { clients: [1, 2, 3] }
    repeat: 3
    order: shuffled
    run: { workload: benchyou_random, threads: { write: "${{ matrix.clients }}" }, duration: 300ms }
finally:
  - cleanup:
report: { baseline: { clients: 1 } }
`

// TestInterruptedRunIsResumed: Ctrl-C leaves a partial cell, which is executed again; order and seeds are those of a run that was given
// the seed and that nothing disturbed.
func TestInterruptedRunIsResumed(t *testing.T) {
	target, _, _ := onServer(t)
	root := t.TempDir()
	file := planFile(t, "p.yaml", fmt.Sprintf(interruptedPlan, target))
	command := start(t, "run", file, "--runs", root)
	waitFor(t, 30*time.Second, func() bool { return strings.Count(string(journal(runFolder(root))), "\n") >= 3 })
	time.Sleep(150 * time.Millisecond) // within a cell
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	folder := runFolder(root)
	run, before := opened(t, folder)
	if run.Status != results.Interrupted || len(before) < 3 || len(before) == 9 {
		t.Fatalf("status %s, %d cells", run.Status, len(before))
	}
	benchplan(t, "run", file, "--runs", root, "--resume", "last").want(t, exitDone).says(t, "9 cells, ", " of them there already")
	again, cells := opened(t, folder)
	if again.Status != results.Done || again.Seed != run.Seed || !again.Started.Equal(run.Started) || again.Resumed[0].After != results.Interrupted || len(again.Resumed[0].Errors) == 0 {
		t.Errorf("status %s, seed %d, was %d, resumed %+v", again.Status, again.Seed, run.Seed, again.Resumed)
	}
	if len(again.Resumed[0].Changed) > 0 {
		t.Errorf("changed: %q", again.Resumed[0].Changed)
	}

	whole := filepath.Join(t.TempDir(), "whole")
	benchplan(t, "run", planFile(t, "p.yaml", fmt.Sprintf(interruptedPlan, target+fmt.Sprintf("seed: %d\n", int64(run.Seed)))), "--out", whole).want(t, exitDone)
	_, want := opened(t, whole)
	told := func(cells []results.Cell) string {
		slices.SortFunc(cells, func(a, b results.Cell) int { return a.Seq - b.Seq })
		var b strings.Builder
		for i := range cells {
			fmt.Fprintln(&b, cellName(&cells[i]), cells[i].Options["seed"], cells[i].Status)
		}
		return b.String()
	}
	if got, want := told(cells), told(want); got != want {
		t.Errorf("cells after the resume:\n%sundisturbed:\n%s", got, want)
	}
}

// TestSecondProcessIsRefused: while a run is under way nobody else goes on with it, and its table can be printed.
func TestSecondProcessIsRefused(t *testing.T) {
	root := t.TempDir()
	file := planFile(t, "p.yaml", "steps:\n  - { name: a, run: { workload: cpu, cpu_max_prime: 100, events: 5 } }\n  - { name: b, run: { workload: cpu, duration: 1h } }\n")
	command := start(t, "run", file, "--runs", root)
	waitFor(t, 20*time.Second, func() bool { return len(journal(runFolder(root))) > 0 })
	benchplan(t, "run", file, "--runs", root, "--resume", "last").want(t, exitUsage).says(t, "another benchplan is writing into it: wait for it to end")
	if got := benchplan(t, "report", "last", "--runs", root).want(t, exitDone); !strings.Contains(got.out, "STILL RUNNING") {
		t.Errorf("the table of a run under way:\n%s", got.out)
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	if run, cells := opened(t, runFolder(root)); run.Status != results.Killed || len(cells) != 1 {
		t.Errorf("status %s, %d cells", run.Status, len(cells))
	}
}

// changeRecord changes a text in a run's record.
func changeRecord(t *testing.T, folder, old, text string) {
	t.Helper()
	file := filepath.Join(folder, "run.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), old) {
		t.Fatalf("%s does not hold %s", file, old)
	}
	// Its checksum is that of all that stands before it.
	const crc = ",\n  \"crc\": \""
	body, _, ok := strings.Cut(strings.ReplaceAll(string(b), old, text), crc)
	if !ok {
		t.Fatalf("%s has no checksum", file)
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, "%s%s%08x\"\n}\n", body, crc, crc32.ChecksumIEEE([]byte(body))), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOtherServerIsRefused: a server of another version or identity, another address or database; what else has changed on the same server
// or machine is a mark.
func TestOtherServerIsRefused(t *testing.T) {
	target, database, server := onServer(t)
	db := servertest.OpenDB(t, server, database)
	root := t.TempDir()
	gate := "CREATE TABLE gate (id INT)"
	if _, err := db.Exec(gate); err != nil {
		t.Fatal(err)
	}
	text := `
vars: { db: ` + database + ` }
` + strings.Replace(target, "database: "+database, `database: "${{ env.WHERE ?? vars.db }}"`, 1) + `
tables: { schema: benchyou, count: 1, rows: 50 }
steps:
  - prepare:
  - name: mix
    matrix: { clients: [1, 2] }
    steps:
      - { if: matrix.clients == 2, sql: ` + gate + ` }
      - run: { workload: benchyou_random, threads: { write: "${{ matrix.clients }}" }, events: 20 }
report: { baseline: { clients: 1 } }
`
	file := planFile(t, "p.yaml", text)
	benchplan(t, "run", file, "--runs", root).want(t, exitFailed).says(t, "gate")
	if _, err := db.Exec("DROP TABLE gate"); err != nil {
		t.Fatal(err)
	}
	folder := runFolder(root)
	run, _ := opened(t, folder)
	version := fmt.Sprintf("%q: %q", "version", run.Targets[0].Version)
	hostname := fmt.Sprintf("%q: %q", "hostname", run.Targets[0].Variables["hostname"])
	for what, c := range map[string][3]string{
		"version":  {version, `"version": "9.0.1-other"`, "version: 9.0.1-other → " + run.Targets[0].Version},
		"hostname": {hostname, `"hostname": "elsewhere"`, "hostname: elsewhere → "},
	} {
		t.Run(what, func(t *testing.T) {
			changeRecord(t, folder, c[0], c[1])
			before, err := os.ReadFile(filepath.Join(folder, "run.json"))
			if err != nil {
				t.Fatal(err)
			}
			benchplan(t, "run", file, "--runs", root, "--resume", "last").want(t, exitUsage).
				says(t, "is not resumed", c[2], "this is not the server that the run was begun on", "reach that one again")
			if after, _ := os.ReadFile(filepath.Join(folder, "run.json")); string(after) != string(before) {
				t.Error("the record was changed")
			}
			changeRecord(t, folder, c[1], c[0])
		})
	}
	t.Setenv("WHERE", "elsewhere")
	benchplan(t, "run", file, "--runs", root, "--resume", "last").want(t, exitUsage).says(t, "the target is another one: "+server.Socket()+"/"+database+" → "+server.Socket()+"/elsewhere")
	os.Unsetenv("WHERE")

	// The same server with another setting, and another machine that drives the load.
	changeRecord(t, folder, fmt.Sprintf("%q: %q", "max_connections", run.Targets[0].Variables["max_connections"]), `"max_connections": "77"`)
	changeRecord(t, folder, fmt.Sprintf("%q: %d", "gomaxprocs", run.Host.GOMAXPROCS), `"gomaxprocs": 99`)
	got := benchplan(t, "run", file, "--runs", root, "--resume", "last").want(t, exitDone)
	got.says(t, "since the run began this has changed: server variable max_connections: 77 → ", "since the run began this has changed: GOMAXPROCS: 99 → ")
	for _, text := range []string{"measured after the run was resumed, when not all was as it had been: ", "max_connections: 77 → ", "resumed once"} {
		if !strings.Contains(strings.Join(strings.Fields(got.out), " "), text) {
			t.Errorf("the table lacks %q:\n%s", text, got.out)
		}
	}
	again, cells := opened(t, folder)
	if again.Targets[0].Variables["max_connections"] != "77" || again.Host.GOMAXPROCS != 99 || len(again.Targets) != 1 {
		t.Error("what was known of the server and the machine was written over")
	}
	if len(cells) != 2 || len(cells[1].Marks) == 0 || cells[1].Server == nil || cells[1].Server.Variables["max_connections"] == "" {
		t.Errorf("cells %+v", cells)
	}
}

// TestRunsOfTheFirstVersionAreResumed: also by the command line, with the plan that is in the record.
func TestRunsOfTheFirstVersionAreResumed(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../../results/testdata/v1")); err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(root, "flush", "20261130T135829Z")
	run, before, _, err := results.Open(killed)
	if err != nil {
		t.Fatal(err)
	}
	file := planFile(t, "flush.yaml", run.PlanText)
	benchplan(t, "run", file, "--runs", root, "--resume", "flush/20261130T135829Z").want(t, exitUsage).says(t, "--set vars.duration=1s was given then, and is not now", "--set vars.events=200 was given then")
	benchplan(t, "run", file, "--runs", root, "--resume", "flush/20261130T135829Z", "--set", "vars.duration=1s", "--set", "vars.events=200").want(t, exitDone).
		says(t, fmt.Sprintf("13 cells, %d of them there already", len(before)))
	again, cells := opened(t, killed)
	if again.Status != results.Done || len(cells) != 13 || again.Resumed[0].After != results.Killed {
		t.Errorf("status %s, %d cells, resumed %+v", again.Status, len(cells), again.Resumed)
	}
	for i := range before {
		if cells[i].Key() != before[i].Key() || !cells[i].Finished.Equal(before[i].Finished) {
			t.Errorf("%s was executed again", cellName(&before[i]))
		}
	}
}
