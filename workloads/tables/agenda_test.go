package tables

import "testing"

// TestAgenda deals everything out once, in order, to no more loaders than a table may have.
func TestAgenda(t *testing.T) {
	for _, tt := range []struct {
		tables        []int
		rows          int64
		most, loaders int
		rounds        int // in which each loader at work loads one part
	}{
		{[]int{0}, 1, 1, 4, 1},
		{[]int{0}, 35_000, 1, 4, 4},
		{[]int{0}, 35_000, 4, 4, 1},
		{[]int{0, 1, 2, 3}, 100_000, 1, 4, 10},
		{[]int{3, 5, 6, 8, 9}, 100_000, 1, 4, 13}, // 50 parts
		{[]int{3, 5}, 60_001, 3, 6, 3},            // 14 parts
		{[]int{3, 5}, 60_001, 1, 6, 7},
	} {
		a := newAgenda(tt.tables, tt.rows, tt.most)
		dealt, full := map[int]int64{}, map[int]int{}
		at := make([]*part, tt.loaders) // what each loader is at; nil: it has left
		take := func(loader int) {
			if p := at[loader]; p != nil && a.done(*p) {
				full[p.table]++
				if at[loader] = nil; loadersOf(at, p.table) > 0 || dealt[p.table] != tt.rows {
					t.Fatalf("%+v: table %d is said to be full at row %d", tt, p.table, dealt[p.table])
				}
			}
			at[loader] = nil
			p, ok := a.next()
			if !ok {
				return
			}
			if p.first != dealt[p.table]+1 || p.last < p.first || p.last > tt.rows {
				t.Fatalf("%+v: table %d has rows %d to %d after %d", tt, p.table, p.first, p.last, dealt[p.table])
			}
			dealt[p.table] = p.last
			at[loader] = &p
			if n := loadersOf(at, p.table); n > tt.most {
				t.Fatalf("%+v: %d load table %d", tt, n, p.table)
			}
		}
		for loader := range at {
			take(loader)
		}
		rounds := 0
		for busy(at) {
			rounds++
			for loader := range at {
				if at[loader] != nil {
					take(loader)
				}
			}
		}
		for _, table := range tt.tables {
			if dealt[table] != tt.rows || full[table] != 1 {
				t.Errorf("%+v: table %d got %d rows and was full %d times", tt, table, dealt[table], full[table])
			}
		}
		if rounds != tt.rounds || len(dealt) != len(tt.tables) {
			t.Errorf("%+v: it took %d rounds for tables %v", tt, rounds, dealt)
		}
	}
}

func loadersOf(at []*part, table int) (n int) {
	for _, p := range at {
		if p != nil && p.table == table {
			n++
		}
	}
	return n
}

func busy(at []*part) bool {
	for _, p := range at {
		if p != nil {
			return true
		}
	}
	return false
}
