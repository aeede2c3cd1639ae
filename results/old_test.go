package results_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchplan/results"
	"benchplan/results/render"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The folders in testdata/v1 were written by the first version of benchplan: a whole run, an interrupted one, and one that was
// killed while it wrote a line. They are never written anew. What is read from them has to stay the same for ever.
const oldRuns = "testdata/v1"

// oldRunsOf opens the runs of testdata/v1, by time.
func oldRunsOf(t *testing.T, root string) []results.Recorded {
	t.Helper()
	entries, err := results.List(root)
	if err != nil {
		t.Fatal(err)
	}
	var runs []results.Recorded
	for _, e := range entries {
		if e.Err != nil {
			t.Fatalf("%s: %v", e.Name, e.Err)
		}
		run, cells, warnings, err := results.Open(e.Folder)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, results.Recorded{Name: results.RunName(e.Folder), Folder: e.Folder, Run: run, Cells: cells, Warnings: warnings})
	}
	if len(runs) != 3 {
		t.Fatalf("%d runs in %s, want 3", len(runs), root)
	}
	return runs
}

// TestOldRunsAreRead: every figure that the first version wrote is still there, and is what it was.
func TestOldRunsAreRead(t *testing.T) {
	var b bytes.Buffer
	for _, r := range oldRunsOf(t, oldRuns) {
		dumpRun(&b, r)
		for i := range r.Cells {
			dumpCell(t, &b, r, &r.Cells[i])
		}
	}
	path := "testdata/v1.golden"
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("runs of version 1 are read as something else (-want +got):\n%s", diff)
	}
}

// dumpRun writes what is read of a run as a whole.
func dumpRun(b *bytes.Buffer, r results.Recorded) {
	run := r.Run
	fmt.Fprintf(b, "run %s v%d %s planned %d rehearsal %v seed %d\n", r.Name, run.Version, run.Status, run.Planned, run.Rehearsal, run.Seed)
	fmt.Fprintf(b, "  plan %s %q %s, %d bytes of text, %d of what it was resolved to\n", run.Plan, run.Description, run.PlanFile, len(run.PlanText), len(run.Resolved))
	fmt.Fprintf(b, "  hash %s\n", run.PlanHash)
	fmt.Fprintf(b, "  from %s to %s\n", run.Started, run.Finished)
	fmt.Fprintf(b, "  tool %s %s, host %s %s %s %d %d\n", run.Tool.Version, run.Tool.Go, run.Host.Name, run.Host.OS, run.Host.Kernel, run.Host.CPUs, run.Host.Memory)
	for _, s := range run.Targets {
		fmt.Fprintf(b, "  target %s/%s %s %s\n", s.Address, s.Database, s.Version, s.VersionComment)
		for _, name := range slices.Sorted(maps.Keys(s.Variables)) {
			fmt.Fprintf(b, "    %s=%s\n", name, s.Variables[name])
		}
	}
	fmt.Fprintf(b, "  settings %v, baseline %v, pivot %q, metrics %v, assert %q\n", run.Settings, run.Report.Baseline, run.Report.Pivot, run.Report.Metrics, run.Report.Assert)
	for _, text := range slices.Concat(run.Errors, r.Warnings) {
		fmt.Fprintf(b, "  %s\n", text)
	}
}

func latencyText(l results.Latency) string {
	return fmt.Sprintf("%d of %v %v %v %v %v %v %v ms", l.Count, l.Min, l.Mean, l.P50, l.P95, l.P99, l.P999, l.Max)
}

// dumpCell writes what is read of a cell, its series and its histograms.
func dumpCell(t *testing.T, b *bytes.Buffer, r results.Recorded, c *results.Cell) {
	t.Helper()
	o := &c.Outcome
	fmt.Fprintf(b, "cell %d %s #%d round %d %s at %s\n", c.Seq, c.Key(), c.Repeat, c.Round, c.Status, c.Position)
	fmt.Fprintf(b, "  %s %s options %v, clients %v\n", c.Workload, c.Load, c.Options, c.Clients)
	fmt.Fprintf(b, "  tables %s %d %d %s, rows %d, target %s/%s %s\n", c.Tables.Schema, c.Tables.Count, c.Tables.Rows, c.Tables.Engine,
		c.RowsAtStart, c.Target.Address, c.Target.Database, c.ServerVersion)
	fmt.Fprintf(b, "  wanted %s %d, from %s to %s, attributes %v, error %q\n", c.Wanted.Duration, c.Wanted.Events, c.Started, c.Finished, c.Attributes, c.Error)
	fmt.Fprintf(b, "  outcome %d clients %v s, stopped by %s, %d events, %s\n", o.Clients, o.Elapsed, o.Stopped, o.Events, latencyText(o.Latency))
	for _, role := range o.Roles {
		fmt.Fprintf(b, "  role %q %d clients, %d events, uncounted %v s, %s\n", role.Name, role.Clients, role.Events, role.Uncounted, latencyText(role.Latency))
	}
	for _, class := range results.Classes {
		if s, ok := o.Statements[class]; ok {
			fmt.Fprintf(b, "  %s %d, %d rows, %d affected, %s\n", class, s.Count, s.Rows, s.Affected, latencyText(s.Latency))
		}
	}
	fmt.Fprintf(b, "  errors %d, restarts %d, reconnects %d, unfinished %d %v, fairness %v %v %v %v\n",
		len(o.Errors), len(o.Restarts), o.Reconnects, o.Unfinished, o.LongestUnfinished,
		o.Fairness.EventsMean, o.Fairness.EventsStddev, o.Fairness.BusyMean, o.Fairness.BusyStddev)
	for _, table := range slices.Sorted(maps.Keys(o.Ledger)) {
		fmt.Fprintf(b, "  ledger %s +%d -%d ?%d\n", table, o.Ledger[table].Inserted, o.Ledger[table].Deleted, o.Ledger[table].Unsure)
	}
	for _, m := range c.Marks {
		fmt.Fprintf(b, "  mark %s %s %s\n", m.Code, m.Metric, m.Text)
	}
	series, err := results.ReadSeries(r.Folder, c)
	if err != nil {
		t.Errorf("%s: %v", r.Name, err)
	}
	for _, s := range series {
		fmt.Fprintf(b, "  second %v %v: %d events, %d queries, %v %v %v ms, %d errors\n", s.At, s.Length, s.Events, s.Queries, s.P50, s.P95, s.P99, s.Errors)
	}
	histograms, err := results.ReadHistograms(r.Folder, c)
	if err != nil {
		t.Errorf("%s: %v", r.Name, err)
	}
	for _, name := range slices.Sorted(maps.Keys(histograms)) {
		h := histograms[name]
		fmt.Fprintf(b, "  histogram %s: %d, %d to %d ns, median %d\n", name, h.TotalCount(), h.Min(), h.Max(), h.ValueAtQuantile(50))
	}
}

