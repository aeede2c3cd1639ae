package render

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/HdrHistogram/hdrhistogram-go"

	"benchplan/results"
)

// chartData is what the page's script draws. Times are seconds, latencies milliseconds.
type chartData struct {
	Runs    []string      `json:"runs"` // their suffixes, where there are several
	Rows    []chartRow    `json:"rows"`
	Cells   []chartCell   `json:"cells"`
	Tail    figures       `json:"tail"`           // 1/(1-quantile) of the points of all distributions
	Scaling []scalingView `json:"scaling"`        // what rates and latencies do over a number
	Note    string        `json:"note,omitempty"` // on what is not here
}

// chartRow is a scenario, and its cells: one a repeat and run.
type chartRow struct {
	Name  string `json:"name"`
	Cells []int  `json:"cells"`
}

// chartCell is one execution.
type chartCell struct {
	Run      int            `json:"run"`
	Repeat   int            `json:"repeat"`
	Partial  bool           `json:"partial,omitempty"`
	Shown    bool           `json:"shown,omitempty"` // at first
	Load     *timeline      `json:"load,omitempty"`
	Machines []machineChart `json:"machines,omitempty"`
	Server   *timeline      `json:"server,omitempty"`  // increase of status variables per second
	Tail     figures        `json:"tail,omitempty"`    // latency at each of chartData.Tail, as far as it reaches
	Latency  figures        `json:"latency,omitempty"` // p50, p95, p99, p99.9, max
}

// machineChart is what one machine did.
type machineChart struct {
	Role    string    `json:"role"`
	Name    string    `json:"name,omitempty"`
	Figures *timeline `json:"figures"`
}

// timeline is figures over time, all at the same moments: every Step seconds from 0 on or, where that is not so, At.
type timeline struct {
	Step  float64            `json:"step"`
	At    figures            `json:"at,omitempty"`
	Lines map[string]figures `json:"lines"`
}

// figures are written with four significant digits; what is not known is null.
type figures []float64

// MarshalJSON writes them as short as can be.
func (f figures) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 2+7*len(f))
	b = append(b, '[')
	for i, v := range f {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			b = append(b, "null"...)
			continue
		}
		b = strconv.AppendFloat(b, significant(v), 'g', -1, 64)
	}
	return append(b, ']'), nil
}

// significant rounds to four significant digits.
func significant(v float64) float64 {
	if v == 0 {
		return 0
	}
	digits := 3 - int(math.Floor(math.Log10(math.Abs(v))))
	if digits >= 0 {
		unit := math.Pow10(digits)
		return math.Round(v*unit) / unit
	}
	unit := math.Pow10(-digits)
	return math.Round(v/unit) * unit
}

// The size of a page: a few cells are drawn as they are, of many each has fewer points.
const (
	mostPoints   = 1200
	allPoints    = 60_000
	fewestPoints = 60
	mostWatched  = 200 // cells whose figures of machines and servers are in a page
	shownRows    = 4   // whose first repeats are drawn at first
)

// pointsPerCell shares the points of a page between its cells.
func pointsPerCell(cells int) int {
	if cells == 0 {
		return mostPoints
	}
	return max(fewestPoints, min(mostPoints, allPoints/cells))
}

// tailPoints are the quantiles of a distribution's plot: 24 a decade, up to the millionth.
func tailPoints() figures {
	const decades, each = 6, 24
	points := make(figures, decades*each+1)
	for i := range points {
		points[i] = math.Pow(10, float64(i)/each)
	}
	return points
}

// chartSource is a row of a report with the number of its run.
type chartSource struct {
	row *results.Row
	run int
}

