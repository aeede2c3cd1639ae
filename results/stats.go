package results

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// Repeats below which statistics have nothing to say: a 95 % interval of a median takes 6 samples; a Mann-Whitney U test
// at 0.05 takes 4 on each side, where both have as many, and as many pairs are asked for before they decide anything.
const (
	IntervalRepeats = 6
	TestRepeats     = 4
)

const (
	confidence = 0.95
	alpha      = 0.05
)

// Method is how an interval or a difference was worked out.
type Method string

// The methods.
const (
	// ByRepeats is an interval of the median from the order of the repeats.
	ByRepeats Method = "order statistics"
	// ByPairs is a paired t test of the log-ratios of rounds: see pairedChange.
	ByPairs Method = "pairs"
	// ByUTest is a Mann-Whitney U test of the repeats of both sides.
	ByUTest Method = "u-test"
	// ByBatches is from the batch means of the one-second series of a single execution: an interval, never a claim.
	ByBatches Method = "batch means"
	// Untested is the ratio alone.
	Untested Method = "none"
)

// Value is a metric over the repeats of a cell.
type Value struct {
	Center   float64   `json:"center"`                // the median
	Interval *Interval `json:"interval,omitempty"`    // 95 %: of the median; of one repeat, of the mean over its seconds; nil where there is none
	By       Method    `json:"interval_by,omitempty"` // of the interval: ByRepeats or ByBatches
	Samples  []float64 `json:"samples"`               // one a repeat, in the order of the repeats
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
	Method      Method    `json:"method"`
	Ratio       float64   `json:"ratio"`                            // (value - baseline) / baseline: 0.12 is 12 % more. By pairs it is of the geometric mean of the rounds' ratios, less the drift within a round, else of the medians
	Interval    *Interval `json:"interval,omitempty"`               // 95 %, of Ratio; nil where there is none
	Pairs       int       `json:"pairs,omitempty"`                  // rounds that were paired
	Tested      bool      `json:"tested"`                           // false without repeats on both sides
	Decidable   bool      `json:"decidable"`                        // there are enough repeats for a test to find any difference significant
	P           float64   `json:"p,omitzero"`                       // of the test, at least 1e-16
	Adjusted    float64   `json:"p_adjusted,omitzero"`              // after Holm, over the differences that the table shows and those that an expression judges; 0: it is none of them
	Significant bool      `json:"significant"`                      // P (with --correct holm: Adjusted) < 0.05
	Better      *bool     `json:"better,omitempty"`                 // whether a significant difference is for the better; nil: no claim
	Against     float64   `json:"against,omitempty"`                // the baseline's median
	Advised     int       `json:"repeats_to_find_10_pct,omitempty"` // of one that the table shows and that is not significant: see RepeatsToFind

	noise  noise
	rounds int  // that could have been paired
	cut    bool // a side was not carried out to its end
}

// noise is what was seen of it in a difference that a test decided.
type noise struct {
	sd     float64 // of log-ratios (paired), or pooled of the logarithms of either side; 0: not known
	dof    int
	paired bool
}

// Factor is the value over the baseline: 1.12 for 12 % more.
func (c Change) Factor() float64 { return 1 + c.Ratio }

// decide says whether a p is significant, and if so whether that is for the better.
func (c *Change) decide(p float64, better Direction) {
	c.Significant, c.Better = c.Decidable && p < alpha, nil
	if c.Significant && better != Neither && c.Ratio != 0 { // medians can be equal where the rest is not
		good := c.Ratio > 0 == (better == Higher)
		c.Better = &good
	}
}

// Summarize takes the median of the samples and, where there are enough, its 95 % interval (order statistics, as
// golang.org/x/perf/benchmath computes it). There has to be at least one sample.
func Summarize(samples []float64) Value {
	v := Value{Samples: samples}
	if len(samples) == 1 {
		v.Center = samples[0]
		return v
	}
	s := benchmath.AssumeNothing.Summary(newSample(samples), confidence)
	v.Center = s.Center
	if !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
		v.Interval, v.By = &Interval{s.Lo, s.Hi}, ByRepeats
	}
	return v
}

