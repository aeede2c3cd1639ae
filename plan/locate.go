package plan

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// locator finds where the characters of a scalar's value stand in the text, whatever the notation: plain, quoted with
// escapes, or a block whose lines are folded. It goes forward only; a copy of it can go on from where it is.
type locator struct {
	text  *text
	start Position
	style yaml.Style
	value []rune

	at     int // in value
	line   int // in text, from 0
	column int // in current, from 0
	runes  []rune
}

func newLocator(t *text, start Position, style yaml.Style, value string) locator {
	l := locator{text: t, start: start, style: style, value: []rune(value), line: start.Line - 1, column: start.Column - 1}
	l.runes = t.characters(start.Line)
	for c := l.rune(); c == '&' || c == '!'; c = l.rune() { // an anchor, a tag
		for c = l.rune(); c != 0 && !white(c); c = l.rune() {
			l.column++
		}
		l.skipWhite()
	}
	switch {
	case style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		l.nextLine()
	case style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		l.column++
	}
	return l
}

// find gives the place of the character at offset of the value; the scalar's own place where the text has it nowhere.
func (l *locator) find(offset int) Position {
	for l.at < offset && l.at < len(l.value) {
		if !white(l.value[l.at]) {
			l.skipWhite()
			l.skipCharacter()
			l.at++
			continue
		}
		// Runs of white space correspond as a whole: folding turns a line break and an indentation into one blank.
		end := l.at
		for end < len(l.value) && white(l.value[end]) {
			end++
		}
		if offset < end {
			break
		}
		l.at = end
		l.skipWhite()
	}
	here := *l
	if offset < len(l.value) && !white(l.value[offset]) {
		here.skipWhite()
	}
	if here.line >= len(l.text.lines) {
		return l.start
	}
	return Position{Line: here.line + 1, Column: here.column + 1, origin: l.start.origin}
}

// rune is the character under the locator: a line feed at the end of a line, 0 at the end of the text.
func (l *locator) rune() rune {
	if l.column < len(l.runes) {
		return l.runes[l.column]
	}
	if l.line < len(l.text.lines) {
		return '\n'
	}
	return 0
}

func (l *locator) nextLine() {
	l.line, l.column = l.line+1, 0
	l.runes = l.text.characters(l.line + 1)
}

func (l *locator) skipWhite() {
	for {
		switch c := l.rune(); {
		case c == '\n':
			l.nextLine()
		case white(c):
			l.column++
		case c == '\\' && l.style&yaml.DoubleQuotedStyle != 0 && strings.ContainsRune(" \tntrNLP_", l.peek()):
			l.column += 2
		case c == '\\' && l.style&yaml.DoubleQuotedStyle != 0 && l.peek() == '\n':
			l.nextLine()
		default:
			return
		}
	}
}

func (l *locator) peek() rune {
	next := *l
	next.column++
	return next.rune()
}

// skipCharacter passes one character of the value in its notation.
func (l *locator) skipCharacter() {
	switch c := l.rune(); {
	case c == '\\' && l.style&yaml.DoubleQuotedStyle != 0:
		l.column += max(2, map[rune]int{'x': 4, 'u': 6, 'U': 10}[l.peek()])
	case c == '\'' && l.style&yaml.SingleQuotedStyle != 0:
		l.column += 2
	default:
		l.column++
	}
}

func white(c rune) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\u0085' || c == '\u2028' || c == '\u2029'
}
