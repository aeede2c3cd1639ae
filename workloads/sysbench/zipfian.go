package sysbench

import (
	"math"
	"math/rand/v2"
)

// zipfian draws i of 1…n with a probability in proportion to 1/i^exp, in constant time and memory, by rejection-inversion:
// W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", ACM
// Transactions on Modeling and Computer Simulation 6 (1996), 169–184.
//
// The hat is h(x) = x^−exp, its integral H(x) = (x^(1−exp) − 1)/(1−exp), which is ln x for exp = 1. A uniform number between
// H(1.5) − h(1) and H(n + 0.5) is brought back by H's inverse and rounded to i; i is taken if the number is at least
// H(i + 0.5) − h(i), so that what is taken has the width h(i) = i^−exp for every i.
type zipfian struct {
	n        int64
	exp      float64
	from, to float64 // of the uniform number
	squeeze  float64 // where i − x is at most this, i is taken without more ado
}

func newZipfian(n int64, exp float64) zipfian {
	z := zipfian{n: n, exp: exp}
	z.from = z.integral(1.5) - 1
	z.to = z.integral(float64(n) + 0.5)
	z.squeeze = 2 - z.inverse(z.integral(2.5)-z.hat(2))
	return z
}

func (z *zipfian) draw(random *rand.Rand) int64 {
	for {
		u := z.from + random.Float64()*(z.to-z.from)
		x := z.inverse(u)
		i := min(max(int64(x+0.5), 1), z.n)
		if float64(i)-x <= z.squeeze || u >= z.integral(float64(i)+0.5)-z.hat(float64(i)) {
			return i
		}
	}
}

// hat is h(x).
func (z *zipfian) hat(x float64) float64 { return math.Exp(-z.exp * math.Log(x)) }

// integral is H(x), written so that it is exact near exp = 1: ln x · (e^y − 1)/y with y = (1−exp)·ln x.
func (z *zipfian) integral(x float64) float64 {
	log := math.Log(x)
	y := (1 - z.exp) * log
	if math.Abs(y) < tiny {
		return log * (1 + y/2)
	}
	return log * math.Expm1(y) / y
}

// inverse is H's inverse: e^(u · ln(1+y)/y) with y = (1−exp)·u.
func (z *zipfian) inverse(u float64) float64 {
	y := max((1-z.exp)*u, -1) // below −1 only by rounding
	if math.Abs(y) < tiny {
		return math.Exp(u * (1 - y/2))
	}
	return math.Exp(u * math.Log1p(y) / y)
}

// tiny is where the first terms of a series are better than a quotient of two small numbers.
const tiny = 1e-8
