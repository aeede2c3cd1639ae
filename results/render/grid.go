package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"benchplan/results"
)

// grid is a table before it is fitted to a format: columns with a rank, by which they go where there is no room.
type grid struct {
	columns []column
	breaks  []int // rows that begin a new section
	rows    int
	refs    []noteRef
}

// noteRef is a footnote and where it belongs.
type noteRef struct {
	row    int // or inHead
	column string
	suffix string
	number int
}

const inHead = -1

// part tells in which of two tables a column goes where one would be too wide.
type part int

const (
	both part = iota
	throughput
	latency
)

// column is one column: its head, bottom line last, and a cell for each row.
type column struct {
	id    string
	title string   // in one line, for texts
	head  []string // marks included
	left  bool     // aligned to the left
	rank  int      // the higher, the sooner it is left out; 0 never
	group string   // columns of one group are left out together; empty: this one alone
	part  part
	cells []cell

	batches bool // of a spread: from batch means
}

// cell is a text and the footnotes that hang on it.
type cell struct {
	text  string
	notes []int
	tone  tone
}

// tone says what a difference means.
type tone int

const (
	neutral tone = iota
	good
	bad
)

// add appends a column unless it says nothing.
func (g *grid) add(c column) {
	for _, cell := range c.cells {
		if cell.text != "" && cell.text != none {
			g.columns = append(g.columns, c)
			return
		}
	}
}

// reportGrid lays out the rows of one table of a report.
func reportGrid(r *results.Table) grid {
	var g grid
	rows := r.Rows()
	g.rows = len(rows)
	n := 0
	for _, s := range r.Sections {
		if n > 0 {
			g.breaks = append(g.breaks, n)
		}
		n += len(s.Rows)
	}
	addIdentity(&g, rows, identityAxes(r.Axes, r.Pivot), r.StepsDiffer)
	if !axisTellsClients(rows, r.Axes) {
		g.add(clientsColumn(rows))
	}
	if slices.ContainsFunc(rows, func(r *results.Row) bool { return r.Repeats > 1 }) {
		g.add(textColumn("repeats", "n", 5, rows, func(r *results.Row) string { return strconv.Itoa(r.Repeats) }))
	}
	for _, name := range r.Metrics {
		m := metricOf(name, r.Load)
		values := valueColumn(m, rows, scaleFor(m, centers(m, rows)))
		if slices.Contains(r.Changes, name) && (name == "writes" || name == "reads") {
			values.group = "rates"
		}
		g.add(values)
		if name == "tps" || slices.Contains(r.Changes, name) {
			g.add(spreadColumn(m, rows))
		}
		if slices.Contains(r.Changes, name) {
			change := changeColumn(m, rows, true)
			if change.group != "" {
				change.rank = 4 // the rates themselves tell more
			}
			g.add(change)
		}
	}
	g.hang(rows, "")
	g.hangHeads(r.Notes, "")
	g.group(r.Pivot)
	return g
}

// metricOf finds a metric. Events of a load on this machine are no transactions.
func metricOf(name, load string) results.Metric {
	m, _ := results.MetricByName(name)
	if load != "" && name == "tps" {
		m.Title = "events/s"
	}
	return m
}

