package sysbench_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
	"benchplan/workloads/sysbench"
)

// The statements of sysbench, without their values.
const (
	point    = "SELECT c FROM T WHERE id=#"
	simple   = "SELECT c FROM T WHERE id BETWEEN # AND #"
	sums     = "SELECT SUM(k) FROM T WHERE id BETWEEN # AND #"
	order    = "SELECT c FROM T WHERE id BETWEEN # AND # ORDER BY c"
	distinct = "SELECT DISTINCT c FROM T WHERE id BETWEEN # AND # ORDER BY c"
	updateK  = "UPDATE T SET k=k+# WHERE id=#"
	updateC  = "UPDATE T SET c=text WHERE id=#"
	remove   = "DELETE FROM T WHERE id=#"
	insert   = "INSERT INTO T (id, k, c, pad) VALUES (#, #, text, text)"
)

var (
	reads  = append(repeat(10, point), simple, sums, order, distinct)
	writes = []string{updateK, updateC, remove, insert}
	reads4 = append(repeat(10, "SELECT c from T where id=#"), "SELECT c from T where id between # and #", "SELECT SUM(K) from T where id between # and #",
		"SELECT c from T where id between # and # order by c", "SELECT DISTINCT c from T where id between # and # order by c")
	writes4 = []string{"UPDATE T set k=k+# where id=#", "UPDATE T set c=text where id=#", "UPDATE T set k=k+# where id=#",
		"DELETE from T where id=#", "INSERT INTO T values(#,#,text,text)"}
)

// around puts two statements around others.
func around(begin, commit string, lists ...[]string) []string {
	return append(append([]string{begin}, slices.Concat(lists...)...), commit)
}

func transaction(lists ...[]string) []string { return around("BEGIN", "COMMIT", lists...) }

