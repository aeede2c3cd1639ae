package steps

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps/localserver/servertest"
)

// gates is an HTTP server that writes down the paths that it is asked for; those that are shut answer 500.
type gates struct {
	trace
	shut string
}

func newGates(t *testing.T, shut string) *gates {
	t.Helper()
	g := &gates{shut: shut}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		path := strings.TrimPrefix(r.URL.Path, "/")
		g.paths = append(g.paths, path)
		if path == g.shut {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprintf(w, `{"path": %q}`, path)
	}))
	t.Cleanup(server.Close)
	g.URL = server.URL
	return g
}

// open forgets the paths so far, and opens what was shut.
func (g *gates) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.paths, g.shut = nil, ""
}

// goOn resumes the run in an outcome's folder, as if it had ended so.
func (tr trial) goOn(t *testing.T, before outcome, after results.RunStatus) outcome {
	t.Helper()
	dir := filepath.Dir(before.folder)
	p, err := plan.Read(plan.Source{Name: filepath.Join(dir, "p.yaml"), Text: []byte(tr.plan)}, Vocabulary(), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, run, cells, warnings, err := results.Resume(before.folder, nil)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	defer w.Close()
	run.Status = after
	run.Resume(time.Now().UTC(), cells, nil)
	seen := &recorder{}
	c := Config{Kinds: Kinds(), Plan: p, Writer: w, Run: run, Cells: cells, Observer: seen, Mask: func(s string) string { return s }}
	o := outcome{err: Run(t.Context(), c), events: seen.events, notes: seen.notes, folder: before.folder}
	for _, e := range Errors(o.err) {
		o.errs = append(o.errs, strings.ReplaceAll(e.Error(), dir+"/", ""))
	}
	if o.run, o.cells, _, err = results.Open(before.folder); err != nil {
		t.Fatal(err)
	}
	return o
}

// briefLoad is a cell that is over at once.
const briefLoad = `run: { workload: cpu, cpu_max_prime: 100, events: 5 }`

// TestWhatIsExecutedAgain: a run ends at a step that fails, and is resumed when that would not fail any more.
func TestWhatIsExecutedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		plan  string
		shut  string            // the path that fails at first
		after results.RunStatus // how the run is said to have ended; failed where that is empty
		want  string            // the requests after the resume
		cells []string          // those that are executed after it
	}{
		"finished cells stay, what fails is executed again, and so is every step around": {`
steps:
  - GET(start)
  - { name: a, LOAD }
  - GET(gate)
  - { name: b, LOAD }
finally: [ GET(end) ]
`, "gate", "", "start gate end", []string{"b{}"}},
		"groups without a missing cell are left out, with their finally": {`
steps:
  - GET(start)
  - matrix: { x: [1, 2, 3] }
    steps: [ GET(set-${{ matrix.x }}), LOAD, GET(after-${{ matrix.x }}) ]
    finally: [ GET(back-${{ matrix.x }}) ]
finally: [ GET(end) ]
`, "set-2", "", "start set-2 after-2 back-2 set-3 after-3 back-3 end", []string{"{x=2}", "{x=3}"}},
		"rounds go on where they were": {`
steps:
  - matrix: { x: [1, 2] }
    repeat: 3
    order: interleaved
    steps: [ GET(set-${{ matrix.x }}), LOAD, { if: "matrix.x == 2", GET(gate) }, LOAD2 ]
`, "gate", "", "set-2 gate set-1 set-2 gate set-1 set-2 gate", []string{"second{x=2}", "{x=1}#2", "second{x=1}#2", "{x=2}#2", "second{x=2}#2", "{x=1}#3", "second{x=1}#3", "{x=2}#3", "second{x=2}#3"}},
		"a killed run has run no finally: that of the groups around its last cell runs": {`
steps:
  - steps:
      - { name: a, steps: [ { LOAD } ], finally: [ GET(back-a) ] }
      - { name: b, steps: [ { LOAD } ], finally: [ GET(back-b) ] }
    finally: [ GET(back) ]
  - GET(gate)
  - { name: c, LOAD }
finally: [ GET(end) ]
`, "gate", results.Killed, "back-b back gate end", []string{"c{}"}},
		"a killed run that lacks no cell only runs finally": {`
steps:
  - GET(start)
  - { name: a, steps: [ { LOAD } ], finally: [ GET(back-a) ] }
  - { name: b, steps: [ { LOAD } ], finally: [ GET(back-b) ] }
  - GET(gate)
finally: [ GET(end) ]
`, "gate", results.Killed, "back-b end", nil},
		"a step that failed is executed again though no cell is missing": {`
steps:
  - GET(start)
  - { name: a, LOAD }
  - GET(gate)
finally: [ GET(end) ]
`, "gate", "", "start gate end", nil},
		"what a finished cell yielded is known": {`
steps:
  - { id: a, name: a, LOAD }
  - GET(gate)
  - { if: "steps.a.events == 5", GET(five) }
  - { name: b, LOAD }
`, "gate", "", "gate five", []string{"b{}"}},
		"a group of which only its steps tell whether a cell is missing is entered": {`
steps:
  - name: group
    steps:
      - { name: a, LOAD }
      - { id: ask, GET(ask) }
      - { name: b, if: "steps.ask.json.path == 'nothing'", LOAD }
  - GET(gate)
`, "gate", "", "ask gate", nil},
		"a group whose cells an if has taken out is entered, for its other steps": {`
steps:
  - name: group
    steps: [ GET(other), { if: "false", LOAD } ]
  - GET(gate)
`, "gate", "", "other gate", nil},
		"a cell in finally is no other": {`
steps:
  - { name: a, LOAD }
  - GET(gate)
finally: [ { name: last, LOAD }, GET(end) ]
`, "gate", "", "gate end", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGates(t, c.shut)
			text := strings.NewReplacer("LOAD2", "{ name: second, "+briefLoad+" }", "{ LOAD }", "{ "+briefLoad+" }", ", LOAD }", ", "+briefLoad+" }", "LOAD", "{ "+briefLoad+" }").Replace(c.plan)
			tr := trial{plan: g.steps(text)}
			first := tr.carryOut(t)
			if first.err == nil {
				t.Fatal("it did not fail")
			}
			g.open()
			after := c.after
			if after == "" {
				after = results.RunFailed
			}
			again := tr.goOn(t, first, after).done(t)
			if got := g.seen(); got != c.want {
				t.Errorf("steps after the resume:\n got %s\nwant %s", got, c.want)
			}
			var cells []string
			for _, cell := range again.cells[len(first.cells):] {
				name := cell.Key()
				if cell.Repeat > 1 {
					name += fmt.Sprintf("#%d", cell.Repeat)
				}
				cells = append(cells, name)
				if cell.Resumed != 1 {
					t.Errorf("%s: resumed %d times before it", name, cell.Resumed)
				}
			}
			if strings.Join(cells, " ") != strings.Join(c.cells, " ") {
				t.Errorf("cells after the resume:\n got %q\nwant %q", cells, c.cells)
			}
			if again.run.Status != results.Done || len(again.run.Resumed) != 1 || again.run.Resumed[0].After != after || len(again.run.Resumed[0].Errors) == 0 {
				t.Errorf("status %s, resumed %+v", again.run.Status, again.run.Resumed)
			}
			// Numbers and seeds are those that the cells have in a run that nothing disturbed.
			whole := tr.carryOut(t).done(t)
			for i, cell := range again.cells {
				if w := whole.cells[i]; cell.Key() != w.Key() || cell.Repeat != w.Repeat || cell.Seq != w.Seq || fmt.Sprint(cell.Options["seed"]) != fmt.Sprint(w.Options["seed"]) {
					t.Errorf("cell %d is %s #%d seed %v, and undisturbed %s #%d seed %v", cell.Seq, cell.Key(), cell.Repeat, cell.Options["seed"], w.Key(), w.Repeat, w.Options["seed"])
				}
			}
			if len(whole.cells) != len(again.cells) {
				t.Errorf("%d cells, and undisturbed %d", len(again.cells), len(whole.cells))
			}
		})
	}
}

