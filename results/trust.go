package results

import (
	"fmt"
	"slices"
	"strings"
)

// trust gathers how far the differences of a table can be trusted, for its footnotes.
type trust struct {
	between   bool // the sides are of different runs
	by        Correction
	decidable int      // differences that a test could find significant
	byPairs   int      // of these, those by pairs
	byBatches int      // differences that are plain, but have an interval
	few       []string // the repeats on both sides of those that no test could: 3+3, the smaller first; distinct
	single    bool     // all of these have no repeats on one side
	fewest    int      // the fewest repeats of any row that was compared; 0: there is none
	apart     bool     // repeats of both sides that are not in the same rounds
	cut       bool     // a side was not carried out to its end
	judged    int      // of the decidable, those of metrics that the table does not show
	advice    advice
}

// addJudged puts down the differences of a row in metrics that the table does not show and an expression judges: they are tested too.
func (t *trust) addJudged(row *Row, metrics []string) {
	for _, name := range metrics {
		if c, ok := row.Changes[name]; ok && !c.cut && c.Decidable {
			t.decidable, t.judged = t.decidable+1, t.judged+1
			if c.Method == ByPairs {
				t.byPairs++
			}
		}
	}
}

// add puts down the difference in a metric between a baseline of so many repeats and a value of so many.
func (t *trust) add(metric string, c Change, baseline, value int) {
	if c.cut {
		t.cut = true
		return
	}
	low, high := min(baseline, value), max(baseline, value)
	if t.fewest == 0 || low < t.fewest {
		t.fewest = low
	}
	if c.Method == ByBatches {
		t.byBatches++
	}
	if !c.Decidable {
		t.single = (t.single || len(t.few) == 0) && low <= 1
		if text := fmt.Sprintf("%d+%d", low, high); !slices.Contains(t.few, text) {
			t.few = append(t.few, text)
		}
		return
	}
	t.decidable++
	t.apart = t.apart || c.rounds == 0
	if c.Method == ByPairs {
		t.byPairs++
	}
	t.advice.add(metric, c, low)
}

// note says which differences are no claims, since the repeats are too few for any, and what the others are worth.
func (t *trust) note(notes *noteBook, column string) {
	remedy := fmt.Sprintf("`repeat: %d` and `order: interleaved`", IntervalRepeats)
	if t.cut {
		notes.addColumn(column, Mark{Code: MarkCut, Text: "?: a cell that was not carried out to its end is compared by a plain ratio, no claim",
			Remedy: "put right what ended it and run the plan again"})
	}
	needed := fmt.Sprintf("it takes %d+%d repeats; %d each are advised", TestRepeats, TestRepeats, IntervalRepeats)
	switch {
	case t.few != nil && t.single:
		notes.addColumn(column, Mark{Code: MarkNoRepeats,
			Text: "?: without repeats a difference cannot be told from noise: a plain ratio, no claim; " + needed + t.batches(), Remedy: remedy})
	case t.few != nil:
		notes.addColumn(column, Mark{Code: MarkFewRepeats, Text: fmt.Sprintf("?: %s repeats cannot tell a difference from noise, however large it is "+
			"(no Mann-Whitney U test of so few gives p < %.2f): a plain ratio, no claim; %s", strings.Join(t.few, ", "), alpha, needed), Remedy: remedy})
	case t.fewest > 0 && t.fewest < IntervalRepeats:
		notes.addColumn(column, Mark{Code: MarkFewRepeats,
			Text: fmt.Sprintf("fewer than %d repeats (as few as %d): too few for a 95 %% interval", IntervalRepeats, t.fewest), Remedy: remedy})
	}
	if t.apart && !t.between {
		notes.addColumn(column, Mark{Code: MarkOrder, Text: "repeats one after the other: drift between scenarios looks like a difference",
			Remedy: "`order: interleaved` compares round by round"})
	}
	if t.decidable > 0 {
		notes.addColumn(column, Mark{Code: MarkChance, Text: t.method() + "; " + t.chance(), Remedy: t.advice.text(t.level())})
	}
}

func (t *trust) batches() string {
	if t.byBatches == 0 {
		return ""
	}
	return ". The interval of a single execution is from batch means of its seconds: how steady it was, not how it would be again"
}

// method says what Δ and ~ are.
func (t *trust) method() string {
	p := "p"
	if t.by == Holm {
		p = "p after Holm's correction"
	}
	const geometric = "Δ is the geometric mean of the ratios round by round, less the drift within a round, and not of the medians"
	switch t.byPairs {
	case 0:
		medians := "medians"
		if t.between {
			medians = "medians, of runs made at different times: whatever else changed in between is in it"
		}
		return fmt.Sprintf("Δ is between %s; ~ is not significant (Mann-Whitney U, %s ≥ %.2f)", medians, p, alpha)
	case t.decidable:
		return fmt.Sprintf("%s; ~ is not significant (paired t of their logarithms, %s ≥ %.2f)", geometric, p, alpha)
	}
	return fmt.Sprintf("%s, where there are rounds to pair, else between medians; ~ is not significant (paired t of the logarithms, else Mann-Whitney U; %s ≥ %.2f)",
		geometric, p, alpha)
}

// chance says how many of the differences chance alone would give.
func (t *trust) chance() string {
	differences := fmt.Sprintf("of the %d differences tested,", t.decidable)
	if t.decidable == 1 {
		differences = "of the 1 difference tested,"
	}
	if t.judged > 0 {
		differences = fmt.Sprintf("%s %d of them in what is judged and no column,", differences, t.judged)
	}
	if t.by == Holm {
		return differences + " chance alone makes any significant in at most 5 % of such tables"
	}
	text := fmt.Sprintf("%s chance alone makes up to %.2g significant", differences, alpha*float64(t.decidable))
	if t.decidable >= 20 {
		text += " (--correct holm guards against that)"
	}
	return text
}

// level is the significance that a difference has to reach at worst.
func (t *trust) level() float64 {
	if t.by == Holm {
		return alpha / float64(t.decidable)
	}
	return alpha
}
