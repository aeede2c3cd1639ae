package results

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Head is what stands above a table of results.
type Head struct {
	Name          string    `json:"name"` // <plan>/<time>, or the folder
	Plan          string    `json:"plan"`
	Description   string    `json:"description,omitempty"` // the plan's
	PlanHash      string    `json:"plan_sha256,omitempty"`
	Tool          Tool      `json:"tool"`
	Host          string    `json:"host,omitempty"`
	Status        RunStatus `json:"status"`
	Rehearsal     bool      `json:"rehearsal"`
	Started       time.Time `json:"started"`
	Elapsed       float64   `json:"elapsed_s"` // of all of the run until its end or its last cell, without the pauses before it was resumed
	Targets       []string  `json:"targets"`   // address and database, server version
	CellsComplete int       `json:"cells_complete"`
	CellsPlanned  int       `json:"cells_planned"`
	Errors        []string  `json:"errors,omitempty"`

	Resumed []Resumption `json:"resumed,omitempty"`
}

// Report is the table of one run, as data that any format can print.
//
// Encoded as JSON it is the document that --format json gives. Its version changes when a field changes its meaning
// or goes away; new fields may come.
type Report struct {
	Version int    `json:"v"`    // 1
	Kind    string `json:"kind"` // "report"
	Run     Head   `json:"run"`
	Table
	More     []Table  `json:"more,omitempty"`     // where the run has loads of several kinds: the tables of the other kinds
	Warnings []string `json:"warnings,omitempty"` // about the record itself, and of columns that no cell has
}

// Table is the rows of one kind of load: what statements on a server come to is not set beside what a processor does.
type Table struct {
	Load     string            `json:"load,omitempty"`     // the kind: see Cell
	Baseline map[string]string `json:"baseline,omitempty"` // labels of the rows that others are compared with
	Pivot    string            `json:"pivot,omitempty"`    // the label by whose values the sections are
	Axes     []Axis            `json:"axes"`               // the labels that vary
	Constant []Label           `json:"labels,omitempty"`   // the labels that are the same for all rows
	Metrics  []string          `json:"metrics"`            // the columns of a table; the rows have all
	Changes  []string          `json:"changes"`            // the metrics whose differences a table shows
	Correct  Correction        `json:"correct,omitempty"`  // what is done about many differences being tested; empty: nothing
	Sections []Section         `json:"sections"`
	Means    []GeoMean         `json:"geometric_means,omitempty"` // of each scenario with two rows or more that were compared
	Notes    []Note            `json:"notes,omitempty"`

	StepsDiffer bool `json:"-"` // rows need their step's name to be told apart, or can be told by it

	judged []string // metrics whose differences it does not show, but an expression judges
	own    bool     // the columns are the plan's
}

// Section is the rows of one value of the pivot; without a pivot there is one section, with an empty value.
type Section struct {
	Value string `json:"value"`
	Rows  []*Row `json:"rows"`
}

// Rows gives all rows of the table in the order of its sections.
func (t *Table) Rows() []*Row {
	var rows []*Row
	for _, s := range t.Sections {
		rows = append(rows, s.Rows...)
	}
	return rows
}

// Tables gives the table of each kind of load, in the order in which they were first executed.
func (r *Report) Tables() []*Table {
	list := []*Table{&r.Table}
	for i := range r.More {
		list = append(list, &r.More[i])
	}
	return list
}

// Rows gives the rows of all tables.
func (r *Report) Rows() []*Row {
	var rows []*Row
	for _, t := range r.Tables() {
		rows = append(rows, t.Rows()...)
	}
	return rows
}

// Options is how a report or a comparison is wanted, over what the plan says of it. The zero value is as the plan has it.
type Options struct {
	Correct  Correction        // what to do about many differences being tested
	Metrics  []string          // the columns; empty: the plan's
	Baseline map[string]string // the label values that others are compared with; empty: the plan's. A comparison has none
	Pivot    string            // the label by which the table is divided; empty: the plan's
	// Judged are the metrics whose significance decides something, shown or not: see JudgedMetrics. They are tested along with those that
	// the table shows, and a correction counts them. Those of report.assert are added in a report.
	Judged []string
}

// over lays the options over what a plan says.
func (o Options) over(s Settings) Settings {
	if len(o.Metrics) > 0 {
		s.Metrics = o.Metrics
	}
	if len(o.Baseline) > 0 {
		s.Baseline = o.Baseline
	}
	if o.Pivot != "" {
		s.Pivot = o.Pivot
	}
	return s
}

