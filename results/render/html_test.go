package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"benchplan/results"
)

// htmlRuns are the runs whose pages are looked at: a small one, one of many cells with all that a run can have, one of a single
// cell, one that was interrupted, one with loads of several kinds, one without cells, and a comparison. Where there are series they are so many seconds long.
func htmlRuns(seconds int) map[string][]results.Recorded {
	one := func(run *results.Run, cells []results.Cell) []results.Recorded {
		return []results.Recorded{{Name: run.Plan + "/20180523T142000Z", Run: run, Cells: cells}}
	}
	matrixRun, matrixCells := matrixRun(6, 1)
	matrixRun.Targets[0].Variables = map[string]string{"innodb_buffer_pool_size": "134217728", "sync_binlog": "1"}
	empty, _ := radonRun()
	empty.Status = results.RunFailed
	list := map[string][]results.Recorded{
		"radon": one(radonRun()), "one": one(oltpRun()), "partial": one(partialRun()), "mixed": one(machineRun(1)),
		"matrix": one(matrixRun, matrixCells), "empty": one(empty, nil), "compare": twoRuns(),
	}
	for _, name := range []string{"matrix", "compare", "mixed"} {
		for _, r := range list[name] {
			for i := range r.Cells {
				addSeconds(&r.Cells[i], seconds)
			}
		}
	}
	for i := range matrixCells {
		addWatched(&matrixCells[i], seconds)
	}
	return list
}

// addWatched gives a cell what its machine and its server did meanwhile.
func addWatched(c *results.Cell, seconds int) {
	m := results.Machine{Role: results.Generator, Name: "generator"}
	s := &results.ServerStatus{Elapsed: float64(seconds)}
	for i := range seconds {
		wave := 0.5 + 0.3*math.Sin(float64(i+c.Seq)/9)
		m.Seconds = append(m.Seconds, results.Usage{
			At: float64(i), Elapsed: 1, CPUs: 32, User: 0.6 * wave, System: 0.3 * wave, IOWait: 0.05, Idle: 0.95 - 0.9*wave, RunQueue: 20 * wave,
			BytesWritten: int64(9e7 * wave), BytesReceived: int64(3e6 * wave), BytesSent: int64(5e6 * wave),
		})
		s.Seconds = append(s.Seconds, map[string]int64{"questions": int64(9000 * wave), "com_commit": int64(1900 * wave), "innodb_row_lock_waits": 0})
	}
	c.Machines, c.Server = []results.Machine{m}, s
}

// addSeconds gives a cell a series of so many seconds and a distribution that fit its rate and its latency.
func addSeconds(c *results.Cell, seconds int) {
	random := rand.New(rand.NewPCG(uint64(c.Seq), 1))
	o := &c.Outcome
	h := hdrhistogram.New(64, 1e11, 3)
	for i := range seconds {
		wave := 1 + 0.1*math.Sin(float64(i)/7) + 0.06*(random.Float64()-0.5)
		o.Series = append(o.Series, results.Second{
			At: float64(i), Length: 1, Events: int64(float64(o.Events) / o.Elapsed * wave), Queries: 1,
			P50: o.Latency.P50 / wave, P95: o.Latency.P95 / wave, P99: o.Latency.P99 / wave * (1 + random.Float64()),
		})
	}
	for range 20_000 {
		h.RecordValue(int64(1e6 * o.Latency.P50 * math.Exp(random.NormFloat64()*0.56))) //nolint:errcheck // what is out of range is none of it
	}
	o.Histograms = map[string]*hdrhistogram.Histogram{"events": h}
}

