package plan

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Position is a place in a plan's text. Both count from 1; a column is a character, not a byte. The zero value is no place.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Source is a plan's text and the name that errors call it by.
type Source struct {
	Name string
	Text []byte
}

// At writes "file:line:col", as every message about a plan begins.
func (s Source) At(p Position) string { return fmt.Sprintf("%s:%d:%d", s.Name, p.Line, p.Column) }

// Diagnostic is one mistake in a plan: what is wrong, where, and what to do.
type Diagnostic struct {
	File    string
	Pos     Position
	Message string
	Line    string // the source line that Pos points into
}

// Error gives "file:line:col: message".
func (d Diagnostic) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", d.File, d.Pos.Line, d.Pos.Column, d.Message)
}

// Snippet gives the source line with a caret under the place, or nothing where there is no line.
func (d Diagnostic) Snippet() string {
	if d.Line == "" {
		return ""
	}
	runes := []rune(strings.TrimRight(d.Line, "\r\n"))
	column := min(max(d.Pos.Column-1, 0), len(runes))
	const reach = 100 // a line of a megabyte is not worth printing whole
	from, to := 0, len(runes)
	if column > reach {
		from = column - reach/2
	}
	if to > from+2*reach {
		to = from + 2*reach
	}
	var pad strings.Builder
	for _, r := range runes[from:column] {
		if r == '\t' {
			pad.WriteByte('\t')
		} else {
			pad.WriteString(strings.Repeat(" ", runewidth.RuneWidth(r)))
		}
	}
	shown := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' {
			return '·'
		}
		return r
	}, string(runes[from:to]))
	margin := fmt.Sprintf("%5d | ", d.Pos.Line)
	return margin + shown + "\n" + strings.Repeat(" ", len(margin)-2) + "| " + pad.String() + "^"
}

// Diagnostics are all the mistakes of a plan, in the order of the text.
type Diagnostics []Diagnostic

// Error gives every mistake with its line and caret.
func (ds Diagnostics) Error() string {
	var b strings.Builder
	for i, d := range ds {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(d.Error())
		if s := d.Snippet(); s != "" {
			b.WriteByte('\n')
			b.WriteString(s)
		}
	}
	return b.String()
}

// maxDiagnostics bounds what one reading reports: beyond it a plan is not mistaken but something else than a plan.
const maxDiagnostics = 100

// reporter collects the mistakes of one plan, each once.
type reporter struct {
	source Source
	lines  []string
	seen   map[string]bool
	found  Diagnostics

	expressions []*expression // all that were compiled
}

func newReporter(s Source) *reporter {
	return &reporter{source: s, lines: strings.Split(string(s.Text), "\n"), seen: map[string]bool{}}
}

func (r *reporter) line(n int) string {
	if n < 1 || n > len(r.lines) {
		return ""
	}
	return r.lines[n-1]
}

func (r *reporter) add(p Position, format string, args ...any) {
	d := Diagnostic{File: r.source.Name, Pos: p, Message: fmt.Sprintf(format, args...), Line: r.line(p.Line)}
	if key := d.Error(); !r.seen[key] && len(r.found) < maxDiagnostics {
		r.seen[key] = true
		r.found = append(r.found, d)
	}
}

func (r *reporter) full() bool { return len(r.found) >= maxDiagnostics }

// err gives the mistakes in the order of the text, nil where there are none.
func (r *reporter) err() error {
	if len(r.found) == 0 {
		return nil
	}
	found := slices.Clone(r.found)
	sort.SliceStable(found, func(i, j int) bool {
		a, b := found[i].Pos, found[j].Pos
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	return found
}

// find gives the position at which text stands in the source at or after from; from itself where it cannot be found
// (for example because YAML escapes hide it).
func (r *reporter) find(from Position, text string, lines int) Position {
	first, _, _ := strings.Cut(text, "\n")
	for n := from.Line; n <= from.Line+lines && n <= len(r.lines); n++ {
		line, skip := r.lines[n-1], 0
		if n == from.Line {
			skip = len(string([]rune(line)[:min(max(from.Column-1, 0), len([]rune(line)))]))
		}
		if i := strings.Index(line[skip:], first); i >= 0 {
			return Position{Line: n, Column: len([]rune(line[:skip+i])) + 1}
		}
	}
	return from
}