// Check says which of the names in the options the cells do not have. Runs without cells are not held against them.
func (o Options) Check(runs ...Recorded) error {
	for _, name := range o.Metrics {
		if _, ok := MetricByName(name); !ok {
			return errors.New(unknownName(name))
		}
	}
	values := map[string]map[string]bool{}
	cells := 0
	for _, run := range runs {
		for i := range run.Cells {
			cells++
			for _, l := range run.Cells[i].Labels {
				if values[l.Name] == nil {
					values[l.Name] = map[string]bool{}
				}
				values[l.Name][l.Value] = true
			}
		}
	}
	if cells == 0 {
		return nil
	}
	labels := slices.Sorted(maps.Keys(values))
	if o.Pivot != "" && values[o.Pivot] == nil {
		return fmt.Errorf("no cell has the label %q: there are %s", o.Pivot, cmp.Or(strings.Join(labels, ", "), "none"))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Baseline)) {
		switch v := o.Baseline[name]; {
		case values[name] == nil:
			return fmt.Errorf("no cell has the label %q: there are %s", name, cmp.Or(strings.Join(labels, ", "), "none"))
		case !values[name][v]:
			return fmt.Errorf("no cell has %s=%s: there are %s", name, v, strings.Join(slices.Sorted(maps.Keys(values[name])), ", "))
		}
	}
	return nil
}

// NewReport makes the report of a run as its plan wants it. Name is how the run is called; warnings are those that Open gave.
func NewReport(name string, run *Run, cells []Cell, warnings []string) *Report {
	return ReportOf(Recorded{Name: name, Run: run, Cells: cells, Warnings: warnings}, Options{})
}

// ReportOf groups the cells of a run by identity, sums up their repeats, compares them with their baselines and
// collects the doubts about them. Names in the options that nothing has are left out: see Options.Check. Where a cell has no
// repeats its series is read from the run's folder.
func ReportOf(recorded Recorded, o Options) *Report {
	run := recorded.Run
	r := &Report{Version: 1, Kind: "report", Run: newHead(recorded.Name, run, recorded.Cells)}
	all := groupRows(recorded.Cells)
	declaredOrder(run, all)
	unread := intervalsFromSeries(recorded.Folder, all)
	kinds := byLoad(all)
	wanted := o.over(run.Report)
	judged := slices.Concat(o.Judged, JudgedMetrics(run.Report.Assert))
	r.Warnings = slices.Concat(recorded.Warnings, unread, emptyColumns(all, wanted.Metrics))
	var notes []Note
	for i, rows := range kinds {
		t := newTable(rows, wanted, judging{o.Correct, judged}, len(kinds) > 1, notes)
		notes = append(notes, t.Notes...)
		if i == 0 {
			r.Table = t
		} else {
			r.More = append(r.More, t)
		}
	}
	return r
}

// byLoad divides rows by the kind of their load. There is at least one kind.
func byLoad(rows []*Row) [][]*Row {
	var kinds [][]*Row
	for _, row := range rows {
		i := slices.IndexFunc(kinds, func(k []*Row) bool { return k[0].Load == row.Load })
		if i < 0 {
			i, kinds = len(kinds), append(kinds, nil)
		}
		kinds[i] = append(kinds[i], row)
	}
	if kinds == nil {
		return [][]*Row{nil}
	}
	return kinds
}

// newTable makes the table of rows of one kind; with others beside it, it has those of the plan's columns that its rows have.
// Its footnotes count on from those that are before it, and one that is there already has the same number.
func newTable(rows []*Row, wanted Settings, by judging, others bool, before []Note) Table {
	t := Table{Correct: by.correction}
	if len(rows) > 0 {
		t.Load = rows[0].Load
	}
	t.Axes, t.Constant = axes(rows)
	t.StepsDiffer = nameRows(rows, t.Axes)
	t.Baseline = baselineOf(wanted.Baseline, t.Axes)
	t.compare(rows)
	t.Sections = pivot(rows, wanted.Pivot, t.Axes)
	if len(t.Sections) > 1 || len(t.Sections) == 1 && t.Sections[0].Value != "" {
		t.Pivot = wanted.Pivot
	}
	columns := wanted.Metrics
	if others {
		columns = applying(rows, columns)
	}
	t.Metrics = chooseMetrics(rows, columns)
	t.own = len(columns) > 0
	t.Changes = chooseChanges(rows, t.Metrics, t.own)
	t.judged = judgedBeside(t.Changes, by.metrics)
	correct(rows, slices.Concat(t.Changes, t.judged), by.correction)
	t.Means = geoMeans(rows, t.Baseline, t.Changes)
	t.annotate(before)
	return t
}

func newHead(name string, run *Run, cells []Cell) Head {
	h := Head{
		Name: name, Plan: run.Plan, Description: run.Description, PlanHash: run.PlanHash, Tool: run.Tool, Host: run.Host.Name, Status: run.Status,
		Rehearsal: run.Rehearsal, Started: run.Started, CellsPlanned: run.Planned, Errors: run.Failures(), Targets: targetTexts(run, cells),
	}
	for i := range cells {
		if cells[i].Status == Complete {
			h.CellsComplete++
		}
	}
	h.Elapsed, h.Resumed = run.elapsed(cells).Seconds(), run.Resumed
	return h
}

