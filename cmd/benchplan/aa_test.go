//go:build aa

package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchplan/results"
)

var aaTrials = flag.Int("aa.trials", 40, "how often the same scenario is compared with itself")

// TestFalseAlarmsOnServer compares the same scenario with itself on the real server, six repeats in rounds, many times over: what
// it takes for a difference are false alarms, of which there have to be at most 5 %, three standard deviations allowed. It
// takes twelve seconds a trial; make aa runs it.
func TestFalseAlarmsOnServer(t *testing.T) {
	trials := make([]string, *aaTrials)
	for i := range trials {
		trials[i] = fmt.Sprint(i + 1)
	}
	folder := filepath.Join(t.TempDir(), "run")
	file := planFile(t, "aa.yaml", `
tables: { schema: sbtest, count: 2, rows: 10k }
steps:
  - prepare:
  - name: aa
    matrix: { trial: [`+strings.Join(trials, ", ")+`] }
    steps:
      - matrix: { side: [a, b] }
        repeat: 6
        order: interleaved
        run: { workload: oltp_point_select, threads: 4, duration: 1s }
report: { baseline: { side: a }, pivot: trial }
`)
	benchplan(t, "run", file, "--out", folder, "--quiet", "--yes").want(t, exitDone)
	run, cells, _, err := results.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	report := results.ReportOf(results.Recorded{Folder: folder, Run: run, Cells: cells}, results.Options{})
	for _, metric := range []string{"tps", "p95"} {
		tested, alarms := 0, 0
		for _, row := range report.Rows() {
			c, ok := row.Changes[metric]
			if !ok {
				continue
			}
			if c.Method != results.ByPairs && metric == "tps" {
				t.Errorf("%s was compared by %s", row.Name, c.Method)
			}
			if tested++; c.Significant {
				alarms++
			}
		}
		n := float64(tested)
		fmt.Fprintf(os.Stderr, "%s: %d false alarms in %d comparisons of a scenario with itself\n", metric, alarms, tested)
		if tested != *aaTrials || float64(alarms) > 0.05*n+3*math.Sqrt(0.05*0.95*n) {
			t.Errorf("%s: %d false alarms in %d", metric, alarms, tested)
		}
	}
}
