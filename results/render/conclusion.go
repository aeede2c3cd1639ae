package render

import (
	"fmt"
	"slices"
	"strings"

	"benchplan/results"
)

// mostConclusions is how many rows are put into words: of more, the table is the better summary.
const mostConclusions = 3

// conclusions puts the differences of a small table into words, as factors: "disk=SSD against disk=HDD: tps 5.96 times, p95
// 0.09 times". A difference that is not significant is said to be none; without enough repeats a factor is a plain ratio, which
// the footnotes say.
func conclusions(t *results.Table) []string {
	rows := map[string]*results.Row{}
	var compared []*results.Row
	for _, s := range t.Sections {
		for _, r := range s.Rows {
			rows[r.Key] = r
			if r.Baseline != "" && !r.IsBaseline {
				compared = append(compared, r)
			}
		}
	}
	if len(compared) == 0 || len(compared) > mostConclusions {
		return nil
	}
	var lines []string
	for _, r := range compared {
		base := rows[r.Baseline]
		if base == nil {
			continue
		}
		if parts := factors(t, r, base); len(parts) > 0 {
			line := fmt.Sprintf("%s against %s: %s", label(r.Name), label(base.Name), strings.Join(parts, ", "))
			if c, ok := r.Changes["tps"]; ok && !c.Decidable {
				line += " (plain ratios, no claim)"
			}
			lines = append(lines, printable(line))
		}
	}
	return lines
}

// factors compares a row with its baseline, metric by metric; what machines and servers did meanwhile explains the figures and is not in
// the sentence.
func factors(t *results.Table, r, base *results.Row) []string {
	names := slices.Clone(t.Changes)
	if slices.Contains(t.Metrics, "errors") && !slices.Contains(names, "errors") {
		names = append(names, "errors")
	}
	var parts []string
	for _, name := range names {
		value, ok1 := r.Values[name]
		against, ok2 := base.Values[name]
		m := metricOf(name, t.Load)
		if !ok1 || !ok2 || m.Name == "" || m.Watched() || value.Center <= 0 || against.Center <= 0 {
			continue
		}
		if c, ok := r.Changes[name]; ok && c.Tested && c.Decidable && !c.Significant {
			parts = append(parts, m.Title+" no significant difference")
			continue
		}
		ratio := value.Center / against.Center
		if c, ok := r.Changes[name]; ok {
			ratio = c.Factor()
		}
		parts = append(parts, fmt.Sprintf("%s %s times", m.Title, factor(ratio)))
	}
	return parts
}

// factor writes a ratio with three significant digits.
func factor(f float64) string {
	switch {
	case f >= 100:
		return thousands(fmt.Sprintf("%.0f", f))
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	case f >= 0.1:
		return fmt.Sprintf("%.2f", f)
	}
	return fmt.Sprintf("%.3g", f)
}

// mostMeans is how many scenarios have a line of their own under a table.
const mostMeans = 20

// meanTexts puts the geometric means over the cells of a table into words, a line a scenario. They are said to be untested: a
// mean of differences that may all be chance reads like a finding.
func meanTexts(means []results.GeoMean, metrics []string, load string) []string {
	var lines []string
	for i, m := range means {
		if i == mostMeans && len(means) > mostMeans+1 {
			lines = append(lines, fmt.Sprintf("  and %d more (--format json has all)", len(means)-mostMeans))
			break
		}
		var parts []string
		cells, alike := 0, true
		for _, name := range metrics {
			if r, ok := m.Metrics[name]; ok {
				alike = alike && (cells == 0 || cells == r.Cells)
				cells = max(cells, r.Cells)
			}
		}
		for _, name := range metrics {
			r, ok := m.Metrics[name]
			if !ok {
				continue
			}
			text := metricOf(name, load).Title + " " + differenceText(r.Ratio)
			if !alike {
				text += fmt.Sprintf(" (%d cells)", r.Cells)
			}
			parts = append(parts, text)
		}
		over := fmt.Sprintf(" over %d cells", cells)
		if !alike {
			over = ""
		}
		lines = append(lines, fmt.Sprintf("Geometric mean%s (not tested), %s: %s", over, label(m.Name), strings.Join(parts, ", ")))
	}
	return lines
}
