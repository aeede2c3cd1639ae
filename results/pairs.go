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

// logRatios gives the logarithm of value over baseline of each pair that has the metric. It is false where one of them is
// not above 0: it has no logarithm, and leaving it out would choose among the rounds by what they came to.
func logRatios(pairs []cellPair, m Metric) ([]float64, bool) {
	var ratios []float64
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
		ratios = append(ratios, r)
	}
	return ratios, true
}

// pairedChange compares round by round, by a paired t test on the logarithms of the ratios: the centre is their mean and the
// interval that of the mean, both turned back into ratios, so the centre is the geometric mean of the ratios. It is assumed
// that what remains of the ratios after the difference itself, the noise within a round, is independent from round to round,
// about log-normal, and alike in all rounds. Drift is common to both cells of a round, but for what it moves between them: that is as small as a
// round is short, and shuffled rounds make it fall on either side. Two rounds
// would do for a t; below TestRepeats the assumption can be seen by nobody, and there is no claim: then, and where all ratios
// are equal to the last digit (coarse latencies, of which no spread can be taken), it is false.
func pairedChange(ratios []float64, better Direction) (Change, bool) {
	n := len(ratios)
	if n < TestRepeats {
		return Change{}, false
	}
	mean, sd := stats.Mean(ratios), stats.StdDev(ratios)
	if sd <= 1e-12 {
		return Change{}, false
	}
	dof := float64(n - 1)
	half := tQuantile(1-alpha/2, dof) * sd / math.Sqrt(float64(n))
	c := Change{
		Method: ByPairs, Ratio: math.Expm1(mean), Interval: &Interval{math.Expm1(mean - half), math.Expm1(mean + half)}, Pairs: n,
		Tested: true, Decidable: true, P: tTestP(mean*math.Sqrt(float64(n))/sd, dof),
	}
	c.noise = noise{sd, n - 1, true}
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
