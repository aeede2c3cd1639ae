package results

import (
	"cmp"
	"fmt"
	"slices"
)

// Correction is what is done about many differences being tested at once.
type Correction string

// The corrections.
const (
	Uncorrected Correction = ""
	// Holm holds the probability that chance makes any difference of a table significant at 5 % (Holm: A Simple Sequentially
	// Rejective Multiple Test Procedure, 1979).
	Holm Correction = "holm"
)

// ParseCorrection reads what --correct takes.
func ParseCorrection(name string) (Correction, error) {
	switch name {
	case "", "none":
		return Uncorrected, nil
	case string(Holm):
		return Holm, nil
	}
	return "", fmt.Errorf("there is no correction %q: there are holm and none", name)
}

// tested is a difference of a table that a test could decide.
type tested struct {
	row    *Row
	metric string
}

// judging is what decides about differences besides their own test.
type judging struct {
	correction Correction
	metrics    []string // that an expression judges, shown or not
}

// judgedBeside gives the metrics that are judged and not among those shown, each once.
func judgedBeside(shown, judged []string) []string {
	var list []string
	for _, name := range judged {
		if !slices.Contains(shown, name) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// correct gives each of the differences that a table shows, or that are judged all the same, its adjusted p: of m tested ones in the order of their p, the i-th
// has the largest of (m-j+1)·p_j for j up to i, at most 1. With Holm these decide what is significant. Those that are not are given the
// repeats that would tell 10 %: with Holm at the level of the smallest p, which is enough wherever a p comes among the others.
func correct(rows []*Row, metrics []string, by Correction) {
	var family []tested
	for _, row := range rows {
		for _, name := range metrics {
			if c, ok := row.Changes[name]; ok && c.Tested && c.Decidable {
				family = append(family, tested{row, name})
			}
		}
	}
	p := func(t tested) float64 { return t.row.Changes[t.metric].P }
	slices.SortStableFunc(family, func(a, b tested) int { return cmp.Compare(p(a), p(b)) })
	adjusted, level := 0.0, alpha
	if by == Holm {
		level /= float64(max(1, len(family)))
	}
	for i, t := range family {
		adjusted = min(1, max(adjusted, float64(len(family)-i)*p(t)))
		c := t.row.Changes[t.metric]
		c.Adjusted = adjusted
		if by == Holm {
			m, _ := MetricByName(t.metric)
			c.decide(adjusted, m.Better)
		}
		if !c.Significant && c.noise.sd > 0 {
			c.Advised = RepeatsToFind(advisedDifference, c.noise.sd, c.noise.dof, c.noise.paired, level)
		}
		t.row.Changes[t.metric] = c
	}
}
