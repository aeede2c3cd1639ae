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
// _hi its 95 % interval, <metric>_change the difference to the baseline as a fraction, <metric>_p the test's p. What does
// not apply is empty. Labels are label.<name>.
func CSV(w io.Writer, r *results.Report, _ Options) error {
	out := csv.NewWriter(w)
	axes := allLabels(r.Axes, r.Constant)
	if err := out.Write(slices.Concat([]string{"run"}, identityHead(axes), metricHead())); err != nil {
		return err
	}
	for _, row := range r.Rows() {
		if err := out.Write(slices.Concat([]string{r.Run.Name}, identity(row, axes, r.Notes), metricCells(row))); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// CSVCompare writes one line for each row of each run, as CSV does; the changes are to the first run.
func CSVCompare(w io.Writer, c *results.Comparison, _ Options) error {
	out := csv.NewWriter(w)
	axes := allLabels(c.Axes, c.Constant)
	if err := out.Write(slices.Concat([]string{"run"}, identityHead(axes), metricHead())); err != nil {
		return err
	}
	for i := range c.Rows {
		for n, side := range c.Rows[i].Sides {
			if side == nil {
				continue
			}
			if err := out.Write(slices.Concat([]string{c.Runs[n].Name}, identity(side, axes, c.Notes), metricCells(side))); err != nil {
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
		head = append(head, "label."+l)
	}
	return append(head, "roles", "status", "repeats", "baseline", "notes")
}

func identity(row *results.Row, labels []string, notes []results.Note) []string {
	cells := []string{strings.Join(row.Path, "/")}
	for _, l := range labels {
		v, _ := row.Label(l)
		cells = append(cells, v)
	}
	var codes []string
	for _, ref := range row.Notes {
		for _, n := range notes {
			if n.Number == ref.Number {
				codes = append(codes, n.Code)
			}
		}
	}
	return append(cells, results.ClientsText(row.Clients), string(row.Status), strconv.Itoa(row.Repeats), row.Baseline, strings.Join(codes, " "))
}

func metricHead() []string {
	var head []string
	for _, m := range results.Metrics() {
		head = append(head, m.Name, m.Name+"_lo", m.Name+"_hi", m.Name+"_change", m.Name+"_p")
	}
	return head
}

func metricCells(row *results.Row) []string {
	var cells []string
	for _, m := range results.Metrics() {
		group := make([]string, 5)
		if v, ok := row.Values[m.Name]; ok {
			group[0] = exact(v.Center)
			if v.Interval != nil {
				group[1], group[2] = exact(v.Interval.Lo), exact(v.Interval.Hi)
			}
		}
		if c, ok := row.Changes[m.Name]; ok {
			group[3] = exact(c.Ratio)
			if c.Tested {
				group[4] = exact(c.P)
			}
		}
		cells = append(cells, group...)
	}
	return cells
}

func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
