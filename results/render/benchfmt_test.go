package render

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"benchplan/results"
)

// wideRun has many columns, four labels, and values of labels that are long or hold what a format may take for its own.
func wideRun(repeats int) (*results.Run, []results.Cell) {
	run, cells := matrixRun(repeats, 1)
	run.Plan = "wide plan"
	run.Report = results.Settings{
		Baseline: map[string]string{"config": "plain"},
		Metrics: []string{"tps", "writes", "reads", "errors", "write_p50", "write_p95", "write_p99", "write_max",
			"read_p50", "read_p95", "read_p99", "read_max", "mean", "p999", "max", "elapsed"},
		Assert: []string{"errors == 0", `labels.mix == "read" || write_p95 < 1`},
	}
	for i := range cells {
		cells[i].Path = []string{"", "config of the proxy / 1", "mix"}
		cells[i].Labels = append(cells[i].Labels,
			results.Label{Name: "innodb_flush_log_at_trx_commit and sync_binlog", Value: "1=1, as a bank would have it: nothing is lost in any crash"},
			results.Label{Name: "disk", Value: "ssd-2"})
	}
	return run, cells
}

// others are the runs that each of the formats below has a golden file of, with the records that they are made of.
func others() map[string]results.Recorded {
	list := map[string]results.Recorded{}
	for name, make := range map[string]func() (*results.Run, []results.Cell){
		"radon": radonRun, "one": oltpRun, "partial": partialRun,
		"wide":  func() (*results.Run, []results.Cell) { return wideRun(2) },
		"mixed": func() (*results.Run, []results.Cell) { return machineRun(1) },
	} {
		run, cells := make()
		list[name] = results.Recorded{Name: run.Plan + "/20180523T142000Z", Run: run, Cells: cells}
	}
	return list
}

func TestBenchfmtGolden(t *testing.T) {
	for name, r := range others() {
		golden(t, name+".bench", func(b *bytes.Buffer) error { return Benchfmt(b, report(r.Run, r.Cells), Options{}) })
	}
	for name, runs := range map[string][]results.Recorded{"compare": twoRuns(), "compare-mixed": twoMachines()} {
		golden(t, name+".bench", func(b *bytes.Buffer) error {
			c, err := results.Compare(runs)
			if err != nil {
				return err
			}
			return BenchfmtCompare(b, c, Options{})
		})
	}
}

// TestBenchfmtIsRead by the reader of the format: each line is a repeat with the figures of the report, and no line is an error.
func TestBenchfmtIsRead(t *testing.T) {
	for name, r := range others() {
		rep := report(r.Run, r.Cells)
		var b bytes.Buffer
		if err := Benchfmt(&b, rep, Options{}); err != nil {
			t.Fatal(err)
		}
		repeats, names := 0, map[string]bool{}
		reader := benchfmt.NewReader(&b, name)
		for reader.Scan() {
			switch rec := reader.Result().(type) {
			case *benchfmt.SyntaxError:
				t.Errorf("%s: %v", name, rec)
			case *benchfmt.Result:
				repeats++
				names[rec.Name.String()] = true
				if got := rec.GetConfig("plan"); got != r.Run.Plan {
					t.Errorf("%s: plan %q, want %q", name, got, r.Run.Plan)
				}
				if (rec.GetConfig("status") == "") != (rec.Name.String() != "Radon-benchyou/5.4/config=twopc/mix=rw" || name != "partial") {
					t.Errorf("%s: %s has status %q", name, rec.Name, rec.GetConfig("status"))
				}
			}
		}
		if want := len(rep.Rows()); len(names) != want || repeats != len(r.Cells) {
			t.Errorf("%s: %d names in %d lines, want %d in %d", name, len(names), repeats, want, len(r.Cells))
		}
		for unit, want := range map[string]int{"tps": 1, "p95-sec": -1, "write_p95-sec": -1, "file_reads/s": 1} {
			if got := reader.Units().GetBetter(unit); got != want && reader.Units().Get(unit, "assume") != nil {
				t.Errorf("%s: better of %s is %d, want %d", name, unit, got, want)
			}
		}
	}
}

