package engine

import (
	"testing"
)

func TestPatternsAreCutAtPlaceholdersOnly(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		args int
		want string
	}{
		{"SELECT 1", 0, "SELECT 1"},
		{"SELECT ?", 1, "SELECT 7"},
		{"?,?", 2, "7,7"},
		{"SELECT '?', \"?\", `?`, ? /* ? */ , ?", 2, "SELECT '?', \"?\", `?`, 7 /* ? */ , 7"},
		{`SELECT 'it''s ?', 'a\'?', ?`, 1, `SELECT 'it''s ?', 'a\'?', 7`},
		{"SELECT 4/?", 1, "SELECT 4/7"},
		{"SELECT /*?", 0, "SELECT /*?"},
		{"SELECT '?", 0, "SELECT '?"},
	} {
		var args Args
		for range tt.args {
			args.Int(7)
		}
		got, err := parsePattern(tt.sql).render(nil, args, true)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, %v", tt.sql, got, err)
		}
		args.Int(7)
		if _, err := parsePattern(tt.sql).render(nil, args, true); err == nil {
			t.Errorf("%s: one argument too many was taken", tt.sql)
		}
	}
}

func TestArgsKeepTheirMemory(t *testing.T) {
	var args Args
	fill := func(dst []byte) []byte { return append(dst, "a text"...) }
	use := func() {
		args = args[:0]
		args.Int(1)
		args.Text(fill)
		args.Uint(2)
	}
	use()
	if n := testing.AllocsPerRun(100, use); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if args[0].Int != 1 || string(args[1].Bytes) != "a text" || args[2].Kind != Uint {
		t.Errorf("got %+v", args)
	}
}
