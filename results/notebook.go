package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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
			for _, m := range slices.Concat(checkPair(row.cells, base.cells, other), checkParts(row.cells, base.cells, other), checkVariables(row.cells, base.cells, other)) {
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
	first    map[rowShape]string // the text by which a row said it first
	alike    map[string]int      // by that text, how many more repeats said it in other numbers
}

// rowShape is what the repeats of a row have in common that say the same in other numbers: their text without any.
type rowShape struct {
	row  *Row
	text string
}

func shapeOf(row *Row, text string) rowShape {
	return rowShape{row, strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' {
			return -1
		}
		return r
	}, text)}
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
		n = &rowNotes{byText: map[string][]*Row{}, column: map[*Row]string{}, first: map[rowShape]string{}, alike: map[string]int{}}
		b.byCode[m.Code], b.order = n, append(b.order, m.Code)
	}
	if m.Remedy != "" && !slices.Contains(n.remedies, m.Remedy) {
		n.remedies = append(n.remedies, m.Remedy)
	}
	shape := shapeOf(row, m.Text)
	if first, said := n.first[shape]; !said {
		n.first[shape] = m.Text
	} else if first != m.Text {
		n.alike[first]++
		return
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
			more := n.alike[text]
			if i == noteLines && len(n.texts) > noteLines+1 {
				note.Lines = append(note.Lines, fmt.Sprintf("and %d more", len(n.texts)-noteLines))
				break
			}
			if len(rows) > 1 && len(n.texts) > 1 {
				text = b.rowNames(n.byText[text]) + ": " + text
			}
			if more > 0 {
				text += fmt.Sprintf(" (and the like in %d more repeats)", more)
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