// htmlPage writes the page of one run, or the comparison of several; bare leaves out the styles and scripts.
func htmlPage(t testing.TB, runs []results.Recorded, bare bool) string {
	t.Helper()
	var p *page
	if o := (Options{Runs: runs}); len(runs) == 1 {
		p = newReportPage(results.NewReport(runs[0].Name, runs[0].Run, runs[0].Cells, runs[0].Warnings), o)
	} else {
		c, err := results.Compare(runs)
		if err != nil {
			t.Fatal(err)
		}
		p = newComparePage(c, o)
	}
	var a assets
	if !bare {
		a = pageAssets()
	}
	var b bytes.Buffer
	if err := p.write(&b, a); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHTMLGolden holds pages, without styles and scripts, against what they are meant to be.
func TestHTMLGolden(t *testing.T) {
	for name, runs := range htmlRuns(3) {
		golden(t, name+".html", func(b *bytes.Buffer) error {
			b.WriteString(htmlPage(t, runs, true))
			return nil
		})
	}
}

// hostile is what somebody may call a scenario.
var hostile = []string{
	"<script>alert(1)</script>", "</script><script>alert(1)</script>", "</title></style><img src=x onerror=alert(1)>", `" onmouseover="alert(1)`,
	"<!-- <script>", "\u202egnp.exe", "\u2066a\u2069", "a\x00b\x1b[31m", "{{.}}", "`${alert(1)}`", "]]>", strings.Repeat("long ", 200_000),
}

// TestHTMLTextStaysText: whatever a plan, a server or a label says, it is shown as text, and it cannot make the page large.
func TestHTMLTextStaysText(t *testing.T) {
	calm := htmlPage(t, wildRun(func(i int) string { return fmt.Sprint("scenario", i) }), false)
	wild := htmlPage(t, wildRun(func(i int) string { return hostile[i%len(hostile)] }), false)
	for _, tag := range []string{"<script", "</script", "<style", "<img", "<title", "<a ", "<td"} {
		if want, got := strings.Count(calm, tag), strings.Count(wild, tag); want != got {
			t.Errorf("%d times %s, %d in a page of harmless texts", got, tag, want)
		}
	}
	for _, r := range "\u202e\u2066\u2069\x00\x1b" {
		if strings.ContainsRune(wild, r) {
			t.Errorf("%U is in the page", r)
		}
	}
	if strings.Contains(wild, "ZgotmplZ") {
		t.Error("the template refused a text")
	}
	if !strings.Contains(wild, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the label is not shown")
	}
	if max := len(calm) + 400_000; len(wild) > max {
		t.Errorf("%d bytes, %d without long texts", len(wild), len(calm))
	}
	var data chartData
	_, text, _ := strings.Cut(wild, `id="data">`)
	text, _, _ = strings.Cut(text, "</script>")
	if err := json.Unmarshal([]byte(text), &data); err != nil || len(data.Rows) == 0 {
		t.Errorf("the data: %v", err)
	}
}

// wildRun has the texts that name gives wherever a record has texts of others.
func wildRun(name func(int) string) []results.Recorded {
	run, cells := matrixRun(1, 1)
	run.Plan, run.Description, run.PlanText, run.PlanFile = name(0), name(1), name(2)+"\n"+name(3), name(4)
	run.Errors, run.Settings = []string{name(5)}, map[string]string{name(6): name(7)}
	run.Host.Name, run.Host.CPU = name(8), name(9)
	run.Targets[0].Address, run.Targets[0].Variables = name(10), map[string]string{name(0): name(1), name(11): name(2)}
	run.Report.Baseline = nil
	for i := range cells {
		c := &cells[i]
		addSeconds(c, 3)
		c.Labels = []results.Label{{Name: "config", Value: name(i)}, {Name: name(7), Value: name(i + 1)}}
		c.Outcome.Errors = []results.ErrorCount{{Code: 1105, Class: results.Write, Count: 1, Message: name(i + 2)}}
	}
	return []results.Recorded{{Name: name(3), Run: run, Cells: cells, Warnings: []string{name(0)}}}
}

// TestHTMLAsksNoNetwork: nothing in a page makes a browser fetch anything, and its policy would forbid it.
func TestHTMLAsksNoNetwork(t *testing.T) {
	text := htmlPage(t, htmlRuns(60)["matrix"], false)
	fetching := regexp.MustCompile(`(?i)\b(src|srcset|poster|action|manifest|background)=["']|href=["'][^#]|url\(|@import|<(link|base|iframe|object|embed|form)\b|\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|\bimport\(|sourceMappingURL|http-equiv="refresh`)
	for _, at := range fetching.FindAllStringIndex(text, -1) {
		t.Errorf("…%s…", text[max(0, at[0]-40):min(len(text), at[1]+40)])
	}
	for _, at := range regexp.MustCompile(`https?://[^\s"'<]*`).FindAllString(text, -1) {
		if at != "https://github.com/leeoniya/uPlot" { // a comment that says where the code is from
			t.Errorf("the page names %s", at)
		}
	}
	policy := pageAssets().policy()
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Count(policy, "'sha256-") != 4 {
		t.Error(policy)
	}
}

// TestHTMLSize: a page of 500 cells of a minute stays small and is written quickly; longer cells have fewer points.
func TestHTMLSize(t *testing.T) {
	for _, seconds := range []int{60, 3600} {
		run, _ := radonRun()
		var cells []results.Cell
		for i := range 500 {
			_, c := oltpRun()
			c[0].Seq, c[0].Labels = i+1, []results.Label{{Name: "scenario", Value: fmt.Sprint("number ", i)}}
			addSeconds(&c[0], 60)
			addWatched(&c[0], 60)
			if i > 0 {
				c[0].Outcome.Histograms = cells[0].Outcome.Histograms
			}
			for len(c[0].Outcome.Series) < seconds {
				s := c[0].Outcome.Series
				more := s[len(s)-60]
				more.At = float64(len(s))
				c[0].Outcome.Series = append(s, more)
			}
			cells = append(cells, c[0])
		}
		began := time.Now()
		size := len(htmlPage(t, []results.Recorded{{Name: "many", Run: run, Cells: cells}}, false))
		t.Logf("500 cells of %d s: %.2f MB in %v", seconds, float64(size)/1e6, time.Since(began))
		if size > 5e6 {
			t.Errorf("500 cells of %d s: %d bytes", seconds, size)
		}
	}
}

// TestUpperFirst: a text may begin with any letter.
func TestUpperFirst(t *testing.T) {
	for in, want := range map[string]string{"": "", "tps": "Tps", "été": "Été", "Δ tps": "Δ tps", "二": "二"} {
		if got := upperFirst(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// TestThinning: of a long series the page has few points, and no peak is lost.
func TestThinning(t *testing.T) {
	for _, n := range []int{1, 2, 59, 60, 61, 1201, 86_400} {
		at, values := make(figures, n), make(figures, n)
		for i := range values {
			at[i], values[i] = float64(i), 100
		}
		values[n/2], values[n/3] = 9999, 1
		if n > 1200 {
			values[7] = math.NaN()
		}
		line := newTimeline(at, map[string]figures{"tps": values}, 60)
		got := line.Lines["tps"]
		low, high := math.Inf(1), 0.0
		for _, v := range got {
			low, high = min(low, v), max(high, v)
		}
		if len(got) > 60 || n <= 60 && len(got) != n || high != 9999 && n > 1 || n > 2 && low != 1 {
			t.Errorf("of %d points %d are left, from %v to %v", n, len(got), low, high)
		}
		if times := len(line.At); times != 0 && times != len(got) {
			t.Errorf("of %d points: %d moments, %d figures", n, times, len(got))
		}
	}
}

func TestFiguresAreShort(t *testing.T) {
	b, err := json.Marshal(figures{0, 1881.4321, 0.00012345678, 123456789, 1.0 / 3, -12.3456, math.NaN(), math.Inf(1), 100, 99995})
	if want := "[0,1881,0.0001235,1.235e+08,0.3333,-12.35,null,null,100,100000]"; err != nil || string(b) != want {
		t.Errorf("%s, %v; want %s", b, err, want)
	}
}

// TestAnswerSaysHowSure: the sentence at the top tells a difference from none and from one that nothing can be said of.
func TestAnswerSaysHowSure(t *testing.T) {
	better, worse := true, false
	row := func(c results.Change) compared {
		status := results.Complete
		if c.Against < 0 { // stands for a cell that an error ended
			status = results.Failed
		}
		return compared{name: "config=twopc", base: &results.Row{Repeats: 6, Status: results.Complete}, row: &results.Row{Repeats: 6, Status: status, Changes: map[string]results.Change{"tps": c}}}
	}
	tested := results.Change{Ratio: -0.12, Tested: true, Decidable: true, Significant: true, Better: &worse, Pairs: 6, Interval: &results.Interval{Lo: -0.14, Hi: -0.1}}
	faster := results.Change{Ratio: 4.96, Tested: true, Decidable: true, Significant: true, Better: &better, Interval: &results.Interval{Lo: 3.5, Hi: 6}}
	same := results.Change{Ratio: 0.01, Tested: true, Decidable: true, Interval: &results.Interval{Lo: -0.01, Hi: 0.03}}
	for _, tt := range []struct {
		changes []results.Change
		want    string
	}{
		{[]results.Change{tested}, "config=twopc: throughput (tps) −12.0 % (−14.0 … −10.0), 6 pairs, worse."},
		{[]results.Change{faster}, "config=twopc: throughput (tps) 5.96 × (4.50 … 7.00), 6 repeats each, better."},
		{[]results.Change{same}, "config=twopc: throughput (tps) +1.0 % (−1.0 … +3.0), 6 repeats each, no significant difference."},
		{[]results.Change{{Ratio: -0.12}}, "config=twopc: throughput (tps) −12.0 %, 6 repeats each, no claim."},
		{[]results.Change{tested, faster, same}, "Throughput (tps): 1 of 3 worse (−12.0 %), 1 better (5.96 ×), 1 without a significant difference."},
		{[]results.Change{same, {Ratio: -0.7, Against: -1}, {Ratio: -0.6, Against: -1}}, "Throughput (tps): 1 of 3 without a significant difference, 2 plain ratios (0.30 … 0.40 ×), no claim: not carried out to the end."},
		{[]results.Change{same, {Ratio: -0.1}, {Ratio: -0.1, Against: -1}},
			"Throughput (tps): 1 of 3 without a significant difference, 2 plain ratios (−10.0 %), no claim: too few repeats to tell from noise, or not carried out to the end."},
		{[]results.Change{{Ratio: -1, Tested: true, Decidable: true, Significant: true, Better: &worse}, same}, "Throughput (tps): 1 of 2 worse (−100 %), 1 without a significant difference."},
		{[]results.Change{same, same}, "Throughput (tps): no significant difference in 2 comparisons."},
		{nil, ""},
	} {
		var list []compared
		for _, c := range tt.changes {
			list = append(list, row(c))
		}
		a := newAnswer("", "", []string{"tps"}, list)
		if a.Sentence != tt.want {
			t.Errorf("%q\nwant %q", a.Sentence, tt.want)
		}
		for _, c := range a.Charts {
			for _, r := range c.Rows {
				if strings.Contains(r.At+c.Zero, "Inf") || strings.Contains(r.At+c.Zero, "NaN") {
					t.Errorf("a place that is none: %+v", r)
				}
				if shape := map[string]string{"good": "up", "bad": "down", "same": "dot", "doubtful": "diamond"}[r.Class]; r.Shape != shape {
					t.Errorf("%+v", r)
				}
			}
		}
	}
}
