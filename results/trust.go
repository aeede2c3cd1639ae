package results

import (
	"fmt"
	"slices"
	"strings"
)

// trust gathers how far the differences of a table can be trusted, for a footnote.
type trust struct {
	decidable int      // differences that a test could find significant
	pairs     []string // the repeats on both sides of those that none could: 3+3, the smaller first; distinct
	single    bool     // all of these pairs have no repeats on one side
	few       int      // the fewest repeats of any row that was compared; 0: there is none
}

// add puts down a difference between a baseline of so many repeats and a value of so many.
func (t *trust) add(c Change, baseline, value int) {
	low, high := min(baseline, value), max(baseline, value)
	if t.few == 0 || low < t.few {
		t.few = low
	}
	if c.Decidable {
		t.decidable++
		return
	}
	t.single = (t.single || len(t.pairs) == 0) && low <= 1
	if pair := fmt.Sprintf("%d+%d", low, high); !slices.Contains(t.pairs, pair) {
		t.pairs = append(t.pairs, pair)
	}
}

// note says which differences are no claims, since the repeats are too few for any, and what the others are worth.
func (t *trust) note(notes *noteBook, column string) {
	remedy := fmt.Sprintf("`repeat: %d` and `order: interleaved`", IntervalRepeats)
	needed := fmt.Sprintf("it takes %d+%d repeats; %d each are advised", TestRepeats, TestRepeats, IntervalRepeats)
	switch {
	case t.pairs != nil && t.single:
		notes.addColumn(column, Mark{Code: MarkNoRepeats,
			Text: "?: without repeats a difference cannot be told from noise: a plain ratio, no claim; " + needed, Remedy: remedy})
	case t.pairs != nil:
		notes.addColumn(column, Mark{Code: MarkFewRepeats, Text: fmt.Sprintf("?: %s repeats cannot tell a difference from noise, however large it is "+
			"(no Mann-Whitney U test of so few gives p < %.2f): a plain ratio, no claim; %s", strings.Join(t.pairs, ", "), alpha, needed), Remedy: remedy})
	case t.few > 0 && t.few < IntervalRepeats:
		notes.addColumn(column, Mark{Code: MarkFewRepeats,
			Text: fmt.Sprintf("fewer than %d repeats (as few as %d): too few for a 95 %% interval", IntervalRepeats, t.few), Remedy: remedy})
	}
	if t.decidable > 0 {
		notes.addColumn(column, Mark{Code: MarkChance, Text: fmt.Sprintf("Δ is between medians; ~ is not significant (Mann-Whitney U, p ≥ %.2f). "+
			"Of the %d differences tested, chance alone makes up to %.2g significant", alpha, t.decidable, alpha*float64(t.decidable))})
	}
}