// TestOldRunsAreReported: a run of the first version has its table, and its figures are those of its cells.
func TestOldRunsAreReported(t *testing.T) {
	for _, r := range oldRunsOf(t, oldRuns) {
		report := results.NewReport(r.Name, r.Run, r.Cells, r.Warnings)
		byKey := map[string][]results.Cell{}
		for _, c := range r.Cells {
			if c.Status == results.Complete {
				byKey[c.Key()] = append(byKey[c.Key()], c)
			}
		}
		rows := report.Rows()
		if len(rows) != 3 { // the processor, and two settings
			t.Errorf("%s: %d rows, want 3", r.Name, len(rows))
		}
		for _, row := range rows {
			for _, m := range results.Metrics() {
				var want []float64
				for i := range byKey[row.Key] {
					if v, ok := m.Value(&byKey[row.Key][i]); ok {
						want = append(want, v)
					}
				}
				if got := row.Values[m.Name].Samples; !slices.Equal(got, want) {
					t.Errorf("%s: %s of %s has samples %v, want %v", r.Name, m.Name, row.Key, got, want)
				}
			}
		}
		for name, format := range render.Formats() {
			var b bytes.Buffer
			if err := format.Report(&b, report, render.Options{Width: 120, Runs: []results.Recorded{r}}); err != nil || b.Len() == 0 {
				t.Errorf("%s as %s: %d bytes, %v", r.Name, name, b.Len(), err)
			}
			if text := b.String(); !strings.Contains(text, "flush") {
				t.Errorf("%s as %s does not say what it is of:\n%s", r.Name, name, text)
			}
		}
		if _, err := results.Assert(r.Cells, r.Run.Report.Assert); err != nil {
			t.Error(err)
		}
	}
}

// TestOldRunsAreCompared: runs of the first version meet each other, and in every format.
func TestOldRunsAreCompared(t *testing.T) {
	runs := oldRunsOf(t, oldRuns)
	c, err := results.Compare(runs)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Rows) != 3 {
		t.Errorf("%d rows, want 3", len(c.Rows))
	}
	for _, row := range c.Rows {
		for n, side := range row.Sides {
			if side == nil {
				t.Errorf("%s has no partner in %s", row.Key, runs[n].Name)
				continue
			}
			if _, ok := side.Changes["tps"]; ok != (n > 0) {
				t.Errorf("%s in %s: a difference of tps: %v", row.Key, runs[n].Name, ok)
			}
		}
	}
	for name, format := range render.Formats() {
		var b bytes.Buffer
		if err := format.Compare(&b, c, render.Options{Width: 120, Runs: runs}); err != nil || !strings.Contains(b.String(), "flush") {
			t.Errorf("as %s: %v\n%s", name, err, b.String())
		}
	}
}

// TestOldRunsAreResumed: what the first version left unfinished goes on in the same folder, and stays readable.
func TestOldRunsAreResumed(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(oldRuns)); err != nil {
		t.Fatal(err)
	}
	for _, r := range oldRunsOf(t, root)[1:] {
		w, _, cells, _, err := results.Resume(r.Folder, nil)
		if err != nil {
			t.Fatal(err)
		}
		again := cells[1]
		again.Seq, again.Repeat = 0, 6
		err = w.Append(&again)
		if closing := w.Close(); err != nil || closing != nil {
			t.Fatal(err, closing)
		}
		_, got, warnings, err := results.Open(r.Folder)
		if err != nil || len(got) != len(cells)+1 || len(warnings) > 0 {
			t.Errorf("%s: %d cells, want %d; %v %v", filepath.Base(r.Folder), len(got), len(cells)+1, warnings, err)
		}
	}
}