// targetTexts lists where SQL went, from run.json or, where that does not know, from the cells.
func targetTexts(run *Run, cells []Cell) []string {
	var texts []string
	add := func(e Endpoint, version string) {
		text := e.Address
		if e.Database != "" {
			text += "/" + e.Database
		}
		if version != "" {
			text = strings.TrimSpace(text + " (" + version + ")")
		}
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for _, s := range run.Targets {
		version := s.Version
		if s.VersionComment != "" {
			version += ", " + s.VersionComment
		}
		add(s.Endpoint, version)
	}
	if texts == nil {
		for i := range cells {
			add(cells[i].Target, cells[i].ServerVersion)
		}
	}
	return texts
}

// baselineOf takes the plan's baseline; without one, the first value of the first label that varies.
func baselineOf(wanted map[string]string, varying []Axis) map[string]string {
	if len(wanted) > 0 {
		return wanted
	}
	if len(varying) == 0 {
		return nil
	}
	return map[string]string{varying[0].Name: varying[0].Values[0]}
}

// compare finds each row's baseline and takes the differences.
func (t *Table) compare(rows []*Row) {
	if len(t.Baseline) == 0 {
		return
	}
	candidates := map[string][]*Row{}
	for _, row := range rows {
		if hasLabels(row, t.Baseline) {
			key := otherLabels(row, t.Baseline)
			candidates[key] = append(candidates[key], row)
		}
	}
	bases := make([]*Row, len(rows))
	found := false
	for i, row := range rows {
		if base := findBaseline(candidates[otherLabels(row, t.Baseline)], row); base != nil {
			bases[i], found = base, true
			row.Baseline, base.IsBaseline = base.Key, true
		}
	}
	if !found {
		t.Baseline = nil
	}
	inParallel(len(rows), func(i int) {
		if base := bases[i]; base != nil {
			rows[i].Changes = changes(base, rows[i], pairRounds(base, rows[i]))
		}
	})
}

// findBaseline chooses among the rows whose labels are the baseline's and, for the rest, this row's: on the same path or,
// where a plan is a page of steps with a name each, the only such row of the same workload.
func findBaseline(candidates []*Row, row *Row) *Row {
	var elsewhere []*Row
	for _, b := range candidates {
		switch {
		case len(b.Labels) != len(row.Labels):
		case b == row:
			return nil
		case slices.Equal(b.Path, row.Path):
			return b
		case b.cells[0].Workload == row.cells[0].Workload:
			elsewhere = append(elsewhere, b)
		}
	}
	if len(elsewhere) == 1 {
		return elsewhere[0]
	}
	return nil
}

// hasLabels tells whether a row has all of the labels.
func hasLabels(row *Row, labels map[string]string) bool {
	for name, want := range labels {
		if v, ok := row.Label(name); !ok || v != want {
			return false
		}
	}
	return true
}

// otherLabels writes the labels of a row but those that the baseline names.
func otherLabels(row *Row, baseline map[string]string) string {
	return Key(nil, slices.DeleteFunc(slices.Clone(row.Labels), func(l Label) bool { _, ok := baseline[l.Name]; return ok }))
}

// changes takes the difference of each metric: by pairs where there are enough of them. Where a side was not carried out to its
// end, it is a plain ratio: what an error or an interrupt left of its repeats is no sample of what they would have come to.
func changes(base, row *Row, pairs []cellPair) map[string]Change {
	m := make(map[string]Change, len(base.Values))
	for _, metric := range metrics {
		old, ok1 := base.Values[metric.Name]
		new, ok2 := row.Values[metric.Name]
		if !ok1 || !ok2 {
			continue
		}
		c, ok := metricChange(metric, old, new, pairs)
		if !ok {
			continue
		}
		if base.Status != Complete || row.Status != Complete {
			c = Change{Method: Untested, Ratio: new.Center/old.Center - 1, Against: old.Center, cut: true}
		}
		m[metric.Name] = c
	}
	return m
}

// metricChange takes the difference of one metric. It is false where the baseline is 0.
func metricChange(m Metric, old, value Value, pairs []cellPair) (Change, bool) {
	if len(pairs) >= TestRepeats {
		if rounds, ok := logRatios(pairs, m); ok {
			if c, ok := pairedChange(rounds, m.Better); ok {
				c.Against, c.rounds = old.Center, len(pairs)
				return c, true
			}
		}
	}
	c, ok := ChangeOf(old, value, m.Better)
	c.rounds = len(pairs)
	return c, ok
}

// pivot makes a section of each value of a label, in the order in which they came.
func pivot(rows []*Row, name string, varying []Axis) []Section {
	i := slices.IndexFunc(varying, func(a Axis) bool { return a.Name == name })
	if name == "" || i < 0 {
		return []Section{{Rows: rows}}
	}
	var sections []Section
	var rest []*Row
	for _, value := range varying[i].Values {
		sections = append(sections, Section{Value: value})
	}
	for _, r := range rows {
		v, ok := r.Label(name)
		if !ok {
			rest = append(rest, r)
			continue
		}
		s := &sections[slices.Index(varying[i].Values, v)]
		s.Rows = append(s.Rows, r)
	}
	if rest != nil {
		sections = append(sections, Section{Rows: rest})
	}
	return sections
}