// ChangeOf compares a value with its baseline: with repeats on both sides by a Mann-Whitney U test, otherwise by
// their ratio alone, with an interval where both have one from batch means. It is false where the baseline is 0, from which
// nothing is a percentage.
func ChangeOf(baseline, value Value, better Direction) (Change, bool) {
	if baseline.Center == 0 {
		return Change{}, false
	}
	c := Change{Method: Untested, Ratio: value.Center/baseline.Center - 1, Against: baseline.Center, Decidable: smallestP(len(baseline.Samples), len(value.Samples)) < alpha}
	if len(baseline.Samples) < 2 || len(value.Samples) < 2 {
		if baseline.By == ByBatches && value.By == ByBatches {
			c.Method, c.Interval = ByBatches, batchRatio(baseline, value)
		}
		return c, true
	}
	test := benchmath.AssumeNothing.Compare(newSample(baseline.Samples), newSample(value.Samples))
	c.Method, c.Tested, c.P = ByUTest, true, max(smallest, test.P)
	c.decide(c.P, better)
	if !c.Decidable {
		return c, true
	}
	old, okOld := logarithms(baseline.Samples)
	now, okNow := logarithms(value.Samples)
	if okOld && okNow {
		c.Interval = shiftInterval(old, now)
		n, m := len(old), len(now)
		c.noise = noise{math.Sqrt((float64(n-1)*stats.Variance(old) + float64(m-1)*stats.Variance(now)) / float64(n+m-2)), n + m - 2, false}
	}
	return c, true
}

// batchRatio is the interval of the ratio of two rates that have one each: the half widths, as fractions, add up as the sides
// of a right angle do (Zou & Donner: Construction of Confidence Limits about Effect Measures, Statistics in Medicine 27, 2008,
// on the logarithms).
func batchRatio(baseline, value Value) *Interval {
	a, ok1 := baseline.Spread()
	b, ok2 := value.Spread()
	if !ok1 || !ok2 || value.Center <= 0 || baseline.Center <= 0 {
		return nil
	}
	half, center := math.Hypot(a, b), math.Log(value.Center/baseline.Center)
	return &Interval{math.Expm1(center - half), math.Expm1(center + half)}
}

// shiftInterval is the 95 % interval of the ratio that fits the Mann-Whitney U test: of all differences between a logarithm of
// one side and one of the other, as many are left out at either end as the test would (Hollander, Wolfe, Chicken: Nonparametric
// Statistical Methods, 4.3). It is nil where they are too few for that.
func shiftInterval(old, now []float64) *Interval {
	n, m := len(old), len(now)
	mean, sd := float64(n*m)/2, math.Sqrt(float64(n*m)*float64(n+m+1)/12)
	outside := max(0, int(mean+stats.StdNormal.InvCDF(alpha/2)*sd))
	if limit := stats.MannWhitneyExactLimit; n <= limit && m <= limit {
		dist := stats.UDist{N1: n, N2: m}
		for outside > 0 && dist.CDF(float64(outside-1)) > alpha/2 {
			outside--
		}
		for dist.CDF(float64(outside)) <= alpha/2 {
			outside++
		}
	}
	if outside == 0 {
		return nil
	}
	differences := make([]float64, 0, n*m)
	for _, a := range old {
		for _, b := range now {
			differences = append(differences, b-a)
		}
	}
	slices.Sort(differences)
	return &Interval{math.Expm1(differences[outside-1]), math.Expm1(differences[len(differences)-outside])}
}

// logarithms is false where a value is not above 0.
func logarithms(values []float64) ([]float64, bool) {
	list := make([]float64, len(values))
	for i, v := range values {
		if v <= 0 {
			return nil, false
		}
		list[i] = math.Log(v)
	}
	return list, true
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