// TestBenchstat: benchstat itself reads what is written without a complaint, and comes to the same medians, and between runs to the
// same p-values.
func TestBenchstat(t *testing.T) {
	program := filepath.Join(t.TempDir(), "benchstat")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "golang.org/x/perf/cmd/benchstat").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(name string, write func(*bytes.Buffer) error, args ...string) []benchstatCell {
		t.Helper()
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		command := exec.CommandContext(t.Context(), program, append(append([]string{"-format", "csv"}, args...), file)...)
		var out, complaints bytes.Buffer
		command.Stdout, command.Stderr = &out, &complaints
		if err := command.Run(); err != nil || complaints.Len() > 0 {
			t.Errorf("benchstat %s: %v\n%s", strings.Join(args, " "), err, complaints.String())
		}
		return benchstatCells(t, out.String())
	}

	_, cells := matrixRun(6, 1)
	wide, _ := wideRun(6)
	wide.Report.Metrics = []string{"tps", "p95", "mean", "errors"}
	r := report(wide, cells)
	got := run("report", func(b *bytes.Buffer) error { return Benchfmt(b, r, Options{}) }, "-col", "/config")
	rows := map[string]*results.Row{}
	for _, row := range r.Rows() {
		config, _ := row.Label("config")
		mix, _ := row.Label("mix")
		rows[fmt.Sprintf("Wide%%20plan/config/mix/mix=%s %s", mix, config)] = row
	}
	checkMedians(t, got, len(rows)*3, func(c benchstatCell) *results.Row { return rows[c.row+" "+c.column] })

	// The second run has other repeats, ties among them, and is compared with the first.
	run2, cells2 := matrixRun(7, 1.004)
	cells2[9].Outcome.Events = cells[9].Outcome.Events
	run2.Host.Name, run2.Tool.Version = "other", "0.2.0"
	comparison, err := results.Compare([]results.Recorded{{Name: "a", Run: wide, Cells: cells}, {Name: "b", Run: run2, Cells: cells2}})
	if err != nil {
		t.Fatal(err)
	}
	got = run("compare", func(b *bytes.Buffer) error { return BenchfmtCompare(b, comparison, Options{}) }, "-col", "run")
	byName := map[string]*results.CompareRow{}
	for i := range comparison.Rows {
		row := &comparison.Rows[i]
		config, _ := row.Label("config")
		mix, _ := row.Label("mix")
		byName[fmt.Sprintf("Wide%%20plan/config/mix/config=%s/mix=%s", config, mix)] = row
	}
	side := func(c benchstatCell) *results.Row { return byName[c.row].Sides[strings.Index("ab", c.column)] }
	checkMedians(t, got, len(byName)*2*3, side)
	tested := 0
	for _, c := range got {
		if c.column != "b" {
			continue
		}
		change, ok := side(c).Changes[c.metric]
		if !ok || !change.Tested {
			t.Errorf("%s of %s was not compared: %+v", c.metric, c.row, change)
			continue
		}
		tested++
		if want := fmt.Sprintf("p=%.3f n=6+7", change.P); c.p != want {
			t.Errorf("%s of %s: benchstat says %s, we %s", c.metric, c.row, c.p, want)
		}
		if (c.delta == "~") == change.Significant {
			t.Errorf("%s of %s: benchstat says %s, we %v", c.metric, c.row, c.delta, change.Significant)
		}
	}
	if tested != len(byName)*3 {
		t.Errorf("%d p-values compared", tested)
	}
}

func checkMedians(t *testing.T, got []benchstatCell, want int, rowOf func(benchstatCell) *results.Row) {
	t.Helper()
	if len(got) != want {
		t.Errorf("benchstat has %d figures, want %d", len(got), want)
	}
	for _, c := range got {
		row := rowOf(c)
		if row == nil {
			t.Errorf("benchstat's row %q, column %q is none of ours", c.row, c.column)
			continue
		}
		m, _ := results.MetricByName(c.metric)
		_, divide := benchUnit(m)
		median := row.Values[c.metric].Center / divide
		if math.Abs(c.median-median) > 1e-12*median {
			t.Errorf("%s of %s: benchstat's median is %v, ours %v", c.metric, row.Key, c.median, median)
		}
	}
}

// benchstatCell is a figure of benchstat's tables.
type benchstatCell struct {
	row, column, metric string
	median              float64
	delta, p            string
}

