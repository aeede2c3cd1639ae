package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aclements/go-moremath/stats"
)

// source is a simulated server: its rate drifts while time goes on, and its noise has a memory.
type source struct {
	random *rand.Rand
	drift  float64 // of the rate, over the whole run, as a fraction
	noise  float64 // standard deviation of a cell, as a fraction
	memory float64 // correlation of one cell's noise with the next
	state  float64
	at     int
	cells  int // in the whole run
}

// rate is that of the next cell of a scenario that is so much faster.
func (s *source) rate(faster float64) float64 {
	s.state = s.memory*s.state + math.Sqrt(1-s.memory*s.memory)*s.random.NormFloat64()
	drift := s.drift * float64(s.at) / float64(s.cells)
	s.at++
	return 1000 * (1 + faster) * (1 + drift) * math.Exp(s.noise*s.state)
}

// twoScenarios executes two scenarios, a and b, so many times each, round by round or one after the other; b is faster.
func twoScenarios(s *source, repeats int, interleaved bool, faster float64) []Cell {
	s.cells, s.at, s.state = 2*repeats, 0, s.random.NormFloat64()
	var cells []Cell
	for i := range 2 * repeats {
		scenario, repeat := i/repeats, i%repeats+1
		if interleaved {
			scenario, repeat = i%2, i/2+1
		}
		c := cellAt(i+1, Label{"config", []string{"a", "b"}[scenario]})
		c.Repeat, c.Round = repeat, repeat
		c.Outcome.Events = int64(10 * s.rate(faster*float64(scenario)))
		cells = append(cells, c)
	}
	return cells
}

// tpsChange is the difference of the scenario that comes second.
func tpsChange(cells []Cell) Change {
	rows := []*Row{{}, {}}
	samples := make([][]float64, 2)
	tps, _ := MetricByName("tps")
	for i := range cells {
		if cells[i].Status == Complete {
			n := 0
			if cells[i].Key() != cells[0].Key() {
				n = 1
			}
			v, _ := tps.Value(&cells[i])
			rows[n].cells, samples[n] = append(rows[n].cells, &cells[i]), append(samples[n], v)
		}
	}
	rows[1].Changes = map[string]Change{"tps": changeOf(tps, Summarize(samples[0]), Summarize(samples[1]), pairRounds(rows[0], rows[1]))}
	correct(rows, []string{"tps"}, Uncorrected)
	return rows[1].Changes["tps"]
}

func changeOf(m Metric, old, value Value, pairs []cellPair) Change {
	c, _ := metricChange(m, old, value, pairs)
	return c
}

// atMost is how many of n trials an event of that probability is met at most, three standard deviations allowed.
func atMost(n int, p float64) int {
	return int(float64(n)*p + 3*math.Sqrt(float64(n)*p*(1-p)))
}

const trials = 1000

