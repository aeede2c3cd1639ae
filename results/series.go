package results

import (
	"fmt"
	"slices"
)

// mostSeries is for how many cells of a table the series are read: it is for each a file, and a table of more cells without
// repeats is compared by its patterns, not by the intervals of its cells.
const mostSeries = 500

// intervalsFromSeries gives the rows of a single complete repeat the interval of their rate that their series tells. A series
// that is missing or cannot be read gives none, and a warning: the figures themselves are in the journal.
func intervalsFromSeries(folder string, rows []*Row) (warnings []string) {
	single := make([]*Row, 0, len(rows))
	for _, r := range rows {
		if _, ok := r.Values["tps"]; ok && r.Repeats == 1 && r.Status == Complete {
			single = append(single, r)
		}
	}
	if len(single) > mostSeries {
		return nil
	}
	failed := make([]error, len(single))
	inParallel(len(single), func(i int) { failed[i] = intervalFromSeries(folder, single[i]) })
	failed = slices.DeleteFunc(failed, func(err error) bool { return err == nil })
	switch len(failed) {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("a row has no interval, since its series cannot be read: %v", failed[0])}
	}
	return []string{fmt.Sprintf("%d rows have no interval, since their series cannot be read; the first: %v", len(failed), failed[0])}
}

func intervalFromSeries(folder string, row *Row) (err error) {
	cell := row.cells[0]
	series := cell.Outcome.Series
	if series == nil && folder != "" {
		series, err = ReadSeries(folder, cell)
	}
	if i, ok := BatchInterval(series); ok {
		v := row.Values["tps"]
		v.Interval, v.By = &i, ByBatches
		row.Values["tps"] = v
	}
	return err
}
