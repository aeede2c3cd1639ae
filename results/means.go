package results

import (
	"math"
	"slices"
	"strings"
)

// GeoMean is what one scenario comes to over all rows of a table that could be compared: for each metric the geometric mean
// of the ratios to the baseline, which is the same from whichever side it is looked at.
type GeoMean struct {
	Name    string               `json:"name"`             // the scenario, such as config=twopc; in a comparison the run's
	Labels  []Label              `json:"labels,omitempty"` // the values of the baseline's labels
	Metrics map[string]MeanRatio `json:"metrics"`
}

// MeanRatio is a geometric mean of ratios.
type MeanRatio struct {
	Ratio float64 `json:"ratio"` // (value - baseline) / baseline, as Change has it
	Cells int     `json:"cells"` // rows that it is over
}

// geoMeans gives the means of each scenario with at least two rows that were compared. Rows of which a side is not complete are
// left out: they have measured something else.
func geoMeans(rows []*Row, baseline map[string]string, metrics []string) []GeoMean {
	byKey := map[string]*Row{}
	for _, r := range rows {
		byKey[r.Key] = r
	}
	var names []string
	members := map[string][]*Row{}
	labels := map[string][]Label{}
	for _, r := range rows {
		base := byKey[r.Baseline]
		if base == nil || r.Status != Complete || base.Status != Complete {
			continue
		}
		var own []Label
		var parts []string
		for _, l := range r.Labels {
			if _, ok := baseline[l.Name]; ok {
				own, parts = append(own, l), append(parts, l.Name+"="+l.Value)
			}
		}
		name := strings.Join(parts, " ")
		if !slices.Contains(names, name) {
			names, labels[name] = append(names, name), own
		}
		members[name] = append(members[name], r)
	}
	var list []GeoMean
	for _, name := range names {
		if m := meanRatios(members[name], metrics); len(m) > 0 {
			list = append(list, GeoMean{Name: name, Labels: labels[name], Metrics: m})
		}
	}
	return list
}

// meanRatios takes the mean of each metric that at least two of the rows were compared in.
func meanRatios(rows []*Row, metrics []string) map[string]MeanRatio {
	means := map[string]MeanRatio{}
	for _, name := range metrics {
		sum, n := 0.0, 0
		for _, r := range rows {
			if c, ok := r.Changes[name]; ok && c.Factor() > 0 && !math.IsInf(c.Factor(), 0) {
				sum += math.Log(c.Factor())
				n++
			}
		}
		if n >= 2 {
			means[name] = MeanRatio{math.Expm1(sum / float64(n)), n}
		}
	}
	return means
}
