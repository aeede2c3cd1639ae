package steps

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchplan/results"
)

var place = regexp.MustCompile(`p\.yaml:(\d+):\d+: `)

// TestOrderOfThings: which steps run, in what order, and what is reported, when steps fail, are skipped or take too long.
func TestOrderOfThings(t *testing.T) {
	for name, c := range map[string]struct {
		plan string
		runs string   // the requests, in order
		errs []string // see fails
	}{
		"finally runs inner first, after success": {`
steps:
  - GET(a)
  - steps: [ GET(b) ]
    finally: [ GET(inner) ]
  - GET(c)
finally: [ GET(outer) ]
`, "a b inner c outer", nil},
		"a failure stops the plan, and every finally around runs to its end": {`
steps:
  - name: group
    steps:
      - steps: [ GET(a), GET(fail), GET(b) ]
        finally: [ GET(x1), GET(fail-x), GET(x2) ]
      - GET(c)
    finally: [ GET(y1) ]
  - GET(d)
finally:
  - GET(fail-z)
  - GET(z)
`, "a fail x1 fail-x x2 y1 fail-z z", []string{
			`p.yaml:5: http: GET … /fail: status 500`, `p.yaml:6: http: GET … /fail-x: status 500`, `p.yaml:11: http: GET … /fail-z: status 500`,
		}},
		"continue_on_error of a step": {`
steps:
  - { GET(fail), continue_on_error: true }
  - GET(b)
`, "fail b", []string{"p.yaml:3: http: … 500"}},
		"continue_on_error of a group: what it holds stops, what follows runs": {`
steps:
  - steps: [ GET(fail), GET(b) ]
    continue_on_error: on
  - GET(c)
`, "fail c", []string{"p.yaml:3: http: … 500"}},
		"continue_on_error in a matrix: the other cells run": {`
steps:
  - matrix: { path: [a, fail, c] }
    continue_on_error: true
    steps: [ GET(${{ matrix.path }}) ]
  - GET(d)
`, "a fail c d", []string{"p.yaml:5: http [path=fail]: … 500"}},
		"without it a matrix stops at the cell that fails": {`
steps:
  - matrix: { path: [a, fail, c] }
    steps: [ GET(${{ matrix.path }}) ]
  - GET(d)
`, "a fail", []string{"p.yaml:4: http [path=fail]: … 500"}},
		"finally of a group runs after each of its cells": {`
steps:
  - matrix: { path: [a, b] }
    repeat: 2
    order: interleaved
    steps: [ GET(${{ matrix.path }}) ]
    finally: [ GET(after-${{ matrix.path }}) ]
`, "a after-a b after-b a after-a b after-b", nil},
		"what is skipped yields nil, and so may be asked for": {`
steps:
  - { id: x, if: "false", GET(a) }
  - { if: "steps.x == nil", GET(b) }
  - { id: y, GET(c) }
  - { if: "steps.y.status == 200 && steps.y.json.path == '/c'", GET(d) }
`, "b c d", nil},
		"what failed can still be read": {`
steps:
  - { id: x, GET(fail), continue_on_error: true }
  - { if: steps.x.status == 500, GET(b) }
`, "fail b", []string{"p.yaml:3: http: … 500"}},
		"finally obeys if": {`
steps: [ GET(a) ]
finally:
  - { if: "false", GET(b) }
  - steps: [ GET(c) ]
`, "a c", nil},
		"timeout of a step": {`
steps:
  - { timeout: 50ms, GET(hang) }
  - GET(b)
finally: [ GET(z) ]
`, "hang z", []string{"p.yaml:3: http: it took longer than its timeout of 50ms"}},
		"timeout of a group: it names the step under way, and the group": {`
steps:
  - name: slow
    timeout: 50ms
    steps: [ GET(a), GET(hang), GET(b) ]
    finally: [ GET(x) ]
finally: [ GET(z) ]
`, "a hang x z", []string{"p.yaml:5: http: the group at … p.yaml:5: it took longer than its timeout of 50ms"}},
		"a group whose time is over goes on with continue_on_error": {`
steps:
  - { timeout: 500ms, continue_on_error: true, steps: [ GET(hang) ] }
  - GET(b)
`, "hang b", []string{"p.yaml:3: http: the group at"}},
		"finally is not bound by the timeout of its group": {`
steps:
  - timeout: 60ms
    steps: [ GET(a) ]
    finally: [ wait: 100ms, GET(x) ]
  - GET(b)
`, "a x b", nil},
		"an error of finally is told beside that of a timeout": {`
steps:
  - { timeout: 500ms, steps: [ GET(hang) ], finally: [ GET(fail) ] }
`, "hang fail", []string{"p.yaml:3: http: the group at", "p.yaml:3: http: … status 500"}},
		"retry until the assert holds": {`
steps:
  - { GET(a), assert: json.asked == 3, retry: { attempts: 5, interval: 1ms } }
  - GET(b)
`, "a a a b", nil},
		"an assert that never holds is told with its own place": {`
steps:
  - GET(a)
    assert:
      - status == 200
      - json.asked > 9
    retry: { attempts: 2, interval: 1ms }
`, "a a", []string{`p.yaml:6: http: after 2 tries: assert does not hold: json.asked > 9 (json.asked = 2)`}},
		"a timeout ends the tries, and the last error is told": {`
steps:
  - { GET(fail), timeout: 200ms, retry: { attempts: 1000, interval: 30s } }
`, "fail", []string{"p.yaml:3: http: it took longer than its timeout of 200ms: GET … status 500"}},
		"a value that only the run tells, and that is wrong": {`
steps:
  - { id: x, GET(a) }
  - wait: ${{ steps.x.json.path }}
    retry: 3
`, "a", []string{`p.yaml:4: wait: wait: "/a" is not a duration`}},
		"a spec that only the run tells, and that is wrong": {`
steps:
  - { id: x, GET(a) }
  - http: { get: "${{ steps.x.json.path }}" }
`, "a", []string{`p.yaml:4: http: get: "/a" is not a URL`}},
		"an if that cannot be worked out": {`
steps:
  - { id: x, GET(a) }
  - { if: steps.x.json.asked, GET(b) }
`, "a", []string{"p.yaml:4: http: if: "}},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrace(t)
			o := carryOut(t, tr.steps(c.plan))
			if got := tr.seen(); got != c.runs {
				t.Errorf("requests %s, want %s", got, c.runs)
			}
			for i := range o.errs { // columns depend on how long the server's URL is
				o.errs[i] = place.ReplaceAllString(o.errs[i], "p.yaml:$1: ")
			}
			o.fails(t, c.errs...)
			status := results.Done
			if len(c.errs) > 0 {
				status = results.RunFailed
			}
			if o.run.Status != status || len(o.run.Errors) != len(c.errs) {
				t.Errorf("status %s, errors %q", o.run.Status, o.run.Errors)
			}
		})
	}
}

