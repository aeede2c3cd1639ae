package sysbench_test

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchplan/plan"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
)

// realSysbench runs sysbench itself on a database.
func realSysbench(t *testing.T, d *testdb.Database, test, command string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	all := append([]string{
		test, "--db-driver=mysql", "--mysql-socket=" + d.Server.Socket(), "--mysql-user=" + d.Server.User(), "--mysql-db=" + d.Name, "--rand-type=uniform", "--time=0",
	}, append(args, command)...)
	if out, err := exec.CommandContext(ctx, "sysbench", all...).CombinedOutput(); err != nil {
		t.Fatalf("sysbench %s: %v\n%s", strings.Join(all, " "), err, out)
	}
}

// TestBesideSysbench holds tables and statements against those of sysbench itself.
func TestBesideSysbench(t *testing.T) {
	if _, err := exec.LookPath("sysbench"); err != nil {
		t.Skip("NOT COMPARED WITH SYSBENCH ITSELF: the program sysbench 1.0 is not on PATH; the package sysbench of Debian, Ubuntu and Fedora brings it")
	}
	d := testdb.Shared(t)
	size := []string{"--tables=2", "--table-size=1000"}
	sp := spec("sbtest", 2, 1000)

	t.Run("tables", func(t *testing.T) {
		realSysbench(t, d, "oltp_read_write", "prepare", size...)
		theirs := []string{ddl(d, "sbtest1"), ddl(d, "sbtest2")}
		checkTexts(t, d, "sbtest1", 1000)
		checkTexts(t, d, "sbtest2", 1000)
		out := run(t, d, "oltp_read_write", standard(t, "oltp_read_write"), sp, engine.Order{Clients: clients(2), Events: 50, Seed: 1})
		checkLedger(t, d, sp, out)

		prepare(t, d, sp)
		checkTexts(t, d, "sbtest1", 1000)
		checkTexts(t, d, "sbtest2", 1000)
		if diff := cmp.Diff(theirs, []string{ddl(d, "sbtest1"), ddl(d, "sbtest2")}); diff != "" {
			t.Errorf("definitions (-sysbench +ours):\n%s", diff)
		}
		realSysbench(t, d, "oltp_read_write", "run", append(size, "--threads=2", "--events=50")...)
		realSysbench(t, d, "oltp_insert", "run", append(size, "--threads=2", "--events=50")...)
		realSysbench(t, d, "oltp_read_write", "cleanup", size...)
	})

	for _, name := range []string{"oltp_read_write", "oltp_read_only", "oltp_write_only", "oltp_point_select", "oltp_insert", "oltp_delete",
		"oltp_update_index", "oltp_update_non_index", "select_random_points", "select_random_ranges"} {
		t.Run(name, func(t *testing.T) {
			sp := sp
			if strings.HasPrefix(name, "select_random") {
				sp.Count = 1
			}
			prepare(t, d, sp)
			const events = 3
			args := []string{fmt.Sprintf("--tables=%d", sp.Count), "--table-size=1000", "--threads=1", fmt.Sprintf("--events=%d", events)}
			theirs := logged(d, func() { realSysbench(t, d, name, "run", args...) })
			ours := logged(d, func() {
				run(t, d, name, standard(t, name), sp, engine.Order{Clients: clients(1), Events: events, Seed: 1})
			})
			if diff := cmp.Diff(shapes(theirs), shapes(ours)); diff != "" {
				t.Errorf("statements (-sysbench +ours):\n%s", diff)
			}
			n := len(theirs) / events
			for _, sent := range [][]string{theirs, ours} {
				for event := range slices.Chunk(sent, n) {
					checkValues(t, name, event, 1000)
				}
			}
		})
	}

	// That statements look alike does not say that they do the same.
	t.Run("work", func(t *testing.T) {
		const events = 300
		handlers := []string{"Handler_read_key", "Handler_read_next", "Handler_update", "Handler_delete", "Handler_write", "Rows_sent"}
		work := func(do func()) []int64 {
			prepare(t, d, sp)
			var list []int64
			for _, name := range handlers {
				list = append(list, -d.Status(name))
			}
			do()
			for i, name := range handlers {
				list[i] += d.Status(name)
			}
			return list
		}
		theirs := work(func() {
			realSysbench(t, d, "oltp_read_write", "run", append(size, "--threads=2", fmt.Sprintf("--events=%d", events))...)
		})
		ours := work(func() {
			run(t, d, "oltp_read_write", standard(t, "oltp_read_write"), sp, engine.Order{Clients: clients(2), Events: events, Seed: 1})
		})
		for i, name := range handlers {
			t.Logf("%s: sysbench %d, ours %d", name, theirs[i], ours[i])
			if ratio := float64(ours[i]) / float64(theirs[i]); ratio < 0.95 || ratio > 1.05 {
				t.Errorf("%s: sysbench %d, ours %d", name, theirs[i], ours[i])
			}
		}
	})

	t.Run("bulk_insert", func(t *testing.T) {
		d.Exec("DROP TABLE IF EXISTS sbtest1, sbtest2")
		realSysbench(t, d, "bulk_insert", "prepare", "--threads=2")
		theirs := ddl(d, "sbtest2")
		sent := logged(d, func() { realSysbench(t, d, "bulk_insert", "run", "--threads=1", "--events=40000") })
		sp := plan.Tables{Schema: "sbtest_bulk", Count: 2}
		prepare(t, d, sp)
		if diff := cmp.Diff(theirs, ddl(d, "sbtest2")); diff != "" {
			t.Errorf("definitions (-sysbench +ours):\n%s", diff)
		}
		ours := logged(d, func() {
			run(t, d, "bulk_insert", standard(t, "bulk_insert"), sp, engine.Order{Clients: clients(1), Events: 1, Seed: 1})
		})
		same := commonPrefix(sent[0], ours[0])
		t.Logf("sysbench's statements have %d and %d bytes, ours has %d, of which %d are the same", len(sent[0]), len(sent[1]), len(ours[0]), same)
		if same < 500_000 {
			t.Errorf("sysbench: %.100s\nours:     %.100s", sent[0], ours[0])
		}
	})
}

func commonPrefix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