// TestStatements reads the server's general log, and holds the server's counts against the record's.
func TestStatements(t *testing.T) {
	d := testdb.Shared(t)
	myisam := func(s plan.Tables) plan.Tables { s.Engine = "myisam"; return s }
	legacySums := strings.Replace(sums, "SUM(k)", "SUM(K)", 1)
	legacyReads := append(repeat(10, point), simple, legacySums, order, distinct)
	for _, tt := range []struct {
		name     string
		workload string
		options  any // nil: the defaults
		tables   plan.Tables
		mode     engine.PSMode
		event    []string
	}{
		{"", "oltp_read_write", nil, spec("sbtest", 3, 1000), "", transaction(reads, writes)},
		{"text", "oltp_read_write", nil, spec("sbtest", 3, 1000), engine.PSDisable, transaction(reads, writes)},
		{"options", "oltp_read_write", options(t, func(o *sysbench.ReadWriteOptions) {
			o.PointSelects, o.SimpleRanges, o.SumRanges, o.OrderRanges, o.DistinctRanges = 2, 3, 0, 2, 1
			o.IndexUpdates, o.NonIndexUpdates, o.DeleteInserts, o.SkipTrx = 3, 2, 2, true
		}), spec("sbtest", 3, 1000), "", slices.Concat(repeat(2, point), repeat(3, simple), repeat(2, order), repeat(1, distinct),
			repeat(3, updateK), repeat(2, updateC), []string{remove, insert, remove, insert})},
		{"", "oltp_read_only", nil, spec("sbtest", 3, 1000), "", transaction(reads)},
		{"points alone", "oltp_read_only", options(t, func(o *sysbench.ReadOnlyOptions) { o.RangeSelects, o.SkipTrx = false, true }), spec("sbtest", 3, 1000), "", repeat(10, point)},
		{"", "oltp_write_only", nil, spec("sbtest", 3, 1000), "", transaction(writes)},
		{"", "oltp_point_select", nil, spec("sbtest", 3, 1000), "", []string{point}},
		{"", "oltp_update_index", nil, spec("sbtest", 3, 1000), "", []string{updateK}},
		{"three", "oltp_update_index", options(t, func(o *sysbench.UpdateIndexOptions) { o.IndexUpdates = 3 }), spec("sbtest", 3, 1000), "", repeat(3, updateK)},
		{"", "oltp_update_non_index", nil, spec("sbtest", 3, 1000), "", []string{updateC}},
		{"", "oltp_insert", nil, spec("sbtest", 3, 1000), "", []string{insert}},
		{"ids of its own", "oltp_insert", nil, with(spec("sbtest", 3, 1000), &sysbench.TableOptions{}), "", []string{insert}},
		{"", "oltp_delete", nil, spec("sbtest", 3, 1000), "", []string{remove}},
		{"", "select_random_points", nil, spec("sbtest", 1, 1000), "", []string{"SELECT id, k, c, pad FROM T WHERE k IN (" + strings.Repeat("#, ", 9) + "#)"}},
		{"", "select_random_ranges", nil, spec("sbtest", 1, 1000), "", []string{"SELECT count(k) FROM T WHERE " + strings.Repeat("k BETWEEN # AND # OR ", 9) + "k BETWEEN # AND #"}},
		{"", "oltp_legacy", nil, spec("sbtest_legacy", 3, 1000), "", transaction(legacyReads, writes)},
		{"read only", "oltp_legacy", options(t, func(o *sysbench.LegacyOptions) { o.ReadOnly = true }), spec("sbtest_legacy", 3, 1000), "", transaction(legacyReads)},
		{"write only", "oltp_legacy", options(t, func(o *sysbench.LegacyOptions) { o.WriteOnly = true }), spec("sbtest_legacy", 3, 1000), "", transaction(writes)},
		{"myisam", "oltp_legacy", nil, myisam(spec("sbtest_legacy", 3, 1000)), "", around("LOCK TABLES T WRITE ,T WRITE ,T WRITE", "UNLOCK TABLES", legacyReads, writes)},
		{"", "oltp_0_4", nil, spec("sbtest_0_4", 1, 1000), "", transaction(reads4, writes4)},
		{"read only", "oltp_0_4", options(t, func(o *sysbench.Version4Options) { o.ReadOnly = true }), spec("sbtest_0_4", 1, 1000), "", transaction(reads4)},
		{"locks", "oltp_0_4", options(t, func(o *sysbench.Version4Options) { o.EngineTrx.EngineTrx = "no" }), spec("sbtest_0_4", 1, 1000), "", around("LOCK TABLES T WRITE", "UNLOCK TABLES", reads4, writes4)},
		{"read locks", "oltp_0_4", options(t, func(o *sysbench.Version4Options) { o.ReadOnly = true }), myisam(spec("sbtest_0_4", 1, 1000)), "", around("LOCK TABLES T READ", "UNLOCK TABLES", reads4)},
		{"simple", "oltp_0_4", options(t, func(o *sysbench.Version4Options) { o.TestMode = "simple" }), spec("sbtest_0_4", 1, 1000), "", reads4[:1]},
		{"no transaction", "oltp_0_4", options(t, func(o *sysbench.Version4Options) { o.SkipTrx = true }), spec("sbtest_0_4", 1, 1000), "", slices.Concat(reads4, writes4)},
		{"nontrx select", "oltp_0_4", nontrx(t, "select"), spec("sbtest_0_4", 1, 1000), "", []string{"SELECT pad from T where id=#"}},
		{"nontrx update_key", "oltp_0_4", nontrx(t, "update_key"), spec("sbtest_0_4", 1, 1000), "", writes4[:1]},
		{"nontrx update_nokey", "oltp_0_4", nontrx(t, "update_nokey"), spec("sbtest_0_4", 1, 1000), "", writes4[1:2]},
		{"nontrx delete", "oltp_0_4", nontrx(t, "delete"), spec("sbtest_0_4", 1, 1000), "", writes4[3:4]},
		{"nontrx insert", "oltp_0_4", nontrx(t, "insert"), spec("sbtest_0_4", 1, 1000), "", []string{"INSERT INTO T values(NULL,#,text,text)"}},
		{"nontrx insert of ids", "oltp_0_4", nontrx(t, "insert"), with(spec("sbtest_0_4", 1, 1000), &sysbench.Version4TableOptions{MaxRows: 1}), "", []string{"INSERT INTO T values(#,#,text,text)"}},
		{"", "transfer", nil, spec("sbtest", 3, 1000), "", transaction([]string{"UPDATE T SET k=k-# WHERE id=#", "UPDATE T SET k=k+# WHERE id=#"})},
		{"one statement", "transfer", options(t, func(o *sysbench.TransferOptions) { o.Mode = "single_statement" }), spec("sbtest", 3, 1000), "",
			[]string{"UPDATE T SET k=CASE id WHEN # THEN k-# ELSE k+# END WHERE id IN (#, #)"}},
	} {
		t.Run(strings.TrimSpace(tt.workload+" "+tt.name), func(t *testing.T) {
			if tt.options == nil {
				tt.options = standard(t, tt.workload)
			}
			prepare(t, d, tt.tables)
			const events = 5
			var out results.Outcome
			before := statements(d)
			sent := logged(d, func() {
				out = run(t, d, tt.workload, tt.options, tt.tables, engine.Order{Clients: clients(1), Events: events, Seed: 3, PSMode: tt.mode})
			})
			text := cmp.Or(tt.mode, workload(t, tt.workload).PSMode) == engine.PSDisable
			checkCounts(t, d, before, out, text, false, 1)
			if diff := gocmp.Diff(slices.Repeat(tt.event, events), shapes(sent)); diff != "" {
				t.Fatalf("statements (-want +got):\n%s", diff)
			}
			for event := range slices.Chunk(sent, len(tt.event)) {
				checkValues(t, tt.workload, event, int64(tt.tables.Rows))
			}
			checkLedger(t, d, tt.tables, out)
		})
	}
}

