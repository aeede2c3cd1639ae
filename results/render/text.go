package render

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"benchplan/results"
)

// variablesShown is how many differences between runs are printed; JSON has all.
const variablesShown = 20

// reportHeading says what was run, when, against what, and how much of it is there.
func reportHeading(r *results.Report, ink ink) []string {
	h := r.Run
	first := []string{ink.bold(printable(h.Plan))}
	if !h.Started.IsZero() {
		first = append(first, h.Started.UTC().Format("2006-01-02 15:04 UTC"))
	}
	for _, t := range h.Targets {
		first = append(first, printable(t))
	}
	lines := []string{strings.Join(first, " · ")}
	if about := strings.Join(strings.Fields(h.Description), " "); about != "" {
		lines = append(lines, printable(about))
	}
	second := []string{cellsText(h)}
	if len(r.More) == 0 {
		second = append(second, sameText(&r.Table)...)
	}
	lines = append(lines, strings.Join(second, " · "))
	lines = append(lines, nonEmpty(resumedText(h))...)
	if doubt := statusText(h); doubt != "" {
		lines = append(lines, ink.bold(doubt))
	}
	return lines
}

// resumedText says when a run was resumed, and after what; empty for one that never was.
func resumedText(h results.Head) string {
	const most = 5
	n := len(h.Resumed)
	if n == 0 {
		return ""
	}
	text := "resumed once, at "
	if n > 1 {
		text = fmt.Sprintf("resumed %d times, at ", n)
	}
	for i, r := range h.Resumed[max(0, n-most):] {
		switch {
		case i > 0:
			text += ", "
		case n > most:
			text += "…, "
		}
		verb := "was"
		if r.After == results.RunFailed {
			verb = "had"
		}
		text += fmt.Sprintf("%s after it %s %s", r.At.UTC().Format("2006-01-02 15:04 UTC"), verb, r.After)
	}
	return text
}

// tableHeading says what kind of load the rows of one of several tables are of, and what is true of all of them.
func tableHeading(t *results.Table, ink ink) string {
	return strings.Join(append([]string{ink.bold(loadText(t.Load))}, sameText(t)...), " · ")
}

// loadText names a kind of load.
func loadText(load string) string {
	if load == "" {
		return "SQL"
	}
	return printable(load)
}

// sameText gives the labels that all rows of a table have, and what they are compared with.
func sameText(t *results.Table) []string {
	var parts []string
	for _, l := range t.Constant {
		parts = append(parts, label(l.Name+"="+l.Value))
	}
	if len(t.Changes) > 0 {
		parts = append(parts, "baseline "+labelsText(t.Baseline))
	}
	return parts
}

func compareHeading(c *results.Comparison, ink ink) []string {
	var lines []string
	for n, h := range c.Runs {
		parts := []string{fmt.Sprintf("#%d %s", n+1, ink.bold(printable(h.Name)))}
		if n == 0 {
			parts[0] += " (baseline of every Δ)"
		}
		for _, t := range h.Targets {
			parts = append(parts, printable(t))
		}
		lines = append(lines, strings.Join(append(parts, cellsText(h)), " · "))
		if resumed := resumedText(h); resumed != "" {
			lines = append(lines, "   "+resumed)
		}
		if doubt := statusText(h); doubt != "" {
			lines = append(lines, "   "+ink.bold(doubt))
		}
	}
	return lines
}

func cellsText(h results.Head) string {
	text := fmt.Sprintf("%d cells", h.CellsComplete)
	switch {
	case h.CellsPlanned > h.CellsComplete:
		text = fmt.Sprintf("%d of %d cells", h.CellsComplete, h.CellsPlanned)
	case h.CellsComplete == 1:
		text = "1 cell"
	}
	if h.Elapsed > 0 {
		text += " in " + durationText(h.Elapsed)
	}
	return text
}

// durationText rounds to what matters: 4.2s, 5m13s, 4h59m.
func durationText(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	minutes := int64(math.Round(d.Minutes()))
	return fmt.Sprintf("%dh%02dm", minutes/60, minutes%60)
}

// statusText heads what is not a whole run in earnest.
func statusText(h results.Head) string {
	var parts []string
	if h.Rehearsal {
		parts = append(parts, "REHEARSAL: cut short on a stand-in; the figures say nothing about the real target")
	}
	switch h.Status {
	case results.Running:
		parts = append(parts, "STILL RUNNING")
	case results.RunFailed:
		parts = append(parts, "FAILED: the plan was not carried out to its end")
	case results.Interrupted:
		parts = append(parts, "INTERRUPTED: the plan was not carried out to its end")
	case results.Killed:
		parts = append(parts, "KILLED: the run ended without saying so; what it had recorded is here")
	default:
		if h.CellsComplete < h.CellsPlanned {
			parts = append(parts, "PARTIAL: not all cells are complete")
		}
	}
	return strings.Join(parts, " · ")
}

func labelsText(labels map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, label(name+"="+labels[name]))
	}
	return strings.Join(parts, " ")
}

