package engine

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchplan/results"
)

// TestPercentilesAreThoseOfTheLatencies: many latencies, put down as clients do, in shards, against the same sorted.
func TestPercentilesAreThoseOfTheLatencies(t *testing.T) {
	const n, shards = 250_000, 7
	least, most := 50*time.Microsecond, 10*time.Second
	between := func(ns float64) int64 { return int64(min(max(ns, float64(least)), float64(most))) }
	for name, draw := range map[string]func(r *rand.Rand) int64{
		"logarithmic": func(r *rand.Rand) int64 { return between(float64(least) * math.Pow(float64(most/least), r.Float64())) },
		"lognormal":   func(r *rand.Rand) int64 { return between(float64(time.Millisecond) * math.Exp(1.2*r.NormFloat64())) },
		"short":       func(r *rand.Rand) int64 { return between(float64(least) + 20_000*r.ExpFloat64()) },
		"two peaks": func(r *rand.Rand) int64 {
			if r.IntN(50) == 0 {
				return between(2e9 + 1e7*r.NormFloat64())
			}
			return between(120_000 + 3000*r.NormFloat64())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			all, parts, latencies := results.NewHistogram(), newTally(shards, 1), make([]int64, n)
			for i := range latencies {
				latencies[i] = draw(random)
				record(all, latencies[i])
				record(parts.shards[i%shards].roles[0], latencies[i])
			}
			merged := results.NewHistogram()
			for _, s := range parts.shards {
				if dropped := merged.Merge(s.roles[0]); dropped != 0 {
					t.Errorf("merging dropped %d", dropped)
				}
			}
			if !merged.Equals(all) || merged.TotalCount() != n {
				t.Error("the merged shards are not what one histogram is")
			}
			if diff := cmp.Diff(summarize(all), summarize(merged)); diff != "" {
				t.Error(diff)
			}
			near(t, name, summarize(merged), latencyOf(latencies))
		})
	}
}
