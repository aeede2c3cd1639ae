package sysbench

import (
	"math"
	"math/rand/v2"
)

// Distribution is how numbers are drawn from a range, by sysbench's options.
type Distribution struct {
	RandType       string  `key:"rand_type" default:"uniform" enum:"uniform|gaussian|special|pareto|zipfian" doc:"how ids, and values of k, are drawn; sysbench up to 1.0 drew by special where nothing was said, which leaves most draws to a hundredth of the rows"`
	RandSpecIter   int     `key:"rand_spec_iter" default:"12" min:"1" max:"1000" unit:"numbers" doc:"gaussian and special: uniform numbers of which one draw is the mean"`
	RandSpecPct    int     `key:"rand_spec_pct" default:"1" min:"1" max:"100" unit:"percent" doc:"special: the part of the range, in its middle, that is hot"`
	RandSpecRes    int     `key:"rand_spec_res" default:"75" min:"0" max:"99" unit:"percent" doc:"special: draws that go to the hot part; the others are gaussian"`
	RandParetoH    float64 `key:"rand_pareto_h" default:"0.2" min:"0.001" max:"0.999" doc:"pareto: h, where the first h of the range gets 1−h of the draws; 0.2: the first fifth gets 80 %"`
	RandZipfianExp float64 `key:"rand_zipfian_exp" default:"0.8" min:"0" max:"10" doc:"zipfian: the exponent; number i of the range is drawn in proportion to 1/i^exponent"`
}

// The distributions.
const (
	distGaussian = "gaussian"
	distSpecial  = "special"
	distPareto   = "pareto"
	distZipfian  = "zipfian"
)

// sampler draws whole numbers from a to b, both included.
type sampler struct {
	kind string // empty: uniform
	a    int64
	n    int64   // how many numbers there are
	iter int     // numbers of a mean
	cold float64 // special: the part of the draws that is gaussian
	hot  hotZone
	// power is what pareto raises a uniform number to.
	power   float64
	zipfian zipfian
}

// hotZone is where special puts most of its draws: a + ⌊u·width + offset⌋, with u uniform from the given number up to 1.
type hotZone struct{ from, width, offset float64 }

// sampler gives what draws from a to b; where b is below a, a is drawn always.
func (d *Distribution) sampler(a, b int64) sampler {
	s := sampler{kind: d.RandType, a: a, n: max(1, b-a+1), iter: max(1, d.RandSpecIter)}
	switch s.kind {
	case distSpecial:
		t, pct := float64(s.n-1), float64(d.RandSpecPct)
		s.cold = 1 - float64(d.RandSpecRes)/100
		s.hot = hotZone{from: s.cold, width: t*pct/100 + 1, offset: t/2 - t*pct/200}
	case distPareto:
		s.power = math.Log(d.RandParetoH) / math.Log(1-d.RandParetoH)
	case distZipfian:
		s.zipfian = newZipfian(s.n, d.RandZipfianExp)
	}
	return s
}

// draw gives a number. The formulas are those of sysbench 1.0 (its manual, "Random numbers options", and src/sb_rand.c), with
// n = b−a+1, t = b−a, and U a fresh uniform number of [0, 1):
//
//	uniform   a + ⌊U·n⌋
//	gaussian  a + ⌊n·(U₁+…+U_iter)/iter⌋, a Bates distribution
//	special   where U < 1−res/100:  a + ⌊t·(U₁+…+U_iter)/iter⌋
//	          else, of the same U:   a + ⌊U·(t·pct/100+1) + t/2 − t·pct/200⌋
//	pareto    a + ⌊n·U^(ln h / ln(1−h))⌋
//	zipfian   a + i−1, where i of 1…n has the probability i^−exp / Σ j^−exp
func (s *sampler) draw(random *rand.Rand) int64 {
	switch s.kind {
	case distGaussian:
		return s.at(float64(s.n) * s.mean(random))
	case distSpecial:
		u := random.Float64()
		if u < s.cold {
			return s.at(float64(s.n-1) * s.mean(random))
		}
		// Of u what is left is uniform from cold to 1; from may be another place, so it is stretched.
		u = s.hot.from + (u-s.cold)/(1-s.cold)*(1-s.hot.from)
		return s.at(u*s.hot.width + s.hot.offset)
	case distPareto:
		return s.at(float64(s.n) * math.Pow(random.Float64(), s.power))
	case distZipfian:
		return s.a + s.zipfian.draw(random) - 1
	}
	return s.a + random.Int64N(s.n)
}

// mean is the mean of some uniform numbers.
func (s *sampler) mean(random *rand.Rand) float64 {
	var sum float64
	for range s.iter {
		sum += random.Float64()
	}
	return sum / float64(s.iter)
}

// at gives the number so far above the first, within the range whatever rounding did.
func (s *sampler) at(x float64) int64 {
	return s.a + min(max(int64(x), 0), s.n-1)
}