// TestFinallyIsBounded: what hangs in finally ends after ten minutes, what comes after it is tried all the same, and all that did not
// come about is told.
func TestFinallyIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		o := carryOut(t, `
steps: [ wait: 1s ]
finally:
  - wait: 9m
  - wait: 1h
  - wait: 1h
  - wait: 10s
`)
		limit := "finally took longer than the 10m that it has at the most"
		o.fails(t, "p.yaml:5:5: wait: the group at … "+limit, "p.yaml:6:5: wait: the group at … "+limit)
		if took := time.Since(begin); took != 10*time.Minute+finallyLeast+11*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// TestInterruptAnywhere: whatever is under way ends, every finally runs, and one error says so.
func TestInterruptAnywhere(t *testing.T) {
	target, _, _ := onShared(t)
	tr := newTrace(t)
	for name, c := range map[string]struct{ step, event string }{
		"wait":       {"wait: 1h", "step wait"},
		"wait until": {"wait: { until: { tcp: \"127.0.0.1:1\" }, timeout: 1h }", "step wait"},
		"http":       {"GET(hang)", "step http"},
		"sql":        {"sql: SELECT SLEEP(60)", "step sql"},
		"shell":      {"shell: sleep 60", "step shell"},
		"retry":      {"GET(fail)\n        retry: { attempts: 100, interval: 1h }", "step http"},
		"prepare":    {"prepare:\n        name: p", `step prepare "p"`},
		"run":        {"run: { workload: benchyou_random, threads: { write: 2 }, duration: 1h }", "cell 1 of 1"},
		"warm-up":    {"run: { workload: benchyou_random, threads: { write: 2 }, warmup: 1h, duration: 1h }", "cell 1 of 1"},
	} {
		t.Run(name, func(t *testing.T) {
			rows := "10M"
			if strings.HasPrefix(c.step, "run") {
				rows = "0"
				trial{plan: target + "tables: { schema: benchyou }\nsteps: [ prepare: ]\n"}.carryOut(t).done(t)
			}
			before := len(strings.Fields(tr.seen()))
			ctx, on := interruptAt(t, c.event, 300*time.Millisecond)
			begin := time.Now()
			o := trial{ctx: ctx, on: on, change: func(c *Config) { c.AllowShell = true }, plan: target + "tables: { schema: benchyou, rows: " + rows + ` }
steps:
  - continue_on_error: true
    steps:
      - ` + tr.steps(c.step) + `
    finally: [ ` + tr.steps("GET(inner)") + ` ]
  - ` + tr.steps("GET(not-reached)") + `
finally: [ ` + tr.steps("GET(outer)") + ` ]
`}.carryOut(t)
			o.isInterrupted(t)
			if took := time.Since(begin); took > 15*time.Second {
				t.Errorf("it took %s", took)
			}
			if len(o.errs) != 1 || !strings.HasPrefix(o.errs[0], "p.yaml:6:9: ") || !strings.Contains(o.errs[0], ": interrupted") {
				t.Errorf("errors %q", o.errs)
			}
			got := strings.Join(strings.Fields(tr.seen())[before:], " ")
			if !strings.HasSuffix(got, "inner outer") || strings.Contains(got, "not-reached") {
				t.Errorf("requests %s", got)
			}
			cells := 0
			if name == "run" {
				cells = 1
			}
			if len(o.cells) != cells || cells == 1 && (o.cells[0].Status != results.Partial || o.cells[0].Outcome.Events == 0 || o.cells[0].Error != "interrupted") {
				t.Errorf("cells %+v", o.cells)
			}
		})
	}
}

