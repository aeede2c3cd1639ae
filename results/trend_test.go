package results

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seriesOf makes a series of one second each.
func seriesOf(n int, second func(i int) Second) []Second {
	series := make([]Second, n)
	for i := range series {
		series[i] = second(i)
		series[i].At, series[i].Length = float64(i), 1
	}
	return series
}

// noise is a stationary autoregression of first order about 0; phi 0 is white noise.
func noiseOf(r *rand.Rand, n int, phi, deviation float64) []float64 {
	out := make([]float64, n)
	at := r.NormFloat64() * deviation
	for i := range out {
		out[i] = at
		at = phi*at + math.Sqrt(1-phi*phi)*deviation*r.NormFloat64()
	}
	return out
}

// TestTrendOfSimulatedRates: how often a trend is marked where there is none, and how often where there is one. The random numbers are
// the same each time, and so are the shares.
func TestTrendOfSimulatedRates(t *testing.T) {
	const runs = 300
	for name, tt := range map[string]struct {
		points         int
		phi, deviation float64
		drift          float64 // of the mean, from begin to end
		least, most    float64 // share of the cells that are marked
	}{
		"20 points that remember":          {20, 0.7, 0.05, 0, 0, 0.02},
		"30 points that remember":          {30, 0.7, 0.05, 0, 0, 0.02},
		"a minute that remembers":          {60, 0.7, 0.05, 0, 0, 0.02},
		"a minute of much noise":           {60, 0.7, 0.20, 0, 0, 0.02},
		"five minutes of much noise":       {300, 0.7, 0.20, 0, 0, 0.02},
		"20 points of white noise":         {20, 0, 0.20, 0, 0, 0.01},
		"a minute that sinks":              {60, 0, 0.05, -0.20, 0.95, 1},
		"a minute that rises":              {60, 0, 0.05, 0.20, 0.95, 1},
		"five minutes that sink":           {300, 0.3, 0.05, -0.20, 0.95, 1},
		"20 points that sink are few":      {20, 0, 0.05, -0.20, 0.60, 1},
		"20 points that sink by a third":   {20, 0, 0.05, -0.33, 0.85, 1},
		"five minutes that sink by 5 %":    {300, 0, 0.05, -0.05, 0, 0.01}, // significant, but too small to matter
		"a minute that rises as it should": {60, 0, 0.01, 0.09, 0, 0.20},
	} {
		r := rand.New(rand.NewPCG(uint64(tt.points), 7))
		marked := 0
		for range runs {
			x := noiseOf(r, tt.points, tt.phi, tt.deviation)
			c := cellAt(1)
			c.Outcome.Series = seriesOf(tt.points, func(i int) Second {
				return Second{Events: int64(10_000 * (1 + x[i] + tt.drift*(float64(i)/float64(tt.points)-0.5)))}
			})
			c.Outcome.Trend = c.trend()
			if m, doubtful := checkTrend(&c); doubtful {
				marked++
				if rising := m.Remedy == "a longer warmup"; tt.drift != 0 && rising != (tt.drift > 0) {
					t.Errorf("%s: drift %v is called %q", name, tt.drift, m.Text)
				}
			}
		}
		if share := float64(marked) / runs; share < tt.least || share > tt.most {
			t.Errorf("%s: %.3f of the cells are marked, want %v to %v", name, share, tt.least, tt.most)
		}
	}
}

// TestMannKendall holds the test against figures worked out by hand: without ties, S, its variance and the slope of a short series.
func TestMannKendall(t *testing.T) {
	values := []float64{1, 3, 2, 5, 4, 6, 8, 7, 10, 9} // S = 45 - 2×4 pairs out of order = 37
	got := mannKendall(values)
	if got.Tau != 37.0/45 || got.Median != 5.5 || got.Points != 10 {
		t.Errorf("tau %v, median %v of %d points", got.Tau, got.Median, got.Points)
	}
	if v := kendallVariance(values); v != 125 { // 10×9×25/18
		t.Errorf("variance %v, want 125", v)
	}
	if v := kendallVariance([]float64{1, 1, 1, 2, 2, 3, 4, 5, 6, 7}); math.Abs(v-(125-3*2*11/18.0-2*1*9/18.0)) > 1e-12 {
		t.Errorf("with ties the variance is %v", v)
	}
	line := make([]float64, 40)
	for i := range line {
		line[i] = 100 + 2*float64(i)
	}
	if got := mannKendall(line); math.Abs(got.Change-80) > 1e-9 || got.Tau != 1 || got.P > 1e-6 {
		t.Errorf("a straight line: %+v", got)
	}
	for name, values := range map[string][]float64{"all the same": make([]float64, 30), "up and down": {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}} {
		if got := mannKendall(values); math.IsNaN(got.P) || got.significant() {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if diff := cmp.Diff([]float64{0, 2.5, 1, 2.5}, ranks([]float64{1, 3, 2, 3})); diff != "" {
		t.Error(diff)
	}
}

// TestWhatIsTested: of a closed loop the rate, of an open one the queue; not the last second where it is short, nor a cell of a few seconds.
func TestWhatIsTested(t *testing.T) {
	rising := func(i int) Second { return Second{Events: int64(100 + i), Queue: int64(1000 - i)} }
	closed, open, short, day := cellAt(1), cellAt(2), cellAt(3), cellAt(4)
	closed.Outcome.Series = append(seriesOf(20, rising), Second{At: 20, Length: 0.3, Events: 1})
	open.Wanted.Rate, open.Outcome.Series = 100, seriesOf(20, rising)
	short.Outcome.Series = append(seriesOf(19, rising), Second{At: 19, Length: 0.3, Events: 30})
	day.Outcome.Series = seriesOf(86_399, rising)
	if got := closed.trend(); got == nil || got.Figure != TrendRate || got.Points != 20 || math.Abs(got.Change-20) > 1e-9 {
		t.Errorf("closed loop: %+v", got)
	}
	if got := open.trend(); got == nil || got.Figure != TrendQueue || math.Abs(got.Change+20) > 1e-9 {
		t.Errorf("open loop: %+v", got)
	}
	if got := short.trend(); got != nil {
		t.Errorf("19 seconds: %+v", got)
	}
	if got := day.trend(); got == nil || got.Points > trendMaxPoints || got.Points < trendMaxPoints/2 || math.Abs(got.Change/86_399-1) > 0.05 {
		t.Errorf("a day: %+v", got)
	}
}

// TestTrendIsKept: the mark that rests on the series is there when the record is read without it.
func TestTrendIsKept(t *testing.T) {
	w := create(t, nil)
	writeRun(t, w, Run{})
	c := cellAt(1)
	c.Outcome.Series = seriesOf(30, func(i int) Second { return Second{Events: int64(1000 - 10*i)} })
	appendCells(t, w, c)
	_, cells, _, err := Open(w.Folder())
	if err != nil {
		t.Fatal(err)
	}
	got := cells[0]
	got.Marks = nil
	if marks := Check(&got); got.Outcome.Trend == nil || !hasMark(marks, MarkTrend) {
		t.Errorf("trend %+v, marks %+v", got.Outcome.Trend, marks)
	}
}
