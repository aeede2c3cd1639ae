package sysbench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

const (
	draws    = 1_000_000
	fewDraws = 200_000 // where much less would do
)

// bates is the probability that the mean of n uniform numbers is below x: the Irwin-Hall distribution in closed form.
func bates(n int, x float64) float64 {
	x = min(max(x, 0), 1) * float64(n)
	if x > float64(n)/2 {
		return 1 - bates(n, 1-x/float64(n)) // the sum alternates and is exact for small x
	}
	var sum float64
	choose, sign := 1.0, 1.0
	for k := 0; float64(k) <= x; k++ {
		sum += sign * choose * math.Pow(x-float64(k), float64(n))
		choose, sign = choose*float64(n-k)/float64(k+1), -sign
	}
	return sum / math.Gamma(float64(n)+1)
}

// below gives, in closed form, the probability that a number drawn from 1 to n is at most i.
func (d Distribution) below(i, n int64) float64 {
	at, size, t := float64(i), float64(n), float64(n-1)
	switch d.RandType {
	case distGaussian:
		return bates(d.RandSpecIter, at/size)
	case distSpecial:
		pct, cold := float64(d.RandSpecPct), 1-float64(d.RandSpecRes)/100
		u := (at - (t/2 - t*pct/200)) / (t*pct/100 + 1) // of the uniform number that is mapped to i
		hot := min(max((u-cold)/(1-cold), 0), 1)
		return cold*bates(d.RandSpecIter, at/t) + (1-cold)*hot
	case distPareto:
		return math.Pow(at/size, math.Log(1-d.RandParetoH)/math.Log(d.RandParetoH))
	case distZipfian:
		return harmonic(i, d.RandZipfianExp) / harmonic(n, d.RandZipfianExp)
	}
	return at / size
}

func harmonic(n int64, exp float64) (sum float64) {
	for i := n; i >= 1; i-- {
		sum += math.Pow(float64(i), -exp)
	}
	return sum
}

func standard(kind string) Distribution {
	return Distribution{RandType: kind, RandSpecIter: 12, RandSpecPct: 1, RandSpecRes: 75, RandParetoH: 0.2, RandZipfianExp: 0.8}
}

func TestDrawsFollowTheClosedForm(t *testing.T) {
	other := Distribution{RandType: distSpecial, RandSpecIter: 3, RandSpecPct: 20, RandSpecRes: 40}
	steep, equal := standard(distZipfian), standard(distZipfian)
	steep.RandZipfianExp, equal.RandZipfianExp = 1.7, 0
	one := standard(distZipfian)
	one.RandZipfianExp = 1
	flat := standard(distPareto)
	flat.RandParetoH = 0.4
	for _, tt := range []struct {
		d Distribution
		n int64
	}{
		{standard("uniform"), 1000}, {standard(distGaussian), 1000}, {standard(distSpecial), 1000}, {standard(distPareto), 1000}, {standard(distZipfian), 1000},
		{standard("uniform"), 7}, {standard(distGaussian), 7}, {standard(distSpecial), 7}, {standard(distPareto), 7}, {standard(distZipfian), 7},
		{other, 500}, {steep, 1000}, {equal, 1000}, {one, 1000}, {flat, 1000},
	} {
		t.Run(fmt.Sprintf("%s of %d", tt.d.RandType, tt.n), func(t *testing.T) {
			t.Parallel()
			const first = 1_000_000_000_001
			s := tt.d.sampler(first, first+tt.n-1)
			random := rand.New(rand.NewPCG(1, 2))
			met := make([]float64, tt.n)
			n := draws
			if tt.n < 1000 {
				n = fewDraws
			}
			for range n {
				i := s.draw(random) - first
				if i < 0 || i >= tt.n {
					t.Fatalf("%d is outside of the %d numbers", i, tt.n)
				}
				met[i]++
			}
			chi, freedom := chiSquare(met, float64(n), func(i int64) float64 { return tt.d.below(i, tt.n) })
			// Wilson and Hilferty: the cube root of chi²/freedom is nearly normal.
			v := 2 / (9 * freedom)
			if z := (math.Cbrt(chi/freedom) - (1 - v)) / math.Sqrt(v); math.Abs(z) > 3 {
				t.Errorf("chi-square is %.1f at %.0f degrees of freedom, %.1f standard deviations off", chi, freedom, z)
			}
		})
	}
}

