package main

import "slices"

// both has two things done, one directly after the other; reversed, the second first.
func both(first, second func() error, reversed bool) error {
	if reversed {
		first, second = second, first
	}
	if err := first(); err != nil {
		return err
	}
	return second()
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