// TestFalseAlarms: the same scenario twice, on a server that drifts by a tenth while the run goes on and whose noise lasts from
// one cell to the next. Round by round, at most 5 % of the runs find a difference; one after the other, drift looks like one, and
// the table says so.
func TestFalseAlarms(t *testing.T) {
	for _, tt := range []struct {
		drift, memory, noise float64
	}{{0, 0, 0.04}, {0.05, 0, 0.04}, {0.05, 0.5, 0.04}, {-0.10, 0.3, 0.04}, {0.10, 0, 0.01}, {-0.20, 0, 0.01}, {0.20, 0.5, 0.01}} {
		s := &source{random: rand.New(rand.NewPCG(1, 2)), noise: tt.noise, drift: tt.drift, memory: tt.memory}
		alarms, covered := 0, 0
		for range trials {
			c := tpsChange(twoScenarios(s, IntervalRepeats, true, 0))
			if c.Method != ByPairs || c.Pairs != IntervalRepeats || !c.Decidable {
				t.Fatalf("%+v", c)
			}
			if c.Significant {
				alarms++
			}
			if c.Interval.Lo <= 0 && 0 <= c.Interval.Hi {
				covered++
			}
		}
		t.Logf("drift %v, memory %v, noise %v: %.1f %% false alarms", tt.drift, tt.memory, tt.noise, 100*float64(alarms)/trials)
		if alarms > atMost(trials, 0.05) {
			t.Errorf("drift %v, memory %v, noise %v: %d false alarms in %d", tt.drift, tt.memory, tt.noise, alarms, trials)
		}
		if covered != trials-alarms {
			t.Errorf("the interval and the test disagree: %d intervals hold 0, %d are not significant", covered, trials-alarms)
		}
	}

	drifting := &source{random: rand.New(rand.NewPCG(3, 4)), noise: 0.02, drift: 0.2}
	alarms := 0
	for range 200 {
		if c := tpsChange(twoScenarios(drifting, IntervalRepeats, false, 0)); c.Significant {
			alarms++
		}
	}
	if alarms < 100 {
		t.Errorf("one after the other, drift was taken for a difference %d times only: the source does not drift", alarms)
	}
	r := NewReport("x", &Run{}, twoScenarios(drifting, IntervalRepeats, false, 0), nil)
	if !slices.ContainsFunc(r.Notes, func(n Note) bool { return n.Code == MarkOrder && strings.Contains(n.Remedy, "order: interleaved") }) {
		t.Errorf("repeats one after the other are not told: %+v", r.Notes)
	}
}

// TestAdvisedRepeatsFind: the repeats that are advised from six find a true difference of 10 % in 95 of 100 cases.
func TestAdvisedRepeatsFind(t *testing.T) {
	for _, interleaved := range []bool{true, false} {
		for _, noise := range []float64{0.02, 0.04, 0.08} {
			s := &source{random: rand.New(rand.NewPCG(5, uint64(1000*noise))), noise: noise}
			found, advised := 0, []float64{}
			const trials = 250
			for range trials {
				pilot := tpsChange(twoScenarios(s, IntervalRepeats, interleaved, 0))
				for pilot.Significant { // by chance: then nothing is advised
					pilot = tpsChange(twoScenarios(s, IntervalRepeats, interleaved, 0))
				}
				n := pilot.Advised
				advised = append(advised, float64(n))
				if tpsChange(twoScenarios(s, n, interleaved, 0.10)).Significant {
					found++
				}
			}
			slices.Sort(advised)
			t.Logf("interleaved %v, noise %v: found %.1f %%, repeats %v (median)", interleaved, noise, 100*float64(found)/trials, advised[trials/2])
			if missed := trials - found; missed > atMost(trials, 0.05) {
				t.Errorf("interleaved %v, noise %v: found %d of %d", interleaved, noise, found, trials)
			}
		}
	}
}

// TestAdviceOfManyDifferences: however many differences a table has, the advice follows the noise of the rate, and neither the metric
// that is noisiest nor the difference that looks so by chance; and the repeats that it names find 10 % in 95 of 100 cases.
func TestAdviceOfManyDifferences(t *testing.T) {
	s := &source{random: rand.New(rand.NewPCG(8, 8)), noise: 0.04}
	var pilots advice
	own := 0
	for range 300 {
		c := tpsChange(twoScenarios(s, IntervalRepeats, true, 0))
		pilots.add("tps", c, IntervalRepeats)
		own = max(own, c.Advised)
		loud := c
		loud.noise.sd *= 20
		pilots.add("p99", loud, IntervalRepeats)
	}
	known, n := RepeatsToFind(advisedDifference, 0.04*math.Sqrt2, 1_000_000, true, alpha), pilots.paired.repeats(true, alpha)
	text := pilots.text(alpha)
	if n < known || n > known+1 || own <= n+2 || text != fmt.Sprintf("the noise of tps here needs `repeat: %d` to find a difference of 10 %% in 95 of 100 cases", n) {
		t.Errorf("%s; of a known deviation %d are right, and one of the differences alone asks for %d", text, known, own)
	}
	const trials = 400
	found := 0
	for range trials {
		if tpsChange(twoScenarios(s, n, true, 0.10)).Significant {
			found++
		}
	}
	if missed := trials - found; missed > atMost(trials, 0.05) {
		t.Errorf("%d repeats found %d of %d", n, found, trials)
	}
}

