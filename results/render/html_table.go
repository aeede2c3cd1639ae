package render

import (
	"slices"
	"strings"
	"unicode/utf8"

	"benchplan/results"
)

// pageTable is a grid as the template prints it: all columns.
type pageTable struct {
	Heading string
	Same    []string // what is true of all of its rows
	Columns []pageColumn
	Rows    []pageRow
	Wide    bool     // too wide for an upright page
	Legend  []string // explains signs
	Filter  bool     // there are so many rows that one looks for some
}

// pageColumn is the head of a column.
type pageColumn struct {
	Title string
	Text  bool  // aligned to the left, sorted as text
	Notes []int // footnotes on the head
}

// pageRow is a row; Break begins a section.
type pageRow struct {
	Break bool
	Cells []pageCell
}

// pageCell is a text with its footnotes.
type pageCell struct {
	Text   string
	Class  string // good, bad, quiet, long, again (the same as above), or nothing
	Header bool   // it tells the row from others
	Notes  []int
}

const (
	wideColumns  = 14
	filteredRows = 12
	longLabel    = 28 // characters; what is longer may be broken into lines
)

// newPageTable takes over a grid, footnotes apart from the texts so that they can be links. What tells rows apart is taken from
// identity: in a grid, a text that is the same as the one above may be left out, but a table that can be sorted has to have all.
func newPageTable(heading string, same []string, g, identity grid) pageTable {
	t := pageTable{Heading: heading, Filter: g.rows >= filteredRows, Wide: len(g.columns) > wideColumns, Legend: legend(g.columns)}
	for _, s := range same {
		t.Same = append(t.Same, harmless(s))
	}
	columns := g.columns
	heads, cells := g.placed()
	for i, c := range columns {
		t.Columns = append(t.Columns, pageColumn{harmless(strings.Join(c.head, " ")), c.left, heads[i]})
	}
	for row := range g.rows {
		r := pageRow{Break: slices.Contains(g.breaks, row)}
		for i, c := range columns {
			cell := c.cells[row]
			text := strings.TrimSpace(cell.text)
			if strings.HasPrefix(c.id, "change.") {
				text = proper(text)
			}
			class := toneClass(cell.tone, text)
			if whole := identity.textAt(c.id, row); whole != "" && text == "" {
				text, class = whole, "again"
			}
			if c.left && utf8.RuneCountInString(text) > longLabel {
				class = "long"
			}
			r.Cells = append(r.Cells, pageCell{harmless(text), class, c.left, cells[i][row]})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// reportIdentity has the columns that tell the rows of a report's table apart, and each text of them.
func reportIdentity(t *results.Table) grid {
	var g grid
	addIdentity(&g, t.Rows(), identityAxes(t.Axes, t.Pivot), t.StepsDiffer)
	return g
}

// compareIdentity is the same of a comparison's table.
func compareIdentity(t results.CompareTable) grid {
	rows := make([]*results.Row, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = row.Sides[slices.IndexFunc(row.Sides, func(r *results.Row) bool { return r != nil })]
	}
	var g grid
	addIdentity(&g, rows, identityAxes(t.Axes, t.Pivot), t.StepsDiffer)
	return g
}

// textAt is the text of a row in a column; it is empty where there is no such column.
func (g *grid) textAt(id string, row int) string {
	i := slices.IndexFunc(g.columns, func(c column) bool { return c.id == id })
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(g.columns[i].cells[row].text)
}

// placed gives the footnotes of the heads and of the cells, by column.
func (g *grid) placed() (heads [][]int, cells []map[int][]int) {
	heads, cells = make([][]int, len(g.columns)), make([]map[int][]int, len(g.columns))
	for i := range cells {
		cells[i] = map[int][]int{}
	}
	for _, ref := range g.refs {
		c := columnFor(g.columns, ref, nil)
		if c == nil {
			continue
		}
		i := slices.IndexFunc(g.columns, func(other column) bool { return other.id == c.id })
		if ref.row == inHead {
			heads[i] = append(heads[i], ref.number)
			continue
		}
		cells[i][ref.row] = append(cells[i][ref.row], ref.number)
		slices.Sort(cells[i][ref.row])
	}
	return heads, cells
}

func toneClass(t tone, text string) string {
	switch {
	case t == good:
		return "good"
	case t == bad:
		return "bad"
	case text == none || text == "~" || text == "baseline" || strings.HasPrefix(text, "±"):
		return "quiet"
	}
	return ""
}
