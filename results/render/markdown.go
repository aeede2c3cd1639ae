package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"benchplan/results"
)

// Markdown writes a report as a GitHub table: all columns, whatever the width.
func Markdown(w io.Writer, r *results.Report, _ Options) error {
	var b strings.Builder
	heading := reportHeading(r, false)
	fmt.Fprintf(&b, "### %s\n\n", escape(heading[0]))
	for _, line := range heading[1:] {
		b.WriteString(escape(line) + "\n\n")
	}
	for i, t := range r.Tables() {
		if i > 0 {
			b.WriteByte('\n')
		}
		if len(r.More) > 0 {
			fmt.Fprintf(&b, "#### %s\n\n", escape(tableHeading(t, false)))
		}
		markdownGrid(&b, reportGrid(t))
		for _, line := range slices.Concat(meanTexts(t.Means, t.Changes, t.Load), conclusions(t)) {
			b.WriteString("\n" + escape(line) + "\n")
		}
		if i < len(r.More) {
			markdownNotes(&b, newNotes(r, i), nil, nil)
		} else {
			markdownNotes(&b, newNotes(r, i), r.Warnings, r.Run.Errors)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// MarkdownCompare writes a comparison as a GitHub table.
func MarkdownCompare(w io.Writer, c *results.Comparison, _ Options) error {
	var b strings.Builder
	for _, line := range compareHeading(c, false) {
		b.WriteString(escape(strings.TrimSpace(line)) + "\n\n")
	}
	tables := c.Tables()
	for i, t := range tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		if len(tables) > 1 {
			fmt.Fprintf(&b, "#### %s\n\n", escape(loadText(t.Load)))
		}
		markdownGrid(&b, compareGrid(c, t))
		for _, line := range meanTexts(t.Means, t.Changes, t.Load) {
			b.WriteString("\n" + escape(line) + "\n")
		}
	}
	markdownNotes(&b, c.Notes, c.Warnings, nil)
	for i, line := range dissimilarText(c, 0) {
		if i == 0 {
			b.WriteByte('\n')
		}
		text, nested := strings.CutPrefix(line, "  ")
		if nested {
			b.WriteString("  ")
		}
		b.WriteString("- " + escape(text) + "\n")
	}
	for _, d := range c.PlanDiffs {
		fmt.Fprintf(&b, "\nThe plan's text, \\#1 → \\#%d:\n\n", d.Run)
		for _, line := range d.Lines {
			b.WriteString("    " + printable(line) + "\n") // indented code: no text ends it, as it could a fence
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownGrid(b *strings.Builder, g grid) {
	if g.rows == 0 {
		b.WriteString("no cell has been executed\n")
		return
	}
	columns := g.noted(nil)
	line := func(cell func(*column) string) {
		for i := range columns {
			b.WriteString("| " + cell(&columns[i]) + " ")
		}
		b.WriteString("|\n")
	}
	line(func(c *column) string { return escape(strings.Join(c.head, " ")) })
	line(func(c *column) string {
		if c.left {
			return ":---"
		}
		return "---:"
	})
	for row := range g.rows {
		line(func(c *column) string {
			text := escape(strings.TrimSpace(c.cells[row].text))
			if notes := noteText(c.cells[row].notes); notes != "" {
				text += " " + escape(notes)
			}
			return text
		})
	}
	for _, line := range legend(columns) {
		b.WriteString("\n" + escape(line) + "\n")
	}
}

func markdownNotes(b *strings.Builder, notes []results.Note, warnings, errors []string) {
	if len(notes)+len(warnings)+len(errors) > 0 {
		b.WriteByte('\n')
	}
	for _, n := range notes {
		text := escape(fmt.Sprintf("[%d]", n.Number)) + " "
		for i, line := range n.Lines {
			if i > 0 {
				text += "<br>"
			}
			text += escape(printable(line))
		}
		if n.Remedy != "" {
			// Remedies quote words of a plan in backticks, which stay what they are.
			text += "<br>→ " + strings.ReplaceAll(escape(printable(n.Remedy)), "\\`", "`")
		}
		b.WriteString("- " + text + "\n")
	}
	for _, w := range warnings {
		b.WriteString("- warning: " + escape(printable(w)) + "\n")
	}
	for _, e := range errors {
		b.WriteString("- error: " + escape(printable(e)) + "\n")
	}
}

// escape takes from a text what Markdown and HTML read as their own.
var escaper = strings.NewReplacer(`\`, `\\`, "|", `\|`, "&", "&amp;", "<", "&lt;", ">", "&gt;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`)

func escape(s string) string { return escaper.Replace(s) }