// TestRepeatsToFind holds the sizes against those of known deviations.
func TestRepeatsToFind(t *testing.T) {
	many := 100_000 // degrees of freedom: the deviation is known
	for _, tt := range []struct {
		sd     float64
		paired bool
		level  float64
		want   int
	}{
		{0.01, true, alpha, 4}, {math.Log(1.1), true, alpha, 16}, {math.Log(1.1) / 2, true, alpha, 6}, {math.Log(1.1), false, alpha, 29}, {100, true, alpha, mostRepeats},
		{math.Log(1.1), true, alpha / 10, 24}, {math.Log(1.1) / 2, true, alpha / 10, 9}, {math.Log(1.1), false, alpha / 30, 51},
		{0.01, false, alpha / 30, 7}, // 6 and 6 that are wholly apart have a p of 0.0022
	} {
		if got := RepeatsToFind(0.10, tt.sd, many, tt.paired, tt.level); got != tt.want {
			t.Errorf("%v, paired %v, level %.2g: %d, want %d", tt.sd, tt.paired, tt.level, got, tt.want)
		}
	}
	if few, known := RepeatsToFind(0.10, 0.06, 5, true, alpha), RepeatsToFind(0.10, 0.06, many, true, alpha); few <= known {
		t.Errorf("a deviation from six repeats asks for %d, a known one for %d", few, known)
	}
}

// TestPairs: which rounds are paired, and what comes of those that are not whole.
func TestPairs(t *testing.T) {
	for name, tt := range map[string]struct {
		order  string // scenarios in the order of execution; their repeats count up
		drop   int    // seq of a cell that failed
		method Method
		pairs  int
	}{
		"interleaved":                  {"abababababab", 0, ByPairs, 6},
		"shuffled":                     {"abbaabbabaab", 0, ByPairs, 6},
		"four rounds suffice":          {"abababab", 0, ByPairs, 4},
		"three do not":                 {"ababab", 0, ByUTest, 0},
		"one after the other":          {"aaaaaabbbbbb", 0, ByUTest, 0},
		"two by two":                   {"aabbaabbaabb", 0, ByUTest, 0},
		"a failed cell drops its pair": {"ababababab", 4, ByPairs, 4},
		"a cell done again much later": {"ababababab", -4, ByPairs, 4},
		"too few are left":             {"abababab", 4, ByUTest, 0},
		"no repeats":                   {"ab", 0, Untested, 0},
	} {
		random := rand.New(rand.NewPCG(7, 8))
		count := map[rune]int{}
		var cells []Cell
		for i, scenario := range tt.order {
			count[scenario]++
			c := cellAt(i+1, Label{"config", string(scenario)})
			c.Repeat, c.Round = count[scenario], count[scenario]
			c.Outcome.Events += int64(random.IntN(100))
			switch c.Seq {
			case tt.drop:
				c.Status = Failed
			case -tt.drop:
				c.Seq = 100
			}
			cells = append(cells, c)
		}
		if c := tpsChange(cells); c.Method != tt.method || c.Pairs != tt.pairs {
			t.Errorf("%s: %s, %d pairs; want %s, %d", name, c.Method, c.Pairs, tt.method, tt.pairs)
		}
	}
}

// roundsOf makes rounds without drift.
func roundsOf(ratios ...float64) []round {
	var rounds []round
	for i, r := range ratios {
		rounds = append(rounds, round{ratio: r, at: 2*float64(i) + 1.5, gap: 1})
	}
	return rounds
}

