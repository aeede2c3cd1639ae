package plan

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Position is a place in a plan's text. Both count from 1; a column is a character, not a byte. The zero value is no place.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`

	origin *text // where it is not the plan: the value of a --set
}

// right moves the position within its line.
func (p Position) right(characters int) Position {
	p.Column += characters
	return p
}

// Source is a plan's text and the name that errors call it by.
type Source struct {
	Name string
	Text []byte
}

// At writes "file:line:col", as every message about a plan begins.
func (s Source) At(p Position) string {
	name := s.Name
	if p.origin != nil {
		name = p.origin.name
	}
	if p.Line == 0 {
		return name
	}
	return fmt.Sprintf("%s:%d:%d", name, p.Line, p.Column)
}

// text is a source cut into lines.
type text struct {
	name  string
	bytes []byte // without a byte order mark
	lines []string

	mu    sync.Mutex
	runes map[int][]rune // of lines, by their numbers: many expressions can stand in one long line
}

// breaks are the line breaks of YAML besides the carriage return with a line feed behind it.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

func newText(s Source) *text {
	b := []byte(strings.TrimPrefix(string(s.Text), "\uFEFF"))
	return &text{name: s.Name, bytes: b, lines: strings.Split(breaks.Replace(string(b)), "\n")}
}

func (t *text) line(n int) string {
	if n < 1 || n > len(t.lines) {
		return ""
	}
	return t.lines[n-1]
}

// characters gives a line as characters, for reading only.
func (t *text) characters(n int) []rune {
	t.mu.Lock()
	defer t.mu.Unlock()
	runes, known := t.runes[n]
	if !known {
		if t.runes == nil {
			t.runes = map[int][]rune{}
		}
		runes = []rune(t.line(n))
		t.runes[n] = runes
	}
	return runes
}

// within gives the nearest place that the text has: YAML puts what is missing behind the end.
func (t *text) within(p Position) Position {
	if p.Line == 0 || len(t.lines) == 0 {
		return p
	}
	if p.Line > len(t.lines) {
		p.Line = len(t.lines)
		p.Column = math.MaxInt
	}
	p.Column = min(p.Column, utf8.RuneCountInString(t.line(p.Line))+1)
	return p
}

// position gives the place of a byte.
func (t *text) position(offset int) Position {
	lines := strings.Split(breaks.Replace(string(t.bytes[:offset])), "\n")
	return Position{Line: len(lines), Column: utf8.RuneCountInString(lines[len(lines)-1]) + 1}
}

// Diagnostic is one mistake in a plan: what is wrong, where, and what to do.
type Diagnostic struct {
	File    string
	Pos     Position
	Message string
	Line    string // the source line that Pos points into
}

// Error gives "file:line:col: message".
func (d Diagnostic) Error() string {
	return Source{Name: d.File}.At(d.Pos) + ": " + d.Message
}

// Snippet gives the source line with a caret under the place, or nothing where there is no line.
func (d Diagnostic) Snippet() string {
	if d.Line == "" {
		return ""
	}
	runes := []rune(d.Line)
	column := min(max(d.Pos.Column-1, 0), len(runes))
	const reach = 100 // a line of a megabyte is not worth printing whole
	from, to := 0, len(runes)
	if column > reach {
		from = column - reach/2
	}
	to = min(to, from+2*reach)
	var pad strings.Builder
	for _, r := range runes[from:column] {
		if r == '\t' {
			pad.WriteByte('\t')
		} else {
			pad.WriteString(strings.Repeat(" ", runewidth.RuneWidth(visible(r))))
		}
	}
	margin := fmt.Sprintf("%5d | ", d.Pos.Line)
	return margin + strings.Map(visible, string(runes[from:to])) + "\n" + strings.Repeat(" ", len(margin)-2) + "| " + pad.String() + "^"
}

// visible replaces what would move a terminal's cursor or turn its text around.
func visible(r rune) rune {
	if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
		return '·'
	}
	return r
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
	if len(ds) >= maxDiagnostics {
		fmt.Fprintf(&b, "\nthese are %d mistakes; more are not looked for", len(ds))
	}
	return b.String()
}

// The bounds of what one reading reports: beyond them a plan is not mistaken but something else than a plan.
const (
	maxDiagnostics = 100
	maxMessage     = 1000 // characters
)

// reporter collects the mistakes of one plan, each once.
type reporter struct {
	text  *text
	seen  map[string]bool
	found Diagnostics
}

func newReporter(t *text) *reporter { return &reporter{text: t} }

func (r *reporter) add(p Position, format string, args ...any) {
	if r.full() {
		return
	}
	from := r.text
	if p.origin != nil {
		from = p.origin
	}
	p = from.within(p)
	message := strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' {
			return ' '
		}
		return visible(c)
	}, fmt.Sprintf(format, args...))
	if runes := []rune(message); len(runes) > maxMessage {
		message = string(runes[:maxMessage]) + "…"
	}
	d := Diagnostic{File: from.name, Pos: p, Message: message, Line: from.line(p.Line)}
	key := d.Error()
	if r.seen[key] {
		return
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[key] = true
	r.found = append(r.found, d)
}

func (r *reporter) full() bool { return len(r.found) >= maxDiagnostics }

// err gives the mistakes in the order of the text, those of --set first; nil where there are none.
func (r *reporter) err() error {
	if len(r.found) == 0 {
		return nil
	}
	found := slices.Clone(r.found)
	sort.SliceStable(found, func(i, j int) bool {
		a, b := found[i].Pos, found[j].Pos
		if a.origin != b.origin {
			return b.origin == nil || a.origin != nil && a.origin.name < b.origin.name
		}
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	return found
}
