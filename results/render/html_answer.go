package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"benchplan/results"
)

// answer is what a table's differences come to: a sentence, and a chart of intervals for each metric.
type answer struct {
	Heading  string // the kind of load, where there are several
	Sentence string
	Against  string // what the rows are compared with
	Means    string // of the first metric, over all rows
	Charts   []intervalChart
}

// intervalChart has a row for each difference of one metric.
type intervalChart struct {
	Metric   string // its title
	Better   string // which way is better
	Sentence string // what its rows come to; the first one's is that of the answer
	Rows     []intervalRow
	Ticks    []tick
	Zero     string // where no difference is, in percent of the width
	Left     int    // rows that are not shown
	Claimed  bool   // some row has an interval
}

// tick is a mark of the scale.
type tick struct {
	At   string // percent of the width
	Text string
}

// intervalRow is one difference. Places are in percent of the chart's width.
type intervalRow struct {
	Name     string
	Group    string // set where a new one begins: the value of the pivot
	Class    string // good, bad, same, doubtful
	Long     bool   // the name may be broken anywhere
	Shape    string // up, down, dot, diamond
	Change   string // -9.6 %
	Interval string // (-10.1 … -9.0 %)
	Verdict  string
	Repeats  string
	At       string
	Lo, Hi   string
	Bar      bool

	change results.Change
	cut    bool // one of the two was not carried out to its end
}

// compared is a row, or a side of one, with the row that it is compared with.
type compared struct {
	name, group string
	row, base   *results.Row
}

// mostIntervals is how many differences of a metric are drawn: the table has all.
const mostIntervals = 24

// meansTold is how many scenarios' means are told.
const meansTold = 6

