package benchyou

import (
	"math"
	"math/rand/v2"
)

// slice is the ids from lo to before hi.
type slice struct{ lo, hi int64 }

// sliceOf is the part of the 63 bits of an id that belongs to client i of n of a role.
func sliceOf(i, n int) slice {
	width := int64(math.MaxInt64) / int64(n)
	return slice{lo: width * int64(i), hi: width * int64(i+1)}
}

// shareOf is the part of the ids 1 to rows that client i of n counts through. Where there are fewer rows than clients, some
// share one.
func shareOf(rows int64, i, n int) slice {
	if rows < int64(n) {
		id := 1 + int64(i)%rows
		return slice{lo: id, hi: id + 1}
	}
	width, wider := rows/int64(n), rows%int64(n)
	lo := 1 + width*int64(i) + min(int64(i), wider)
	hi := lo + width
	if int64(i) < wider {
		hi++
	}
	return slice{lo: lo, hi: hi}
}

// draw gives an id of the slice, each as likely as the others.
func (s slice) draw(random *rand.Rand) int64 { return s.lo + random.Int64N(s.hi-s.lo) }

// counter counts through a slice, again and again.
type counter struct {
	slice
	next int64
}

func (c *counter) count() int64 {
	id := c.lo + c.next
	c.next++
	if c.lo+c.next >= c.hi {
		c.next = 0
	}
	return id
}
