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
	Elapsed       float64   `json:"elapsed_s"` // of all of the run until its end or its last cell
	Targets       []string  `json:"targets"`   // address and database, server version
	CellsComplete int       `json:"cells_complete"`
	CellsPlanned  int       `json:"cells_planned"`
	Errors        []string  `json:"errors,omitempty"`
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

// Note is a footnote: the marks of one kind, with what to do about them.
type Note struct {
	Number int      `json:"number"`
	Code   string   `json:"code"`
	Column string   `json:"column,omitempty"` // the column whose head carries it; empty: the rows do
	Lines  []string `json:"lines"`
	Remedy string   `json:"remedy,omitempty"`
}

// sameText tells whether another note of a column says the same.
func (n Note) sameText(other Note) bool {
	return n.Code == other.Code && n.Column == other.Column && n.Remedy == other.Remedy && slices.Equal(n.Lines, other.Lines)
}

// NoteRef hangs a footnote on a figure of a row.
type NoteRef struct {
	Number int    `json:"number"`
	Column string `json:"column,omitempty"` // a metric, or change.<metric>; empty: the row as a whole
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
	intervalsFromSeries(recorded.Folder, all)
	kinds := byLoad(all)
	wanted := o.over(run.Report)
	judged := slices.Concat(o.Judged, JudgedMetrics(run.Report.Assert))
	r.Warnings = slices.Concat(recorded.Warnings, emptyColumns(all, wanted.Metrics))
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

// emptyColumns warns of metrics that are wanted as columns and that no row has: they are left out.
func emptyColumns(rows []*Row, wanted []string) []string {
	var warnings []string
	has := applying(rows, wanted)
	for _, name := range wanted {
		if _, known := MetricByName(name); known && len(rows) > 0 && !slices.Contains(has, name) {
			warnings = append(warnings, fmt.Sprintf("the column %s is left out: no cell has it%s", name, takes(name)))
		}
	}
	return warnings
}

// applying gives those of the metrics that some row has.
func applying(rows []*Row, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !slices.ContainsFunc(rows, func(r *Row) bool { _, ok := r.Values[name]; return ok })
	})
}

func newHead(name string, run *Run, cells []Cell) Head {
	h := Head{
		Name: name, Plan: run.Plan, Description: run.Description, PlanHash: run.PlanHash, Tool: run.Tool, Host: run.Host.Name, Status: run.Status,
		Rehearsal: run.Rehearsal, Started: run.Started, CellsPlanned: run.Planned, Errors: run.Errors, Targets: targetTexts(run, cells),
	}
	end := run.Finished
	for i := range cells {
		if cells[i].Status == Complete {
			h.CellsComplete++
		}
		if run.Finished.IsZero() && cells[i].Finished.After(end) {
			end = cells[i].Finished
		}
	}
	if end.After(run.Started) {
		h.Elapsed = end.Sub(run.Started).Seconds()
	}
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

// chooseMetrics takes the plan's columns; without them, those that suit what was run.
func chooseMetrics(rows []*Row, wanted []string) []string {
	if len(wanted) > 0 {
		return slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { _, ok := MetricByName(name); return !ok })
	}
	names := []string{"tps", "qps", "writes", "reads", "errors", "restarts", "reconnects", "rows_per_read", "p50", "p95", "p99", "max"}
	switch {
	case len(rows) > 0 && rows[0].Load != "":
		return chooseHostMetrics(rows)
	case hasRoles(rows):
		names = []string{"tps", "writes", "reads", "errors", "restarts", "reconnects", "rows_per_read",
			"write_p50", "write_p95", "write_p99", "write_max", "read_p50", "read_p95", "read_p99", "read_max"}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		applies := slices.ContainsFunc(rows, func(r *Row) bool { _, ok := r.Values[name]; return ok })
		switch name {
		case "tps", "errors":
			return false
		case "qps", "writes", "reads":
			return !applies || sameEverywhere(rows, name, "tps")
		case "restarts", "reconnects":
			return !slices.ContainsFunc(rows, func(r *Row) bool {
				return slices.ContainsFunc(r.Values[name].Samples, func(v float64) bool { return v > 0 })
			})
		}
		return !applies
	})
}

// briefest is the latency, in milliseconds, below which a figure of it says nothing: histograms resolve 64 ns.
const briefest = 0.001

