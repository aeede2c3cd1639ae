package results

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestRepeatsThatSayTheSame: what the repeats of a row say in different numbers is one line of a footnote, what they say of different
// things is not.
func TestRepeatsThatSayTheSame(t *testing.T) {
	cells := pairOf(4, func(c *Cell) {
		c.Outcome.Errors = []ErrorCount{{Code: 1105, Class: Write, Count: int64(c.Repeat), Message: "busy"}}
		if c.Repeat == 4 {
			c.Outcome.Errors[0].Message = "gone"
		}
	})
	var lines []string
	for _, n := range NewReport("x", &Run{}, cells, nil).Notes {
		if n.Code == MarkErrors {
			lines = n.Lines
		}
	}
	want := []string{"1 × error 1105 of a write: busy (and the like in 2 more repeats)", "4 × error 1105 of a write: gone"}
	if len(lines) != 2 || !slices.EqualFunc(lines, want, strings.HasSuffix) {
		t.Errorf("the lines are %s", strconv.Quote(strings.Join(lines, " | ")))
	}
}