// newNotes gives the footnotes of a report's table that no table before it has.
func newNotes(r *results.Report, table int) []results.Note {
	last := 0
	tables := r.Tables()
	for _, t := range tables[:table] {
		for _, n := range t.Notes {
			last = max(last, n.Number)
		}
	}
	return slices.DeleteFunc(slices.Clone(tables[table].Notes), func(n results.Note) bool { return n.Number <= last })
}

// writeNotes prints the footnotes with their remedies, then what is wrong with the record, then the run's errors.
func writeNotes(b *bytes.Buffer, notes []results.Note, warnings, errors []string, o Options) {
	ink := ink(o.Color)
	if len(notes)+len(warnings)+len(errors) > 0 {
		b.WriteByte('\n')
	}
	for _, n := range notes {
		number := fmt.Sprintf("[%d] ", n.Number)
		indent := strings.Repeat(" ", len(number))
		for i, line := range n.Lines {
			if i > 0 {
				number = indent
			}
			writeWrapped(b, o.Width, number+printable(line), indent)
		}
		if n.Remedy != "" {
			writeWrapped(b, o.Width, ink.dim(indent+"→ "+printable(n.Remedy)), indent+"  ")
		}
	}
	for _, w := range warnings {
		writeWrapped(b, o.Width, "warning: "+printable(w), "  ")
	}
	for _, e := range errors {
		writeWrapped(b, o.Width, "error: "+printable(e), "  ")
	}
}

// dissimilarText lists what has no partner and in what the runs differ.
func dissimilarText(c *results.Comparison, limit int) []string {
	var lines []string
	for n, names := range c.Missing {
		if len(names) > 0 {
			lines = append(lines, fmt.Sprintf("#%d has no cell: %s", n+1, namesText(names, limit)))
		}
	}
	for i, d := range c.Differences {
		if i == 0 {
			lines = append(lines, "The runs differ in more than their figures:")
		}
		if limit > 0 && i == limit && len(c.Differences) > limit+1 {
			lines = append(lines, fmt.Sprintf("  and %d more (--format json has all)", len(c.Differences)-limit))
			break
		}
		values := make([]string, len(d.Values))
		for k, v := range d.Values {
			if values[k] = cut(printable(v[:min(len(v), 16*longestValue)]), longestValue); v == "" {
				values[k] = `""`
			}
		}
		text := fmt.Sprintf("  %s: %s", printable(d.What), strings.Join(values, " → "))
		if len(d.Cells) > 0 && len(d.Cells) < len(c.Rows) {
			text += " (" + namesText(d.Cells, limit) + ")"
		}
		lines = append(lines, text)
	}
	return lines
}

// longestValue is how wide a value may be in which runs differ.
const longestValue = 200

// namesText lists the names of cells, of many only the first; limit 0 lists all.
func namesText(names []string, limit int) string {
	var parts []string
	for i, name := range names {
		if limit > 0 && i == limit && len(names) > limit+1 {
			parts = append(parts, fmt.Sprintf("and %d more", len(names)-limit))
			break
		}
		parts = append(parts, label(name))
	}
	return strings.Join(parts, ", ")
}

// diffShown is how many lines of a difference between plans are printed on a terminal.
const diffShown = 60

// planDiffText shows how the text of each run's plan differs from the first's.
func planDiffText(c *results.Comparison, limit int) []string {
	var lines []string
	for _, d := range c.PlanDiffs {
		lines = append(lines, fmt.Sprintf("The plan's text, #1 → #%d:", d.Run))
		for i, line := range d.Lines {
			if limit > 0 && i == limit && len(d.Lines) > limit+1 {
				lines = append(lines, fmt.Sprintf("  and %d more lines (--format json has all)", len(d.Lines)-limit))
				break
			}
			lines = append(lines, "  "+cut(printable(line[:min(len(line), 16*longestValue)]), longestValue))
		}
	}
	return lines
}

func writeLines(b *bytes.Buffer, width int, lines []string) {
	for _, l := range lines {
		writeWrapped(b, width, l, "  ")
	}
}

// glue keeps a figure and its sign on one line; unglue makes the space between them an ordinary one again.
var (
	glue   = strings.NewReplacer(" %", "\u00a0%", " ×", "\u00a0×")
	unglue = strings.NewReplacer("\u00a0%", " %", "\u00a0×", " ×")
)

// writeWrapped breaks a text at spaces; the lines after the first are indented.
func writeWrapped(b *bytes.Buffer, width int, text, indent string) {
	if width <= 0 {
		b.WriteString(text + "\n")
		return
	}
	line, used := "", 0
	for i, word := range strings.Split(glue.Replace(text), " ") {
		size := twwidth.Width(word)
		switch {
		case i == 0:
			line, used = word, size
		case used+1+size > width && strings.TrimSpace(line) != "":
			b.WriteString(unglue.Replace(strings.TrimRight(line, " ")) + "\n")
			line, used = indent+word, len(indent)+size
		default:
			line, used = line+" "+word, used+1+size
		}
	}
	b.WriteString(unglue.Replace(line) + "\n")
}
