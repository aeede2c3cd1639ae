package render

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"benchplan/results"
)

// Benchfmt writes a report in the Go benchmark format (https://golang.org/design/14313-benchmark-format), for benchstat and all
// that reads its files. A line is one repeat of one cell:
//
//	BenchmarkPlan/step/label=value 48000 1893.2 tps 0.0338 p95-sec
//
// the number behind the name is that of its events. The figures are the columns of the table (report.metrics chooses them) but those
// that are 0 everywhere, times in seconds, so that benchstat scales them, amounts of data in bytes. Labels are keys: benchstat -col /config FILE compares the
// values of config, the baseline first. Files of two runs are compared by benchstat OLD NEW; where the runs differ in host,
// server or tool, -ignore host,server,tool has them compared all the same.
//
// Cells that are not complete carry a line status, loads on this machine a line load: benchstat puts each of these into tables
// of their own. Lines that begin with # are for people.
func Benchfmt(w io.Writer, r *results.Report, _ Options) error {
	b := &benchWriter{config: map[string]string{}}
	for _, key := range headKeys {
		b.set(key.name, key.value(r.Run))
	}
	b.comment("run: " + r.Run.Name)
	b.comment(statusText(r.Run))
	b.comment(resumedText(r.Run))
	var metrics []string
	for _, t := range r.Tables() {
		metrics = append(metrics, t.Metrics...)
	}
	b.units(metrics, r.Rows())
	b.name(r.Run.Plan, r.Rows())
	for _, t := range r.Tables() {
		rows := t.Rows()
		slices.SortStableFunc(rows, baselineFirst) // benchstat compares with what it meets first
		for _, row := range rows {
			b.row(row)
		}
	}
	for i := range r.Tables() {
		b.notes(newNotes(r, i))
	}
	b.trailer(r.Warnings, r.Run.Errors)
	_, err := w.Write(b.Bytes())
	return err
}

// BenchfmtCompare writes the cells of several runs, as Benchfmt does, each run's after a line that names it:
//
//	run: radon-twopc/20180523T142000Z
//
// benchstat -col run FILE compares them. What is the same for all runs is a line of configuration; in what they differ is
// said in lines that begin with #, since benchstat would put each run into a table of its own.
func BenchfmtCompare(w io.Writer, c *results.Comparison, _ Options) error {
	b := &benchWriter{config: map[string]string{}}
	for _, key := range headKeys {
		if sameInAll(c.Runs, key.value) {
			b.set(key.name, key.value(c.Runs[0]))
		}
	}
	tables := c.Tables()
	var metrics []string
	var rows []*results.Row
	for _, t := range tables {
		metrics = append(metrics, t.Metrics...)
		for _, row := range t.Rows {
			rows = append(rows, row.Sides...)
		}
	}
	b.units(metrics, rows)
	b.name(c.Runs[0].Plan, rows)
	for n, head := range c.Runs {
		b.set("run", runLabel(c.Runs, n))
		b.comment(statusText(head))
		b.comment(resumedText(head))
		for _, key := range headKeys {
			if v := key.value(head); v != "" && !sameInAll(c.Runs, key.value) {
				b.comment(key.name + ": " + v)
			}
		}
		for _, t := range tables {
			for _, row := range t.Rows {
				if row.Sides[n] != nil {
					b.row(row.Sides[n])
				}
			}
		}
	}
	b.notes(c.Notes)
	for _, line := range dissimilarText(c, 0) {
		b.comment(line)
	}
	b.trailer(c.Warnings, nil)
	_, err := w.Write(b.Bytes())
	return err
}

// headKeys are the lines of configuration of a run as a whole; an empty value has none.
var headKeys = []struct {
	name  string
	value func(results.Head) string
}{
	{"plan", func(h results.Head) string { return h.Plan }},
	{"tool", func(h results.Head) string { return strings.TrimSpace("benchplan " + h.Tool.Version) }},
	{"host", func(h results.Head) string { return h.Host }},
	{"server", func(h results.Head) string { return strings.Join(h.Targets, "; ") }},
	{"rehearsal", func(h results.Head) string {
		if h.Rehearsal {
			return "true"
		}
		return ""
	}},
}

func sameInAll(heads []results.Head, value func(results.Head) string) bool {
	return !slices.ContainsFunc(heads, func(h results.Head) bool { return value(h) != value(heads[0]) })
}

// runLabel names a run among others; the same run twice is told apart, since benchstat would take both for one.
func runLabel(heads []results.Head, n int) string {
	if slices.ContainsFunc(heads[:n], func(h results.Head) bool { return h.Name == heads[n].Name }) {
		return fmt.Sprintf("%s #%d", heads[n].Name, n+1)
	}
	return heads[n].Name
}

func baselineFirst(a, b *results.Row) int {
	switch {
	case a.IsBaseline == b.IsBaseline:
		return 0
	case a.IsBaseline:
		return -1
	}
	return 1
}

// benchWriter writes a file in the format, and keeps what its reader knows by then.
type benchWriter struct {
	bytes.Buffer
	config  map[string]string
	metrics []results.Metric  // the figures of a line
	names   map[string]string // by the key of a row
}

// set writes a line of configuration where that is not what is already said; an empty value takes the key away.
func (b *benchWriter) set(key, value string) {
	value = oneLine(value)
	if b.config[key] == value {
		return
	}
	b.config[key] = value
	b.WriteString(strings.TrimRight(key+": "+value, " ") + "\n")
}

// comment writes a line that no reader of the format takes for its own.
func (b *benchWriter) comment(text string) {
	if text != "" {
		b.WriteString("# " + oneLine(text) + "\n")
	}
}

