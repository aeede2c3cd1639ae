package render

import (
	"bytes"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"benchplan/results"
)

// TestSysbenchSpeaksAsSysbenchDoes: the text is what sysbench 1.0.20 printed for these figures, with one percentile more.
func TestSysbenchSpeaksAsSysbenchDoes(t *testing.T) {
	c := &results.Cell{Outcome: results.Outcome{
		Elapsed: 1.0058, Events: 1084,
		Latency:    results.Latency{Count: 1084, Min: 1.37, Mean: 3.69955, Max: 9.26},
		Statements: map[results.Class]results.Statements{results.Read: {Count: 15330}, results.Write: {Count: 4353}, results.Other: {Count: 2179}},
		Restarts:   []results.ErrorCount{{Code: 1213, Count: 11}},
		Fairness:   results.Fairness{EventsMean: 271, EventsStddev: 23.89, BusyMean: 1.0026},
	}}
	events := hdrhistogram.New(1, 1e12, 5)
	for range 95 {
		_ = events.RecordValue(5_990_000)
	}
	for range 5 {
		_ = events.RecordValue(9_260_000)
	}
	var b bytes.Buffer
	if err := Sysbench(&b, c, events, []float64{95, 99.9}); err != nil {
		t.Fatal(err)
	}
	want := `SQL statistics:
    queries performed:
        read:                            15330
        write:                           4353
        other:                           2179
        total:                           21862
    transactions:                        1084   (1077.75 per sec.)
    queries:                             21862  (21735.93 per sec.)
    ignored errors:                      11     (10.94 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          1.0058s
    total number of events:              1084

Latency (ms):
         min:                                    1.37
         avg:                                    3.70
         max:                                    9.26
         95th percentile:                        5.99
         99.9th percentile:                      9.26
         sum:                                 4010.31

Threads fairness:
    events (avg/stddev):           271.0000/23.89
    execution time (avg/stddev):   1.0026/0.00
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
