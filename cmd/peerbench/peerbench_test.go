package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"benchplan/results"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == bareCommand { // this program is the bare client too
		os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

func TestReportOfSysbench(t *testing.T) {
	text, err := os.ReadFile("testdata/sysbench.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, err := readReport(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outcome{Events: 6894, Queries: 137903, Measured: 3.0179, Restarts: 3}, got, cmp.AllowUnexported(outcome{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, without := range []string{"queries:  ", "ignored errors:", "total time:", "total number of events:"} {
		if _, err := readReport(strings.ReplaceAll(string(text), without, "lost:")); err == nil {
			t.Errorf("a report without %q is taken", without)
		}
	}
}

func TestAccountsThatDiffer(t *testing.T) {
	right := outcome{
		Load:   load{Workload: readWrite, Clients: 8, Seconds: 3},
		Events: 5000, Queries: 100_000, Measured: 3, Server: 100_100, effort: effort{Elapsed: 3200 * time.Millisecond},
	}
	cases := []struct {
		name   string
		change func(*outcome)
		says   string
	}{
		{"all is right", func(*outcome) {}, ""},
		{"an event of each client was under way at the end", func(o *outcome) { o.Server = 100_000 + 8*20 }, ""},
		{"twice the queries", func(o *outcome) { o.Queries *= 2 }, "200000 queries where the server counted 100100"},
		{"a fiftieth too few", func(o *outcome) { o.Queries = 98_000 }, "98000 queries"},
		{"many events were begun anew", func(o *outcome) { o.Queries, o.Restarts = 98_000, 200 }, ""},
		{"nothing", func(o *outcome) { o.Events = 0 }, "0 events"},
		{"a longer time than the process lived", func(o *outcome) { o.Measured = 3.3 }, "3.300 s"},
		{"a part of the time", func(o *outcome) { o.Measured = 2 }, "2.000 s of 3"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := right
			c.change(&o)
			got := o.contradiction()
			if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
				t.Errorf("%q, want %q in it", got, c.says)
			}
		})
	}
}

func TestRatio(t *testing.T) {
	var c comparison
	for _, pair := range [][2]float64{{100, 130}, {200, 180}, {110, 121}, {90, 117}} {
		c.add(pair[0], pair[1])
	}
	got := c.ratio()
	want := spread{Value: 125.5 / 105, Least: 0.9, Most: 1.3} // the medians are the means of the two in the middle
	if math.Abs(got.Value-want.Value) > 1e-12 || got.Least != want.Least || got.Most != want.Most {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBenchmarksAreReadByTheirDearestCase(t *testing.T) {
	const text = `goos: linux
goarch: amd64
pkg: benchplan/workloads/engine
BenchmarkStatement/auto/read-2   	 1000000	       210.0 ns/op	       0 B/op	       0 allocs/op
BenchmarkStatement/auto/read-2   	 1000000	       190.0 ns/op	       0 B/op	       0 allocs/op
BenchmarkStatement/disable/read-2	 1000000	       150.0 ns/op	      16 B/op	       1 allocs/op
BenchmarkStatement/disable/read-2	 1000000	       160.0 ns/op	      16 B/op	       1 allocs/op
BenchmarkLoop/auto/8-2           	  500000	      2100 ns/op	       0 B/op	       0 allocs/op
BenchmarkRecord/event-2          	 5000000	        72.50 ns/op	       0 B/op	       0 allocs/op
PASS
ok  	benchplan/workloads/engine	1.569s
`
	got, err := readBenchmarks(text)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]cost{
		"Statement": {nanoseconds: []float64{210, 190}, allocations: []float64{1, 1}},
		"Loop":      {nanoseconds: []float64{2100}, allocations: []float64{0}},
		"Record":    {nanoseconds: []float64{72.5}, allocations: []float64{0}},
	}
	about := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(cost{}), about); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := readBenchmarks(strings.ReplaceAll(text, "BenchmarkLoop", "BenchmarkOther")); err == nil {
		t.Error("that a benchmark is gone is not told")
	}
}

