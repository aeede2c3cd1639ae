package render

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"benchplan/results"
)

// gap is what a column takes beside its text.
const gap = 2

// narrow is how short the text of a label may be cut before the first column of differences is left out.
const narrow = 16

// shortest is how short the text of a label may be cut where nothing else helps.
const shortest = 8

// Table prints a report for a terminal: a heading, the table, and its footnotes. What does not fit the width becomes two
// tables, one of rates and one of latencies; what still does not fit is left out, the least important first, and named.
func Table(w io.Writer, r *results.Report, o Options) error {
	var b bytes.Buffer
	ink := ink(o.Color)
	writeLines(&b, o.Width, reportHeading(r, ink))
	for i, t := range r.Tables() {
		if len(r.More) > 0 {
			writeLines(&b, o.Width, []string{"", tableHeading(t, ink)})
		}
		if err := writeGrid(&b, reportGrid(t), o); err != nil {
			return err
		}
		if lines := slices.Concat(meanTexts(t.Means, t.Changes, t.Load), conclusions(t)); len(lines) > 0 {
			b.WriteByte('\n')
			for _, line := range lines {
				writeWrapped(&b, o.Width, line, "    ")
			}
		}
		if i < len(r.More) {
			writeNotes(&b, newNotes(r, i), nil, nil, o)
		} else {
			writeNotes(&b, newNotes(r, i), r.Warnings, r.Run.Errors, o)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// TableCompare prints a comparison for a terminal.
func TableCompare(w io.Writer, c *results.Comparison, o Options) error {
	var b bytes.Buffer
	writeLines(&b, o.Width, compareHeading(c, ink(o.Color)))
	tables := c.Tables()
	for _, t := range tables {
		if len(tables) > 1 {
			writeLines(&b, o.Width, []string{"", ink(o.Color).bold(loadText(t.Load))})
		}
		if err := writeGrid(&b, compareGrid(c, t), o); err != nil {
			return err
		}
		for i, line := range meanTexts(t.Means, t.Changes, t.Load) {
			if i == 0 {
				b.WriteByte('\n')
			}
			writeWrapped(&b, o.Width, line, "    ")
		}
	}
	writeNotes(&b, c.Notes, c.Warnings, nil, o)
	for i, line := range dissimilarText(c, variablesShown) {
		if i == 0 {
			b.WriteByte('\n')
		}
		writeWrapped(&b, o.Width, line, "    ")
	}
	for _, line := range planDiffText(c, diffShown) {
		b.WriteString(line + "\n") // lines of a plan are not wrapped: they would be no diff any more
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeGrid prints a grid as one table or, where that is too wide and it holds rates and latencies, as two.
func writeGrid(b *bytes.Buffer, g grid, o Options) error {
	if g.rows == 0 {
		b.WriteString("\nno cell has been executed\n")
		return nil
	}
	parts, dropped := g.layOut(o.Width)
	for _, columns := range parts {
		if err := writeTable(b, g, columns, o.Color); err != nil {
			return err
		}
	}
	for _, line := range legend(slices.Concat(parts...)) {
		writeWrapped(b, o.Width, line, "  ")
	}
	if len(dropped) > 0 {
		writeWrapped(b, o.Width, "Left out for want of width: "+strings.Join(dropped, ", ")+".", "  ")
	}
	return nil
}

// layOut chooses the tables and their columns. Where a column that carries footnotes has to go, they move to another,
// which grows by that: so it is done over until nothing moves.
func (g *grid) layOut(width int) (parts [][]column, dropped []string) {
	gone := map[string]bool{}
	for {
		all := g.noted(gone)
		parts = [][]column{all}
		if width > 0 && totalWidth(all) > width {
			if rates, latencies := split(all); latencies != nil {
				parts = [][]column{rates, latencies}
			}
		}
		shown := map[string]bool{}
		for i := range parts {
			parts[i] = fit(parts[i], width)
			for _, c := range parts[i] {
				shown[c.id] = true
			}
		}
		dropped = nil
		moved := false
		for _, c := range all {
			if shown[c.id] {
				continue
			}
			dropped = append(dropped, printable(c.title))
			if c.noted() && !gone[c.id] {
				gone[c.id], moved = true, true
			}
		}
		if !moved {
			return parts, dropped
		}
	}
}

// split gives the columns of the rates and those of the latencies, each with what tells the rows apart.
func split(columns []column) (rates, latencies []column) {
	found := map[part]bool{}
	for _, c := range columns {
		found[c.part] = true
		if c.part != latency {
			rates = append(rates, c)
		}
		if c.part == latency || c.part == both && (c.rank == 0 || c.id == "step") {
			latencies = append(latencies, c)
		}
	}
	if !found[throughput] || !found[latency] {
		return columns, nil
	}
	return rates, latencies
}

// fit leaves out columns until the rest is no wider than width, and then shortens texts.
func fit(columns []column, width int) []column {
	kept := slices.Clone(columns)
	for width > 0 && totalWidth(kept) > width {
		worst := -1
		for i, c := range kept {
			if c.rank > 0 && (worst < 0 || c.rank >= kept[worst].rank) {
				worst = i
			}
		}
		if worst < 0 {
			return shorten(kept, width, shortest)
		}
		if isFirstChange(kept, worst) { // the differences are what the table is for
			if shorter := shorten(kept, width, narrow); totalWidth(shorter) <= width {
				return shorter
			}
		}
		gone := kept[worst]
		kept = slices.DeleteFunc(kept, func(c column) bool { return c.id == gone.id || c.group != "" && c.group == gone.group })
	}
	return kept
}

// isFirstChange tells whether a column is the first of those that show differences.
func isFirstChange(columns []column, at int) bool {
	return at == slices.IndexFunc(columns, func(c column) bool { return strings.HasPrefix(c.id, "change.") })
}

// shorten cuts the texts of the widest columns of labels, none of them below least.
func shorten(columns []column, width, least int) []column {
	columns = slices.Clone(columns)
	for over := totalWidth(columns) - width; over > 0; over = totalWidth(columns) - width {
		widest := -1
		for i, c := range columns {
			if c.left && c.width() > least && (widest < 0 || c.width() > columns[widest].width()) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		c := &columns[widest]
		limit := max(least, c.width()-over)
		c.cells = slices.Clone(c.cells)
		for i := range c.cells {
			c.cells[i].text = cut(c.cells[i].text, limit-c.notesWidth())
		}
		c.head = slices.Clone(c.head)
		for i := range c.head {
			c.head[i] = cut(c.head[i], limit)
		}
	}
	return columns
}

// cut shortens a text to a width, with … at its end.
func cut(s string, limit int) string {
	if len(s) <= limit || twwidth.Width(s) <= limit {
		return s
	}
	used := 0
	for i, r := range s {
		if used += twwidth.Width(string(r)); used+1 > limit {
			return s[:i] + "…"
		}
	}
	return s
}

func totalWidth(columns []column) int {
	total := 0
	for _, c := range columns {
		total += c.width() + gap
	}
	return total
}

// noted tells whether a footnote hangs on a column.
func (c *column) noted() bool {
	return c.notesWidth() > 0 || strings.HasSuffix(c.head[len(c.head)-1], "]") && c.part != both
}

// width is that of the widest line of a column.
func (c *column) width() int {
	widest, notes := 0, c.notesWidth()
	for _, h := range c.head {
		widest = max(widest, twwidth.Width(h))
	}
	for _, cell := range c.cells {
		widest = max(widest, twwidth.Width(cell.text)+notes)
	}
	return widest
}

func (c *column) notesWidth() int {
	widest := 0
	for _, cell := range c.cells {
		widest = max(widest, len(noteText(cell.notes)))
	}
	return widest
}

// manyRows is from how many rows on a table is grouped by its labels, pivot or not.
const manyRows = 12

// group leaves the value of a label out where it and those before it are as in the row above, in each section anew: always that
// of the pivot, and of a long table that of all labels but the last, so that the eye finds where one changes.
func (g *grid) group(pivot string) {
	var above []string
	var folded []*column
	for i := range g.columns {
		if c := &g.columns[i]; c.part == both && (c.id == "step" || strings.HasPrefix(c.id, "label.")) {
			if c.id == "label."+pivot || g.rows >= manyRows {
				folded = append(folded, c)
			}
		}
	}
	if len(folded) > 1 && folded[len(folded)-1].id != "label."+pivot {
		folded = folded[:len(folded)-1]
	}
	g.breakUp(folded)
	for row := range g.rows {
		same := row > 0 && !slices.Contains(g.breaks, row)
		if !same {
			above = make([]string, len(folded))
		}
		for i, c := range folded {
			text := c.cells[row].text
			if same = same && text == above[i]; same {
				c.cells[row].text = ""
			}
			above[i] = text
		}
	}
}

// rowsTogether is how many rows of a long table stand together before an empty line, where its labels allow that: what is
// folded stays in sight.
const rowsTogether = 30

// breakUp divides a long table, if nothing did yet, where the first few of its labels change: as few as make short sections.
func (g *grid) breakUp(labels []*column) {
	if len(g.breaks) > 0 || g.rows < 2*manyRows {
		return
	}
	for depth := range labels {
		breaks, longest, last := []int(nil), 0, 0
		for row := 1; row < g.rows; row++ {
			if slices.ContainsFunc(labels[:depth+1], func(c *column) bool { return c.cells[row].text != c.cells[row-1].text }) {
				longest, last = max(longest, row-last), row
				breaks = append(breaks, row)
			}
		}
		if len(breaks) > g.rows/3 {
			return // hardly a section has more than a row or two: empty lines would not help
		}
		if g.breaks = breaks; max(longest, g.rows-last) <= rowsTogether {
			return
		}
	}
}

// writeTable prints columns with a rule under the head, and an empty line between sections.
func writeTable(b *bytes.Buffer, g grid, columns []column, color bool) error {
	var out bytes.Buffer
	table := newTable(&out, columns)
	heads := headCells(columns)
	table.Header(heads)
	notes := make([]int, len(columns))
	for i := range columns {
		notes[i] = columns[i].notesWidth()
	}
	headed := 0 // the row under the last head
	for row := range g.rows {
		if slices.Contains(g.breaks, row) {
			between := [][]string{slices.Repeat([]string{" "}, len(columns))}
			if row-headed >= rowsPerHead {
				between, headed = append(between, headLines(heads)...), row
			}
			if err := table.Bulk(between); err != nil {
				return err
			}
		}
		cells := make([]string, len(columns))
		for i := range columns {
			cells[i] = columns[i].cellText(row, notes[i], ink(color))
		}
		if err := table.Append(cells); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	b.WriteByte('\n')
	for line := range strings.Lines(out.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return nil
}

// newTable sets the library up for a plain look: rules above, under the head, and below; no lines between columns.
func newTable(w io.Writer, columns []column) *tablewriter.Table {
	align := make([]tw.Align, len(columns))
	for i, c := range columns {
		if align[i] = tw.AlignRight; c.left {
			align[i] = tw.AlignLeft
		}
	}
	config := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone},
		Alignment:  tw.CellAlignment{PerColumn: align},
	}
	return tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.Border{Left: tw.Off, Right: tw.Off, Top: tw.On, Bottom: tw.On},
			Symbols: tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{
				Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off},
				Lines:      tw.Lines{ShowHeaderLine: tw.On, ShowTop: tw.On, ShowBottom: tw.On},
			},
		})),
		tablewriter.WithConfig(tablewriter.Config{
			Header:   config,
			Row:      config,
			Behavior: tw.Behavior{TrimSpace: tw.Off, TrimTab: tw.Off, TrimLine: tw.Off},
		}),
		tablewriter.WithEastAsian(tw.Off)) // terminals show box characters, ± and Δ narrow, also in Chinese
}

// headCells joins the lines of each head so that the last lines stand in one row.
func headCells(columns []column) []string {
	tallest := 0
	for _, c := range columns {
		tallest = max(tallest, len(c.head))
	}
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = strings.Repeat("\n", tallest-len(c.head)) + strings.Join(c.head, "\n")
		if notes := c.notesWidth(); !c.left && notes > 0 {
			cells[i] = padHead(cells[i], notes, c.width())
		}
	}
	return cells
}

