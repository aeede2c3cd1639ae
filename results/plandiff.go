package results

import (
	"bytes"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// PlanDiff is how the text of a run's plan differs from that of the first run. Secrets stand in no plan, only their names.
type PlanDiff struct {
	Run   int      `json:"run"`   // the run's place in the comparison, from 2
	Lines []string `json:"lines"` // of a unified diff, without the names of files
}

// planDiffs compares the plans' texts line by line.
func planDiffs(runs []Recorded) []PlanDiff {
	var list []PlanDiff
	first := runs[0].Run.PlanText
	for i, r := range runs[1:] {
		if lines := diffLines(first, r.Run.PlanText); len(lines) > 0 {
			list = append(list, PlanDiff{Run: i + 2, Lines: lines})
		}
	}
	return list
}

// PlanChanges shows how a plan's text has changed: the lines of a unified diff, without the names of files; none where it is the same.
func PlanChanges(old, text string) []string { return diffLines(old, text) }

func diffLines(old, text string) []string {
	if old == text || old == "" || text == "" { // an old record may not have it
		return nil
	}
	out := diff.Diff("old", withNewline(old), "new", withNewline(text))
	var lines []string
	for i, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if i > 2 { // the command and the two names stand before
			lines = append(lines, line)
		}
	}
	return lines
}

func withNewline(text string) []byte {
	b := []byte(text)
	if !bytes.HasSuffix(b, []byte("\n")) {
		b = append(b, '\n')
	}
	return b
}