// TestPairedChange holds the paired test against figures worked out by hand, and its edges.
func TestPairedChange(t *testing.T) {
	ratios := []float64{0.10, 0.12, 0.08, 0.14, 0.06, 0.10} // mean 0.1, deviation 0.0282843, t = 8.66025 with 5 degrees of freedom
	c, ok := pairedChange(roundsOf(ratios...), Higher)
	if !ok || math.Abs(c.Factor()-math.Exp(0.1)) > 1e-12 || !c.Significant || !*c.Better || c.noise.sd == 0 {
		t.Errorf("%+v", c)
	}
	if half := 2.570582 * 0.0282843 / math.Sqrt(6); math.Abs(c.Interval.Lo-math.Expm1(0.1-half)) > 1e-5 || math.Abs(c.Interval.Hi-math.Expm1(0.1+half)) > 1e-5 {
		t.Errorf("interval %+v", *c.Interval)
	}
	if math.Abs(c.P-0.000339) > 1e-5 {
		t.Errorf("p %v", c.P)
	}
	if c, _ := pairedChange(roundsOf(ratios...), Lower); *c.Better {
		t.Error("more of what should be less is better")
	}
	if c, _ := pairedChange(roundsOf(ratios...), Neither); !c.Significant || c.Better != nil {
		t.Errorf("a fact that is no merit: %+v", c)
	}
	if _, ok := pairedChange(roundsOf(0.1, 0.1, 0.1, 0.1), Higher); ok {
		t.Error("equal ratios have a t")
	}
	if c, ok := pairedChange(roundsOf(-0.3, 0.2, -0.1, 0.25), Higher); !ok || c.Significant || c.Better != nil {
		t.Errorf("%+v", c)
	}
}

func TestTQuantile(t *testing.T) {
	for _, tt := range []struct{ p, dof, want float64 }{{0.975, 1, 12.7062}, {0.975, 2, 4.30265}, {0.975, 5, 2.57058}, {0.95, 29, 1.69913}, {0.975, 1e6, 1.95996}} {
		if got := tQuantile(tt.p, tt.dof); math.Abs(got-tt.want) > 1e-4 {
			t.Errorf("t(%v, %v) is %v, want %v", tt.p, tt.dof, got, tt.want)
		}
	}
}

// TestShiftInterval: it holds 0 exactly where the Mann-Whitney U test finds no difference, and is nil where the test can find none.
func TestShiftInterval(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		n, m := 3+random.IntN(6), 3+random.IntN(6)
		var old, now []float64
		for range n {
			old = append(old, math.Exp(0.05*random.NormFloat64()))
		}
		for range m {
			now = append(now, 1.05*math.Exp(0.05*random.NormFloat64()))
		}
		c, _ := ChangeOf(Summarize(old), Summarize(now), Higher)
		switch {
		case !c.Decidable:
			if c.Interval != nil {
				t.Errorf("%d and %d: an interval without a test", n, m)
			}
		case c.Interval == nil:
			t.Errorf("%d and %d: no interval", n, m)
		case (c.Interval.Lo > 0 || c.Interval.Hi < 0) != c.Significant:
			t.Errorf("%d and %d: p %v and interval %+v", n, m, c.P, *c.Interval)
		}
	}
	var many []float64
	for i := range 80 {
		many = append(many, 100+float64(i%7))
	}
	if c, _ := ChangeOf(Summarize(many), Summarize(many), Higher); c.Interval == nil || c.Interval.Lo > 0 || c.Interval.Hi < 0 {
		t.Errorf("many repeats: %+v", c)
	}
}

