package steps

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchplan/results"
	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden holds a text against a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(file, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// notPutBack writes what a person is told to do, without what differs from run to run.
func (o outcome) notPutBack(replace ...string) string {
	var b strings.Builder
	for _, n := range o.run.NotPutBack {
		for _, line := range n.Text() {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return strings.NewReplacer(append(replace, filepath.Dir(o.folder)+"/", "")...).Replace(b.String())
}

// TestWhatFinallyCouldNotDoIsTold: each step of it that did not succeed, as it was to be sent, masked; also those that were not begun
// because one before them failed. What succeeded, what if leaves out, and what only looks is not among them.
func TestWhatFinallyCouldNotDoIsTold(t *testing.T) {
	server := servertest.Start(t, localserver.Config{})
	const secret = "hunter22-of-the-admin"
	text := `
vars: { admin: "http://127.0.0.1:1", other: "127.0.0.1:1" }
target: { socket: ` + server.Socket() + `, database: left, connect_timeout: 1s }
tables: { schema: benchyou, count: 2 }
steps:
  - database: create
  - prepare:
  - server: { set: { max_connections: 99, sql_mode: "" } }
  - name: config
    matrix: { twopc: [ on, off ] }
    steps:
      - if: matrix.twopc == "on"
        shell: kill -9 ` + fmt.Sprint(server.PID()) + `; sleep 1
    finally:
      - name: switch
        http:
          put: "${{ vars.admin }}/v1/config?key=${{ secrets.ADMIN }}"
          headers: { X-Token: "${{ secrets.ADMIN }}" }
          auth: { bearer: "${{ secrets.ADMIN }}" }
          json: { twopc: "${{ matrix.twopc }}", password: "${{ secrets.ADMIN }}", allow: [ a, b ] }
        continue_on_error: true
finally:
  - http: { post: "${{ vars.admin }}/", auth: { basic: { user: root, password: "${{ secrets.ADMIN }}" } }, body: "line one\nline two" }
  - sql:
      - SET GLOBAL max_connections = 151
      - "CREATE USER x IDENTIFIED BY '${{ secrets.ADMIN }}'"
  - shell: { command: "echo $P; exit 3", env: { P: "${{ secrets.ADMIN }}" }, dir: "/" }
  - shell: "true"
  - steps:
      - database: recreate
      - server: { set: { max_connections: 12 } }
      - { if: "1 == 2", sql: SELECT 1 }
      - matrix: { n: [ 1, 2 ] }
        sql: { statements: "DELETE FROM t WHERE n = ${{ matrix.n }}", database: "" }
      - wait: 1ms
  - cleanup:
  - { if: "1 == 2", cleanup: }
`
	got := trial{plan: text, env: map[string]string{"ADMIN": secret}, change: func(c *Config) { c.AllowShell = true }}.carryOut(t)
	golden(t, "not_put_back.golden", got.notPutBack(server.Socket(), "SOCKET"))
	got.noneHolds(t, secret)
	if !strings.Contains(got.log, `"not put back"`) || len(got.errs) != 8 {
		t.Errorf("%d errors:\n%s", len(got.errs), strings.Join(got.errs, "\n"))
	}
}

// TestASecondSignalBreaksFinallyOff: at once, and what was not done is told.
func TestASecondSignalBreaksFinallyOff(t *testing.T) {
	target, _, _ := onShared(t)
	tr := newTrace(t)
	abandon, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx, interrupt := interruptAt(t, "step wait", 0)
	begin := time.Now()
	o := trial{
		ctx: ctx, change: func(c *Config) { c.Abandon = abandon },
		on: func(event string) {
			interrupt(event)
			if event == `step sql "slow"` {
				time.AfterFunc(100*time.Millisecond, cancel)
			}
		},
		plan: target + tr.steps(`
steps:
  - steps:
      - server: { set: { max_connections: 333 } }
      - wait: 1h
    finally:
      - { name: slow, sql: SELECT SLEEP(60) }
finally:
  - GET(z)
`),
	}.carryOut(t)
	o.isInterrupted(t)
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	got := o.notPutBack(tr.URL, "URL")
	for _, want := range []string{`p.yaml:8:23: sql "slow", on `, "\n    SELECT SLEEP(60);\n", "p.yaml:5:9: server, on ", "\n    SET GLOBAL max_connections = ", "p.yaml:10:5: http\n    GET URL/z\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	if tr.seen() != "" {
		t.Errorf("requests %q", tr.seen())
	}
	// Put it back for the other tests of the server.
	for _, n := range o.run.NotPutBack {
		if strings.HasPrefix(n.Step, "server") {
			if _, err := servertest.OpenDB(t, servertest.Shared(t), "").Exec(n.Send[0]); err != nil {
				t.Errorf("%s: %v", n.Send[0], err)
			}
		}
	}
}

// TestAPanicIsAnError wherever it is: with its place, without secrets, with its stack in the log, and finally runs.
func TestAPanicIsAnError(t *testing.T) {
	target, _, _ := onShared(t)
	const secret = "hunter22-in-a-panic"
	tr := newTrace(t)
	text := target + tr.steps(`
tables: { schema: benchyou, rows: 100 }
steps:
  - steps:
      - prepare:
      - { name: mix, run: { workload: benchyou_random, threads: { write: 2 }, duration: 2s } }
      - { shell: "true", if: "secrets.S == 'x'" }
    finally: [ GET(inner) ]
  - GET(not-reached)
finally: [ GET(outer) ]
`)
	for event, at := range map[string]string{
		"start":             "",
		"step prepare":      "p.yaml:6:9: prepare: ",
		"filling":           "p.yaml:6:9: prepare: target … ",
		`step run "mix"`:    `p.yaml:7:22: run "mix": `,
		"cell 1 of 1":       `p.yaml:7:22: run "mix": `,
		"load":              `p.yaml:7:22: run "mix": `,
		"cell done comp…":   `p.yaml:7:22: run "mix": `,
		`done run "mix" t…`: `p.yaml:7:22: run "mix": `,
		"done prepare true": `p.yaml:6:9: prepare: `,
	} {
		t.Run(event, func(t *testing.T) {
			before := len(strings.Fields(tr.seen()))
			o := trial{plan: text, env: map[string]string{"S": secret}, change: func(c *Config) { c.AllowShell = true }, on: func(e string) {
				if prefix, cut := strings.CutSuffix(event, "…"); e == event || cut && strings.HasPrefix(e, prefix) {
					panic("out of order: " + secret)
				}
			}}.carryOut(t)
			o.fails(t, at+"a mistake in benchplan itself: out of order: *** … , at steps. … please report it")
			if !strings.Contains(o.log, "steps.trial.carryOut") && !strings.Contains(o.log, "finally_test.go") {
				t.Error("the log has no stack")
			}
			o.noneHolds(t, secret)
			want := "inner outer"
			if event == "start" {
				want = ""
			}
			if got := strings.Join(strings.Fields(tr.seen())[before:], " "); got != want {
				t.Errorf("requests %q, want %q", got, want)
			}
			if o.run.Status != results.RunFailed {
				t.Errorf("status %s", o.run.Status)
			}
		})
	}
}

// TestAPanicOfAStepIsAnError, and continue_on_error goes on after it.
func TestAPanicOfAStepIsAnError(t *testing.T) {
	tr := newTrace(t)
	p := []int{1, 2, 3}
	o := trial{plan: tr.steps("steps:\n  - { wait: 1s, continue_on_error: true, retry: 3 }\n  - GET(b)\nfinally: [ GET(z), wait: 1s, GET(y) ]\n"), change: func(c *Config) {
		c.Kinds["wait"] = Kind{Kind: c.Kinds["wait"].Kind, Do: func(context.Context, *Call, any) (map[string]any, error) {
			return map[string]any{"x": make([]int, 0)[len(p)]}, nil
		}}
	}}.carryOut(t)
	for i := range o.errs { // columns depend on how long the server's URL is
		o.errs[i] = place.ReplaceAllString(o.errs[i], "p.yaml:$1: ")
	}
	o.fails(t, "p.yaml:2: wait: a mistake in benchplan itself: runtime error: index out of range [3] with length 0, at steps.TestAPanicOfAStepIsAnError", "p.yaml:4: wait: a mistake")
	if tr.seen() != "b z y" {
		t.Errorf("requests %q", tr.seen())
	}
}

// TestTheClockIsSet: by an hour, back and ahead. Times of the record stay in order, and a word tells of it.
func TestTheClockIsSet(t *testing.T) {
	for name, by := range map[string]time.Duration{"back": -time.Hour, "ahead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			cells := 0
			begin := time.Now()
			o := trial{plan: `
steps:
  - name: cpu
    repeat: 3
    run: { workload: cpu, cpu_max_prime: 500, events: 20 }
`, change: func(c *Config) {
				c.Run.Started = time.Now().UTC()
				c.Now = func() time.Time {
					if cells > 0 {
						return time.Now().Add(by)
					}
					return time.Now()
				}
			}, on: func(event string) {
				if strings.HasPrefix(event, "cell done") {
					cells++
				}
			}}.carryOut(t).done(t)
			took := time.Since(begin)
			last := o.run.Started
			for _, c := range o.cells {
				if c.Started.Before(last) || c.Finished.Before(c.Started) {
					t.Errorf("cell %d: %s to %s, after %s", c.Seq, c.Started, c.Finished, last)
				}
				last = c.Finished
			}
			if o.run.Finished.Before(last) || o.run.Finished.Sub(o.run.Started) > took {
				t.Errorf("the run took %s of %s", o.run.Finished.Sub(o.run.Started), took)
			}
			if text := strings.Join(o.notes, "\n"); strings.Count(text, "this machine's clock was set") != 1 || !strings.Contains(text, name) || !strings.Contains(text, "by 1h0m0s while the plan ran") {
				t.Errorf("notes %q", o.notes)
			}
		})
	}
}

// TestARecordThatCannotBeKeptEndsTheRun: whatever continue_on_error says. finally runs, what was set is put back, and each error
// is told with its place.
func TestARecordThatCannotBeKeptEndsTheRun(t *testing.T) {
	server := servertest.Start(t, localserver.Config{})
	before := scalar(t, server, "", "SELECT @@GLOBAL.max_connections")
	tr := newTrace(t)
	const mix = `p.yaml:12:47: run "mix" [n=1]: `
	for name, c := range map[string]struct {
		at   string // the event at which the journal goes
		do   func(t *testing.T, folder string)
		errs []string
	}{
		"after a cell": {"load", func(t *testing.T, folder string) {
			move(t, folder)
		}, []string{mix + "run folder … was removed or moved … cell mix{n=1}"}},
		"beside an error of the load": {"load", func(t *testing.T, folder string) {
			move(t, folder)
			if _, err := servertest.OpenDB(t, server, "kept").Exec("DROP TABLE benchyou0"); err != nil {
				t.Error(err)
			}
		}, []string{mix + "target … benchyou0", mix + "run folder … was removed or moved … cell mix{n=1}"}},
		"before a cell": {`step run "mix"`, func(t *testing.T, folder string) {
			if err := os.Mkdir(filepath.Join(folder, "run.json.tmp"), 0o700); err != nil {
				t.Error(err)
			}
		}, []string{mix + "run folder … run.json.tmp"}},
	} {
		t.Run(name, func(t *testing.T) {
			requests := len(strings.Fields(tr.seen()))
			var config *Config
			done := false
			o := trial{change: func(c *Config) { config = c }, on: func(event string) {
				if event == c.at && !done {
					done = true
					c.do(t, config.Writer.Folder())
				}
				if event == "finally" {
					_ = os.Remove(filepath.Join(config.Writer.Folder(), "run.json.tmp"))
				}
			}, plan: "target: { socket: " + server.Socket() + ", database: kept }\n" + tr.steps(`
tables: { schema: benchyou, count: 1, rows: 10 }
steps:
  - database: create
  - prepare:
  - server: { set: { max_connections: 77 } }
  - matrix: { n: [ 1, 2 ] }
    continue_on_error: true
    steps:

      - { name: mix, continue_on_error: true, run: { workload: benchyou_random, threads: { write: 2 }, duration: 2s } }
  - GET(not-reached)
finally: [ GET(fail), GET(z) ]
`)}.carryOut(t)
			o.fails(t, append(c.errs, "p.yaml:14:12: http: GET … /fail: status 500")...)
			if got := strings.Join(strings.Fields(tr.seen())[requests:], " "); got != "fail z" {
				t.Errorf("requests %s", got)
			}
			if after := scalar(t, server, "", "SELECT @@GLOBAL.max_connections"); after != before {
				t.Errorf("max_connections is %s, was %s", after, before)
			}
			if got, want := o.notPutBack(tr.URL, "URL"), "p.yaml:14:12: http\n    GET URL/fail\n"; got != want {
				t.Errorf("not put back:\n%s", got)
			}
			if o.run.Status != results.RunFailed {
				t.Errorf("status %s", o.run.Status)
			}
		})
	}
}

// move takes the journal away and puts another file in its place.
func move(t *testing.T, folder string) {
	journal := filepath.Join(folder, "cells.jsonl")
	if err := errors.Join(os.Rename(journal, journal+".away"), os.WriteFile(journal, nil, 0o600)); err != nil {
		t.Error(err)
	}
}