// chooseHostMetrics takes the columns that suit a load on this machine.
func chooseHostMetrics(rows []*Row) []string {
	names := []string{"tps", "elapsed", "mib_memory", "file_reads", "file_writes", "fsyncs", "mib_read", "mib_written", "errors", "p50", "p95", "p99", "max"}
	return slices.DeleteFunc(names, func(name string) bool {
		switch name {
		case "tps", "errors":
			return false
		case "elapsed": // where all had the same to do, the time that it took tells
			return slices.ContainsFunc(rows, func(r *Row) bool { return r.cells[0].Outcome.Stopped != ByEvents })
		}
		m, _ := MetricByName(name)
		return !slices.ContainsFunc(rows, func(r *Row) bool {
			v, ok := r.Values[name]
			return ok && (m.Unit != "ms" || v.Center >= briefest)
		})
	})
}

func hasRoles(rows []*Row) bool {
	return slices.ContainsFunc(rows, func(r *Row) bool {
		return slices.ContainsFunc(r.Clients, func(c RoleClients) bool { return c.Role != "" })
	})
}

// mixesRoles tells whether the rate of some row is of writing and of reading clients together.
func mixesRoles(rows []*Row) bool {
	return hasRoles(rows) && slices.ContainsFunc(rows, func(r *Row) bool {
		_, writes := r.Values["writes"]
		_, reads := r.Values["reads"]
		return writes && reads
	})
}

// sameEverywhere tells whether a metric only says again what another does.
func sameEverywhere(rows []*Row, a, b string) bool {
	return !slices.ContainsFunc(rows, func(r *Row) bool {
		va, okA := r.Values[a]
		vb, okB := r.Values[b]
		return okA != okB || va.Center != vb.Center
	})
}

// chooseChanges picks the metrics whose differences are worth a column: of a plan's own columns all that are better
// one way, otherwise the rate and the 95th percentiles; where the rate adds up what clients of different roles do, also
// the rates of writes and reads.
func chooseChanges(rows []*Row, names []string, own bool) []string {
	var list []string
	for _, name := range worthChange(rows, names, own) {
		if slices.ContainsFunc(rows, func(r *Row) bool { _, ok := r.Changes[name]; return ok }) {
			list = append(list, name)
		}
	}
	return list
}

// worthChange is chooseChanges, also of metrics that turn out to have no differences.
func worthChange(rows []*Row, names []string, own bool) []string {
	var list []string
	mixed := mixesRoles(rows)
	for _, name := range names {
		m, _ := MetricByName(name)
		switch {
		case m.Better == Neither, name == "errors", name == "restarts", name == "reconnects":
			continue
		case own, name == "tps", strings.HasSuffix(name, "p95"), mixed && (name == "writes" || name == "reads"), m.Unit == "MiB/s":
		default:
			continue
		}
		list = append(list, name)
	}
	return list
}

// noteZero says why rows have no difference in some of the metrics. Baseline gives that of a row, nil where it has none.
func noteZero(notes *noteBook, rows []*Row, names []string, baseline func(*Row) *Row) {
	zero := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !slices.ContainsFunc(rows, func(r *Row) bool {
			base := baseline(r)
			if base == nil {
				return false
			}
			old, ok1 := base.Values[name]
			value, ok2 := r.Values[name]
			return ok1 && ok2 && old.Center == 0 && value.Center != 0
		})
	})
	if len(zero) > 0 {
		notes.addColumn(zero[0], Mark{Code: MarkZero, Text: "no Δ of " + strings.Join(zero, ", ") + " where the baseline is 0: nothing is a percentage of that",
			Remedy: "hold the values themselves against each other"})
	}
}

// annotate collects the doubts about the rows and turns them into numbered footnotes.
func (t *Table) annotate(before []Note) {
	notes := newNoteBook()
	rows := t.Rows()
	t.noteTable(notes, rows)
	byKey := map[string]*Row{}
	for _, row := range rows {
		byKey[row.Key] = row
	}
	for _, s := range t.Sections {
		for _, row := range s.Rows {
			for _, c := range row.all {
				for _, m := range mergeMarks(c.Marks, Check(c)) {
					notes.add(row, m)
				}
			}
			for _, m := range checkRepeats(row.cells) {
				notes.add(row, m)
			}
			base, other := byKey[row.Baseline], "the baseline"
			if base == nil && t.Baseline == nil && row != s.Rows[0] {
				base, other = s.Rows[0], "the first row"
			}
			if base == nil {
				continue
			}
			for _, m := range slices.Concat(checkPair(row.cells, base.cells, other), checkVariables(row.cells, base.cells, other)) {
				notes.add(row, m)
			}
		}
	}
	t.Notes = notes.finish(rows, before)
}

