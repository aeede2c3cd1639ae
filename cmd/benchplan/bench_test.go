package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// hugePlans are plans of 100,000 cells, by what their cells hang on.
var hugePlans = map[string]string{
	// The axes are read by expressions of the run.
	"matrix": `
    matrix: { threads: "${{ 1..10 }}", skew: "${{ 1..100 }}", round: "${{ 1..100 }}" }
    run: { workload: oltp_point_select, threads: "${{ matrix.threads }}", duration: 1s }
`,
	// Nothing of the run hangs on the axes.
	"fixed": `
    matrix: { threads: "${{ 1..10 }}", skew: "${{ 1..100 }}", round: "${{ 1..100 }}" }
    run: { workload: oltp_point_select, threads: 8, duration: 1s }
`,
	// Each level has axes of its own, and tables that hang on them.
	"groups": `
    matrix: { count: "${{ 1..10 }}", size: "${{ 1..100 }}" }
    tables: { count: "${{ matrix.count }}" }
    steps:
      - run: { workload: oltp_read_write, threads: "${{ matrix.threads }}", duration: "${{ matrix.size }}s", range_size: "${{ matrix.threads + matrix.count }}" }
        matrix: { threads: "${{ 1..100 }}" }
`,
}

// hugePlan writes such a plan.
func hugePlan(tb testing.TB, body string) (file string) {
	tb.Helper()
	file = filepath.Join(tb.TempDir(), "huge.yaml")
	text := "tables: { schema: sbtest, count: 4, rows: 100k }\nsteps:\n  - name: cell\n" + strings.TrimPrefix(body, "\n")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return file
}

// BenchmarkHugePlan is what commands take that only read a plan, when it has 100,000 cells.
func BenchmarkHugePlan(b *testing.B) {
	for _, command := range []string{"validate", "show"} {
		for name, body := range hugePlans {
			file := hugePlan(b, body)
			b.Run(fmt.Sprintf("%s/%s", command, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					var out, problems bytes.Buffer
					if status := execute([]string{command, file}, nil, &out, &problems); status != exitDone {
						b.Fatal(problems.String())
					}
				}
			})
		}
	}
}

// BenchmarkStart is what a command takes that reads no plan: what is worked out before it.
func BenchmarkStart(b *testing.B) {
	for _, command := range []string{"--help", "schema", "workloads"} {
		b.Run(command, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var out, problems bytes.Buffer
				if status := execute([]string{command}, nil, &out, &problems); status != exitDone {
					b.Fatal(problems.String())
				}
			}
		})
	}
}

// TestHugePlanIsReadFrugally bounds what reading takes by what does not hang on how busy a machine is.
func TestHugePlanIsReadFrugally(t *testing.T) {
	for name, body := range hugePlans {
		t.Run(name, func(t *testing.T) {
			// A tenth of the cells: what each takes is the same.
			file := hugePlan(t, strings.Replace(body, "1..100 ", "1..10 ", 1))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var out, problems bytes.Buffer
			if status := execute([]string{"validate", file}, nil, &out, &problems); status != exitDone {
				t.Fatal(problems.String())
			}
			runtime.ReadMemStats(&after)
			if !strings.Contains(out.String(), " 10000 cells") {
				t.Errorf("it says %q, want 10000 cells", out.String())
			}
			const cells = 10_000
			allocations, bytes := (after.Mallocs-before.Mallocs)/cells, (after.TotalAlloc-before.TotalAlloc)/cells
			if allocations > 70 || bytes > 8000 {
				t.Errorf("a cell takes %d allocations and %d bytes, want at most 70 and 8000", allocations, bytes)
			}
		})
	}
}