func nontrx(t *testing.T, mode string) *sysbench.Version4Options {
	return options(t, func(o *sysbench.Version4Options) { o.TestMode, o.NontrxMode = "nontrx", mode })
}

// checkCounts holds the record's statements by class against the server's own, which also counts those that failed and what rolled
// back after them. selects is how often the test itself selected meanwhile.
func checkCounts(t *testing.T, d *testdb.Database, before counters, out results.Outcome, text, transaction bool, selects int64) {
	t.Helper()
	got := statements(d).minus(before)
	want := counters{out.Statements[results.Read].Count + selects, out.Statements[results.Write].Count, out.Statements[results.Other].Count}
	if text {
		want.read++ // the engine asks for sql_mode
	}
	for _, e := range out.Restarts {
		switch e.Class {
		case results.Read:
			want.read += e.Count
		case results.Write:
			want.write += e.Count
		}
		if transaction {
			want.other += e.Count
		}
	}
	if got != want {
		t.Errorf("the record comes to %+v, the server counted %+v; restarts: %s", want, got, describe(out.Restarts))
	}
}

var digits = regexp.MustCompile(`^'(\d{11}-){9}\d{11}'$|^'(\d{11}-){4}\d{11}'$|^'(\d+-){9}\d+'$|^'(\d+-){4}\d+'$|^' '$|^'a{10}f{10}r{10}e{10}y{10}'$`)