// TestACellWhoseAssertFailedIsExecutedAgain: it is complete, and yet no finished one. That it was measured twice is marked.
func TestACellWhoseAssertFailedIsExecutedAgain(t *testing.T) {
	g := newGates(t, "")
	text := `
steps:
  - { id: ask, GET(ask) }
  - { name: a, ` + briefLoad + `, assert: [ "events == steps.ask.json.n" ] }
`
	answers := []int{6, 5}
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(w, `{"n": %d}`, answers[0])
		answers = answers[1:]
	}))
	defer server.Close()
	g.URL = server.URL
	tr := trial{plan: g.steps(text)}
	first := tr.carryOut(t).fails(t, "p.yaml:4: … assert does not hold: events == steps.ask.json.n")
	if c := first.cells[0]; c.Status != results.Complete || !strings.Contains(c.Unmet, "events = 5") {
		t.Fatalf("status %s, unmet %q", c.Status, c.Unmet)
	}
	again := tr.goOn(t, first, results.RunFailed).done(t)
	if len(again.cells) != 1 || again.cells[0].Seq != 2 || again.cells[0].Unmet != "" || len(again.cells[0].Marks) == 0 || again.cells[0].Marks[0].Code != results.MarkResumed {
		t.Errorf("cells %+v", again.cells)
	}
	if n := countOf(again.events, "cell 1 of 1"); n != 1 {
		t.Errorf("the observer was told %q", again.events)
	}
}

