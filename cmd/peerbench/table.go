package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// width is how many columns of a terminal a line of text takes at most.
const width = 100

// print writes the report as text, or as Markdown.
func (r *report) print(w io.Writer, markdown bool) error {
	var b strings.Builder
	paragraph := func(line string) {
		if markdown {
			b.WriteString(line + "\n\n")
			return
		}
		wrap(&b, line)
	}
	for _, line := range r.heading() {
		paragraph(line)
	}
	for _, title := range allTables {
		rows := r.rows(title)
		if len(rows) == 1 {
			continue
		}
		if markdown {
			writeMarkdown(&b, rows)
			b.WriteByte('\n')
		} else {
			b.WriteByte('\n')
			writeText(&b, rows)
		}
	}
	if !markdown {
		b.WriteByte('\n')
	}
	for _, line := range r.notes() {
		paragraph(line)
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// rows gives the cells of a table, the first row being its head. The first column is text, the others are numbers. Where no figure of
// the table has a target, there are no columns for it.
func (r *report) rows(title string) [][]string {
	ours := "benchplan"
	if title == tableLimit {
		ours = bare{}.name()
	}
	rows := [][]string{{title, "sysbench", ours, "ratio", "least–most", "to reach", "met"}}
	held := false // against a target
	for _, f := range r.Figures {
		if f.Table != title {
			continue
		}
		name, theirs, ratio, decimals := f.Name, "", "", f.decimals
		if (title == tableOther || title == tableLimit) && f.Unit != "" {
			name += ", " + f.Unit
		}
		if f.Theirs != 0 {
			decimals = 2
			theirs, ratio = number(f.Theirs, f.decimals), f.ratioText()
		}
		between := number(f.Held.Least, decimals) + "–" + number(f.Held.Most, decimals)
		if f.Runs == 1 || f.Held.Least == f.Held.Most {
			between = ""
		}
		held = held || f.Target.set
		rows = append(rows, []string{name, theirs, number(f.Ours, f.decimals), ratio, between, f.Target.text(targetDecimals(f)), f.verdict()})
	}
	if !held {
		for i := range rows {
			rows[i] = rows[i][:5]
		}
	}
	return rows
}

// targetDecimals is how a target is written: a ratio's with two decimals, all others with none.
func targetDecimals(f figure) int {
	if f.Theirs != 0 {
		return 2
	}
	return 0
}

// writeText writes rows in columns that are aligned: the first to the left, the others to the right.
func writeText(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line.WriteString(cell + pad)
			} else {
				line.WriteString("  " + pad + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// writeMarkdown writes rows as a table of Markdown.
func writeMarkdown(b *strings.Builder, rows [][]string) {
	for i, row := range rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString("|---|" + strings.Repeat("---:|", len(row)-1) + "\n")
		}
	}
}

// wrap writes a paragraph in lines that fit, those after the first indented.
func wrap(b *strings.Builder, text string) {
	used := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > width:
			b.WriteString("\n  ")
			used = 2
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	b.WriteByte('\n')
}