// chiSquare holds counts against a cumulative probability; neighbours are taken together where few draws are expected.
func chiSquare(met []float64, n float64, below func(i int64) float64) (chi, freedom float64) {
	freedom = -1
	var got, before float64
	for i := range met {
		got += met[i]
		to := below(int64(i + 1))
		expected := (to - before) * n
		if rest := (1 - to) * n; expected < 10 || rest < 10 && i < len(met)-1 {
			continue
		}
		chi += (got - expected) * (got - expected) / expected
		freedom++
		got, before = 0, to
	}
	return chi, freedom
}

// TestHotSets holds the distributions against what is known of sysbench's.
func TestHotSets(t *testing.T) {
	const n = 100_000
	share := func(d Distribution, of func(id int64) bool) float64 {
		s := d.sampler(1, n)
		random := rand.New(rand.NewPCG(3, 4))
		met := 0
		for range fewDraws {
			if of(s.draw(random)) {
				met++
			}
		}
		return float64(met) / fewDraws
	}
	first := func(m int64) func(int64) bool { return func(id int64) bool { return id <= m } }
	for _, tt := range []struct {
		name string
		d    Distribution
		of   func(int64) bool
		want float64
	}{
		// U from 0.25 on is put to 1 + U·(t/100+1) + t/2 − t/200: 751 ids.
		{"special, 0.75 % of the ids", standard(distSpecial), func(id int64) bool { return id >= 49_750 && id <= 50_501 }, 0.758},
		{"pareto, id 1", standard(distPareto), first(1), 0.20},
		{"pareto, 1 %", standard(distPareto), first(n / 100), 0.53},
		{"pareto, 20 %", standard(distPareto), first(n / 5), 0.80},
		{"zipfian, id 1", standard(distZipfian), first(1), 0.022},
		{"zipfian, 1 %", standard(distZipfian), first(n / 100), 0.34},
		{"uniform, 20 %", standard("uniform"), first(n / 5), 0.20},
	} {
		if got := share(tt.d, tt.of); math.Abs(got-tt.want) > 0.005 {
			t.Errorf("%s: %.4f of the draws, want %.4f", tt.name, got, tt.want)
		}
	}
}

// TestSpecialOfVersion4 has its hot part over the whole hundredth of the rows.
func TestSpecialOfVersion4(t *testing.T) {
	o := &Version4Options{DistType: distSpecial, DistIter: 12, DistPct: 1, DistRes: 75}
	s := o.sampler(10_000)
	random := rand.New(rand.NewPCG(5, 6))
	met := make([]int, 10_001)
	for range fewDraws {
		met[s.draw(random)]++
	}
	// Hot are 5000−50 to 5000−50+99, at 1500 draws each, and what gaussian adds.
	for id, n := range met {
		if hot := id >= 4950 && id <= 5049; hot != (n > 1000) {
			t.Errorf("id %d was drawn %d times", id, n)
		}
	}
}

func TestSmallRanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, kind := range []string{"uniform", distGaussian, distSpecial, distPareto, distZipfian} {
		for n := range int64(4) {
			d := standard(kind)
			s := d.sampler(5, 5+n-1)
			for range 1000 {
				if i := s.draw(random); i < 5 || i > max(5, 5+n-1) {
					t.Errorf("%s of %d: %d", kind, n, i)
				}
			}
		}
	}
}

func TestUnusedIDsAreGivenOnce(t *testing.T) {
	for _, signed := range []bool{false, true} {
		space := idSpace{rows: 1 << 30, signed: signed, start: 77}
		seen := map[int64]bool{}
		for i := range 8 {
			w := space.of(i, 8)
			for range 20_000 {
				id := w.next()
				if seen[id] || id >= 0 && id <= 1<<30 || signed && (id < math.MinInt32 || id > math.MaxInt32) || !signed && id > math.MaxUint32 {
					t.Fatalf("signed %v: id %d", signed, id)
				}
				seen[id] = true
			}
		}
	}
}

func TestCountedIDsMeetEachRowOnce(t *testing.T) {
	const rows = 10_000
	seen := map[int64]bool{}
	for i := range int64(8) {
		w := walk{rows: rows, next: i, stride: 8}
		for range rows / 8 {
			seen[w.id()] = true
		}
	}
	if len(seen) != rows || !seen[1] || !seen[rows] {
		t.Errorf("met %d of %d rows", len(seen), rows)
	}
	w := walk{rows: math.MaxUint32, next: math.MaxUint32 - 1, stride: 1}
	if id := w.id(); id < 1 || id > math.MaxUint32 {
		t.Errorf("id %d", id)
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, kind := range []string{"uniform", distGaussian, distSpecial, distPareto, distZipfian} {
		b.Run(kind, func(b *testing.B) {
			d := standard(kind)
			s := d.sampler(1, 1_000_000)
			random := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				s.draw(random)
			}
		})
	}
}