// noteTable notes what is true of all differences alike.
func (t *Table) noteTable(notes *noteBook, rows []*Row) {
	trust := trust{by: t.Correct}
	byKey := map[string]*Row{}
	repeats := map[string]int{}
	for _, row := range rows {
		byKey[row.Key], repeats[row.Key] = row, row.Repeats
	}
	for _, row := range rows {
		for _, name := range t.Changes {
			if change, ok := row.Changes[name]; ok {
				trust.add(name, change, repeats[row.Baseline], row.Repeats)
			}
		}
		trust.addJudged(row, t.judged)
	}
	if shown := slices.Concat(t.Changes, t.judged); len(shown) > 0 {
		trust.note(notes, "change."+shown[0])
	}
	noteZero(notes, rows, worthChange(rows, t.Metrics, t.own), func(r *Row) *Row { return byKey[r.Baseline] })
}

// noteBook gathers marks by kind and numbers them in the order in which a reader meets them.
type noteBook struct {
	columns []Note
	byCode  map[string]*rowNotes
	order   []string
	name    func(*Row) string // that tells a row from all others
}

type rowNotes struct {
	remedies []string // distinct
	texts    []string // distinct
	rows     []*Row
	byText   map[string][]*Row
	column   map[*Row]string
}

func newNoteBook() *noteBook {
	return &noteBook{byCode: map[string]*rowNotes{}, name: func(r *Row) string { return r.Name }}
}

func (b *noteBook) addColumn(column string, m Mark) {
	b.columns = append(b.columns, Note{Code: m.Code, Column: column, Lines: []string{m.Text}, Remedy: m.Remedy})
}

func (b *noteBook) add(row *Row, m Mark) {
	n := b.byCode[m.Code]
	if n == nil {
		n = &rowNotes{byText: map[string][]*Row{}, column: map[*Row]string{}}
		b.byCode[m.Code], b.order = n, append(b.order, m.Code)
	}
	if m.Remedy != "" && !slices.Contains(n.remedies, m.Remedy) {
		n.remedies = append(n.remedies, m.Remedy)
	}
	if n.byText[m.Text] == nil {
		n.texts = append(n.texts, m.Text)
	}
	if !slices.Contains(n.byText[m.Text], row) {
		n.byText[m.Text] = append(n.byText[m.Text], row)
	}
	if _, ok := n.column[row]; !ok {
		n.rows, n.column[row] = append(n.rows, row), m.Metric
	}
}

// noteLines is how many different texts of one kind of mark a footnote spells out.
const noteLines = 4

// finish numbers the notes, from the one after those before, and hangs them on their rows.
func (b *noteBook) finish(rows []*Row, before []Note) []Note {
	last := 0
	for _, n := range before {
		last = max(last, n.Number)
	}
	notes := b.columns
	for i, n := range notes {
		if same := slices.IndexFunc(before, n.sameText); same >= 0 {
			notes[i].Number = before[same].Number
			continue
		}
		last++
		notes[i].Number = last
	}
	for _, code := range b.order {
		n := b.byCode[code]
		last++
		note := Note{Number: last, Code: code, Remedy: strings.Join(n.remedies, "; ")}
		for i, text := range n.texts {
			if i == noteLines && len(n.texts) > noteLines+1 {
				note.Lines = append(note.Lines, fmt.Sprintf("and %d more", len(n.texts)-noteLines))
				break
			}
			if len(rows) > 1 && len(n.texts) > 1 {
				text = b.rowNames(n.byText[text]) + ": " + text
			}
			note.Lines = append(note.Lines, text)
		}
		notes = append(notes, note)
		for _, row := range n.rows {
			row.Notes = append(row.Notes, NoteRef{note.Number, n.column[row]})
		}
	}
	for _, row := range rows {
		slices.SortFunc(row.Notes, func(a, b NoteRef) int { return cmp.Compare(a.Number, b.Number) })
	}
	return notes
}

func (b *noteBook) rowNames(rows []*Row) string {
	names := make([]string, 0, len(rows))
	for i, r := range rows {
		if i == noteLines && len(rows) > noteLines+1 {
			names = append(names, fmt.Sprintf("%d more", len(rows)-noteLines))
			break
		}
		names = append(names, b.name(r))
	}
	return strings.Join(names, ", ")
}

// metricNames lists all metrics by name.
func metricNames() []string {
	names := map[string]bool{}
	for _, m := range metrics {
		names[m.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}
