package plan

import "strings"

// bracket is an opening bracket or quote around a place.
type bracket struct {
	char     rune
	pos      Position
	unclosed bool
}

// mark is an opening bracket or quote, with those around it.
type mark struct {
	char   rune
	offset int
	outer  *mark
}

func (m *mark) closers() []byte {
	var out []byte
	for ; m != nil; m = m.outer {
		switch m.char {
		case '{':
			out = append(out, '}')
		case '[':
			out = append(out, ']')
		default:
			out = append(out, byte(m.char))
		}
	}
	return out
}

// openBrackets tells for every byte of a YAML text which brackets and quotes are open before it. It knows just enough YAML for that.
func openBrackets(b []byte) []*mark {
	marks := make([]*mark, len(b)+1)
	var open *mark
	fresh, indent := true, 0 // a value may begin here; the blanks in front of the line
	lineStart, comment, block := true, false, -1
	escaped := -1 // the byte that the one before takes out of its meaning
	for i, c := range b {
		marks[i] = open
		quoted := open != nil && (open.char == '"' || open.char == '\'')
		switch {
		case c == '\n':
			lineStart, comment, indent = true, false, 0
			fresh = fresh || open == nil
			continue
		case lineStart && c == ' ':
			indent++
			continue
		}
		if lineStart {
			lineStart = false
			if block >= 0 && indent <= block {
				block = -1
			}
		}
		space := i == 0 || b[i-1] == ' ' || b[i-1] == '\n' || b[i-1] == '\t'
		switch {
		case comment || block >= 0:
		case quoted && i == escaped:
		case quoted:
			if c == '\\' && open.char == '"' || c == '\'' && open.char == '\'' && i+1 < len(b) && b[i+1] == '\'' {
				escaped = i + 1
			} else if c == byte(open.char) {
				open, fresh = open.outer, false
			}
		case c == '#' && space:
			comment = true
		case c == ' ' || c == '\t':
		case (c == '"' || c == '\'') && fresh:
			open = &mark{rune(c), i, open}
		case (c == '[' || c == '{') && (fresh || open != nil):
			open, fresh = &mark{rune(c), i, open}, true
		case (c == ']' || c == '}') && open != nil:
			open, fresh = open.outer, false
		case c == ',' && open != nil, c == ':' && (i+1 == len(b) || strings.IndexByte(" \t\r\n", b[i+1]) >= 0 || open != nil),
			(c == '-' || c == '?') && fresh && (i+1 == len(b) || b[i+1] == ' '):
			fresh = true
		case (c == '|' || c == '>') && fresh && open == nil:
			block = indent
		default:
			fresh = false
		}
	}
	marks[len(b)] = open
	return marks
}
