package steps

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
	"benchplan/workloads/engine"
	"benchplan/workloads/host"
	"benchplan/workloads/tables"
)

func TestMain(m *testing.M) {
	// The tests that run beside others wait for most of their time; go test's -parallel goes before.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	status := servertest.Main(m)
	if err := goleak.Find(); err != nil && status == 0 {
		fmt.Println(err)
		status = 1
	}
	os.Exit(status)
}

// trial is a plan to be carried out in a test.
type trial struct {
	plan   string
	env    map[string]string
	change func(*Config)
	on     func(event string) // told what the observer is told: "step sql", "cell", "finally", …
	ctx    context.Context
}

// outcome is what came of it.
type outcome struct {
	err    error
	errs   []string // one for each thing that went wrong, without the plan's folder
	run    *results.Run
	cells  []results.Cell
	log    string
	events []string
	notes  []string
	folder string
}

// carryOut reads the plan with the real vocabulary and runs it.
func (tr trial) carryOut(t testing.TB) outcome {
	t.Helper()
	dir := t.TempDir()
	lookup := func(name string) (string, bool) { v, ok := tr.env[name]; return v, ok }
	c := Config{Kinds: Kinds(), Run: &results.Run{}}
	if tr.change != nil {
		tr.change(&c)
	}
	p, err := plan.Read(plan.Source{Name: filepath.Join(dir, "p.yaml"), Text: []byte(tr.plan)}, Vocabulary(), plan.Options{Environment: lookup, Rehearse: c.Rehearse})
	if err != nil {
		t.Fatal(err)
	}
	c.Plan, c.Mask = p, plan.Masker(p.SecretValues())
	folder := filepath.Join(dir, "run")
	if c.Writer, err = results.CreateAt(folder, c.Mask); err != nil {
		t.Fatal(err)
	}
	seen := &recorder{on: tr.on}
	c.Observer = seen
	ctx := tr.ctx
	if ctx == nil {
		ctx = t.Context()
	}
	o := outcome{err: Run(ctx, c), events: seen.events, notes: seen.notes, folder: folder}
	if err := c.Writer.Close(); err != nil {
		t.Error(err)
	}
	for _, e := range Errors(o.err) {
		o.errs = append(o.errs, strings.ReplaceAll(e.Error(), dir+"/", ""))
	}
	log, err := os.ReadFile(filepath.Join(folder, "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	o.log = string(log)
	var warnings []string
	if o.run, o.cells, warnings, err = results.Open(folder); err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	return o
}

// carryOut runs a plan that needs nothing else.
func carryOut(t testing.TB, text string) outcome {
	t.Helper()
	return trial{plan: text}.carryOut(t)
}

// done fails the test where something went wrong.
func (o outcome) done(t testing.TB) outcome {
	t.Helper()
	if o.err != nil {
		t.Fatalf("it failed:\n%s", strings.Join(o.errs, "\n"))
	}
	return o
}

// fails holds the errors against what each of them has to begin with and hold, separated by " … ".
func (o outcome) fails(t *testing.T, want ...string) outcome {
	t.Helper()
	if len(o.errs) != len(want) {
		t.Fatalf("%d errors, want %d:\n%s", len(o.errs), len(want), strings.Join(o.errs, "\n"))
	}
	for i, w := range want {
		parts := strings.Split(w, " … ")
		if !strings.HasPrefix(o.errs[i], parts[0]) {
			t.Errorf("error %d:\n got %s\nwant %s", i, o.errs[i], w)
		}
		for _, part := range parts[1:] {
			if !strings.Contains(o.errs[i], part) {
				t.Errorf("error %d lacks %q: %s", i, part, o.errs[i])
			}
		}
	}
	return o
}

// recorder is an Observer that writes down what it is told. It finds out whether it is told one thing at a time.
type recorder struct {
	on     func(string)
	mu     sync.Mutex
	events []string
	notes  []string
}

func (r *recorder) add(format string, args ...any) {
	if !r.mu.TryLock() {
		panic("the observer is told two things at a time")
	}
	defer r.mu.Unlock()
	event := fmt.Sprintf(format, args...)
	r.events = append(r.events, event)
	if r.on != nil {
		r.on(event)
	}
}

func (r *recorder) Start(string, plan.Summary) { r.add("start") }
func (r *recorder) Step(s *plan.Scope, try int) {
	if try == 1 {
		r.add("step %s", stepTitle(s))
		return
	}
	r.add("step %s again", stepTitle(s))
}
func (r *recorder) StepDone(s *plan.Scope, _ time.Duration, err error) {
	r.add("done %s %v", stepTitle(s), err == nil)
}
func (r *recorder) Cell(_ *plan.Scope, seq, planned int, _ time.Duration) {
	r.add("cell %d of %d", seq, planned)
}
func (r *recorder) Load(engine.Snapshot)      { r.add("load") }
func (r *recorder) CellDone(c *results.Cell)  { r.add("cell done %s", c.Status) }
func (r *recorder) Filling(done, total int64) { r.add("filling") }
func (r *recorder) Prepared(rep tables.Report) {
	r.add("prepared %d reused %d", rep.Tables, rep.Reused)
}
func (r *recorder) Writing(done, total int64) { r.add("writing") }
func (r *recorder) Written(rep host.FilesReport) {
	r.add("written %d reused %d", rep.Files, rep.Reused)
}
func (r *recorder) Finally(cause error) { r.add("finally") }
func (r *recorder) Note(text string)    { r.notes = append(r.notes, text) }

// trace is an HTTP server that writes down the paths that it is asked for. /fail… answers 500, /hang… nothing until the
// client goes.
type trace struct {
	URL   string
	mu    sync.Mutex
	paths []string
}

func newTrace(t *testing.T) *trace {
	t.Helper()
	tr := &trace{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tr.mu.Lock()
		tr.paths = append(tr.paths, strings.TrimPrefix(r.URL.Path, "/"))
		n := len(tr.paths)
		tr.mu.Unlock()
		switch {
		case strings.HasPrefix(r.URL.Path, "/fail"):
			w.WriteHeader(http.StatusInternalServerError)
		case strings.HasPrefix(r.URL.Path, "/hang"):
			<-r.Context().Done()
		}
		fmt.Fprintf(w, `{"asked": %d, "path": %q}`, n, r.URL.Path)
	}))
	t.Cleanup(server.Close)
	tr.URL = server.URL
	return tr
}

