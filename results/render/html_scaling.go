package render

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchplan/results"
)

// scalingView is what metrics do over a number: over clients, or over an axis whose values are numbers.
type scalingView struct {
	Over    string          `json:"over"`
	Metrics []scalingMetric `json:"metrics"`
	Lines   []scalingLine   `json:"lines"`
}

// scalingMetric is a metric that can be drawn.
type scalingMetric struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

// scalingLine is one scenario but for the number: Values has, by metric, center, low and high end of the interval at each of X.
type scalingLine struct {
	Name   string                `json:"name"`
	X      figures               `json:"x"`
	Values map[string][3]figures `json:"values"`
}

// overClients names the numbers of clients where no axis has them.
const overClients = "clients"

// scalings gives a view over the clients where they vary, and one over each other axis of numbers.
func scalings(load string, several bool, metrics []string, axes []results.Axis, rows []chartSource) []scalingView {
	var drawn []scalingMetric
	for _, name := range metrics {
		m := metricOf(name, load)
		title := m.Title
		if m.Unit == "ms" || m.Unit == "s" {
			title += ", " + m.Unit
		}
		drawn = append(drawn, scalingMetric{name, loadPrefix(load, several) + title})
	}
	var views []scalingView
	for _, over := range scalingAxes(axes, rows) {
		v := scalingView{Over: harmless(over.name), Metrics: drawn}
		at := map[string]int{}
		for _, source := range rows {
			x, ok := over.number(source.row)
			if !ok {
				continue
			}
			name := over.line(source, axes)
			i, seen := at[name]
			if !seen {
				i = len(v.Lines)
				at[name] = i
				v.Lines = append(v.Lines, scalingLine{Name: harmless(name), Values: map[string][3]figures{}})
			}
			v.Lines[i].add(x, source.row, metrics)
		}
		if slices.ContainsFunc(v.Lines, func(l scalingLine) bool { return len(l.X) > 1 }) {
			for i := range v.Lines {
				v.Lines[i].sort()
			}
			views = append(views, v)
		}
	}
	return views
}

// loadPrefix tells kinds of load apart where there are several.
func loadPrefix(load string, several bool) string {
	if !several {
		return ""
	}
	return loadText(load) + ": "
}

// scalingAxis is a number that rows have.
type scalingAxis struct {
	name   string
	number func(*results.Row) (float64, bool)
	hides  []string // the axes that say the same
}

// scalingAxes finds the numbers that vary.
func scalingAxes(axes []results.Axis, rows []chartSource) []scalingAxis {
	clients := scalingAxis{name: overClients, number: clientsOf}
	var others []scalingAxis
	distinct := map[float64]bool{}
	for _, s := range rows {
		n, _ := clientsOf(s.row)
		distinct[n] = true
	}
	for _, a := range axes {
		number := func(r *results.Row) (float64, bool) {
			text, _ := r.Label(a.Name)
			v, err := strconv.ParseFloat(text, 64)
			return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
		}
		numeric, sameAsClients := 0, true
		for _, s := range rows {
			v, ok := number(s.row)
			if ok {
				numeric++
			}
			n, _ := clientsOf(s.row)
			sameAsClients = sameAsClients && ok && v == n
		}
		switch {
		case sameAsClients:
			clients.hides = append(clients.hides, a.Name)
		case numeric == len(rows) && len(a.Values) > 2:
			others = append(others, scalingAxis{a.Name, number, []string{a.Name}})
		}
	}
	if len(distinct) > 1 {
		return append([]scalingAxis{clients}, others...)
	}
	return others
}

func clientsOf(r *results.Row) (float64, bool) {
	total := 0
	for _, c := range r.Clients {
		total += c.Clients
	}
	return float64(total), total > 0
}

// line names what a row is but for the number.
func (a scalingAxis) line(s chartSource, axes []results.Axis) string {
	var parts []string
	for _, other := range axes {
		if v, ok := s.row.Label(other.Name); ok && !slices.Contains(a.hides, other.Name) {
			parts = append(parts, other.Name+"="+v)
		}
	}
	if parts == nil {
		parts = nonEmpty(s.row.Step)
	}
	if s.run > 0 {
		parts = append(parts, runSuffix(s.run))
	}
	return strings.Join(parts, " ")
}

func (l *scalingLine) add(x float64, row *results.Row, metrics []string) {
	l.X = append(l.X, x)
	for _, name := range metrics {
		point := [3]float64{math.NaN(), math.NaN(), math.NaN()}
		if v, ok := row.Values[name]; ok {
			point[0] = v.Center
			if v.Interval != nil {
				point[1], point[2] = v.Interval.Lo, v.Interval.Hi
			}
		}
		values := l.Values[name]
		for i := range point {
			values[i] = append(values[i], point[i])
		}
		l.Values[name] = values
	}
}

// sort puts the points into the order of their numbers.
func (l *scalingLine) sort() {
	order := make([]int, len(l.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.X[a], l.X[b]) })
	sorted := func(f figures) figures {
		out := make(figures, len(f))
		for i, from := range order {
			out[i] = f[from]
		}
		return out
	}
	l.X = sorted(l.X)
	for name, v := range l.Values {
		l.Values[name] = [3]figures{sorted(v[0]), sorted(v[1]), sorted(v[2])}
	}
}
