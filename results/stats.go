package results

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Repeats below which statistics have nothing to say: a 95 % interval of a median takes 6 samples; a Mann-Whitney U test
// at 0.05 takes 4 on each side, where both have as many.
const (
	IntervalRepeats = 6
	TestRepeats     = 4
)

const (
	confidence = 0.95
	alpha      = 0.05
)

// Value is a metric over the repeats of a cell.
type Value struct {
	Center   float64   `json:"center"`             // the median
	Interval *Interval `json:"interval,omitempty"` // 95 %, of the median; nil with fewer than IntervalRepeats
	Samples  []float64 `json:"samples"`            // one a repeat, in the order of the repeats
}

// Interval is where the true value lies with 95 % confidence.
type Interval struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// Spread is the larger distance from the center to an end of the interval, as a fraction of the center. It is false
// where there is no interval, or no center to take a fraction of.
func (v Value) Spread() (float64, bool) {
	if v.Interval == nil || v.Center == 0 {
		return 0, false
	}
	return max(v.Interval.Hi-v.Center, v.Center-v.Interval.Lo) / math.Abs(v.Center), true
}

// Change is the difference of a value to its baseline.
type Change struct {
	Ratio       float64 `json:"ratio"`             // (value - baseline) / baseline: 0.12 is 12 % more
	Tested      bool    `json:"tested"`            // by a Mann-Whitney U test; false without repeats on both sides
	Decidable   bool    `json:"decidable"`         // there are enough repeats for a test to find any difference significant
	P           float64 `json:"p,omitzero"`        // of the test
	Significant bool    `json:"significant"`       // P < 0.05
	Better      *bool   `json:"better,omitempty"`  // whether a significant difference is for the better; nil: no claim
	Against     float64 `json:"against,omitempty"` // the baseline's value
}

// Summarize takes the median of the samples and, where there are enough, its 95 % interval (order statistics, as
// golang.org/x/perf/benchmath computes it). There has to be at least one sample.
func Summarize(samples []float64) Value {
	v := Value{Samples: samples}
	s := benchmath.AssumeNothing.Summary(newSample(samples), confidence)
	v.Center = s.Center
	if len(samples) >= 2 && !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
		v.Interval = &Interval{s.Lo, s.Hi}
	}
	return v
}

// ChangeOf compares a value with its baseline: with repeats on both sides by a Mann-Whitney U test, otherwise by
// their ratio alone. It is false where the baseline is 0, from which nothing is a percentage.
func ChangeOf(baseline, value Value, better Direction) (Change, bool) {
	if baseline.Center == 0 {
		return Change{}, false
	}
	c := Change{Ratio: value.Center/baseline.Center - 1, Against: baseline.Center, Decidable: smallestP(len(baseline.Samples), len(value.Samples)) < alpha}
	if len(baseline.Samples) < 2 || len(value.Samples) < 2 {
		return c, true
	}
	test := benchmath.AssumeNothing.Compare(newSample(baseline.Samples), newSample(value.Samples))
	c.Tested, c.P, c.Significant = true, test.P, test.P < alpha
	if c.Significant && better != Neither {
		good := c.Ratio > 0 == (better == Higher)
		c.Better = &good
	}
	return c, true
}

// smallestP is the smallest p that a two-sided Mann-Whitney U test of n and m samples can give: that of all of one side
// being above all of the other, 2 of the C(n+m, n) orders in which they can come.
func smallestP(n, m int) float64 {
	p := 2.0
	for i := 1; i <= n; i++ {
		p *= float64(i) / float64(m+i)
	}
	return min(p, 1)
}

func newSample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}
