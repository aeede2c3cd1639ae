package results

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"benchplan/plan"
)

var start = time.Date(2026, 9, 10, 14, 2, 3, 0, time.UTC)

// cellAt is a whole cell of a read-write load without roles: 100 events/s of 80 ms each, by 8 clients.
func cellAt(seq int, labels ...Label) Cell {
	latency := func(n int64, mean float64) Latency {
		return Latency{Count: n, Min: mean / 10, Mean: mean, P50: mean, P95: 2 * mean, P99: 3 * mean, P999: 4 * mean, Max: 5 * mean}
	}
	return Cell{
		Path: []string{"config", "run"}, Labels: labels, Repeat: 1, Round: 1, Seq: seq, Position: "plan.yaml:7", Workload: "oltp_read_write",
		Options: map[string]any{"range_size": "100"}, Tables: plan.Tables{Schema: "sysbench", Count: 2, Rows: 1000, Engine: "innodb"},
		Clients: map[string]int{"": 8}, Target: Endpoint{Address: "/run/mysqld.sock", Database: "sbtest"}, ServerVersion: "11.8.3-MariaDB",
		Wanted: Wanted{Duration: plan.Duration(10 * time.Second)}, Started: start, Finished: start.Add(10 * time.Second), Status: Complete,
		Outcome: Outcome{
			Clients: 8, Elapsed: 10, Stopped: ByDuration, Events: 1000, Latency: latency(1000, 80),
			Statements: map[Class]Statements{
				Read:  {Count: 10000, Rows: 20000, Latency: latency(10000, 4)},
				Write: {Count: 4000, Affected: 4000, Latency: latency(4000, 6)},
			},
		},
	}
}

func histogramOf(values ...int64) *hdrhistogram.Histogram {
	h := hdrhistogram.New(64, 60_000_000_000, 3)
	for _, v := range values {
		_ = h.RecordValue(v)
	}
	return h
}