// reportAnswer is that of one table of a report.
func reportAnswer(t *results.Table, heading string) answer {
	byKey := map[string]*results.Row{}
	for _, r := range t.Rows() {
		byKey[r.Key] = r
	}
	var list []compared
	for _, s := range t.Sections {
		for _, r := range s.Rows {
			if base := byKey[r.Baseline]; base != nil && !r.IsBaseline {
				c := compared{name: r.Name, row: r, base: base}
				if t.Pivot != "" && s.Value != "" {
					c.name, c.group = nameBeside(r.Label, r.Name, t.Axes, t.Pivot, t.StepsDiffer && !labelsTell(t.Rows(), t.Axes)), t.Pivot+"="+s.Value
				}
				list = append(list, c)
			}
		}
	}
	a := newAnswer(heading, t.Load, t.Changes, list)
	a.Against, a.Means = labelsText(t.Baseline), meansWords(t.Means, t.Changes)
	if a.Sentence == "" {
		a.Sentence = fmt.Sprintf("%s, nothing to compare %s with.", plural(len(t.Rows()), "scenario"), pronoun(len(t.Rows())))
		if one := t.Rows(); len(one) == 1 {
			a.Sentence = valuesText(one[0], t)
		}
	}
	return a
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// nameBeside names a row by the labels that vary besides the pivot, where these tell it from the others of its section.
func nameBeside(label func(string) (string, bool), name string, axes []results.Axis, pivot string, stepsDiffer bool) string {
	var parts []string
	for _, a := range axes {
		if v, ok := label(a.Name); ok && a.Name != pivot {
			parts = append(parts, a.Name+"="+v)
		}
	}
	if parts == nil || stepsDiffer {
		return name
	}
	return strings.Join(parts, " ")
}

// valuesText puts the figures of a single row into words.
func valuesText(r *results.Row, t *results.Table) string {
	var parts []string
	for _, name := range t.Metrics {
		m := metricOf(name, t.Load)
		v, ok := r.Values[name]
		if !ok || name != "tps" && !strings.HasSuffix(name, "p95") && !strings.HasSuffix(name, "p99") {
			continue
		}
		s := scaleFor(m, []float64{v.Center})
		parts = append(parts, strings.TrimSpace(m.Title+" "+s.format(v.Center)+" "+s.unit))
	}
	return strings.Join(parts, ", ")
}

// compareAnswer is that of one table of a comparison of runs.
func compareAnswer(c *results.Comparison, t results.CompareTable, heading string) answer {
	var list []compared
	for _, row := range t.Rows {
		for n, side := range row.Sides {
			if n == 0 || side == nil || row.Sides[0] == nil {
				continue
			}
			pair := compared{name: row.Name, row: side, base: row.Sides[0]}
			if v, ok := row.Label(t.Pivot); ok {
				pair.name, pair.group = nameBeside(row.Label, row.Name, t.Axes, t.Pivot, t.StepsDiffer), t.Pivot+"="+v
			}
			if len(c.Runs) > 2 {
				pair.name += " " + runSuffix(n)
			}
			list = append(list, pair)
		}
	}
	a := newAnswer(heading, t.Load, t.Changes, list)
	a.Against, a.Means = runSuffix(0)+" "+c.Runs[0].Name, meansWords(t.Means, t.Changes)
	if a.Sentence == "" {
		a.Sentence = "The runs have no cell in common."
	}
	return a
}

// meansWords puts the geometric means of the first metric into a sentence; it is empty where there are none.
func meansWords(means []results.GeoMean, metrics []string) string {
	if len(metrics) == 0 {
		return ""
	}
	var parts []string
	cells := 0
	for i, g := range means {
		mean, ok := g.Metrics[metrics[0]]
		if !ok {
			continue
		}
		if i == meansTold {
			parts = append(parts, fmt.Sprintf("and %d more", len(means)-meansTold))
			break
		}
		parts = append(parts, g.Name+" "+changeWords(mean.Ratio))
		cells = max(cells, mean.Cells)
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("Geometric mean of %d cells (not tested): %s.", cells, strings.Join(parts, ", "))
}

func newAnswer(heading, load string, metrics []string, list []compared) answer {
	a := answer{Heading: heading}
	for _, name := range metrics {
		chart := newIntervalChart(metricOf(name, load), list)
		if len(chart.Rows) == 0 {
			continue
		}
		if chart.Sentence = sentence(chart); a.Sentence == "" {
			a.Sentence, chart.Sentence = leading(chart)+chart.Sentence, ""
		}
		if len(chart.Rows) == 1 {
			chart.Sentence = "" // its row says it all
		}
		chart.cut()
		chart.place()
		a.Charts = append(a.Charts, chart)
	}
	return a
}

func newIntervalChart(m results.Metric, list []compared) intervalChart {
	chart := intervalChart{Metric: metricWords(m), Better: string(m.Better) + " is better"}
	group := ""
	for _, c := range list {
		change, ok := c.row.Changes[m.Name]
		if !ok {
			continue
		}
		r := intervalRow{Name: c.name, Change: changeWords(change.Ratio), Verdict: "no claim", Class: "doubtful", Shape: "diamond", change: change,
			cut: c.row.Status != results.Complete || c.base.Status != results.Complete}
		if c.group != group {
			r.Group, group = c.group, c.group
		}
		switch {
		case change.Decidable && !change.Significant:
			r.Verdict, r.Class, r.Shape = "no significant difference", "same", "dot"
		case change.Decidable:
			r.Shape = "up"
			if change.Ratio < 0 {
				r.Shape = "down"
			}
			if r.Verdict, r.Class = "significant", "same"; change.Better != nil {
				if r.Verdict, r.Class = "worse", "bad"; *change.Better {
					r.Verdict, r.Class = "better", "good"
				}
			}
		}
		if in := change.Interval; in != nil && in.Lo > -1 {
			r.Bar, chart.Claimed = true, true
			r.Change, r.Interval = intervalWords(change.Ratio, *in)
		}
		r.Long = utf8.RuneCountInString(r.Name) > longLabel
		r.Repeats = repeatsWords(change, c.base.Repeats, c.row.Repeats)
		chart.Rows = append(chart.Rows, r)
	}
	return chart
}

// metricWords names a metric in a sentence.
func metricWords(m results.Metric) string {
	if m.Name == "tps" {
		return "throughput (" + m.Title + ")"
	}
	return m.Title
}

// changeWords writes a difference as the tables do, with a sign of its own.
func changeWords(ratio float64) string { return proper(differenceText(ratio)) }

// intervalWords writes a difference and its interval, both in percent or both as ratios: −9.6 % (−10.2 … −9.1).
func intervalWords(ratio float64, in results.Interval) (change, interval string) {
	change = changeWords(ratio)
	if strings.HasSuffix(change, times) {
		return change, fmt.Sprintf("(%s … %s)", factor(1+in.Lo), factor(1+in.Hi))
	}
	bare := func(r float64) string { return strings.TrimSuffix(proper(percent(r)), " %") }
	return change, fmt.Sprintf("(%s … %s)", bare(in.Lo), bare(in.Hi))
}

// leading says what a sentence is of.
func leading(c intervalChart) string {
	if len(c.Rows) == 1 {
		return c.Rows[0].Name + ": " + c.Metric + " "
	}
	return upperFirst(c.Metric) + ": "
}

// sentence sums up the differences of one metric: one is told in full, more are counted.
func sentence(c intervalChart) string {
	if len(c.Rows) == 1 {
		r := c.Rows[0]
		return fmt.Sprintf("%s, %s, %s.", strings.TrimSpace(r.Change+" "+r.Interval), r.Repeats, r.Verdict)
	}
	total := len(c.Rows)
	of := fmt.Sprintf(" of %d", total)
	var parts []string
	for _, kind := range []struct{ class, word string }{{"bad", "worse"}, {"good", "better"}} {
		var ratios []float64
		for _, r := range c.Rows {
			if r.Class == kind.class {
				ratios = append(ratios, r.change.Ratio)
			}
		}
		if len(ratios) > 0 {
			parts = append(parts, fmt.Sprintf("%d%s %s (%s)", len(ratios), of, kind.word, rangeWords(ratios)))
			of = ""
		}
	}
	same := 0
	var doubtful []float64
	cut := 0
	for _, r := range c.Rows {
		switch r.Class {
		case "same":
			same++
		case "doubtful":
			doubtful = append(doubtful, r.change.Ratio)
			if r.cut {
				cut++
			}
		}
	}
	if same == total {
		parts = append(parts, fmt.Sprintf("no significant difference in %s", plural(total, "comparison")))
	} else if same > 0 {
		parts = append(parts, fmt.Sprintf("%d%s without a significant difference", same, of))
		of = ""
	}
	if doubtful != nil {
		parts = append(parts, fmt.Sprintf("%d%s plain ratios (%s), no claim: %s", len(doubtful), of, rangeWords(doubtful), whyNoClaim(len(doubtful), cut)))
	}
	return strings.Join(parts, ", ") + "."
}

// whyNoClaim says why differences are plain ratios, of which some are of cells that were not carried out to their end.
func whyNoClaim(all, cut int) string {
	switch cut {
	case 0:
		return "too few repeats to tell from noise"
	case all:
		return "not carried out to the end"
	}
	return "too few repeats to tell from noise, or not carried out to the end"
}

// rangeWords writes the least and the greatest of some differences, both in percent or both as ratios.
func rangeWords(ratios []float64) string {
	low, high := slices.Min(ratios), slices.Max(ratios)
	lo, hi := changeWords(low), changeWords(high)
	switch {
	case lo == hi:
		return lo
	case strings.HasSuffix(lo, times) || strings.HasSuffix(hi, times):
		return factor(1+low) + " … " + factor(1+high) + times
	}
	return lo + " … " + hi
}

// cut keeps the differences that say most where there are too many to draw: significant ones, then large ones.
func (c *intervalChart) cut() {
	if len(c.Rows) <= mostIntervals {
		return
	}
	order := make([]int, len(c.Rows))
	group := ""
	for i := range c.Rows {
		order[i] = i
		if r := &c.Rows[i]; r.Group != "" {
			group, r.Group = r.Group, ""
		}
		if group != "" {
			c.Rows[i].Name = group + " " + c.Rows[i].Name
		}
	}
	size := func(i int) float64 { return math.Abs(math.Log1p(c.Rows[i].change.Ratio)) }
	slices.SortStableFunc(order, func(a, b int) int {
		if s, o := c.Rows[a].change.Significant, c.Rows[b].change.Significant; s != o {
			if s {
				return -1
			}
			return 1
		}
		return cmp.Compare(size(b), size(a))
	})
	c.Left = len(c.Rows) - mostIntervals
	kept := make([]intervalRow, mostIntervals)
	for i := range kept {
		kept[i] = c.Rows[order[i]]
	}
	c.Rows = kept
}

// tickRatios are the differences that a scale can mark.
var tickRatios = []float64{-0.99, -0.9, -0.8, -0.5, -0.4, -0.3, -0.2, -0.15, -0.1, -0.05, -0.02, -0.01, 0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2, 4, 9, 19, 49, 99, 999}

// place finds the places on a scale of logarithms, on which half is as far to the left as double is to the right. What came to
// nothing would be without end to the left: it stands at the left edge.
func (c *intervalChart) place() {
	lo, hi := -0.01, 0.01
	for _, r := range c.Rows {
		ends := []float64{r.change.Ratio}
		if in := r.change.Interval; r.Bar {
			ends = append(ends, in.Lo, in.Hi)
		}
		for _, e := range ends {
			if e <= -1 {
				continue
			}
			lo, hi = min(lo, math.Log1p(e)), max(hi, math.Log1p(e))
		}
	}
	pad := (hi - lo) * 0.06
	lo, hi = lo-pad, hi+pad
	at := func(ratio float64) float64 {
		if ratio <= -1 {
			return 0
		}
		return 100 * (math.Log1p(ratio) - lo) / (hi - lo)
	}
	c.Zero = place(at(0))
	for i := range c.Rows {
		r := &c.Rows[i]
		r.At = place(at(r.change.Ratio))
		if in := r.change.Interval; r.Bar {
			r.Lo, r.Hi = place(at(in.Lo)), place(at(in.Hi))
		}
	}
	c.Ticks = ticks(at)
}

// ticks chooses marks that do not run into each other or over the ends; zero is always among them.
func ticks(at func(float64) float64) []tick {
	const apart, margin = 15, 4
	chosen := []float64{0}
	for _, near := range tickRatiosBySize() {
		p := at(near)
		if p < margin || p > 100-margin || slices.ContainsFunc(chosen, func(have float64) bool { return math.Abs(at(have)-p) < apart }) {
			continue
		}
		chosen = append(chosen, near)
	}
	slices.Sort(chosen)
	list := make([]tick, len(chosen))
	for i, ratio := range chosen {
		text := "0"
		switch {
		case ratio >= 1:
			text = fmt.Sprintf("×%.0f", 1+ratio)
		case ratio != 0:
			text = proper(fmt.Sprintf("%+.0f %%", 100*ratio))
		}
		list[i] = tick{place(at(ratio)), text}
	}
	return list
}

// tickRatiosBySize puts the largest first, so that a scale is marked near its ends.
func tickRatiosBySize() []float64 {
	sorted := slices.Clone(tickRatios)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(math.Abs(math.Log1p(b)), math.Abs(math.Log1p(a))) })
	return sorted
}

func place(percent float64) string { return fmt.Sprintf("%.2f%%", percent) }

// repeatsWords says from how many repeats a difference is.
func repeatsWords(c results.Change, base, row int) string {
	switch {
	case c.Pairs > 0:
		return plural(c.Pairs, "pair")
	case base == row && row == 1:
		return "1 run each"
	case base == row:
		return fmt.Sprintf("%d repeats each", row)
	}
	return fmt.Sprintf("%d against %d repeats", row, base)
}
