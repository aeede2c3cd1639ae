package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// The Go benchmarks of the engine whose figures are told. Each has several cases, of which the dearest counts.
const (
	benchDriver = "Statement" // a statement by the driver's way, over a driver that answers at once
	benchLoop   = "Loop"      // a statement by the event loop, over sockets whose peers answer at once
	benchRecord = "Record"    // putting down what a query came to
)

// hotpath runs the engine's Go benchmarks for what our code allocates in a query, and what recording it costs.
func (b *bench) hotpath(ctx context.Context) error {
	const patience = 15 * time.Minute // it may have to be compiled first
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it did not end within %s", patience))
	defer cancel()
	b.say("Go benchmarks of the engine")
	out, _, err := run(ctx, nil, b.goTool, "-C", b.source, "test", "-run", "^$", "-bench", "^Benchmark("+benchDriver+"|"+benchLoop+"|"+benchRecord+")$",
		"-benchmem", "-benchtime", "200ms", "-count", fmt.Sprint(b.runs), "./workloads/engine")
	if err != nil {
		return err
	}
	costs, err := readBenchmarks(string(out))
	if err != nil {
		return err
	}
	b.report.add(
		alone(tableOther, "allocations a query, our code by the driver", "", 0, costs[benchDriver].allocations, atMost(0)),
		alone(tableOther, "allocations a query, our code by the loop", "", 0, costs[benchLoop].allocations, atMost(0)),
		alone(tableOther, "recording a query", "ns", 0, costs[benchRecord].nanoseconds, atMost(150)),
	)
	return nil
}

// cost is what an operation of a benchmark took, in every run.
type cost struct{ nanoseconds, allocations []float64 }

// readBenchmarks reads what go test has printed of benchmarks, and gives the cost of each one's dearest case.
func readBenchmarks(text string) (map[string]cost, error) {
	cases := map[string]map[string]*cost{} // by benchmark, by full name
	reader := benchfmt.NewReader(strings.NewReader(text), "go test")
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		seconds, ok1 := result.Value("sec/op")
		allocations, ok2 := result.Value("allocs/op")
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("benchmark %s tells no time and allocations", result.Name)
		}
		base, name := string(result.Name.Base()), result.Name.String()
		if cases[base] == nil {
			cases[base] = map[string]*cost{}
		}
		if cases[base][name] == nil {
			cases[base][name] = &cost{}
		}
		r := cases[base][name]
		r.nanoseconds, r.allocations = append(r.nanoseconds, seconds*1e9), append(r.allocations, allocations)
	}
	if err := reader.Err(); err != nil {
		return nil, fmt.Errorf("benchmarks: %w", err)
	}
	costs := map[string]cost{}
	for _, base := range []string{benchDriver, benchLoop, benchRecord} {
		var c cost
		for _, r := range cases[base] {
			if c.nanoseconds == nil || median(r.nanoseconds) > median(c.nanoseconds) {
				c.nanoseconds = r.nanoseconds
			}
			if c.allocations == nil || slices.Max(r.allocations) > slices.Max(c.allocations) {
				c.allocations = r.allocations
			}
		}
		if c.nanoseconds == nil {
			return nil, errors.New("the engine has no Benchmark" + base + " any more")
		}
		costs[base] = c
	}
	return costs, nil
}
