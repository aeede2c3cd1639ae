package results

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// cellPair is a cell and that of its baseline, of the same round.
type cellPair struct{ base, cell *Cell }

// pairRounds pairs the repeats of two rows of one run round by round. A pair is two complete cells between which no other
// repeat of either was executed: only then is what drifts while the run goes on common to both. So interleaved and shuffled
// rounds are paired, and repeats one after the other are not, whatever the plan calls its order; a round of which one cell
// failed, or was executed again much later, is left out.
func pairRounds(base, row *Row) []cellPair {
	both := slices.Concat(base.cells, row.cells)
	var pairs []cellPair
	for _, c := range row.cells {
		i := slices.IndexFunc(base.cells, func(b *Cell) bool { return b.Round == c.Round })
		if i < 0 || c.Status != Complete || base.cells[i].Status != Complete {
			continue
		}
		b := base.cells[i]
		first, last := min(b.Seq, c.Seq), max(b.Seq, c.Seq)
		if !slices.ContainsFunc(both, func(o *Cell) bool { return first < o.Seq && o.Seq < last }) {
			pairs = append(pairs, cellPair{b, c})
		}
	}
	return pairs
}

// round is a pair in one metric, by logarithms.
type round struct {
	ratio float64 // of value over baseline
	level float64 // the mean of both
	at    float64 // the middle of both among the cells that were executed
	gap   float64 // how many cells after the baseline the other was executed; below 0: before it
}

// logRatios gives the rounds of the pairs that have the metric. It is false where a value is not above 0: it has no logarithm, and
// leaving it out would choose among the rounds by what they came to.
func logRatios(pairs []cellPair, m Metric) ([]round, bool) {
	var rounds []round
	for _, p := range pairs {
		old, ok1 := m.Value(p.base)
		value, ok2 := m.Value(p.cell)
		if !ok1 || !ok2 {
			continue
		}
		r := math.Log(value / old)
		if old <= 0 || value <= 0 || math.IsNaN(r) || math.IsInf(r, 0) {
			return nil, false
		}
		first, second := float64(p.base.Seq), float64(p.cell.Seq)
		rounds = append(rounds, round{r, (math.Log(value) + math.Log(old)) / 2, (first + second) / 2, second - first})
	}
	return rounds, true
}

// drift fits a line through the levels of the rounds: the slope for each cell that is executed, and the variance of that.
func drift(rounds []round) (slope, variance float64) {
	n := float64(len(rounds))
	var at, level, square, product, rest float64
	for _, r := range rounds {
		at, level = at+r.at/n, level+r.level/n
	}
	for _, r := range rounds {
		square += (r.at - at) * (r.at - at)
		product += (r.at - at) * (r.level - level)
	}
	if square == 0 {
		return 0, 0
	}
	slope = product / square
	for _, r := range rounds {
		e := r.level - level - slope*(r.at-at)
		rest += e * e
	}
	return slope, rest / (n - 2) / square
}

// pairedChange compares round by round, by a paired t test on the logarithms of the ratios: the centre is their mean and the
// interval that of the mean, both turned back into ratios, so the centre is the geometric mean of the ratios. It is assumed
// that what remains of the ratios after the difference itself, the noise within a round, is independent from round to round,
// about log-normal, and alike in all rounds.
//
// Drift is common to both cells of a round, but for what it moves from one to the other. In rounds that all have the same order
// that always falls on the same side, and a tenth over a quiet run would be taken for a difference in one case of three. So it is
// taken out: how much a cell's place makes is seen from the levels of the rounds, which tell nothing about the difference (of
// independent noise the sum and the difference are independent). What that is not known to the last digit adds to the variance,
// with the degrees of freedom after Welch and Satterthwaite.
//
// Two rounds would do for a t; below TestRepeats the assumption can be seen by nobody, and there is no claim: then, and where all
// ratios are equal to the last digit (coarse latencies, of which no spread can be taken), it is false.
func pairedChange(rounds []round, better Direction) (Change, bool) {
	n := len(rounds)
	if n < TestRepeats {
		return Change{}, false
	}
	slope, ofSlope := drift(rounds)
	raw, ratios, gap := make([]float64, n), make([]float64, n), 0.0
	for i, r := range rounds {
		raw[i], ratios[i] = r.ratio, r.ratio-slope*r.gap
		gap += r.gap / float64(n)
	}
	mean, sd := stats.Mean(ratios), stats.StdDev(ratios)
	if sd <= 1e-12 || stats.StdDev(raw) <= 1e-12 {
		return Change{}, false
	}
	noiseVariance, driftVariance := sd*sd/float64(n), gap*gap*ofSlope
	variance := noiseVariance + driftVariance
	dof := variance * variance / (noiseVariance*noiseVariance/float64(n-1) + driftVariance*driftVariance/float64(n-2))
	half := tQuantile(1-alpha/2, dof) * math.Sqrt(variance)
	c := Change{
		Method: ByPairs, Ratio: math.Expm1(mean), Interval: &Interval{math.Expm1(mean - half), math.Expm1(mean + half)}, Pairs: n,
		Tested: true, Decidable: true, P: tTestP(mean/math.Sqrt(variance), dof),
	}
	c.noise = noise{math.Sqrt(variance * float64(n)), n - 1, true}
	c.decide(c.P, better)
	return c, true
}

// smallest is the least p that is told: the tails of the distributions are not computed beyond it.
const smallest = 1e-16

// tTestP is the two-sided p of a t with so many degrees of freedom.
func tTestP(t, dof float64) float64 {
	return max(smallest, 2*(1-stats.TDist{V: dof}.CDF(math.Abs(t))))
}

// tQuantile is the p-quantile, p above one half, of Student's t. It goes from that of the normal distribution, which is
// below it, by Newton's method; the distribution is concave there, so it nears the quantile from below only.
func tQuantile(p, dof float64) float64 {
	t := stats.TDist{V: dof}
	x := stats.StdNormal.InvCDF(p)
	for range 50 {
		step := (p - t.CDF(x)) / t.PDF(x)
		x += step
		if math.Abs(step) < 1e-10*x {
			break
		}
	}
	return x
}
