package tables

import (
	"math/rand/v2"

	"benchplan/workloads/engine"
)

// stretchRows is how many rows are made from one stream of random numbers. Each stretch of a table has a stream of its own, so that
// its rows are the same whoever makes them, and when. To change it is to change the contents of all tables.
const stretchRows = 10_000

// source makes the rows of a stretch, in the order of their numbers and without allocating.
type source struct {
	next, last int64 // the rows to come, both included
	fill       Row
	random     *rand.Rand
	row        engine.Args
}

func newSource(p part, fill Row, seed uint64) *source {
	random := rand.New(rand.NewPCG(seed, uint64(p.table)<<40^uint64(p.first)))
	return &source{next: p.first, last: p.last, fill: fill, random: random}
}

// read gives the next row, whose memory is used again for the one after; nil after the last.
func (s *source) read() engine.Args {
	s.row = s.row[:0]
	if !s.appendTo(&s.row) {
		return nil
	}
	return s.row
}

// appendTo appends the next row; false: there was none left.
func (s *source) appendTo(rows *engine.Args) bool {
	if s.next > s.last {
		return false
	}
	s.fill(rows, s.next, s.random)
	s.next++
	return true
}