// units chooses the figures, and tells for each which way is better and that nothing is known of how it is distributed. One that is 0
// everywhere, as errors should be, is left out: there is nothing to test, and no geometric mean.
func (b *benchWriter) units(metrics []string, rows []*results.Row) {
	for _, name := range metrics {
		m, ok := results.MetricByName(name)
		if !ok || slices.ContainsFunc(b.metrics, func(c results.Metric) bool { return c.Name == name }) ||
			!slices.ContainsFunc(rows, func(r *results.Row) bool { return r != nil && slices.ContainsFunc(r.Values[name].Samples, notZero) }) {
			continue
		}
		b.metrics = append(b.metrics, m)
		unit, _ := benchUnit(m)
		line := "Unit " + unit + " assume=nothing"
		if m.Better != results.Neither {
			line += " better=" + string(m.Better)
		}
		b.WriteString(line + "\n")
	}
}

func notZero(v float64) bool { return v != 0 }

// name gives each row a name. Steps without a name are left out, but where two rows would then be called alike, which a reader
// would take for one.
func (b *benchWriter) name(plan string, rows []*results.Row) {
	b.names = map[string]string{}
	count := map[string]int{}
	for _, row := range rows {
		if row != nil && b.names[row.Key] == "" {
			b.names[row.Key] = benchName(plan, row, false)
			count[b.names[row.Key]]++
		}
	}
	for _, row := range rows {
		if row != nil && count[b.names[row.Key]] > 1 {
			b.names[row.Key] = benchName(plan, row, true)
		}
	}
}

// row writes a line for each repeat.
func (b *benchWriter) row(row *results.Row) {
	b.set("load", row.Load)
	if row.Status == results.Complete {
		b.set("status", "")
	} else {
		b.set("status", string(row.Status))
	}
	for repeat := range row.Repeats {
		events := 0.0
		if s := row.Values["events"].Samples; repeat < len(s) {
			events = s[repeat]
		}
		line := fmt.Sprintf("%s %.0f", b.names[row.Key], events)
		figures := 0
		for _, m := range b.metrics {
			samples := row.Values[m.Name].Samples
			if repeat >= len(samples) {
				continue
			}
			unit, divide := benchUnit(m)
			line += " " + strconv.FormatFloat(samples[repeat]/divide, 'g', -1, 64) + " " + unit
			figures++
		}
		if figures > 0 { // a name and nothing more is an error of the format
			b.WriteString(line + "\n")
		}
	}
}

// notes writes the doubts about the figures.
func (b *benchWriter) notes(notes []results.Note) {
	for _, n := range notes {
		for _, line := range n.Lines {
			b.comment(fmt.Sprintf("[%d] %s", n.Number, line))
		}
		if n.Remedy != "" {
			b.comment("    → " + n.Remedy)
		}
	}
}

func (b *benchWriter) trailer(warnings, errors []string) {
	for _, w := range warnings {
		b.comment("warning: " + w)
	}
	for _, e := range errors {
		b.comment("error: " + e)
	}
}

// benchUnit is what a metric is called in the format, and what its figure is divided by to have that unit. The format has no names of
// figures beside their units: p95-sec is both. Times are seconds and amounts of data bytes, as benchstat scales them.
func benchUnit(m results.Metric) (unit string, divide float64) {
	switch m.Unit {
	case "ms":
		return m.Name + "-sec", 1000
	case "s":
		return m.Name + "-sec", 1
	case "µs":
		return m.Name + "-sec", 1e6
	case "KiB":
		return m.Name + "-B", 1.0 / (1 << 10)
	case "MiB":
		return m.Name + "-B", 1.0 / (1 << 20)
	case "MiB/s":
		return strings.TrimPrefix(m.Name, "mib_") + "-B/s", 1.0 / (1 << 20)
	case "1/s":
		if m.Name != "tps" && m.Name != "qps" {
			return m.Name + "/s", 1
		}
	}
	return m.Name, 1
}

// benchName is the name of a row: of its plan with a capital, which the format demands, its steps, and its labels. Steps without
// a name are _ or left out.
func benchName(plan string, row *results.Row, unnamed bool) string {
	first, size := utf8.DecodeRuneInString(plan)
	base := string(unicode.ToUpper(first)) + plan[size:]
	if plan == "" || !unicode.IsUpper(unicode.ToUpper(first)) {
		base = strings.TrimSuffix("Plan-"+plan, "-")
	}
	parts := []string{"Benchmark" + benchEscape(base)}
	for _, step := range row.Path {
		switch {
		case step != "":
			parts = append(parts, benchEscape(step))
		case unnamed:
			parts = append(parts, "_")
		}
	}
	for _, l := range row.Labels {
		parts = append(parts, benchEscape(l.Name)+"="+benchEscape(l.Value))
	}
	name := strings.Join(parts, "/")
	// Digits behind a dash at the end would be read as the number of processors.
	if i := strings.LastIndexByte(name, '-'); i >= 0 && i < len(name)-1 && strings.Trim(name[i+1:], "0123456789") == "" {
		name = name[:i] + "%2D" + name[i+1:]
	}
	return name
}

// benchEscape writes as %XX what would end a name, or a part of one, and what does not show.
func benchEscape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '/' || r == '=' || r == '%' || r == utf8.RuneError || unicode.IsSpace(r) || hidden(r) {
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// oneLine brings a text of several lines into one, and shows what does not print.
func oneLine(s string) string { return printable(strings.Join(strings.Fields(s), " ")) }