func TestNumbers(t *testing.T) {
	for want, v := range map[string]float64{"0": 0, "999": 999, "1,000": 1000, "28,913": 28913.4, "1,234,567": 1234567, "-123": -123, "-1,234": -1234} {
		if got := number(v, 0); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if got := number(12345.678, 2); got != "12,345.68" {
		t.Error(got)
	}
}

func TestOptions(t *testing.T) {
	cases := []struct {
		args          []string
		runs, seconds int
		prepared      int64
		says          string
	}{
		{nil, 3, 1, 100_000, ""},
		{[]string{"-long"}, 7, 3, 500_000, ""},
		{[]string{"-long", "-runs", "9"}, 9, 3, 500_000, ""},
		{[]string{"-time", "2", "-rows", "1000", "-server", "sync_binlog=1"}, 3, 2, 1000, ""},
		{args: []string{"-clients", "8,many"}, says: "many"},
		{args: []string{"-clients", "0"}, says: "between 1 and 2000"},
		{args: []string{"-workload", "oltp_insert"}, says: "oltp_point_select, oltp_read_only, oltp_read_write"},
		{args: []string{"-transport", "pipe"}, says: "socket and tcp"},
		{args: []string{"-only", "load,all"}, says: "hotpath"},
		{args: []string{"-runs", "0"}, says: "1 and more"},
		{args: []string{"-server", "sync_binlog"}, says: "name=value"},
		{args: []string{"extra"}, says: "flags only"},
	}
	for _, c := range cases {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			var complaint bytes.Buffer
			o, err := readOptions(c.args, &complaint)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("error %v, want %q in it", err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if o.runs != c.runs || o.seconds != c.seconds || o.prepared.Rows != c.prepared {
				t.Errorf("%d runs of %d s, prepare of %d rows", o.runs, o.seconds, o.prepared.Rows)
			}
		})
	}
}

// sample is a report with what tables can have: ratios, values of benchplan's own, no target, one run.
func sample() *report {
	r := &report{
		Machine: results.Host{CPU: "AMD EPYC", CPUs: 2, Memory: 24 << 30, OS: "linux/amd64", Kernel: "6.1.0", Virtual: "KVM"},
		Load:    0.72, Server: "MariaDB 10.11.19", Settings: settingsText(defaultSettings),
		Theirs: "sysbench 1.0.20", Ours: "benchplan by go1.26.1",
		Method: options{tables: tables{4, 100_000}, runs: 7, seconds: 3}.method(),
	}
	run := func(events int64, cpu time.Duration) outcome {
		return outcome{Events: events, Queries: events, Measured: 3, effort: effort{CPU: cpu}}
	}
	tools := []tool{sysbench{}, benchplan{}, bare{}}
	r.load(&cell{load: load{Workload: pointSelect, Transport: Socket, Clients: 1}, tools: tools[:2], turns: []turn{
		{run(20_000, 800*time.Millisecond), run(21_000, 1200*time.Millisecond)},
		{run(22_000, 830*time.Millisecond), run(21_500, 1250*time.Millisecond)},
	}})
	r.load(&cell{load: load{Workload: pointSelect, Transport: TCP, Clients: 256}, tools: tools, turns: []turn{
		{run(70_000, 1400*time.Millisecond), run(80_000, 800*time.Millisecond), run(82_000, 700*time.Millisecond)},
		{run(71_000, 1410*time.Millisecond), run(81_000, 810*time.Millisecond), run(83_000, 710*time.Millisecond)},
	}})
	r.add(
		compared(tableStart, "1 client", "ms", 1, comparison{[]float64{9.7}, []float64{43.2}}, target{}),
		compared(tableOther, "peak memory, 1,000 clients", "MiB", 1, comparison{[]float64{120, 121}, []float64{55, 54}}, atMost(0.5)),
		alone(tableOther, "allocations a query, our code by the loop", "", 0, []float64{0, 0}, atMost(0)),
		alone(tableOther, "validate of 100,000 cells, time", "s", 2, []float64{1.25, 0.75, 1.5}, atMost(1)),
	)
	return r
}

