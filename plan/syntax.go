package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// misplaced is a mistake in the text that is known with its place.
type misplaced struct {
	offset  int // in bytes
	message string
}

func (m *misplaced) Error() string { return m.message }

// decodeYAML reads the one document of a text; nil where there is none.
func decodeYAML(b []byte) (root *yaml.Node, err error) {
	defer func() { // the library has panicked on texts that nobody writes; that is a syntax error like another
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("yaml: the text cannot be read (%v)", p)
		}
	}()
	if err := readable(b); err != nil {
		return nil, err
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	var document, next yaml.Node
	if err := d.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := d.Decode(&next); err == nil {
		return nil, &secondDocument{next.Line, next.Column}
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	return document.Content[0], nil
}

// secondDocument is the error of a text with more than one document.
type secondDocument struct{ line, column int }

func (*secondDocument) Error() string { return "a second document begins here: a file holds one plan" }

// readable refuses what is no text before YAML sees it, since YAML does not say where.
func readable(b []byte) error {
	switch {
	case len(b) > maxSourceBytes:
		return &misplaced{0, fmt.Sprintf("the plan has %d bytes, more than the %d that a plan may have", len(b), maxSourceBytes)}
	case bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")):
		return &misplaced{0, "the text is UTF-16: save it as UTF-8"}
	}
	pieces := 0 // before each value of a list or a mapping stands a line break, a comma or a bracket
	for i := 0; i < len(b); {
		c, n := utf8.DecodeRune(b[i:])
		if c == '\n' || c == ',' || c == '[' || c == '{' {
			pieces++
		}
		switch {
		case pieces > maxNodes:
			return &misplaced{i, fmt.Sprintf("the plan has more than %d lines and values", maxNodes)}
		case c == utf8.RuneError && n == 1:
			return &misplaced{i, fmt.Sprintf("the byte 0x%02x is not UTF-8: save the text as UTF-8", b[i])}
		case c < ' ' && c != '\t' && c != '\n' && c != '\r', c == 0x7f, c >= 0x80 && c < 0xa0 && c != 0x85, c == 0xfffe, c == 0xffff:
			return &misplaced{i, fmt.Sprintf("the character U+%04X cannot stand in YAML", c)}
		}
		i += n
	}
	return nil
}

var (
	yamlLine     = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)
	bareTemplate = regexp.MustCompile(`(^|[^"'\w$])\$\{\{`)
	yamlAnchor   = regexp.MustCompile(`unknown anchor '(.*)' referenced`)
)

// reportSyntax says what the YAML library says, with the place that it does not say and, for the traps of this language, the way out.
func reportSyntax(p *parser, err error) {
	var known *misplaced
	if errors.As(err, &known) {
		pos := p.text.position(known.offset)
		p.add(p.at(pos.Line, pos.Column), "%s", known.message)
		return
	}
	var second *secondDocument
	if errors.As(err, &second) {
		p.add(p.at(second.line, second.column), "%s", second)
		return
	}
	m := yamlLine.FindStringSubmatch(err.Error())
	line, message := 1, m[2]
	if m[1] != "" {
		line, _ = strconv.Atoi(m[1])
	}
	pos, open := Position{Line: min(line, len(p.text.lines)), Column: 1}, bracket{}
	if len(p.text.bytes) <= maxBisected {
		pos, open = evident(p.text, message)
	}
	message, pos = explain(p.text, message, pos, open)
	p.add(p.at(pos.Line, pos.Column), "YAML: %s", message)
}