// reportCharts gathers the data of a report's charts. What cannot be read is a warning.
func reportCharts(r *results.Report, runs []results.Recorded) (*chartData, []string) {
	var names []chartName
	for _, t := range r.Tables() {
		for _, row := range t.Rows() {
			names = append(names, chartName{row.Key, loadPrefix(t.Load, len(r.More) > 0) + row.Name})
		}
	}
	d, warnings := newChartData(names, shownOfReport(r), runs)
	for _, t := range r.Tables() {
		var rows []chartSource
		for _, row := range t.Rows() {
			rows = append(rows, chartSource{row, 0})
		}
		d.Scaling = append(d.Scaling, scalings(t.Load, len(r.More) > 0, t.Metrics, t.Axes, rows)...)
	}
	return d, warnings
}

// compareCharts gathers the data of a comparison's charts.
func compareCharts(c *results.Comparison, tables []results.CompareTable, runs []results.Recorded) (*chartData, []string) {
	var names []chartName
	var both []string
	for _, row := range c.Rows {
		names = append(names, chartName{row.Key, loadPrefix(row.Load, len(tables) > 1) + row.Name})
		if !slices.Contains(row.Sides, nil) {
			both = append(both, row.Key)
		}
	}
	d, warnings := newChartData(names, both[:min(len(both), max(1, shownRows/len(c.Runs)))], runs)
	for _, t := range tables {
		var rows []chartSource
		for _, row := range t.Rows {
			for n, side := range row.Sides {
				if side != nil {
					rows = append(rows, chartSource{side, n})
				}
			}
		}
		d.Scaling = append(d.Scaling, scalings(t.Load, len(tables) > 1, t.Metrics, t.Axes, rows)...)
	}
	return d, warnings
}

// shownOfReport gives the keys of the rows that are drawn at first: those of the first section that has a difference.
func shownOfReport(r *results.Report) []string {
	var keys []string
	for _, s := range r.Sections {
		if slices.ContainsFunc(s.Rows, func(row *results.Row) bool { return row.Baseline != "" && !row.IsBaseline }) {
			for _, row := range s.Rows {
				keys = append(keys, row.Key)
			}
			break
		}
	}
	if keys == nil {
		for _, row := range r.Rows() {
			keys = append(keys, row.Key)
		}
	}
	return keys[:min(len(keys), shownRows)]
}

// chartName is the identity of a scenario and what it is called.
type chartName struct{ key, name string }

// newChartData reads the records of the cells of all scenarios. Of those that are shown at first, the first repeat is, of each run.
func newChartData(names []chartName, shown []string, runs []results.Recorded) (*chartData, []string) {
	d := &chartData{Rows: []chartRow{}, Cells: []chartCell{}, Tail: tailPoints(), Scaling: []scalingView{}} // lists, not null, where they are empty
	at := map[string]int{}
	for i, n := range names {
		at[n.key] = i
		d.Rows = append(d.Rows, chartRow{harmless(n.name), []int{}})
	}
	cells := 0
	for _, r := range runs {
		cells += len(r.Cells)
	}
	reader := cellReader{points: pointsPerCell(cells), tail: d.Tail, firstOnly: cells > mostWatched}
	for n, run := range runs {
		drawn := map[string]bool{}
		if len(runs) > 1 {
			d.Runs = append(d.Runs, runSuffix(n))
		}
		for i := range run.Cells {
			c := &run.Cells[i]
			row, known := at[c.Key()]
			if !known {
				continue
			}
			d.Rows[row].Cells = append(d.Rows[row].Cells, len(d.Cells))
			cell := reader.read(run.Folder, n, c)
			cell.Shown = cell.Load != nil && !drawn[c.Key()] && slices.Contains(shown, c.Key())
			drawn[c.Key()] = drawn[c.Key()] || cell.Shown
			d.Cells = append(d.Cells, cell)
		}
	}
	if reader.left > 0 {
		d.Note = fmt.Sprintf("The figures of machines and servers are here for %s; those of %d more are in the run folder.", plural(reader.watched, "cell"), reader.left)
	}
	return d, reader.warnings()
}

// cellReader reads what is kept of cells, and counts what it cannot read.
type cellReader struct {
	points    int
	tail      figures
	firstOnly bool // of machines and servers only the first repeats are read

	watched, left int // cells with figures of machines and servers: read, and left where they are
	failed        int
	first         error
}

