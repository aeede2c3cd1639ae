package engine

import (
	"fmt"
	"strconv"
)

// pattern is a statement with placeholders, cut at each of them: pieces[0] ? pieces[1] ? … pieces[n].
type pattern struct {
	pieces []string
}

// parsePattern cuts a statement at the question marks that are outside of quotes and of comments like /* this */.
func parsePattern(sql string) pattern {
	var p pattern
	start := 0
	for i := 0; i < len(sql); i++ {
		if sql[i] == '?' {
			p.pieces = append(p.pieces, sql[start:i])
			start = i + 1
			continue
		}
		i = skip(sql, i)
	}
	p.pieces = append(p.pieces, sql[start:])
	return p
}

// skip gives the position of the last byte of the quoted text or comment that begins at i, or i where none does.
func skip(sql string, i int) int {
	switch {
	case sql[i] == '\'' || sql[i] == '"' || sql[i] == '`':
		for j := i + 1; j < len(sql); j++ {
			if sql[j] == '\\' && sql[i] != '`' {
				j++
			} else if sql[j] == sql[i] {
				return j
			}
		}
		return len(sql)
	case sql[i:min(i+2, len(sql))] == "/*":
		for j := i + 3; j < len(sql); j++ {
			if sql[j-1:j+1] == "*/" {
				return j
			}
		}
		return len(sql)
	}
	return i
}

// render appends the statement with the arguments written into it.
func (p pattern) render(dst []byte, args Args, backslash bool) ([]byte, error) {
	if len(args) != len(p.pieces)-1 {
		return dst, fmt.Errorf("statement with %d placeholders was given %d arguments", len(p.pieces)-1, len(args))
	}
	for i := range args {
		dst = append(dst, p.pieces[i]...)
		dst = AppendLiteral(dst, &args[i], backslash)
	}
	return append(dst, p.pieces[len(args)]...), nil
}

// AppendLiteral appends the argument as a literal of SQL: integers bare, bytes quoted. backslash tells whether the server
// takes a backslash for an escape, as it does unless its sql_mode has NO_BACKSLASH_ESCAPES. Bytes are taken to be of the
// connection's character set, which must be one where no character has a second byte of 0x5c: not gbk, big5, sjis, cp932.
func AppendLiteral(dst []byte, a *Arg, backslash bool) []byte {
	switch a.Kind {
	case Int:
		return strconv.AppendInt(dst, a.Int, 10)
	case Uint:
		return strconv.AppendUint(dst, uint64(a.Int), 10)
	}
	dst = append(dst, '\'')
	if backslash {
		dst = appendEscaped(dst, a.Bytes)
	} else {
		dst = appendDoubled(dst, a.Bytes)
	}
	return append(dst, '\'')
}

// appendEscaped escapes what ends a literal, what escapes, and what tools that show or log statements stumble over.
func appendEscaped(dst, text []byte) []byte {
	for _, b := range text {
		switch b {
		case 0:
			dst = append(dst, '\\', '0')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case 0x1a:
			dst = append(dst, '\\', 'Z')
		case '\'', '"', '\\':
			dst = append(dst, '\\', b)
		default:
			dst = append(dst, b)
		}
	}
	return dst
}

// appendDoubled is for NO_BACKSLASH_ESCAPES, where only a quote needs care.
func appendDoubled(dst, text []byte) []byte {
	for _, b := range text {
		if b == '\'' {
			dst = append(dst, '\'')
		}
		dst = append(dst, b)
	}
	return dst
}
