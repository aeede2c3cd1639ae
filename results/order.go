package results

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// declaredOrder puts the rows of a run whose rounds were shuffled, or that was resumed, in the order of the plan: that of their first
// execution is one of chance. Rows of which the resolved plan does not know stay where they are, and so do all others then.
func declaredOrder(run *Run, rows []*Row) {
	if len(run.Resumed) == 0 && !slices.ContainsFunc(rows, func(r *Row) bool { return r.cells[0].Attributes["order"] == "shuffled" }) {
		return
	}
	var resolved struct {
		Steps []struct {
			Cell string `json:"cell"`
			Kind string `json:"kind"`
		} `json:"steps"`
	}
	if json.Unmarshal(run.Resolved, &resolved) != nil {
		return
	}
	at := map[string]int{}
	for i, s := range resolved.Steps {
		if _, seen := at[s.Cell]; !seen && s.Kind == "run" {
			at[s.Cell] = i
		}
	}
	place := map[*Row]int{}
	for _, r := range rows {
		i, ok := at[identityText(r)]
		if !ok {
			return
		}
		place[r] = i
	}
	slices.SortStableFunc(rows, func(a, b *Row) int { return cmp.Compare(place[a], place[b]) })
}

// identityText writes an identity as the resolved plan does.
func identityText(r *Row) string {
	text := strings.Join(r.Path, " / ")
	for i, l := range r.Labels {
		if i > 0 || text != "" {
			text += " "
		}
		text += l.Name + "=" + l.Value
	}
	return text
}