// benchstatCells reads benchstat's CSV: tables, each of a line with the columns, a line with the unit of each, and rows.
func benchstatCells(t *testing.T, text string) []benchstatCell {
	t.Helper()
	metrics := map[string]string{}
	for _, m := range results.Metrics() {
		unit, _ := benchUnit(m)
		metrics[unit] = m.Name
	}
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var cells []benchstatCell
	var columns, units []string
	for i, record := range records {
		switch {
		case len(record) < 3: // configuration
		case record[0] == "" && i+1 < len(records) && records[i+1][0] == "":
			columns = record
		case record[0] == "":
			units = record
		case record[0] != "geomean":
			for n := 1; n < len(record); n++ {
				metric, ok := metrics[units[n]]
				if !ok {
					continue
				}
				c := benchstatCell{row: record[0], column: columns[n], metric: metric}
				if c.median, err = strconv.ParseFloat(record[n], 64); err != nil {
					t.Fatal(err)
				}
				if n+3 < len(record) && units[n+2] == "vs base" {
					c.delta, c.p = record[n+2], record[n+3]
				}
				cells = append(cells, c)
			}
		}
	}
	return cells
}

// TestBenchUnits: times are seconds and amounts of data bytes, whatever they are in the table.
func TestBenchUnits(t *testing.T) {
	for name, want := range map[string]string{
		"p95": "p95-sec 0.001", "elapsed": "elapsed-sec 1", "cpu_us_op": "cpu_us_op-sec 1e-06", "log_kb_op": "log_kb_op-B 1024", "free_mb": "free_mb-B 1048576",
		"mib_read": "read-B/s 1048576", "tps": "tps 1", "fsyncs": "fsyncs/s 1", "errors": "errors 1",
	} {
		m, ok := results.MetricByName(name)
		unit, divide := benchUnit(m)
		if got := fmt.Sprintf("%s %.7g", unit, 1/divide); !ok || got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestBenchNames: what is in a label cannot break a name apart, and different cells have different names.
func TestBenchNames(t *testing.T) {
	row := func(path []string, labels ...string) *results.Row {
		r := &results.Row{Path: path}
		for i := 0; i < len(labels); i += 2 {
			r.Labels = append(r.Labels, results.Label{Name: labels[i], Value: labels[i+1]})
		}
		r.Key = results.Key(path, r.Labels)
		return r
	}
	for _, tt := range []struct {
		plan string
		row  *results.Row
		want string
	}{
		{"quickstart", row([]string{"mix"}, "flush", "1"), "BenchmarkQuickstart/mix/flush=1"},
		{"ölbad", row(nil), "BenchmarkÖlbad"},
		{"5.4 twopc", row([]string{"", "a/b"}), "BenchmarkPlan-5.4%20twopc/a%2Fb"},
		{"二相", row([]string{"x"}, "disk", "ssd-2"), "BenchmarkPlan-二相/x/disk=ssd%2D2"},
		{"p", row([]string{"x"}, "disk", "ssd-2", "n", "8"), "BenchmarkP/x/disk=ssd-2/n=8"},
		{"p", row([]string{"x"}, "a=b", "c=d 100%\t\n\x1b\u00a0"), "BenchmarkP/x/a%3Db=c%3Dd%20100%25%09%0A%1B%C2%A0"},
		{"", row([]string{"bad\xff"}), "BenchmarkPlan/bad%EF%BF%BD"},
		{"p-8", row(nil), "BenchmarkP%2D8"},
	} {
		got := benchName(tt.plan, tt.row, false)
		if got != tt.want {
			t.Errorf("%q %s: %s, want %s", tt.plan, tt.row.Key, got, tt.want)
		}
		if len(strings.Fields(got)) != 1 {
			t.Errorf("%q is no single field", got)
		}
	}
	b := &benchWriter{}
	rows := []*results.Row{row([]string{"", "x"}), row([]string{"x", ""}), row([]string{"x", "y"}), nil}
	b.name("p", rows)
	if got := fmt.Sprint(b.names[rows[0].Key], " ", b.names[rows[1].Key], " ", b.names[rows[2].Key]); got != "BenchmarkP/_/x BenchmarkP/x/_ BenchmarkP/x/y" {
		t.Error(got)
	}
}

// TestBenchfmtOfTheSameRunTwice keeps both apart: benchstat would take their repeats for those of one run.
func TestBenchfmtOfTheSameRunTwice(t *testing.T) {
	runs := twoRuns()
	c, err := results.Compare([]results.Recorded{runs[0], runs[0]})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := BenchfmtCompare(&b, c, Options{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\nrun: "+runs[0].Name+"\n"); n != 1 || !strings.Contains(b.String(), "\nrun: "+runs[0].Name+" #2\n") {
		t.Errorf("%d of the first\n%s", n, b.String())
	}
}
