package tables

import (
	"io"

	"benchplan/plan"
)

// Lines reads a stretch of a table as LOAD DATA does, the one that begins with row first.
func Lines(schema Schema, spec plan.Tables, i int, first int64, seed uint64) io.Reader {
	p := part{table: i, first: first, last: min(first+stretchRows-1, int64(spec.Rows))}
	return &lines{rows: newSource(p, schema.Rows(spec, i), seed)}
}

// Tuples writes a stretch of a table into dst as INSERT has it, the one that begins with row first.
func Tuples(dst []byte, schema Schema, spec plan.Tables, i int, first int64, seed uint64) []byte {
	p := part{table: i, first: first, last: min(first+stretchRows-1, int64(spec.Rows))}
	s := newSource(p, schema.Rows(spec, i), seed)
	b := batch{text: dst[:0]}
	for row := s.read(); row != nil; row = s.read() {
		b.add(row)
	}
	return b.text
}

// IsPlain is isPlain.
func IsPlain(text []byte) bool { return isPlain(text) }

// StretchRows is stretchRows.
const StretchRows = stretchRows
