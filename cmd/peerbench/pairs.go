package main

import "slices"

// inTurn has something done by each of n tools, one directly after the other; reversed, the last first.
func inTurn(n int, reversed bool, do func(i int) error) error {
	for i := range n {
		if reversed {
			i = n - 1 - i
		}
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}

// comparison is what both tools came to by one figure, a pair of runs at each index.
type comparison struct{ theirs, ours []float64 }

// add adds a pair.
func (c *comparison) add(theirs, ours float64) {
	c.theirs, c.ours = append(c.theirs, theirs), append(c.ours, ours)
}

// ratio gives benchplan's median over sysbench's, and the least and the greatest ratio of a pair.
func (c comparison) ratio() spread {
	ratios := make([]float64, len(c.ours))
	for i := range c.ours {
		ratios[i] = c.ours[i] / c.theirs[i]
	}
	return spread{median(c.ours) / median(c.theirs), slices.Min(ratios), slices.Max(ratios)}
}

// spread is a value with the least and the greatest that were seen.
type spread struct {
	Value float64 `json:"value"`
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// spreadOf gives the median of values, of which there is one at least.
func spreadOf(values []float64) spread {
	return spread{median(values), slices.Min(values), slices.Max(values)}
}

// median gives the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}
