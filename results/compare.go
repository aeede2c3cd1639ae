package results

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Recorded is a run as Open gives it, with the name under which it is shown.
type Recorded struct {
	Name     string
	Folder   string // of the run; empty: it is in memory only
	Run      *Run
	Cells    []Cell
	Warnings []string
}

// Comparison is several runs cell by cell, as data that any format can print. Differences are to the first run.
//
// Encoded as JSON it is the document that --format json gives. Its version changes when a field changes its meaning
// or goes away; new fields may come.
type Comparison struct {
	Version     int          `json:"v"`    // 1
	Kind        string       `json:"kind"` // "comparison"
	Runs        []Head       `json:"runs"`
	Axes        []Axis       `json:"axes"`
	Constant    []Label      `json:"labels,omitempty"`
	Metrics     []string     `json:"metrics"`           // the columns of a table; the rows have all
	Pivot       string       `json:"pivot,omitempty"`   // the label by whose values a table is divided
	Correct     Correction   `json:"correct,omitempty"` // what is done about many differences being tested; empty: nothing
	Rows        []CompareRow `json:"rows"`
	Means       [][]GeoMean  `json:"geometric_means,omitempty"` // for each kind of load, in the order of the tables, those of each later run with two cells or more that were compared
	Missing     [][]string   `json:"missing"`                   // for each run the names of the cells that only others have
	Differences []Dissimilar `json:"differences,omitempty"`     // between the runs, besides their figures
	PlanDiffs   []PlanDiff   `json:"plan_diffs,omitempty"`      // of the runs whose plan's text is not that of the first
	Notes       []Note       `json:"notes,omitempty"`
	Warnings    []string     `json:"warnings,omitempty"`

	StepsDiffer bool `json:"-"`

	wanted []string // the columns that the plan names
	judged []string // see Options.Judged
}

// CompareTable is the rows of one kind of load, with their columns.
type CompareTable struct {
	Load        string // the kind: see Cell
	Axes        []Axis
	Metrics     []string
	Changes     []string // the metrics whose differences are shown
	Pivot       string   // the label by whose values the rows are in sections; empty: there is one
	Rows        []CompareRow
	Means       []GeoMean
	StepsDiffer bool
}

// CompareRow is one identity in each of the runs.
type CompareRow struct {
	Key    string  `json:"key"`
	Load   string  `json:"load,omitempty"` // what kind of load: see Cell
	Name   string  `json:"name"`
	Step   string  `json:"step"`
	Labels []Label `json:"labels"`
	Sides  []*Row  `json:"runs"` // one a run; nil where it has no such cell. Changes are to the first
}

// Label gives the value of the label of that name and whether there is one.
func (r *CompareRow) Label(name string) (string, bool) { return labelValue(r.Labels, name) }

// Compare joins runs by the identity of their cells. It takes at least two.
func Compare(runs []Recorded) (*Comparison, error) { return CompareOf(runs, Options{}) }

// CompareOf is Compare with options over what the first run's plan says. Names in the options that nothing has are left out:
// see Options.Check. The baseline of the options is that of a report: here it is the first run.
func CompareOf(runs []Recorded, o Options) (*Comparison, error) {
	if len(runs) < 2 {
		return nil, errors.New("a comparison takes at least two runs")
	}
	wanted := o.over(runs[0].Run.Report)
	c := &Comparison{Version: 1, Kind: "comparison", Correct: o.Correct, Missing: make([][]string, len(runs)), wanted: wanted.Metrics, judged: o.Judged}
	var all []*Row
	at := map[string]int{}
	for i, run := range runs {
		if same := slices.IndexFunc(runs[:i], func(r Recorded) bool { return r.Folder != "" && sameFolder(r.Folder, run.Folder) }); same >= 0 {
			c.Warnings = append(c.Warnings, fmt.Sprintf("#%d is #%d: %s is compared with itself", i+1, same+1, run.Name))
		}
		c.Runs = append(c.Runs, newHead(run.Name, run.Run, run.Cells))
		for _, w := range run.Warnings {
			c.Warnings = append(c.Warnings, run.Name+": "+w)
		}
		rows := groupRows(run.Cells)
		declaredOrder(run.Run, rows)
		for _, w := range intervalsFromSeries(run.Folder, rows) {
			c.Warnings = append(c.Warnings, run.Name+": "+w)
		}
		for _, row := range rows {
			all = append(all, row)
			n, seen := at[row.Key]
			if !seen {
				n = len(c.Rows)
				at[row.Key] = n
				c.Rows = append(c.Rows, CompareRow{Key: row.Key, Load: row.Load, Labels: row.Labels, Sides: make([]*Row, len(runs))})
			}
			c.Rows[n].Sides[i] = row
		}
	}
	c.Axes, c.Constant = axes(all)
	c.StepsDiffer = nameRows(all, c.Axes)
	c.pivot(wanted.Pivot)
	c.join()
	for _, kind := range byLoad(all) {
		for _, name := range compareMetrics(kind, c.wanted) {
			if !slices.Contains(c.Metrics, name) {
				c.Metrics = append(c.Metrics, name)
			}
		}
	}
	c.Warnings = append(c.Warnings, emptyColumns(all, c.wanted)...)
	c.Differences = slices.Concat(runDifferences(runs), cellDifferences(c.Rows), variableDifferences(runs, c.Rows))
	c.PlanDiffs = planDiffs(runs)
	c.judge()
	c.annotate(all)
	return c, nil
}