// rowsPerHead is after how many rows the head of a long table is said again: a screen has about as many.
const rowsPerHead = 40

// headLines writes a head as rows.
func headLines(heads []string) [][]string {
	rows := make([][]string, strings.Count(heads[0], "\n")+1)
	for _, head := range heads {
		for i, line := range strings.Split(head, "\n") {
			rows[i] = append(rows[i], line)
		}
	}
	return rows
}

// padHead keeps a head above its figures where footnotes stand to their right.
func padHead(head string, notes, width int) string {
	lines := strings.Split(head, "\n")
	for i, l := range lines {
		if l != "" && !strings.HasSuffix(l, "]") {
			lines[i] = l + strings.Repeat(" ", max(0, min(notes, width-twwidth.Width(l))))
		}
	}
	return strings.Join(lines, "\n")
}

// cellText is a cell with its footnotes, these padded to a width so that figures stay in line.
func (c *column) cellText(row, width int, ink ink) string {
	cell := c.cells[row]
	notes := noteText(cell.notes)
	text := cell.text
	switch cell.tone {
	case good:
		text = ink.green(text)
	case bad:
		text = ink.red(text)
	}
	padding := strings.Repeat(" ", width-len(notes))
	if c.left {
		padding = ""
	}
	return text + ink.dim(notes) + padding
}

// ink colours text, or leaves it.
type ink bool

func (i ink) paint(code, s string) string {
	if !i || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (i ink) green(s string) string { return i.paint("32", s) }
func (i ink) red(s string) string   { return i.paint("31", s) }
func (i ink) bold(s string) string  { return i.paint("1", s) }
func (i ink) dim(s string) string   { return i.paint("2", s) }
