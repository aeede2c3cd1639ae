//go:build unix

package main

import (
	"context"
	"slices"
)

// pair is what both tools came to, one directly after the other.
type pair struct{ Theirs, Ours outcome }

// inTurn lets both tools do something so many times in turn, and tells done of each pair. Every other pair is begun by the other tool:
// what drifts hits both alike.
func inTurn(ctx context.Context, times int, first, second func(ctx context.Context) error, done func(i int) error) error {
	for i := range times {
		order := []func(context.Context) error{first, second}
		if i%2 == 1 {
			slices.Reverse(order)
		}
		for _, do := range order {
			if err := do(ctx); err != nil {
				return err
			}
		}
		if err := done(i); err != nil {
			return err
		}
	}
	return nil
}

// comparison is a figure of both tools: the medians, the ratio of the medians, and the least and the greatest ratio of a pair.
type comparison struct {
	Theirs, Ours float64
	Ratio        float64
	Least, Most  float64
	Pairs        int
}

// compare compares the values of both tools, a pair at each index.
func compare(theirs, ours []float64) comparison {
	c := comparison{Theirs: median(theirs), Ours: median(ours), Pairs: len(theirs)}
	c.Ratio = c.Ours / c.Theirs
	ratios := make([]float64, len(theirs))
	for i := range theirs {
		ratios[i] = ours[i] / theirs[i]
	}
	c.Least, c.Most = slices.Min(ratios), slices.Max(ratios)
	return c
}

// median gives the middle value, or the mean of the two in the middle.
func median(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}