// TestInterruptBeforeAndInFinally: a context that has ended already runs nothing but finally; one that ends in finally lets it
// run to its end.
func TestInterruptBeforeAndInFinally(t *testing.T) {
	tr := newTrace(t)
	plan := tr.steps("steps: [ GET(a) ]\nfinally: [ wait: 500ms, GET(z) ]\n")
	ctx, on := interruptAt(t, "start", 0)
	o := trial{ctx: ctx, plan: plan, on: func(e string) { on(e); time.Sleep(20 * time.Millisecond) }}.carryOut(t)
	o.isInterrupted(t)
	o.fails(t, "interrupted")
	ctx, on = interruptAt(t, "step wait", 0)
	o = trial{ctx: ctx, on: on, plan: plan}.carryOut(t)
	o.isInterrupted(t)
	o.fails(t, "interrupted")
	if got := tr.seen(); got != "z a z" {
		t.Errorf("requests %s", got)
	}
}

// TestOnlyAndSkip: what --only and --skip leave of a plan.
func TestOnlyAndSkip(t *testing.T) {
	const page = `
steps:
  - GET(ground)
  - { name: setup, GET(setup) }
  - name: config
    matrix: { config: [p, q] }
    steps:
      - GET(switch-${{ matrix.config }})
      - { name: check, GET(check) }
      - { name: "mix-${{ matrix.config }}", GET(mix-${{ matrix.config }}) }
  - name: other
    steps: [ GET(other) ]
  - GET(after)
finally:
  - { name: last, GET(z) }
  - name: group
    steps: [ { name: inner, GET(zz) } ]
`
	for name, c := range map[string]struct {
		only, skip []string
		runs       string
		errs       []string
	}{
		"all":                      {nil, nil, "ground setup switch-p check mix-p switch-q check mix-q other after z zz", nil},
		"only a named step":        {[]string{"setup"}, nil, "ground setup switch-p switch-q after z zz", nil},
		"only a group":             {[]string{"other"}, nil, "ground switch-p switch-q other after z zz", nil},
		"only one of the cells":    {[]string{"mix-q"}, nil, "ground switch-p switch-q mix-q after z zz", nil},
		"only two":                 {[]string{"mix-q", "setup"}, nil, "ground setup switch-p switch-q mix-q after z zz", nil},
		"skip a group":             {nil, []string{"config"}, "ground setup other after z zz", nil},
		"skip one of the cells":    {nil, []string{"mix-p"}, "ground setup switch-p check switch-q check mix-q other after z zz", nil},
		"only a group, skip in it": {[]string{"config"}, []string{"check"}, "ground switch-p mix-p switch-q mix-q after z zz", nil},
		"a name that is not met":   {[]string{"mix-r"}, nil, "ground switch-p switch-q after z zz", []string{"--only, --skip: no step that was met is called mix-r"}},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrace(t)
			o := trial{plan: tr.steps(page), change: func(cfg *Config) { cfg.Only, cfg.Skip = c.only, c.skip }}.carryOut(t)
			if diff := cmp.Diff(c.runs, tr.seen()); diff != "" {
				t.Error(diff)
			}
			o.fails(t, c.errs...)
		})
	}
}

// TestOnlyKeepsToTheGround: a load is measured after the steps without a name that stand around it, and no other load runs.
func TestOnlyKeepsToTheGround(t *testing.T) {
	target, _, _ := onShared(t)
	o := trial{change: func(c *Config) { c.Only = []string{"one"} }, plan: target + `
tables: { schema: benchyou }
steps:
  - prepare:
  - { name: one, run: { workload: benchyou_random, threads: { write: 1 }, events: 5 } }
  - { name: two, run: { workload: benchyou_random, threads: { write: 1 }, events: 5 } }
  - run: { workload: benchyou_random, threads: { write: 1 }, events: 5 }
  - verify:
`}.carryOut(t).done(t)
	if len(o.cells) != 1 || o.cells[0].Path[0] != "one" {
		t.Errorf("cells %+v", o.cells)
	}
}

// TestErrorsAreOneEach: a list within a list is laid flat, and nothing is wrapped away.
func TestErrorsAreOneEach(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	inner := collect(collect(nil, a), b)
	all := collect(collect(nil, inner.ErrorOrNil()), c)
	if diff := cmp.Diff([]string{"a", "b", "c"}, texts(Errors(all))); diff != "" {
		t.Error(diff)
	}
	if all.Error() != "a\nb\nc" || !errors.Is(all, b) {
		t.Errorf("%q", all.Error())
	}
}

func texts(errs []error) []string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Error())
	}
	return out
}