// read gathers the figures of one cell.
func (r *cellReader) read(folder string, run int, c *results.Cell) chartCell {
	cell := chartCell{Run: run, Repeat: c.Repeat, Partial: c.Status != results.Complete}
	series, histograms := c.Outcome.Series, c.Outcome.Histograms
	if folder != "" {
		var err error
		if series, err = results.ReadSeries(folder, c); err != nil {
			r.fail(err)
		}
		if histograms, err = results.ReadHistograms(folder, c); err != nil {
			r.fail(err)
		}
	}
	cell.Load = loadTimeline(series, r.points)
	if l := c.Outcome.Latency; l.Count > 0 {
		cell.Latency = figures{l.P50, l.P95, l.P99, l.P999, l.Max}
	}
	if h := histograms["events"]; h != nil {
		cell.Tail = distribution(h, r.tail)
	}
	r.readWatched(folder, c, &cell)
	return cell
}

// readWatched adds what machines and the server did meanwhile.
func (r *cellReader) readWatched(folder string, c *results.Cell, cell *chartCell) {
	if len(c.Machines) == 0 && c.Server == nil {
		return
	}
	if r.firstOnly && (c.Repeat > 1 || r.watched == mostWatched) {
		r.left++
		return
	}
	r.watched++
	for i := range c.Machines {
		m := &c.Machines[i]
		seconds := m.Seconds
		if folder != "" {
			var err error
			if seconds, err = results.ReadUsage(folder, m); err != nil {
				r.fail(err)
			}
		}
		if t := usageTimeline(seconds, r.points); t != nil {
			cell.Machines = append(cell.Machines, machineChart{harmless(m.Role), harmless(m.Name), t})
		}
	}
	if s := c.Server; s != nil {
		seconds := s.Seconds
		if folder != "" {
			var err error
			if seconds, err = results.ReadStatus(folder, s); err != nil {
				r.fail(err)
			}
		}
		cell.Server = statusTimeline(seconds, r.points)
	}
}

// usageTimeline makes shares and rates of what a machine did in each second.
func usageTimeline(seconds []results.Usage, limit int) *timeline {
	if len(seconds) == 0 {
		return nil
	}
	at, lines := make(figures, len(seconds)), map[string]figures{}
	for i, u := range seconds {
		at[i] = u.At
		rate := func(n int64) float64 {
			if u.Elapsed <= 0 {
				return math.NaN()
			}
			return float64(n) / u.Elapsed / (1 << 20)
		}
		for _, l := range []struct {
			name  string
			value float64
		}{
			{"user", 100 * u.User}, {"system", 100 * u.System}, {"iowait", 100 * u.IOWait}, {"steal", 100 * u.Steal}, {"run queue", u.RunQueue},
			{"read", rate(u.BytesRead)}, {"written", rate(u.BytesWritten)}, {"received", rate(u.BytesReceived)}, {"sent", rate(u.BytesSent)},
		} {
			lines[l.name] = append(lines[l.name], l.value)
		}
	}
	dropZeros(lines)
	return newTimeline(at, lines, limit)
}

// statusTimeline makes lines of the status variables that moved.
func statusTimeline(seconds []map[string]int64, limit int) *timeline {
	if len(seconds) == 0 {
		return nil
	}
	at, lines := make(figures, len(seconds)), map[string]figures{}
	for _, name := range results.StatusSeries {
		values := make(figures, len(seconds))
		for i, s := range seconds {
			at[i] = float64(i)
			values[i] = math.NaN()
			if n, ok := s[name]; ok {
				values[i] = float64(n)
			}
		}
		lines[name] = values
	}
	dropZeros(lines)
	if len(lines) == 0 {
		return nil
	}
	return newTimeline(at, lines, limit)
}