func countOf(list []string, text string) int {
	n := 0
	for _, s := range list {
		if s == text {
			n++
		}
	}
	return n
}

// TestWhatAKilledRunHadSetIsPutBack: the record tells of a global variable as long as it is set, and a resume puts it back before
// anything else, and to what it was before the run.
func TestWhatAKilledRunHadSetIsPutBack(t *testing.T) {
	target, database, server := onShared(t)
	db := servertest.OpenDB(t, server, database)
	const variable = "innodb_flush_log_at_trx_commit"
	value := func() string { return scalar(t, server, database, "SELECT @@GLOBAL."+variable) }
	set := func(v string) {
		if _, err := db.Exec("SET GLOBAL " + variable + " = " + v); err != nil {
			t.Fatal(err)
		}
	}
	set("1")
	t.Cleanup(func() { set("1") })
	g := newGates(t, "gate")
	tr := trial{plan: target + g.steps(`
tables: { schema: benchyou, count: 1, rows: 10 }
steps:
  - prepare:
  - { name: before, run: { workload: benchyou_random, threads: { write: 1 }, events: 5 } }
  - name: group
    steps:
      - server: { set: { innodb_flush_log_at_trx_commit: 2 } }
      - GET(gate)
      - { name: in, run: { workload: benchyou_random, threads: { write: 1 }, events: 5 } }
  - { name: after, run: { workload: benchyou_random, threads: { write: 1 }, events: 5 } }
`)}
	var config *Config
	var during []results.Unset
	tr.change = func(c *Config) { config = c }
	tr.on = func(event string) {
		if event == "done http false" {
			run, _, _, err := results.Open(config.Writer.Folder())
			if err != nil {
				t.Error(err)
				return
			}
			during = run.Unset
		}
	}
	first := tr.carryOut(t)
	if len(first.run.Unset) > 0 || value() != "1" {
		t.Fatalf("after a failure: unset %+v, the variable is %s", first.run.Unset, value())
	}
	if len(during) != 1 || during[0].Variable != variable || during[0].Before == nil || *during[0].Before != "1" {
		t.Errorf("while it was set the record said %+v", during)
	}
	// As kill -9 leaves it:
	set("2")
	one := "1"
	w, run, _, _, err := results.Resume(first.folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	run.Unset = []results.Unset{{Address: run.Targets[0].Address, Variable: variable, Before: &one}}
	if err := w.WriteRun(run); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	g.open()
	again := tr.goOn(t, first, results.Killed).done(t)
	if len(again.run.Unset) > 0 || value() != "1" {
		t.Errorf("unset %+v, the variable is %s", again.run.Unset, value())
	}
	for _, c := range again.cells {
		want := ""
		if c.Path[len(c.Path)-1] == "in" {
			want = "2"
		}
		if got := c.Attributes["variable "+variable]; got != want {
			t.Errorf("%s was measured with %q set, want %q", c.Key(), got, want)
		}
		for _, m := range c.Marks {
			if m.Code == results.MarkResumed {
				t.Errorf("%s is marked: %s", c.Key(), m.Text)
			}
		}
	}
	if len(again.run.Resumed[0].Changed) > 0 {
		t.Errorf("changed: %q", again.run.Resumed[0].Changed)
	}
}
