package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// validate measures how long a plan of very many cells takes to be checked, and what memory.
func (b *bench) validate(ctx context.Context) error {
	const cells = "100000" // as benchplan has to say it: of 100 × 100 × 10
	text := fmt.Sprintf(`name: many
tables: { schema: sbtest, count: 4, rows: 100k }
steps:
  - matrix: { a: [%s], b: [%s], threads: [%s] }
    steps:
      - run: { workload: oltp_point_select, threads: "${{ matrix.threads }}", duration: 1s }
`, sequence(100), sequence(100), sequence(10))
	file := filepath.Join(b.folder, "many.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	var seconds, memory []float64
	for range b.runs {
		out, e, err := run(ctx, nil, b.benchplan, "validate", file)
		if err != nil {
			return err
		}
		if !strings.Contains(strings.ReplaceAll(string(out), ",", ""), cells+" cells") {
			return fmt.Errorf("benchplan validate does not say %s cells:\n%s", cells, tail(string(out)))
		}
		seconds, memory = append(seconds, e.Elapsed.Seconds()), append(memory, mebibytes(e.Memory))
	}
	b.say("validate of 100,000 cells: %.2f s", median(seconds))
	b.report.add(
		alone(tableOther, "validate of 100,000 cells, time", "s", 2, seconds, atMost(1)),
		alone(tableOther, "validate of 100,000 cells, memory", "MiB", 0, memory, atMost(300)),
	)
	return nil
}

// sequence writes the numbers from 1 to n.
func sequence(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i + 1)
	}
	return strings.Join(list, ", ")
}
