package results

import (
	"maps"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// cellPair is a cell and that of its baseline, of the same round.
type cellPair struct{ base, cell *Cell }

// pairRounds pairs the repeats of two rows of one run round by round. A pair is two complete cells between which no other
// repeat of either was executed: only then is what drifts while the run goes on common to both. So interleaved and shuffled
// rounds are paired, and repeats one after the other are not, whatever the plan calls its order; a round of which one cell
// failed, or was executed again much later, or that was cut in two by a resume, is left out.
func pairRounds(base, row *Row) []cellPair {
	both := slices.Concat(base.cells, row.cells)
	var pairs []cellPair
	for _, c := range row.cells {
		i := slices.IndexFunc(base.cells, func(b *Cell) bool { return b.Round == c.Round })
		if i < 0 || c.Status != Complete || base.cells[i].Status != Complete || c.Resumed != base.cells[i].Resumed {
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
	part  int     // of a resumed run
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
		rounds = append(rounds, round{r, (math.Log(value) + math.Log(old)) / 2, (first + second) / 2, second - first, p.cell.Resumed})
	}
	return rounds, true
}

// drift is how the level of the rounds moves with each cell that is executed.
type drift struct {
	slope, variance float64 // and the variance of the slope
	freedom         int     // degrees of freedom of that variance
}

// driftOf fits lines through the levels of the rounds, parallel ones for the parts of a resumed run: what happened in between is no drift,
// and the server may have been started anew. It is false where there are too few rounds for that: a run that was not resumed takes
// three, and each further part one more.
func driftOf(rounds []round) (drift, bool) {
	byPart := map[int][]round{}
	for _, r := range rounds {
		byPart[r.part] = append(byPart[r.part], r)
	}
	parts := slices.Sorted(maps.Keys(byPart)) // a sum of floats depends on their order
	d := drift{freedom: len(rounds) - len(parts) - 1}
	var square, product, rest float64
	for _, part := range parts {
		at, level := middle(byPart[part])
		for _, r := range byPart[part] {
			square += (r.at - at) * (r.at - at)
			product += (r.at - at) * (r.level - level)
		}
	}
	if d.freedom < 1 || square == 0 {
		return d, false
	}
	d.slope = product / square
	for _, part := range parts {
		at, level := middle(byPart[part])
		for _, r := range byPart[part] {
			e := r.level - level - d.slope*(r.at-at)
			rest += e * e
		}
	}
	d.variance = rest / float64(d.freedom) / square
	return d, true
}

// middle gives the means of the places and of the levels.
func middle(rounds []round) (at, level float64) {
	n := float64(len(rounds))
	for _, r := range rounds {
		at, level = at+r.at/n, level+r.level/n
	}
	return at, level
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
// ratios are equal to the last digit (coarse latencies, of which no spread can be taken), it is false; so it is where a run was resumed
// so often that the drift cannot be seen.
func pairedChange(rounds []round, better Direction) (Change, bool) {
	n := len(rounds)
	if n < TestRepeats {
		return Change{}, false
	}
	drift, known := driftOf(rounds)
	if !known {
		return Change{}, false
	}
	raw, ratios, gap := make([]float64, n), make([]float64, n), 0.0
	for i, r := range rounds {
		raw[i], ratios[i] = r.ratio, r.ratio-drift.slope*r.gap
		gap += r.gap / float64(n)
	}
	mean, sd := stats.Mean(ratios), stats.StdDev(ratios)
	if sd <= 1e-12 || stats.StdDev(raw) <= 1e-12 {
		return Change{}, false
	}
	noiseVariance, driftVariance := sd*sd/float64(n), gap*gap*drift.variance
	variance := noiseVariance + driftVariance
	dof := variance * variance / (noiseVariance*noiseVariance/float64(n-1) + driftVariance*driftVariance/float64(drift.freedom))
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
