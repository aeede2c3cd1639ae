package results

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

const (
	batchSeconds = 20 // below which a series tells nothing about its own noise
	fewBatches   = 10
	manyBatches  = 30 // more make the interval no better (Schmeiser: Batch Size Effects in the Analysis of Simulation Output, 1982)
)

// BatchInterval is a 95 % interval of the rate of events of one execution of a cell, from its one-second series alone, by
// batch means (Law & Kelton: Simulation Modeling and Analysis, 9.5.3): neighbouring seconds are alike, so they are averaged in
// batches long enough to be independent. It begins with 30 batches, or fewer where the series is short, and makes them longer
// until the correlation of neighbours is no longer significant; what is left of it widens the interval as that of a
// first-order autoregressive process does. It says how steady the rate was within this execution, and nothing about another: it
// is no ground for a claim. It is false for less than 20 seconds, and where even ten batches are correlated: a rate that has a
// trend has no interval.
func BatchInterval(series []Second) (Interval, bool) {
	var rates []float64
	var events, length float64
	for _, s := range series {
		if s.Length <= 0 {
			continue
		}
		events += float64(s.Events)
		length += s.Length
		if s.Length >= 0.5 { // what is left of the last second is too short to be one among the others
			rates = append(rates, float64(s.Events)/s.Length)
		}
	}
	if len(rates) < batchSeconds {
		return Interval{}, false
	}
	for size := (len(rates) + manyBatches - 1) / manyBatches; len(rates)/size >= fewBatches; size++ {
		means := batchMeans(rates, size)
		n := float64(len(means))
		r := neighbours(means)
		if r > stats.StdNormal.InvCDF(0.95)/math.Sqrt(n) {
			continue
		}
		r = max(0, r)
		half := tQuantile(1-alpha/2, n-1) * stats.StdDev(means) / math.Sqrt(n) * math.Sqrt((1+r)/(1-r))
		return Interval{events/length - half, events/length + half}, true
	}
	return Interval{}, false
}

// batchMeans averages values in batches of a size; those that fill none are left out at the begin, next to the warm-up.
func batchMeans(values []float64, size int) []float64 {
	var means []float64
	for i := len(values) % size; i < len(values); i += size {
		means = append(means, stats.Mean(values[i:i+size]))
	}
	return means
}

// neighbours is the correlation of each value with the next, with the bias of about -1/n taken out; 0 where all are equal.
func neighbours(values []float64) float64 {
	if !slices.ContainsFunc(values, func(v float64) bool { return v != values[0] }) {
		return 0
	}
	return lag1(values) + 1/float64(len(values))
}