// compareGrid lays out the rows of one table of a comparison: for each metric its value in each run, then the differences.
func compareGrid(c *results.Comparison, t results.CompareTable) grid {
	var g grid
	g.rows = len(t.Rows)
	sides := make([][]*results.Row, len(c.Runs)) // by run
	identities := make([]*results.Row, len(t.Rows))
	repeats := false
	for i, row := range t.Rows {
		if i > 0 && t.Pivot != "" && labelOf(&row, t.Pivot) != labelOf(&t.Rows[i-1], t.Pivot) {
			g.breaks = append(g.breaks, i)
		}
		for n, side := range row.Sides {
			sides[n] = append(sides[n], side)
			if side != nil {
				repeats = repeats || side.Repeats > 1
				if identities[i] == nil {
					identities[i] = side
				}
			}
		}
	}
	addIdentity(&g, identities, identityAxes(t.Axes, t.Pivot), t.StepsDiffer)
	if !axisTellsClients(identities, t.Axes) {
		g.add(clientsColumn(identities))
	}
	if repeats {
		at := map[string][]*results.Row{}
		for _, row := range t.Rows {
			at[row.Key] = row.Sides
		}
		g.add(textColumn("repeats", "n", 3, identities, func(r *results.Row) string { return repeatsText(at[r.Key]) }))
	}
	for _, name := range t.Metrics {
		m := metricOf(name, t.Load)
		s := scaleFor(m, centers(m, slices.Concat(sides...)))
		for n := range c.Runs {
			values := runColumn(valueColumn(m, sides[n], s), n, fmt.Sprintf("#%d", n+1))
			if name == "writes" || name == "reads" {
				values.group = "rates" // of some of the runs they would be no comparison
			}
			g.add(values)
		}
		for n := 1; n < len(c.Runs) && slices.Contains(t.Changes, name); n++ {
			g.add(runColumn(changeColumn(m, sides[n], false), n, fmt.Sprintf("#%d", n+1)))
		}
	}
	for n := range c.Runs {
		g.hang(sides[n], runSuffix(n))
	}
	g.hangHeads(c.Notes, runSuffix(1))
	g.group(t.Pivot)
	return g
}

// runColumn makes a column that of one run.
func runColumn(c column, n int, name string) column {
	c.id += runSuffix(n)
	c.head = append(c.head, name)
	c.title += " " + name
	return c
}

func runSuffix(n int) string { return fmt.Sprintf("#%d", n+1) }

// repeatsText gives the repeats of a row in all runs: 6, or 6+5 where they differ.
func repeatsText(sides []*results.Row) string {
	var parts []string
	for _, side := range sides {
		n := 0
		if side != nil {
			n = side.Repeats
		}
		parts = append(parts, strconv.Itoa(n))
	}
	if len(slices.Compact(slices.Clone(parts))) == 1 {
		return parts[0]
	}
	return strings.Join(parts, "+")
}

func labelOf(r *results.CompareRow, name string) string {
	v, _ := r.Label(name)
	return v
}

// identityAxes puts the pivot first: its values are the sections.
func identityAxes(all []results.Axis, pivot string) []results.Axis {
	axes := slices.Clone(all)
	if i := slices.IndexFunc(axes, func(a results.Axis) bool { return a.Name == pivot }); i > 0 {
		first := axes[i]
		axes = slices.Insert(slices.Delete(axes, i, i+1), 0, first)
	}
	return axes
}

// addIdentity adds what tells rows apart. The steps' names can go where labels do that alone.
func addIdentity(g *grid, rows []*results.Row, axes []results.Axis, stepsDiffer bool) {
	if stepsDiffer || len(axes) == 0 {
		rank := 0
		if len(axes) > 0 && labelsTell(rows, axes) {
			rank = 5
		}
		g.add(textColumn("step", "step", rank, rows, func(r *results.Row) string { return r.Step }))
	}
	for _, a := range axes {
		g.add(textColumn("label."+a.Name, a.Name, 0, rows, func(r *results.Row) string {
			v, _ := r.Label(a.Name)
			return v
		}))
	}
}

