package steps

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkBetweenCells tells by gap-ms what is lost from the measured part of a cell to that of the next: connecting, preparing,
// stopping, the looks at the machine and the server, and the record on the disk.
func BenchmarkBetweenCells(b *testing.B) {
	for _, workload := range []string{"oltp_point_select", "oltp_read_write"} {
		for _, io := range []string{"auto", "driver"} {
			b.Run(workload+"/"+io, func(b *testing.B) {
				var lost time.Duration
				for b.Loop() {
					o := carryOut(b, fmt.Sprintf(`
tables: { schema: sbtest, count: 4, rows: 10k }
steps:
  - prepare:
  - run: { workload: %s, threads: 64, events: 1000, io: %s }
    repeat: 5
`, workload, io)).done(b)
					first, last := o.cells[0], o.cells[len(o.cells)-1]
					between := last.Finished.Sub(first.Started)
					for _, c := range o.cells {
						between -= time.Duration(c.Outcome.Elapsed * float64(time.Second))
					}
					lost += between / time.Duration(len(o.cells))
				}
				b.ReportMetric(float64(lost.Microseconds())/1000/float64(b.N), "gap-ms")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