// dropZeros takes out lines that never leave 0.
func dropZeros(lines map[string]figures) {
	maps.DeleteFunc(lines, func(_ string, values figures) bool {
		return !slices.ContainsFunc(values, func(v float64) bool { return v != 0 && !math.IsNaN(v) })
	})
}

func (r *cellReader) fail(err error) {
	if r.failed++; r.first == nil {
		r.first = err
	}
}

func (r *cellReader) warnings() []string {
	switch r.failed {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("a file of the charts cannot be read: %v", r.first)}
	}
	return []string{fmt.Sprintf("%d files of the charts cannot be read, the first: %v", r.failed, r.first)}
}

// briefSecond is the length below which the last second of a series gives no rate.
const briefSecond = 0.5

// loadTimeline makes rates and percentiles of the seconds of a load.
func loadTimeline(series []results.Second, limit int) *timeline {
	if n := len(series); n > 1 && series[n-1].Length < briefSecond {
		series = series[:n-1]
	}
	if len(series) == 0 {
		return nil
	}
	lines := map[string]figures{}
	at := make(figures, len(series))
	rates := make(figures, len(series))
	for i, s := range series {
		at[i] = s.At
		length := s.Length
		if length <= 0 {
			length = 1
		}
		rates[i] = float64(s.Events) / length
		add := func(name string, v float64) { lines[name] = append(lines[name], v) }
		latency := func(name string, v float64) {
			if s.Events == 0 {
				v = math.NaN()
			}
			add(name, v)
		}
		latency("p50", s.P50)
		latency("p95", s.P95)
		latency("p99", s.P99)
		add("errors", float64(s.Errors)/length)
		add("restarts", float64(s.Restarts)/length)
		add("reconnects", float64(s.Reconnects)/length)
		add("queue", float64(s.Queue))
	}
	dropZeros(lines)
	lines["tps"] = rates // a rate of 0 is worth seeing
	return newTimeline(at, lines, limit)
}

// newTimeline thins figures out to a limit of points, keeping in each span its lowest and its highest.
func newTimeline(at figures, lines map[string]figures, limit int) *timeline {
	if span := (2*len(at) + limit - 1) / limit; len(at) > limit {
		thinned := map[string]figures{}
		for name, values := range lines {
			thinned[name] = extremes(values, span)
		}
		var times figures
		for from := 0; from < len(at); from += span {
			times = append(times, at[from], at[min(from+span/2, len(at)-1)])
		}
		at, lines = times, thinned
	}
	t := &timeline{Step: 1, Lines: lines}
	if len(at) > 1 {
		t.Step = at[1] - at[0]
	}
	for i, v := range at {
		if math.Abs(v-float64(i)*t.Step) > t.Step/100 {
			t.At = at
			break
		}
	}
	return t
}

// extremes gives two values for each span, its lowest and its highest in the order in which they came.
func extremes(values figures, span int) figures {
	var out figures
	for part := range slices.Chunk(values, span) {
		low, high := -1, -1
		for i, v := range part {
			if math.IsNaN(v) {
				continue
			}
			if low < 0 || v < part[low] {
				low = i
			}
			if high < 0 || v > part[high] {
				high = i
			}
		}
		if low < 0 {
			out = append(out, math.NaN(), math.NaN())
			continue
		}
		out = append(out, part[min(low, high)], part[max(low, high)])
	}
	return out
}

// distribution gives the latency at each point of the tail, in milliseconds, as far as the events reach.
func distribution(h *hdrhistogram.Histogram, tail figures) figures {
	count := h.TotalCount()
	if count == 0 {
		return nil
	}
	var percentiles []float64
	for _, t := range tail {
		if t > float64(count) && len(percentiles) > 1 {
			break
		}
		percentiles = append(percentiles, 100*(1-1/t))
	}
	values := h.ValueAtPercentiles(percentiles)
	out := make(figures, len(percentiles))
	for i, p := range percentiles {
		out[i] = results.Milliseconds(values[p])
	}
	return out
}