// TestBatchInterval: of cells with noise that lasts over seconds, nine of ten intervals and more hold the true rate; plain seconds
// would hold it in few. A trend has no interval, and so has a short cell.
func TestBatchInterval(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	series := func(n int, memory, trend float64) []Second {
		state := random.NormFloat64()
		list := make([]Second, n)
		for i := range list {
			state = memory*state + math.Sqrt(1-memory*memory)*random.NormFloat64()
			list[i] = Second{At: float64(i), Length: 1, Events: int64(math.Round(1000 * (1 + trend*float64(i)/float64(n)) * (1 + 0.05*state)))}
		}
		return list
	}
	for _, tt := range []struct {
		seconds int
		memory  float64
	}{{60, 0}, {60, 0.3}, {300, 0.5}, {300, 0.9}, {3600, 0.95}} {
		const trials = 300
		held, there, naive := 0, 0, 0
		for range trials {
			list := series(tt.seconds, tt.memory, 0)
			var rates []float64
			for _, s := range list {
				rates = append(rates, float64(s.Events))
			}
			if _, lo, hi := stats.MeanCI(rates, 0.95); lo <= 1000 && 1000 <= hi {
				naive++
			}
			i, ok := BatchInterval(list)
			if !ok {
				continue
			}
			there++
			if i.Lo <= 1000 && 1000 <= i.Hi {
				held++
			}
		}
		t.Logf("%d s, memory %v: %d of %d intervals hold the rate; of plain seconds %d of %d", tt.seconds, tt.memory, held, there, naive, trials)
		if there < trials*3/4 || there-held > atMost(there, 0.10) {
			t.Errorf("%d s, memory %v: %d of %d intervals hold the rate", tt.seconds, tt.memory, held, there)
		}
	}
	if i, ok := BatchInterval(series(300, 0, 0.5)); ok {
		t.Errorf("a rate that rises by half has the interval %+v", i)
	}
	if i, ok := BatchInterval(series(19, 0, 0)); ok {
		t.Errorf("19 seconds have the interval %+v", i)
	}
	steady := slices.Repeat([]Second{{Length: 1, Events: 1000}}, 30)
	if i, ok := BatchInterval(append(steady, Second{Length: 0.01, Events: 10})); !ok || i != (Interval{1000, 1000}) {
		t.Errorf("a steady rate: %+v, %v", i, ok)
	}
	if _, ok := BatchInterval(nil); ok {
		t.Error("nothing has an interval")
	}
}

// TestSingleRepeats: without repeats there is an interval from the series, of the rates and of their ratio, and never a claim.
func TestSingleRepeats(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	cells := []Cell{cellAt(1, Label{"config", "a"}), cellAt(2, Label{"config", "b"})}
	for i := range cells {
		for s := range 60 {
			cells[i].Outcome.Series = append(cells[i].Outcome.Series, Second{At: float64(s), Length: 1, Events: int64(100*(i+1) + random.IntN(10))})
		}
		cells[i].Outcome.Events *= int64(i + 1)
	}
	for _, fromDisk := range []bool{false, true} {
		folder := ""
		if fromDisk {
			w := create(t, nil)
			writeRun(t, w, Run{})
			appendCells(t, w, cells...)
			folder = w.Folder()
			for i := range cells {
				cells[i].Outcome.Series = nil
			}
		}
		r := ReportOf(Recorded{Folder: folder, Run: &Run{}, Cells: cells}, Options{})
		rows := r.Rows()
		v, c := rows[0].Values["tps"], rows[1].Changes["tps"]
		if v.By != ByBatches || v.Interval == nil || rows[0].Values["p95"].Interval != nil {
			t.Errorf("from disk %v: %+v", fromDisk, v)
		}
		if c.Method != ByBatches || c.Tested || c.Significant || c.Decidable || c.Interval == nil || c.Interval.Lo >= 1 || c.Interval.Hi <= 1 {
			t.Errorf("from disk %v: %+v", fromDisk, c)
		}
	}
}