// seen gives the paths so far.
func (tr *trace) seen() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return strings.Join(tr.paths, " ")
}

// steps writes GET(x) of a text as http steps.
func (tr *trace) steps(text string) string {
	for {
		i := strings.Index(text, "GET(")
		if i < 0 {
			return text
		}
		end := i + strings.IndexByte(text[i:], ')')
		text = text[:i] + `http: { get: "` + tr.URL + "/" + text[i+4:end] + `" }` + text[end+1:]
	}
}

// onShared writes the target of a plan that runs on the tests' server, in a database of the test's own.
func onShared(t *testing.T) (target, database string, server *localserver.Server) {
	t.Helper()
	server = servertest.Shared(t)
	database = servertest.Database(t, server)
	return fmt.Sprintf("target: { socket: %s, user: %s, database: %s }\n", server.Socket(), server.User(), database), database, server
}

// scalar asks the server one thing.
func scalar(t *testing.T, server *localserver.Server, database, query string) string {
	t.Helper()
	var v string
	if err := servertest.OpenDB(t, server, database).QueryRow(query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// interruptAt gives a context that ends a moment after the n-th event of that name.
func interruptAt(t *testing.T, event string, after time.Duration) (context.Context, func(string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, func(e string) {
		if e == event {
			time.AfterFunc(after, cancel)
		}
	}
}

// noneHolds fails the test where a text stands in a file of the run, in its errors or in its notes.
func (o outcome) noneHolds(t *testing.T, secret string) {
	t.Helper()
	for _, text := range slices.Concat(o.errs, o.notes, o.run.Errors) {
		if strings.Contains(text, secret) {
			t.Errorf("%q stands in %s", secret, text)
		}
	}
	err := filepath.WalkDir(o.folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), secret) {
			t.Errorf("%q stands in %s", secret, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// isInterrupted fails the test where the run was not ended by an interrupt.
func (o outcome) isInterrupted(t *testing.T) {
	t.Helper()
	if !errors.Is(o.err, ErrInterrupted) || o.run.Status != results.Interrupted {
		t.Errorf("status %s, error %v", o.run.Status, o.err)
	}
}

// read gives what is wrong with a plan.
func read(text string) error {
	lookup := func(string) (string, bool) { return "x", true }
	_, err := plan.Read(plan.Source{Name: "p.yaml", Text: []byte(text)}, Vocabulary(), plan.Options{Environment: lookup})
	return err
}
