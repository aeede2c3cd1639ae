package render

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"benchplan/results"
)

// CSV writes one line for each row of a report, with all metrics: <metric> is the median of the repeats, <metric>_lo and
// _hi its 95 % interval, <metric>_change the difference to the baseline as a fraction, with _change_lo and _change_hi its 95 %
// interval, <metric>_p the test's p, <metric>_p_adjusted that after Holm over the differences that the table shows. What does
// not apply is empty. Labels are label.<name>. A text that a spreadsheet would take for a formula has ' before it, and characters
// that would not be seen are written as escapes.
func CSV(w io.Writer, r *results.Report, _ Options) error {
	out := csv.NewWriter(w)
	var axes []string
	for _, t := range r.Tables() {
		for _, name := range allLabels(t.Axes, t.Constant) {
			if !slices.Contains(axes, name) {
				axes = append(axes, name)
			}
		}
	}
	metrics := metricsOf(r.Rows())
	if err := out.Write(slices.Concat([]string{"run"}, identityHead(axes), metricHead(metrics))); err != nil {
		return err
	}
	for _, t := range r.Tables() {
		for _, row := range t.Rows() {
			if err := out.Write(slices.Concat([]string{plain(r.Run.Name)}, identity(row, axes, t.Notes), metricCells(metrics, row))); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// CSVCompare writes one line for each row of each run, as CSV does; the changes are to the first run.
func CSVCompare(w io.Writer, c *results.Comparison, _ Options) error {
	out := csv.NewWriter(w)
	axes := allLabels(c.Axes, c.Constant)
	var rows []*results.Row
	for _, row := range c.Rows {
		rows = append(rows, row.Sides...)
	}
	metrics := metricsOf(rows)
	if err := out.Write(slices.Concat([]string{"run"}, identityHead(axes), metricHead(metrics))); err != nil {
		return err
	}
	for i := range c.Rows {
		for n, side := range c.Rows[i].Sides {
			if side == nil {
				continue
			}
			if err := out.Write(slices.Concat([]string{plain(c.Runs[n].Name)}, identity(side, axes, c.Notes), metricCells(metrics, side))); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func allLabels(axes []results.Axis, constant []results.Label) []string {
	var names []string
	for _, a := range axes {
		names = append(names, a.Name)
	}
	for _, l := range constant {
		names = append(names, l.Name)
	}
	return names
}

func identityHead(labels []string) []string {
	head := []string{"path"}
	for _, l := range labels {
		head = append(head, plain("label."+l))
	}
	return append(head, "roles", "status", "repeats", "baseline", "notes")
}

func identity(row *results.Row, labels []string, notes []results.Note) []string {
	cells := []string{plain(strings.Join(row.Path, "/"))}
	for _, l := range labels {
		v, _ := row.Label(l)
		cells = append(cells, plain(v))
	}
	var codes []string
	for _, ref := range row.Notes {
		for _, n := range notes {
			if n.Number == ref.Number {
				codes = append(codes, n.Code)
			}
		}
	}
	return append(cells, plain(results.ClientsText(row.Clients)), plain(string(row.Status)), strconv.Itoa(row.Repeats), plain(row.Baseline), plain(strings.Join(codes, " ")))
}

// metricsOf lists the metrics that the rows can have: those of loads on this machine where there are such, and those of watched machines,
// servers and open loops that some row has.
func metricsOf(rows []*results.Row) []results.Metric {
	host := slices.ContainsFunc(rows, func(r *results.Row) bool { return r != nil && r.Load != "" })
	has := func(m results.Metric) bool {
		return slices.ContainsFunc(rows, func(r *results.Row) bool {
			if r == nil {
				return false
			}
			_, ok := r.Values[m.Name]
			return ok
		})
	}
	return slices.DeleteFunc(results.Metrics(), func(m results.Metric) bool { return m.Host() && !host || m.Watched() && !has(m) })
}

func metricHead(metrics []results.Metric) []string {
	var head []string
	for _, m := range metrics {
		head = append(head, m.Name, m.Name+"_lo", m.Name+"_hi", m.Name+"_change", m.Name+"_change_lo", m.Name+"_change_hi", m.Name+"_p", m.Name+"_p_adjusted")
	}
	return head
}

func metricCells(metrics []results.Metric, row *results.Row) []string {
	var cells []string
	for _, m := range metrics {
		group := make([]string, 8)
		if v, ok := row.Values[m.Name]; ok {
			group[0] = exact(v.Center)
			if v.Interval != nil {
				group[1], group[2] = exact(v.Interval.Lo), exact(v.Interval.Hi)
			}
		}
		if c, ok := row.Changes[m.Name]; ok {
			group[3] = exact(c.Ratio)
			if c.Interval != nil {
				group[4], group[5] = exact(c.Interval.Lo), exact(c.Interval.Hi)
			}
			if c.Tested {
				group[6] = exact(c.P)
			}
			if c.Adjusted > 0 {
				group[7] = exact(c.Adjusted)
			}
		}
		cells = append(cells, group...)
	}
	return cells
}

// plain keeps a text from being read as a formula, and shows what is hidden in it.
func plain(s string) string {
	s = printable(s)
	if _, err := strconv.ParseFloat(s, 64); err != nil && s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
