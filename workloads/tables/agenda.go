package tables

import (
	"slices"
	"sync"
)

// part is what one connection loads at once, a stretch of a table: rows first to last (inclusive, from 1). With LOAD DATA it is a
// transaction. MariaDB is not quicker with five or ten times as many rows.
type part struct {
	table       int
	first, last int64
}

// agenda deals out the rows that are to be loaded, part by part and in ascending order for each table.
type agenda struct {
	mu     sync.Mutex
	rows   int64 // of every table
	most   int   // loaders that a table may have at once
	tables []filling
}

// filling is how far a table is.
type filling struct {
	table   int   // its index in the spec
	dealt   int64 // rows
	loaders int   // that are at work on it
}

func newAgenda(tables []int, rows int64, most int) *agenda {
	a := &agenda{rows: rows, most: most, tables: make([]filling, len(tables))}
	for i, table := range tables {
		a.tables[i].table = table
	}
	return a
}

// next gives a part that nobody has had. It takes the table with the most rows left, and of such the one with the fewest loaders, so that
// loaders seldom meet in a table and all tables end together.
//
// A loader that gets nothing is not needed any more: every table that has rows left has as many loaders as it may have, and each of
// them asks again.
func (a *agenda) next() (part, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var best *filling
	for i := range a.tables {
		f := &a.tables[i]
		if f.dealt < a.rows && f.loaders < a.most && (best == nil || f.before(best)) {
			best = f
		}
	}
	if best == nil {
		return part{}, false
	}
	p := part{table: best.table, first: best.dealt + 1, last: min(best.dealt+stretchRows, a.rows)}
	best.dealt = p.last
	best.loaders++
	return p, true
}

func (f *filling) before(other *filling) bool {
	if f.dealt != other.dealt {
		return f.dealt < other.dealt
	}
	return f.loaders < other.loaders
}

// done says that a part is loaded. It tells whether its table is full with that, which is so once for every table.
func (a *agenda) done(p part) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.tables, func(f filling) bool { return f.table == p.table })
	f := &a.tables[i]
	f.loaders--
	return f.loaders == 0 && f.dealt == a.rows
}
