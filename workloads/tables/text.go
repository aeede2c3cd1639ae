package tables

import (
	"encoding/binary"
	"strconv"

	"benchplan/workloads/engine"
)

// appendTuple writes (1,'a','b').
func appendTuple(dst []byte, row engine.Args) []byte {
	dst = append(dst, '(')
	for i := range row {
		if i > 0 {
			dst = append(dst, ',')
		}
		if a := &row[i]; a.Kind == engine.Bytes && isPlain(a.Bytes) {
			dst = append(dst, '\'')
			dst = append(dst, a.Bytes...)
			dst = append(dst, '\'')
		} else {
			dst = engine.AppendLiteral(dst, a, true)
		}
	}
	return append(dst, ')')
}

// appendLine writes a line of LOAD DATA.
func appendLine(dst []byte, row engine.Args) []byte {
	for i := range row {
		if i > 0 {
			dst = append(dst, '\t')
		}
		switch a := &row[i]; {
		case a.Kind == engine.Int:
			dst = strconv.AppendInt(dst, a.Int, 10)
		case a.Kind == engine.Uint:
			dst = strconv.AppendUint(dst, uint64(a.Int), 10)
		case isPlain(a.Bytes):
			dst = append(dst, a.Bytes...)
		default:
			dst = appendField(dst, a.Bytes)
		}
	}
	return append(dst, '\n')
}

// appendField escapes what ends a value or a line, and what escapes.
func appendField(dst, text []byte) []byte {
	for _, b := range text {
		switch b {
		case 0:
			dst = append(dst, '\\', '0')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\\':
			dst = append(dst, '\\', '\\')
		default:
			dst = append(dst, b)
		}
	}
	return dst
}

// The lowest and the highest bit of each of eight bytes.
const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// isPlain tells that a text needs no escaping, neither in a literal of SQL nor in LOAD DATA: it has only characters from '(' to '~'
// without the backslash, as digits and letters are. It looks at eight bytes at once, since most of what is loaded are such texts.
func isPlain(text []byte) bool {
	for len(text) >= 8 {
		if !arePlain(binary.LittleEndian.Uint64(text)) {
			return false
		}
		text = text[8:]
	}
	var rest [8]byte
	for i := range rest {
		rest[i] = '0'
	}
	copy(rest[:], text)
	return arePlain(binary.LittleEndian.Uint64(rest[:]))
}

// arePlain is isPlain for eight bytes. A byte below n has its highest bit set once n is taken from it, and so has a zero byte once 1 is
// taken (S. E. Anderson, "Bit Twiddling Hacks"); what a borrow adds beside it can only make a plain byte look as if it were not.
func arePlain(eight uint64) bool {
	low := eight - lowBits*'('
	backslash := (eight ^ lowBits*'\\') - lowBits
	return (low|backslash|eight)&highBits == 0
}