// pivot puts the rows in the order of the values of a label, those without it last.
func (c *Comparison) pivot(name string) {
	i := slices.IndexFunc(c.Axes, func(a Axis) bool { return a.Name == name })
	if i < 0 {
		return
	}
	c.Pivot = name
	place := func(r CompareRow) int {
		v, ok := r.Label(name)
		if !ok {
			return len(c.Axes[i].Values)
		}
		return slices.Index(c.Axes[i].Values, v)
	}
	slices.SortStableFunc(c.Rows, func(a, b CompareRow) int { return cmp.Compare(place(a), place(b)) })
}

// judge corrects the differences of each table for their number and takes their means.
func (c *Comparison) judge() {
	for _, t := range c.Tables() {
		var sides []*Row
		for _, row := range t.Rows {
			sides = append(sides, row.present()...)
		}
		correct(sides, slices.Concat(t.Changes, judgedBeside(t.Changes, c.judged)), c.Correct)
		means := []GeoMean{}
		for n := 1; n < len(c.Runs); n++ {
			var rows []*Row
			for _, row := range t.Rows {
				if first, side := row.Sides[0], row.Sides[n]; first != nil && side != nil && first.Status == Complete && side.Status == Complete {
					rows = append(rows, side)
				}
			}
			if m := meanRatios(rows, t.Changes); len(m) > 0 {
				means = append(means, GeoMean{Name: c.Runs[n].Name, Metrics: m})
			}
		}
		c.Means = append(c.Means, means)
	}
}

// present gives the sides that there are.
func (r *CompareRow) present() []*Row {
	return slices.DeleteFunc(slices.Clone(r.Sides), func(s *Row) bool { return s == nil })
}

// join takes the differences to the first run and lists what has no partner.
func (c *Comparison) join() {
	partners := 0
	for i := range c.Rows {
		row := &c.Rows[i]
		for n, side := range row.Sides {
			if side == nil {
				continue
			}
			row.Name, row.Step = side.Name, side.Step
			if first := row.Sides[0]; n > 0 && first != nil {
				partners++
				side.Baseline, first.IsBaseline = first.Key, true
			}
		}
		for n, side := range row.Sides {
			if side == nil {
				c.Missing[n] = append(c.Missing[n], row.Name)
			}
		}
	}
	inParallel(len(c.Rows), func(i int) {
		first := c.Rows[i].Sides[0]
		for _, side := range c.Rows[i].Sides[1:] {
			if first != nil && side != nil {
				side.Changes = changes(first, side, nil) // rounds of different runs have no time in common
			}
		}
	})
	if partners == 0 && len(c.Rows) > 0 {
		c.Warnings = append(c.Warnings, "the first run has no cell in common with the others: cells are joined by the names of their steps and their labels")
	}
}

// Tables divides the rows by the kind of their load, in the order in which they came. There is at least one table.
func (c *Comparison) Tables() []CompareTable {
	var list []CompareTable
	for _, row := range c.Rows {
		i := slices.IndexFunc(list, func(t CompareTable) bool { return t.Load == row.Load })
		if i < 0 {
			i, list = len(list), append(list, CompareTable{Load: row.Load, StepsDiffer: c.StepsDiffer})
		}
		list[i].Rows = append(list[i].Rows, row)
	}
	if len(list) < 2 {
		load := ""
		if len(list) == 1 {
			load = list[0].Load
		}
		list = []CompareTable{{Load: load, Axes: c.Axes, Metrics: c.Metrics, Pivot: c.Pivot, Rows: c.Rows, StepsDiffer: c.StepsDiffer}}
	} else {
		for i := range list {
			var rows []*Row
			for _, row := range list[i].Rows {
				rows = append(rows, row.present()...)
			}
			list[i].Axes, _ = axes(rows)
			list[i].Metrics = compareMetrics(rows, applying(rows, c.wanted))
			if slices.ContainsFunc(list[i].Axes, func(a Axis) bool { return a.Name == c.Pivot }) {
				list[i].Pivot = c.Pivot
			}
		}
	}
	for i := range list {
		list[i].Changes = compared(list[i].Metrics)
		if i < len(c.Means) {
			list[i].Means = c.Means[i]
		}
	}
	return list
}

// annotate collects the doubts about both sides, and what makes them unlike each other.
func (c *Comparison) annotate(all []*Row) {
	notes := newNoteBook()
	run := map[*Row]int{}
	notes.name = func(r *Row) string { return fmt.Sprintf("%s #%d", r.Name, run[r]+1) }
	trust := trust{by: c.Correct, between: true}
	for _, t := range c.Tables() {
		for _, row := range t.Rows {
			for _, side := range row.present() {
				for _, name := range t.Changes {
					if change, ok := side.Changes[name]; ok {
						trust.add(name, change, row.Sides[0].Repeats, side.Repeats)
					}
				}
				trust.addJudged(side, judgedBeside(t.Changes, c.judged))
			}
		}
	}
	trust.note(notes, "change.tps")
	for _, t := range c.Tables() {
		first := map[*Row]*Row{}
		var rows []*Row
		for _, row := range t.Rows {
			for _, side := range row.present() {
				if rows = append(rows, side); side != row.Sides[0] {
					first[side] = row.Sides[0]
				}
			}
		}
		noteZero(notes, rows, t.Changes, func(r *Row) *Row { return first[r] })
	}
	for _, row := range c.Rows {
		for n, side := range row.Sides {
			if side == nil {
				continue
			}
			run[side] = n
			for _, cell := range side.all {
				for _, m := range mergeMarks(cell.Marks, Check(cell)) {
					notes.add(side, m)
				}
			}
			for _, m := range checkRepeats(side.cells) {
				notes.add(side, m)
			}
			if first := row.Sides[0]; n > 0 && first != nil {
				for _, m := range checkPair(side.cells, first.cells, "the first run") {
					notes.add(side, m)
				}
			}
		}
	}
	c.Notes = notes.finish(all, nil)
}