// labelsTell tells whether no two rows have the same labels.
func labelsTell(rows []*results.Row, axes []results.Axis) bool {
	seen := map[string]bool{}
	for _, r := range rows {
		key := results.Key(nil, r.Labels)
		if seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}

func textColumn(id, title string, rank int, rows []*results.Row, text func(*results.Row) string) column {
	c := column{id: id, title: label(title), head: []string{label(title)}, left: id != "repeats", rank: rank}
	for _, r := range rows {
		c.cells = append(c.cells, cell{text: label(text(r))})
	}
	return c
}

// axisTellsClients tells whether the values of an axis are the numbers of clients, which then need no column of their own.
func axisTellsClients(rows []*results.Row, axes []results.Axis) bool {
	return slices.ContainsFunc(axes, func(a results.Axis) bool {
		return !slices.ContainsFunc(rows, func(r *results.Row) bool {
			total := 0
			for _, role := range r.Clients {
				total += role.Clients
			}
			v, _ := r.Label(a.Name)
			return v != strconv.Itoa(total)
		})
	})
}

func clientsColumn(rows []*results.Row) column {
	c := textColumn("clients", "clients", 6, rows, func(r *results.Row) string { return results.ClientsText(r.Clients) })
	c.left = false
	return c
}

// centers gives a metric's medians of the rows that have it.
func centers(m results.Metric, rows []*results.Row) []float64 {
	var values []float64
	for _, r := range rows {
		if r == nil {
			continue
		}
		if v, ok := r.Values[m.Name]; ok {
			values = append(values, v.Center)
		}
	}
	return values
}

// valueColumn shows a metric's medians.
func valueColumn(m results.Metric, rows []*results.Row, s scale) column {
	c := column{id: m.Name, title: metricTitle(m, rows), head: metricHeadLines(m, s.unit), rank: metricRank(m.Name, rows), part: metricPart(m)}
	for _, r := range rows {
		text := none
		if r != nil {
			if v, ok := r.Values[m.Name]; ok {
				text = s.format(v.Center)
			}
		}
		c.cells = append(c.cells, cell{text: text})
	}
	return c
}

// spreadText says what spreadColumn shows.
const spreadText = "± is the larger half of the 95 % interval of the median, in percent of it; the interval need not lie evenly about the median."

// batchText says what it shows where there is no median.
const batchText = "± is half of the 95 % interval of the mean rate within the one execution of a cell, in percent of it, from batch means of its seconds."

func isSpread(c column) bool { return strings.HasPrefix(c.id, "spread.") }

// legend explains the signs of a table that need it.
func legend(columns []column) []string {
	var lines []string
	spread := func(batches bool) bool {
		return slices.ContainsFunc(columns, func(c column) bool { return isSpread(c) && c.batches == batches })
	}
	if spread(false) {
		lines = append(lines, spreadText)
	}
	if spread(true) {
		lines = append(lines, batchText)
	}
	if slices.ContainsFunc(columns, func(c column) bool {
		return slices.ContainsFunc(c.cells, func(cell cell) bool { return strings.Contains(cell.text, times) })
	}) {
		lines = append(lines, "2 × is twice the baseline's, 0.5 × half of it.")
	}
	return lines
}

// spreadColumn shows how far the 95 % interval of a median reaches.
func spreadColumn(m results.Metric, rows []*results.Row) column {
	c := column{id: "spread." + m.Name, title: "± " + m.Title, head: []string{"±"}, rank: 8, part: metricPart(m)}
	if m.Name == "tps" {
		c.rank = 5
	}
	for _, r := range rows {
		text := ""
		if spread, ok := r.Values[m.Name].Spread(); ok {
			c.batches = c.batches || r.Values[m.Name].By == results.ByBatches
			text = "±" + percentage(spread)
		}
		c.cells = append(c.cells, cell{text: text})
	}
	return c
}

// changeColumn shows the differences to the baseline of each row.
func changeColumn(m results.Metric, rows []*results.Row, sayBaseline bool) column {
	c := column{id: "change." + m.Name, title: "Δ " + m.Title, part: metricPart(m), rank: 5}
	switch m.Name {
	case "tps":
		c.rank = 1
	case "writes", "reads":
		c.rank, c.group = 2, "change of rates"
	}
	class, name, ok := strings.Cut(m.Title, " ")
	switch {
	case ok:
		c.head = []string{"Δ " + class, name}
	case len(m.Title) > len("tps"):
		c.head = []string{"Δ", m.Title}
	default:
		c.head = []string{"Δ " + m.Title}
	}
	for _, r := range rows {
		c.cells = append(c.cells, changeCell(m, r, sayBaseline))
	}
	c.alignDoubts()
	return c
}

// alignDoubts keeps percentages in line where some end in a ? and others do not.
func (c *column) alignDoubts() {
	doubtful := func(c cell) bool { return strings.HasSuffix(c.text, doubt) }
	if !slices.ContainsFunc(c.cells, doubtful) {
		return
	}
	for i := range c.cells {
		if !doubtful(c.cells[i]) {
			c.cells[i].text += strings.Repeat(" ", len(doubt))
		}
	}
}

func changeCell(m results.Metric, r *results.Row, sayBaseline bool) cell {
	if r == nil {
		return cell{text: none}
	}
	change, ok := r.Changes[m.Name]
	if !ok {
		if _, applies := r.Values[m.Name]; sayBaseline && r.IsBaseline && applies {
			return cell{text: "baseline"}
		}
		return cell{text: none}
	}
	out := cell{text: changeText(change)}
	if change.Better != nil {
		if out.tone = bad; *change.Better {
			out.tone = good
		}
	}
	return out
}

func metricHeadLines(m results.Metric, unit string) []string {
	before, after := "", ""
	switch {
	case unit == "k" || unit == "M":
		before = unit + " "
	case unit != "":
		after = " " + unit
	}
	if class, name, ok := strings.Cut(m.Title, " "); ok {
		return []string{class, before + name + after}
	}
	return []string{before + m.Title + after}
}

func metricPart(m results.Metric) part {
	if m.Unit == "ms" {
		return latency
	}
	return throughput
}

// metricTitle names a column in a text; errors that were none say so, since they may be left out.
func metricTitle(m results.Metric, rows []*results.Row) string {
	if m.Name == "errors" && !anyAbove0(rows, m.Name) {
		return "errors (all 0)"
	}
	return m.Title
}

func anyAbove0(rows []*results.Row, name string) bool {
	return slices.ContainsFunc(rows, func(r *results.Row) bool {
		return r != nil && slices.ContainsFunc(r.Values[name].Samples, func(v float64) bool { return v > 0 })
	})
}

// metricRank says what goes first where there is no room: what is said elsewhere, extremes, the median; errors stay
// where there are any.
func metricRank(name string, rows []*results.Row) int {
	switch name {
	case "tps":
		return 0
	case "errors":
		if anyAbove0(rows, name) {
			return 1
		}
		return 6
	case "writes", "reads":
		return 3
	case "mib_memory", "mib_read", "mib_written":
		return 2
	case "file_reads", "file_writes", "fsyncs":
		return 3
	case "qps", "restarts", "reconnects":
		return 4
	case "rows_per_read":
		return 6
	}
	switch {
	case strings.HasSuffix(name, "p95"):
		return 2
	case strings.HasSuffix(name, "p99"):
		return 4
	case strings.HasSuffix(name, "max"):
		return 7
	}
	return 6
}

// hang notes where footnotes belong: those of the rows, and those that are true of a whole column.
func (g *grid) hang(rows []*results.Row, suffix string) {
	for i, r := range rows {
		if r == nil {
			continue
		}
		for _, ref := range r.Notes {
			g.refs = append(g.refs, noteRef{row: i, column: ref.Column, suffix: suffix, number: ref.Number})
		}
	}
}

func (g *grid) hangHeads(notes []results.Note, suffix string) {
	for _, n := range notes {
		if n.Column != "" {
			g.refs = append(g.refs, noteRef{row: inHead, column: n.Column, suffix: suffix, number: n.Number})
		}
	}
}

// noted gives the columns with their footnotes: on the figure in doubt or, where its column is gone, on another.
func (g *grid) noted(gone map[string]bool) []column {
	columns := slices.Clone(g.columns)
	for i := range columns {
		columns[i].head = slices.Clone(columns[i].head)
		columns[i].cells = slices.Clone(columns[i].cells)
	}
	for _, ref := range g.refs {
		c := columnFor(columns, ref, gone)
		if c == nil {
			continue
		}
		if ref.row == inHead {
			c.head[len(c.head)-1] += noteText([]int{ref.number})
			continue
		}
		cell := &c.cells[ref.row]
		cell.notes = append(slices.Clone(cell.notes), ref.number)
		slices.Sort(cell.notes)
	}
	return columns
}

// columnFor finds the column of a note, or the one that stands in for it.
func columnFor(columns []column, ref noteRef, gone map[string]bool) *column {
	for _, want := range []string{ref.column, strings.TrimPrefix(ref.column, "change."), "tps"} {
		i := slices.IndexFunc(columns, func(c column) bool { return c.id == want+ref.suffix })
		if want != "" && i >= 0 && !gone[columns[i].id] {
			return &columns[i]
		}
	}
	for i := range columns {
		if c := &columns[i]; c.part != both && !gone[c.id] {
			return c
		}
	}
	return nil
}

// noteText writes the footnotes of a cell: [1,2].
func noteText(notes []int) string {
	if len(notes) == 0 {
		return ""
	}
	parts := make([]string, len(notes))
	for i, n := range notes {
		parts[i] = strconv.Itoa(n)
	}
	return "[" + strings.Join(parts, ",") + "]"
}
