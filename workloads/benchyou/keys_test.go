package benchyou

import (
	"math"
	"testing"

	"benchplan/plan"
)

func TestSlicesShareOutTheIds(t *testing.T) {
	for _, n := range []int{1, 2, 3, 32, 64, 1000} {
		at := int64(0)
		for i := range n {
			s := sliceOf(i, n)
			if s.lo != at || s.hi <= s.lo {
				t.Fatalf("client %d of %d has %+v, want it to begin at %d", i, n, s, at)
			}
			at = s.hi
		}
		if left := math.MaxInt64 - at; left < 0 || left >= int64(n) {
			t.Errorf("%d clients leave %d ids", n, left)
		}
	}
}

func TestSharesCoverThePreparedRows(t *testing.T) {
	for _, tt := range []struct {
		rows int64
		n    int
	}{{10, 1}, {10, 3}, {10, 10}, {3, 8}, {1, 64}, {1000, 7}} {
		seen := map[int64]bool{}
		for i := range tt.n {
			s := shareOf(tt.rows, i, tt.n)
			if s.hi <= s.lo || s.lo < 1 || s.hi > tt.rows+1 {
				t.Fatalf("%d rows: client %d of %d has %+v", tt.rows, i, tt.n, s)
			}
			for id := s.lo; id < s.hi; id++ {
				seen[id] = true
			}
		}
		if len(seen) != int(tt.rows) {
			t.Errorf("%d clients cover %d of %d rows", tt.n, len(seen), tt.rows)
		}
	}
}

func TestCounterBeginsAgain(t *testing.T) {
	c := counter{slice: slice{lo: 5, hi: 8}}
	for _, want := range []int64{5, 6, 7, 5, 6} {
		if got := c.count(); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	}
}

func TestInsertsStayClearOfPreparedIds(t *testing.T) {
	w := &workload{options: Options{Keys: KeysExisting}, tables: 1, rows: int64(plan.Count(1000))}
	for i := range 64 {
		if k := w.keysOf(i, 64); k.lo <= 1000 || k.hi <= k.lo || k.drawn != (slice{1, 1001}) {
			t.Fatalf("client %d: %+v", i, k)
		}
	}
}
