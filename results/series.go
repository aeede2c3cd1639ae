package results

// mostSeries is for how many cells of a table the series are read: it is for each a file, and a table of more cells without
// repeats is compared by its patterns, not by the intervals of its cells.
const mostSeries = 500

// intervalsFromSeries gives the rows of a single complete repeat the interval of their rate that their series tells. A series
// that is missing or cannot be read gives none: the figures themselves are in the journal.
func intervalsFromSeries(folder string, rows []*Row) {
	single := make([]*Row, 0, len(rows))
	for _, r := range rows {
		if _, ok := r.Values["tps"]; ok && r.Repeats == 1 && r.Status == Complete {
			single = append(single, r)
		}
	}
	if len(single) > mostSeries {
		return
	}
	inParallel(len(single), func(i int) { intervalFromSeries(folder, single[i]) })
}

func intervalFromSeries(folder string, row *Row) {
	cell := row.cells[0]
	series := cell.Outcome.Series
	if series == nil && folder != "" {
		series, _ = ReadSeries(folder, cell) // without it there is no interval
	}
	if i, ok := BatchInterval(series); ok {
		v := row.Values["tps"]
		v.Interval, v.By = &i, ByBatches
		row.Values["tps"] = v
	}
}
