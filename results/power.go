package results

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

const (
	// advisedDifference is the difference that the advice on repeats is for, as a fraction.
	advisedDifference = 0.10
	// power is the probability with which the repeats that are advised find it.
	power = 0.95
	// mostRepeats is where the advice ends: a method that takes more has to become quieter first.
	mostRepeats = 100
)

// RepeatsToFind is how many repeats of either side find a true difference (0.10 is 10 % more or less) with a probability of
// 95 % at a significance of level: 0.05 or, where so many tests are corrected for, a share of that. sd is the standard deviation seen, with its degrees of freedom: of the log-ratios of pairs
// (paired), or pooled of the logarithms of either side. It is at least TestRepeats, at most 1000.
//
// The size is that of the t test, n ≥ k ((t(1-α/2, ν) + t(power, ν)) sd/δ)², with k = 1 and ν = n-1 for pairs, k = 2 and
// ν = 2n-2 for two samples (Chow, Shao, Wang: Sample Size Calculations in Clinical Research, ch. 3); a Mann-Whitney U test
// takes 1/0.955 of that for normal noise (Lehmann: Nonparametrics, 2.4). A deviation from few repeats is often too small, and
// repeats computed from it then too few: so the upper 90 % confidence limit of it is taken (Browne: On the use of a pilot
// sample for sample size determination, Statistics in Medicine 14, 1995).
func RepeatsToFind(difference, sd float64, dof int, paired bool, level float64) int {
	k := float64(dof)
	// The 10 % quantile of chi squared, after Wilson and Hilferty.
	chi := k * math.Pow(max(0.05, 1-2/(9*k)+stats.StdNormal.InvCDF(0.10)*math.Sqrt(2/(9*k))), 3)
	ratio := sd * math.Sqrt(k/chi) / math.Log1p(math.Abs(difference))
	for n := TestRepeats; n < mostRepeats; n++ {
		factor, nu := 1.0, float64(n-1)
		if !paired {
			if factor, nu = 2/0.955, float64(2*n-2); smallestP(n, n) >= level {
				continue // not even two sides that are wholly apart would do
			}
		}
		t := tQuantile(1-level/2, nu) + tQuantile(power, nu)
		if float64(n) >= factor*t*t*ratio*ratio {
			return n
		}
	}
	return mostRepeats
}