// checkValues holds the values of an event, and the tables that it is on, against sysbench's rules.
func checkValues(t *testing.T, workload string, event []string, rows int64) {
	t.Helper()
	on := map[string]map[string]bool{} // tables by kind of statement
	for i, q := range event {
		s := strings.ToUpper(shape(q))
		for _, text := range texts.FindAllString(q, -1) {
			if !digits.MatchString(text) {
				t.Errorf("text %s in %s", text, q)
			}
		}
		v := values(t, q)
		if strings.HasPrefix(s, "LOCK") || strings.HasPrefix(s, "UNLOCK") || len(v) == 0 {
			continue
		}
		id := v[0]
		switch {
		case strings.Contains(s, "BETWEEN") && strings.Contains(s, "COUNT"):
			for pair := range slices.Chunk(v, 2) {
				if pair[0] < 0 || pair[0] > rows || pair[1] != pair[0]+5 {
					t.Errorf("range of k in %s", q)
				}
			}
			continue
		case strings.Contains(s, "BETWEEN"):
			width := v[1] - v[0] + 1
			wider := workload == "oltp_0_4" && strings.Contains(s, "DISTINCT")
			if width != 100 && !(wider && width == 101) || workload == "oltp_0_4" && v[0]+99 > rows {
				t.Errorf("range in %s", q)
			}
		case strings.HasPrefix(s, "UPDATE") && !strings.Contains(s, "CASE"):
			id = v[len(v)-1]
		case strings.HasPrefix(s, "INSERT") && workload == "oltp_insert", strings.Contains(s, "NULL"), strings.HasPrefix(s, "INSERT") && len(event) == 1:
			continue
		case strings.HasPrefix(s, "INSERT"):
			if before := values(t, event[i-1]); id != before[0] || table(q) != table(event[i-1]) {
				t.Errorf("%s after %s", q, event[i-1])
			}
		}
		if id < 1 || id > rows {
			if !strings.Contains(s, " IN (") || id < 0 || id > rows {
				t.Errorf("id %d of %d in %s", id, rows, q)
			}
		}
		if on[s] == nil {
			on[s] = map[string]bool{}
		}
		on[s][table(q)] = true
	}
	all := map[string]bool{}
	for s, tables := range on {
		if len(tables) != 1 {
			t.Errorf("statements of one kind are on %d tables: %s", len(tables), s)
		}
		for name := range tables {
			all[name] = true
		}
	}
	if workload == "oltp_legacy" && len(all) > 1 {
		t.Errorf("a legacy event is on tables %v", all)
	}
}

// TestEachGroupDrawsItsTable sees that the groups of an event are on tables drawn by themselves, and all tables are drawn alike.
func TestEachGroupDrawsItsTable(t *testing.T) {
	definition := workload(t, "oltp_read_write")
	w, err := definition.New(standard(t, "oltp_read_write"), spec("sbtest", 4, 1000), nil)
	if err != nil {
		t.Fatal(err)
	}
	const events = 1000
	met := map[string]int{}
	for event := range slices.Chunk(engine.Preview(w, "", 0, 1, 5, 20*events), 20) {
		groups := []int{1, 11, 12, 13, 14, 15, 16, 17} // where they begin
		for g, at := range groups {
			met[fmt.Sprint(g, table(event[at]))]++
			for h, with := range groups[:g] {
				if table(event[at]) == table(event[with]) {
					met[fmt.Sprint("same ", h, g)]++
				}
			}
		}
	}
	for what, n := range met {
		if n < events/4-70 || n > events/4+70 {
			t.Errorf("%s: %d of %d events, want about a quarter", what, n, events)
		}
	}
	if len(met) != 8*4+8*7/2 {
		t.Errorf("met %d cases", len(met))
	}
}

// TestCountsAreTheServers runs several clients.
func TestCountsAreTheServers(t *testing.T) {
	d := testdb.Shared(t)
	for _, tt := range []struct {
		workload, schema string
		count            int
		mode             engine.PSMode
	}{
		{"oltp_read_write", "sbtest", 4, engine.PSAuto}, {"oltp_read_write", "sbtest", 4, engine.PSDisable}, {"oltp_write_only", "sbtest", 4, engine.PSAuto},
		{"oltp_legacy", "sbtest_legacy", 4, engine.PSDisable}, {"oltp_0_4", "sbtest_0_4", 1, engine.PSAuto}, {"bulk_insert", "sbtest_bulk", 4, engine.PSDisable},
		{"oltp_insert", "sbtest", 4, engine.PSDisable}, {"oltp_delete", "sbtest", 4, engine.PSAuto},
	} {
		t.Run(tt.workload+" "+string(tt.mode), func(t *testing.T) {
			sp := spec(tt.schema, tt.count, 5000)
			o := standard(t, tt.workload)
			if b, ok := o.(*sysbench.BulkInsertOptions); ok {
				sp.Rows, b.StatementSize = 0, 10_000
			}
			prepare(t, d, sp)
			before := statements(d)
			const events = 200
			out := run(t, d, tt.workload, o, sp, engine.Order{Clients: clients(4), Events: events, Seed: 7, PSMode: tt.mode})
			if out.Events != events {
				t.Errorf("%d events", out.Events)
			}
			checkCounts(t, d, before, out, tt.mode == engine.PSDisable, true, 0)
			checkLedger(t, d, sp, out)
		})
	}
}