func TestTables(t *testing.T) {
	for file, markdown := range map[string]bool{"report.txt": false, "report.md": true} {
		t.Run(file, func(t *testing.T) {
			var out bytes.Buffer
			if err := sample().print(&out, markdown); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", file)
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for line := range strings.Lines(out.String()) {
				if n := len([]rune(line)) - 1; n > width && !markdown {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

// programs gives benchplan, built from the source, and sysbench.
func programs(t *testing.T) (args []string) {
	t.Helper()
	if _, err := exec.LookPath("sysbench"); err != nil {
		t.Skip("NOT COMPARED WITH SYSBENCH ITSELF: the program sysbench 1.0 is not on PATH; the package sysbench of Debian, Ubuntu and Fedora brings it")
	}
	program := filepath.Join(t.TempDir(), "benchplan")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "benchplan/cmd/benchplan").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return []string{"-benchplan", program, "-rows", "1000", "-clients", "2", "-transport", "tcp"}
}

// leavesNothing sees at the end of the test that its temporary folder is empty.
func leavesNothing(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Cleanup(func() {
		left, err := os.ReadDir(folder)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

func TestOnePairOfACell(t *testing.T) {
	args := programs(t)
	leavesNothing(t)
	file := filepath.Join(t.TempDir(), "runs.json")
	var out, log bytes.Buffer
	args = append(args, "-only", "load", "-workload", "oltp_read_write", "-runs", "1", "-json", file)
	if status := execute(t.Context(), args, &out, &log); status != exitDone {
		t.Fatalf("exit status %d\n%s", status, &log)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Figures []struct{ Table, Name string }
		Runs    []outcome
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Figures) != 2 || r.Figures[0].Name != "read_write, tcp, 2 clients" || r.Figures[0].Table != tableThroughput || r.Figures[1].Table != tableCPU {
		t.Errorf("figures: %+v", r.Figures)
	}
	tools := map[string]int{}
	for _, o := range r.Runs {
		if !o.Counted {
			continue // the machine may be so busy that one is refused
		}
		tools[o.Tool]++
		if o.Queries < o.Events*20 || o.Server < o.Queries*98/100 || o.CPU <= 0 || o.Memory < 1<<20 {
			t.Errorf("%+v", o)
		}
	}
	if diff := cmp.Diff(map[string]int{"sysbench": 1, "benchplan": 1}, tools); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if !strings.Contains(out.String(), "read_write, tcp, 2 clients") {
		t.Errorf("the table lacks the cell:\n%s", &out)
	}
}

// TestTheBareClient is held against the server's counters as the tools are.
func TestTheBareClient(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the bare client is written for Linux; elsewhere `-only limit` says so and compares nothing")
	}
	args := programs(t)
	leavesNothing(t)
	var out, log bytes.Buffer
	args = append(args, "-only", "limit", "-runs", "1", "-transport", "socket,tcp", "-clients", "1,3")
	if status := execute(t.Context(), args, &out, &log); status != exitDone {
		t.Fatalf("exit status %d\n%s", status, &log)
	}
	for text, times := range map[string]int{
		"bare client": 1, "point_select, socket, 3 clients": 2, "read_only, tcp, 3 clients": 2, "read_write, socket, 3 clients": 2, "1 client,": 0, "Throughput": 0,
	} {
		if got := strings.Count(out.String(), text); got != times {
			t.Errorf("%q is in the table %d times, want %d:\n%s", text, got, times, &out)
		}
	}
}

// TestRoundsGoOverAllCells before a cell has its next turn.
func TestRoundsGoOverAllCells(t *testing.T) {
	args := programs(t)
	leavesNothing(t)
	file := filepath.Join(t.TempDir(), "runs.json")
	var out, log bytes.Buffer
	args = append(args, "-only", "load,limit", "-workload", "oltp_point_select", "-runs", "2", "-clients", "2,3", "-json", file)
	if status := execute(t.Context(), args, &out, &log); status != exitDone {
		t.Fatalf("exit status %d\n%s", status, &log)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r struct{ Runs []outcome }
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range r.Runs {
		if o.Counted && o.Tool == "sysbench" {
			got = append(got, fmt.Sprint(o.Load.Clients))
		}
	}
	if diff := cmp.Diff([]string{"2", "3", "2", "3"}, got); diff != "" {
		t.Errorf("clients of the turns (-want +got):\n%s", diff)
	}
	for _, table := range []string{tableThroughput, tableLimit} {
		if !strings.Contains(out.String(), table) {
			t.Errorf("%s is lacking:\n%s", table, &out)
		}
	}
}

func TestAnInterruptEndsAll(t *testing.T) {
	args := programs(t)
	leavesNothing(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := &watcher{text: "1 of 1000", found: cancel}
	var out bytes.Buffer
	args = append(args, "-only", "load", "-workload", "oltp_point_select", "-runs", "1000")
	if status := execute(ctx, args, &out, log); status != exitInterrupted {
		t.Fatalf("exit status %d\n%s", status, &log.Buffer)
	}
}

// watcher tells when a text is written.
type watcher struct {
	bytes.Buffer
	text  string
	found func()
}

func (w *watcher) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.text) {
		w.found()
	}
	return w.Buffer.Write(b)
}
