package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"benchplan/plan"
)

// A plan of 100,000 cells, each with expressions in its steps.
func BenchmarkRead100kCells(b *testing.B) {
	values := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("{ id: v%d, threads: %d, text: x }", i, i+1))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	text := `
vars: { base: 10, host: db }
target: { address: "${{ vars.host }}:3306", user: root, password: "${{ secrets.PW }}" }
tables: { schema: sysbench, rows: 10k }
steps:
  - name: outer
    matrix: { a: ` + values(100) + `, b: ` + values(10) + ` }
    vars: { n: "${{ matrix.a.threads + vars.base }}" }
    steps:
      - prepare:
      - name: inner
        matrix: { c: ` + values(100) + ` }
        run:
          workload: oltp_read_write
          threads: ${{ matrix.c.threads }}
          range_size: ${{ vars.n + matrix.b.threads }}
          duration: 10s
        assert: errors == 0
`
	b.ReportAllocs()
	for b.Loop() {
		p, err := plan.Read(source(text), words(), plan.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if p.Summary.Cells != 100_000 {
			b.Fatal(p.Summary.Cells)
		}
	}
}