// explain puts the library's words into ours. pos is where the mistake shows, open the bracket or quote around it.
func explain(t *text, message string, pos Position, open bracket) (string, Position) {
	for _, line := range []int{pos.Line, open.pos.Line} {
		blank := withoutQuoted(t.line(line))
		if at := bareTemplate.FindStringIndex(blank); at != nil && !strings.HasPrefix(strings.TrimSpace(blank), "#") {
			i := at[0] + strings.Index(blank[at[0]:], "${{")
			return fmt.Sprintf(`"${{" that is not quoted: YAML takes its braces, or a ": " or " #" inside, for its own; quote it, as in "${{ … }}" (%s)`, message),
				Position{Line: line, Column: utf8.RuneCountInString(t.line(line)[:i]) + 1}
		}
	}
	rest := []rune(t.line(pos.Line))
	rest = rest[min(pos.Column-1, len(rest)):]
	switch {
	case open.unclosed:
		return fmt.Sprintf("%q is not closed", open.char), open.pos
	case yamlAnchor.MatchString(message):
		name := yamlAnchor.FindStringSubmatch(message)[1]
		return fmt.Sprintf("there is no anchor &%s above for *%s", name, name), pos.right(-utf8.RuneCountInString(name))
	case strings.Contains(message, "cannot start any token") && len(rest) > 0 && rest[0] == '\t', strings.Contains(message, "tab character"):
		return "a tab stands where YAML wants blanks: indent with spaces", pos
	case strings.Contains(message, "cannot start any token") && len(rest) > 0:
		return fmt.Sprintf("a value cannot begin with %q: quote it", rest[0]), pos
	case strings.Contains(message, "mapping values are not allowed"):
		return `a ":" stands here inside a value: quote the value, or look whether the line above lacks its ":"`, pos
	case strings.Contains(message, "did not find expected ','") && open.char != 0:
		return fmt.Sprintf(`the %q of line %d is not closed, or a "," is missing before this; a value with quotes inside is quoted with the other kind`, open.char, open.pos.Line), pos
	case strings.Contains(message, "did not find expected key"), strings.Contains(message, "did not find expected '-' indicator"):
		return "this does not belong to what is around it: look at the indentation, and at quotes inside quotes (" + message + ")", pos
	case strings.Contains(message, "could not find expected ':'"):
		return `a key without a ":" behind it, or a line that is indented wrongly (` + message + ")", pos
	case strings.Contains(message, "incompatible YAML document"):
		return "leave the %YAML directive out (" + message + ")", pos
	case strings.Contains(message, "alphabetic or numeric character"):
		return "* and & in front of a value are YAML's (alias, anchor): quote the value", pos
	case open.char != 0:
		return fmt.Sprintf("within the %q of line %d: %s", open.char, open.pos.Line, message), pos
	}
	return message, pos
}

// withoutQuoted blanks out what stands in quotes, so that the rest can be searched.
func withoutQuoted(s string) string {
	b := []byte(s)
	var quote byte
	for i, c := range b {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
			b[i] = '"'
		case (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" [{,:", b[i-1]) >= 0):
			quote = c
		}
	}
	return string(b)
}

// maxBisected bounds the texts in which the place of a mistake is searched by reading them again and again.
const maxBisected = 128 << 10

// evident finds where a syntax error shows: the end of the shortest beginning of the text that has it. A beginning that ends inside
// brackets or quotes gets them closed, since otherwise it would lack them and the whole text does not.
func evident(t *text, message string) (Position, bracket) {
	marks := openBrackets(t.bytes)
	wrong := func(n int) bool {
		b := append(bytes.Clone(t.bytes[:n]), marks[n].closers()...)
		_, err := decodeYAML(b)
		return err != nil && yamlLine.FindStringSubmatch(err.Error())[2] == message
	}
	low, high := 0, len(t.bytes)
	innermost := func(n int) bracket {
		if m := marks[n]; m != nil {
			return bracket{m.char, t.position(m.offset), false}
		}
		return bracket{}
	}
	if !wrong(high) { // closing what is open mends it
		open := innermost(high)
		open.unclosed = open.char != 0
		return t.position(high), open
	}
	for low+1 < high {
		if middle := (low + high) / 2; wrong(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	for low > 0 && !utf8.RuneStart(t.bytes[low]) {
		low--
	}
	return t.position(low), innermost(low)
}
