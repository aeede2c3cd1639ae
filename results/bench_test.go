package results

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// manyCells keeps a run of 5,000 cells, as many repeats each as said, without syncing each, and gives its folder.
func manyCells(tb testing.TB, repeats int) string {
	tb.Helper()
	w, err := Create(tb.TempDir(), "many", start, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.WriteRun(&Run{Plan: "many", Planned: 5000, Status: Done, Started: start}); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	var journal []byte
	for i := range 5000 {
		c := cellAt(i+1, Label{"engine", fmt.Sprint(i / repeats % 2)}, Label{"threads", fmt.Sprint(i / repeats / 2)})
		c.Version, c.Repeat, c.Round = CellVersion, i%repeats+1, i%repeats+1
		c.Outcome.Events += int64(i * 7919 % 100)
		c.Outcome.Roles = []Role{{Name: "", Clients: 8, Events: c.Outcome.Events, Latency: c.Outcome.Latency}}
		c.Attributes = map[string]string{"order": "interleaved", "variable innodb_flush_log_at_trx_commit": "1"}
		c.HistogramFile, c.SeriesFile = fmt.Sprintf("histograms/%04d.hlog", i), fmt.Sprintf("series/%04d.csv", i)
		for _, role := range []string{Generator, ServerMachine} {
			c.Machines = append(c.Machines, Machine{Role: role, Usage: Usage{Elapsed: 10, CPUs: 8, User: 0.5}, Processes: map[string]Process{"server": {PID: 7, User: 3}}})
		}
		c.Server = &ServerStatus{Elapsed: 10, Counters: map[string]int64{}}
		for n := range 60 {
			c.Server.Counters[fmt.Sprintf("innodb_counter_%d", n)] = int64(i * n)
		}
		line, err := encodeLine(&c)
		if err != nil {
			tb.Fatal(err)
		}
		journal = append(journal, line...)
	}
	if err := os.WriteFile(filepath.Join(w.Folder(), cellsFile), journal, 0o600); err != nil {
		tb.Fatal(err)
	}
	return w.Folder()
}

// BenchmarkCompare reads two runs of 5,000 cells from their folders and compares them.
func BenchmarkCompare(b *testing.B) {
	for _, repeats := range []int{1, 5} {
		b.Run(fmt.Sprintf("repeats=%d", repeats), func(b *testing.B) {
			folders := []string{manyCells(b, repeats), manyCells(b, repeats)}
			for b.Loop() {
				var runs []Recorded
				for _, folder := range folders {
					run, cells, _, err := Open(folder)
					if err != nil {
						b.Fatal(err)
					}
					runs = append(runs, Recorded{Name: folder, Folder: folder, Run: run, Cells: cells})
				}
				c, err := Compare(runs)
				if err != nil || len(c.Rows) != 5000/repeats {
					b.Fatal(err)
				}
			}
		})
	}
}