// TestHolm holds the adjusted p of a table against the procedure by hand.
func TestHolm(t *testing.T) {
	var rows []*Row
	for _, p := range []float64{0.01, 0.04, 0.03, 0.005, 0.9} {
		c := Change{Tested: true, Decidable: true, P: p, Ratio: 0.1}
		c.decide(p, Higher)
		rows = append(rows, &Row{Changes: map[string]Change{"tps": c, "p50": {Tested: true, Decidable: true, P: 0.04, Significant: true}}})
	}
	rows = append(rows, &Row{Changes: map[string]Change{"tps": {Tested: true, P: 0.1}}}, &Row{})
	for _, tt := range []struct {
		by   Correction
		want string
	}{
		{Uncorrected, "0.04 true, 0.09 true, 0.09 true, 0.025 true, 0.9 false"},
		{Holm, "0.04 true, 0.09 false, 0.09 false, 0.025 true, 0.9 false"},
	} {
		correct(rows, []string{"tps"}, tt.by)
		var got []string
		for _, r := range rows[:5] {
			c := r.Changes["tps"]
			got = append(got, fmt.Sprintf("%.3g %v", c.Adjusted, c.Significant))
			if (c.Better != nil) != c.Significant {
				t.Errorf("%+v", c)
			}
		}
		if text := strings.Join(got, ", "); text != tt.want {
			t.Errorf("%q: %s, want %s", tt.by, text, tt.want)
		}
	}
	advised := func(by Correction) int {
		var rows []*Row
		for range 10 {
			rows = append(rows, &Row{Changes: map[string]Change{"tps": {Tested: true, Decidable: true, P: 0.5, noise: noise{0.04, 5, true}}}})
		}
		correct(rows, []string{"tps"}, by)
		return rows[0].Changes["tps"].Advised
	}
	if plain, corrected := advised(Uncorrected), advised(Holm); corrected <= plain {
		t.Errorf("among ten tests %d repeats find 10 %%, and %d if these are corrected for", plain, corrected)
	}
	if c := rows[0].Changes["p50"]; c.Adjusted != 0 || !c.Significant {
		t.Errorf("a metric that the table does not show: %+v", c)
	}
	if c := rows[5].Changes["tps"]; c.Adjusted != 0 {
		t.Errorf("one that no test could decide: %+v", c)
	}
	if _, err := ParseCorrection("bonferroni"); err == nil {
		t.Error("an unknown correction is taken")
	}
}

// TestGeoMeans: over the rows of a scenario, the ratios to their baselines.
func TestGeoMeans(t *testing.T) {
	var cells []Cell
	for i, tt := range []struct {
		config, mix string
		times       float64
	}{{"plain", "r", 1}, {"plain", "w", 1}, {"plain", "x", 1}, {"twopc", "r", 2}, {"twopc", "w", 0.5}, {"twopc", "x", 0.125}, {"audit", "r", 3}} {
		c := cellAt(i+1, Label{"config", tt.config}, Label{"mix", tt.mix})
		c.Outcome.Events = int64(float64(c.Outcome.Events) * tt.times)
		cells = append(cells, c)
	}
	cells[2].Outcome.Events, cells[2].Status = 7, Partial
	r := NewReport("x", &Run{Report: Settings{Baseline: map[string]string{"config": "plain"}}}, cells, nil)
	if len(r.Means) != 1 || r.Means[0].Name != "config=twopc" || math.Abs(r.Means[0].Metrics["tps"].Ratio) > 1e-9 || r.Means[0].Metrics["tps"].Cells != 2 {
		t.Errorf("%+v", r.Means)
	}
	c, err := Compare([]Recorded{{Name: "1", Run: &Run{}, Cells: cells}, {Name: "2", Run: &Run{}, Cells: slices.Clone(cells)}})
	if err != nil || len(c.Means) != 1 || c.Means[0][0].Name != "2" || c.Means[0][0].Metrics["tps"].Cells != 6 {
		t.Errorf("%+v, %v", c.Means, err)
	}
}

// TestShuffledRows: rows of shuffled rounds stand as the plan declares them.
func TestShuffledRows(t *testing.T) {
	run := &Run{Resolved: []byte(`{"steps":[{"cell":"config / run threads=1","kind":"run"},{"cell":"config / run threads=8","kind":"run"},{"cell":"config / run threads=16","kind":"run"}]}`)}
	var cells []Cell
	for i, threads := range []string{"8", "16", "1"} {
		c := cellAt(i+1, Label{"threads", threads})
		c.Attributes = map[string]string{"order": "shuffled"}
		cells = append(cells, c)
	}
	names := func(run *Run) string {
		var list []string
		for _, r := range NewReport("x", run, cells, nil).Rows() {
			list = append(list, r.Name)
		}
		return strings.Join(list, " ")
	}
	if got := names(run); got != "threads=1 threads=8 threads=16" {
		t.Error(got)
	}
	if got := names(&Run{}); got != "threads=8 threads=16 threads=1" {
		t.Errorf("without a resolved plan: %s", got)
	}
}
