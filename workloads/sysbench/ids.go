package sysbench

import "math/rand/v2"

// idSpace is the ids that an insert may give new rows, where the server gives none: all of 32 bits but 0 and those that prepare
// filled in. sysbench takes the whole of it too, and has prepare leave the tables empty.
type idSpace struct {
	rows   int64  // 1 to rows are taken
	signed bool   // the column is
	start  uint32 // another one for each cell, so that a later cell seldom meets the rows of an earlier one
}

func newIDSpace(rows int64, signed bool) idSpace {
	return idSpace{rows: rows, signed: signed, start: rand.Uint32()}
}

// of gives the ids of client i of n: no two clients give one.
func (s idSpace) of(i, n int) idWalk {
	return idWalk{idSpace: s, index: s.start + uint32(i), stride: uint32(n)}
}

// idWalk counts through ids in an order that looks like chance.
type idWalk struct {
	idSpace
	index, stride uint32
}

func (w *idWalk) next() int64 {
	for {
		id := int64(scatter(w.index))
		if w.signed {
			id -= 1 << 31
		}
		w.index += w.stride
		if id < 0 || id > w.rows {
			return id
		}
	}
}

// scatter is a permutation of the 32-bit numbers: the finalizer of A. Appleby's MurmurHash3.
func scatter(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x85ebca6b
	x ^= x >> 13
	x *= 0xc2b2ae35
	return x ^ x>>16
}

// walk counts through ids 1 to rows in steps of a large prime, as sysbench 0.4 does to delete each row once: clients that keep
// pace with each other meet all ids before they meet one again.
type walk struct{ rows, next, stride int64 }

const largePrime = 1<<31 - 1

func (w *walk) id() int64 {
	// A table has fewer than 2³² rows, so the product is below 2⁶³.
	id := w.next%w.rows*(largePrime%w.rows)%w.rows + 1
	w.next += w.stride
	return id
}
