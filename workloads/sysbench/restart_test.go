package sysbench_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
	"benchplan/workloads/sysbench"
	"benchplan/workloads/tables"
)

// TestDeadlocksRestartTheEvent has many clients on few rows.
func TestDeadlocksRestartTheEvent(t *testing.T) {
	d := testdb.Shared(t)
	for _, tt := range []struct {
		name, workload, schema string
		options                any
		codes                  []int // of which one has to be met
	}{
		{"read write", "oltp_read_write", "sbtest", options(t, func(o *sysbench.ReadWriteOptions) { o.RangeSize = 3 }), []int{1213}},
		{"write only", "oltp_write_only", "sbtest", options(t, func(o *sysbench.WriteOnlyOptions) { o.DeleteInserts = 3 }), []int{1213}},
		{"without transactions", "oltp_write_only", "sbtest", options(t, func(o *sysbench.WriteOnlyOptions) { o.SkipTrx = true }), []int{1062, 1213}},
		{"legacy", "oltp_legacy", "sbtest_legacy", options(t, func(o *sysbench.LegacyOptions) { o.WriteOnly = true }), []int{1213}},
		{"0.4", "oltp_0_4", "sbtest_0_4", nil, []int{1213}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.options == nil {
				tt.options = standard(t, tt.workload)
			}
			sp := spec(tt.schema, 1, 12)
			prepare(t, d, sp)
			const events = 200
			before := statements(d)
			out := run(t, d, tt.workload, tt.options, sp, engine.Order{Clients: clients(16), Events: events, Seed: 11})
			if out.Events != events || len(out.Errors) > 0 {
				t.Errorf("%d events, errors %s", out.Events, describe(out.Errors))
			}
			met := false
			for _, e := range out.Restarts {
				for _, code := range tt.codes {
					met = met || e.Code == code
				}
			}
			if !met {
				t.Errorf("none of %v in the restarts: %s", tt.codes, describe(out.Restarts))
			}
			t.Log(describe(out.Restarts))
			checkCounts(t, d, before, out, workload(t, tt.workload).PSMode == engine.PSDisable, !strings.HasPrefix(tt.name, "without"), 0)
			checkLedger(t, d, sp, out)
			for table, l := range out.Ledger {
				// Without transactions what follows a delete may be lost to another client's insert, but nothing is invented.
				if l.Inserted != l.Deleted && !strings.HasPrefix(tt.name, "without") {
					t.Errorf("%s: %+v does not net to zero", table, l)
				}
			}
		})
	}
}

func TestLockWaitTimeoutIsRolledBack(t *testing.T) {
	d := testdb.Shared(t)
	d.Exec("SET GLOBAL innodb_lock_wait_timeout=1, innodb_deadlock_detect=OFF")
	defer d.Exec("SET GLOBAL innodb_lock_wait_timeout=DEFAULT, innodb_deadlock_detect=DEFAULT")
	sp := spec("sbtest", 1, 6)
	prepare(t, d, sp)
	out := run(t, d, "oltp_write_only", standard(t, "oltp_write_only"), sp, engine.Order{Clients: clients(8), Duration: plan.Duration(2500 * time.Millisecond), Seed: 1})
	if sum(out.Restarts) == 0 || out.Restarts[0].Code != 1205 || len(out.Errors) > 0 {
		t.Errorf("restarts %s, errors %s", describe(out.Restarts), describe(out.Errors))
	}
	checkLedger(t, d, sp, out)
}

func TestLedgerOfInsertsAndDeletes(t *testing.T) {
	d := testdb.Shared(t)
	for _, tt := range []struct {
		workload string
		options  any
		tables   plan.Tables
		check    func(l results.Changes) bool // of all tables together, after 400 events
	}{
		{"oltp_insert", nil, spec("sbtest", 3, 100), func(l results.Changes) bool { return l.Inserted == 400 && l.Deleted == 0 }},
		{"oltp_insert", nil, with(spec("sbtest", 3, 100), &sysbench.TableOptions{}), func(l results.Changes) bool { return l.Inserted == 400 }},
		{"oltp_insert", nil, spec("sbtest", 3, 0), func(l results.Changes) bool { return l.Inserted == 400 }},
		{"oltp_delete", nil, spec("sbtest", 3, 100), func(l results.Changes) bool { return l.Deleted > 150 && l.Deleted <= 300 }},
		{"oltp_0_4", nontrx(t, "delete"), spec("sbtest_0_4", 1, 400), func(l results.Changes) bool { return l.Deleted > 350 }},
		{"oltp_0_4", nontrx(t, "insert"), spec("sbtest_0_4", 1, 400), func(l results.Changes) bool { return l.Inserted == 400 }},
		{"bulk_insert", options(t, func(o *sysbench.BulkInsertOptions) { o.StatementSize = 1000 }), spec("sbtest_bulk", 4, 10), func(l results.Changes) bool { return l.Inserted > 400*50 }},
		{"bulk_insert", options(t, func(o *sysbench.BulkInsertOptions) { o.StatementSize = 1000 }), spec("sbtest_bulk", 3, 0), func(l results.Changes) bool { return l.Inserted > 400*50 }},
	} {
		t.Run(tt.workload, func(t *testing.T) {
			if tt.options == nil {
				tt.options = standard(t, tt.workload)
			}
			prepare(t, d, tt.tables)
			out := run(t, d, tt.workload, tt.options, tt.tables, engine.Order{Clients: clients(4), Events: 400, Seed: 2})
			var all results.Changes
			for _, l := range out.Ledger {
				all.Inserted += l.Inserted
				all.Deleted += l.Deleted
			}
			if !tt.check(all) {
				t.Errorf("the ledger has %+v", all)
			}
			checkLedger(t, d, tt.tables, out)
			if n := out.Statements[results.Write].Affected; n != all.Inserted+all.Deleted {
				t.Errorf("%d rows affected, the ledger has %+v", n, all)
			}
		})
	}
}

func TestBulkInsertsFillTheirStatements(t *testing.T) {
	w, err := workload(t, "bulk_insert").New(standard(t, "bulk_insert"), spec("sbtest_bulk", 2, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	for index := range 3 {
		for i, q := range engine.Preview(w, "", index, 3, 1, 3) {
			if len(q) > 512<<10 || len(q) < 512<<10-40 {
				t.Errorf("client %d: statement of %d bytes", index, len(q))
			}
			want := map[int]string{0: "INSERT INTO sbtest1 VALUES(1,1),(3,3),", 1: "INSERT INTO sbtest2 VALUES(1,1),(2,2),", 2: "INSERT INTO sbtest1 VALUES(2,2),(4,4),"}[index]
			if i == 0 && !strings.HasPrefix(q, want) {
				t.Errorf("client %d: %.60s", index, q)
			}
		}
	}
}

// TestTheLedgerKnowsWhatItDoesNotKnow kills connections under load.
func TestTheLedgerKnowsWhatItDoesNotKnow(t *testing.T) {
	d := testdb.Shared(t)
	for _, tt := range []struct {
		workload string
		options  any
		tables   plan.Tables
	}{
		{"oltp_write_only", standard(t, "oltp_write_only"), spec("sbtest", 2, 300)},
		{"oltp_write_only", options(t, func(o *sysbench.WriteOnlyOptions) { o.SkipTrx = true }), spec("sbtest", 2, 300)},
		{"oltp_insert", standard(t, "oltp_insert"), spec("sbtest", 2, 300)},
		{"bulk_insert", options(t, func(o *sysbench.BulkInsertOptions) { o.StatementSize = 4000 }), spec("sbtest_bulk", 2, 300)},
	} {
		t.Run(tt.workload, func(t *testing.T) {
			prepare(t, d, tt.tables)
			w, err := workload(t, tt.workload).New(tt.options, tt.tables, nil)
			if err != nil {
				t.Fatal(err)
			}
			out := runKilled(t, d, w, engine.PSDisable)
			if out.Reconnects < 5 {
				t.Errorf("%d reconnects", out.Reconnects)
			}
			counted, err := tables.Count(t.Context(), d.Connector(), sysbench.Schemas()[tt.tables.Schema], tt.tables)
			if err != nil {
				t.Fatal(err)
			}
			for _, table := range counted {
				l := out.Ledger[table.Table]
				if want := 300 + l.Inserted - l.Deleted; table.Rows < want-l.Unsure || table.Rows > want+l.Unsure {
					t.Errorf("%s has %d rows, the ledger %+v says %d", table.Table, table.Rows, l, want)
				}
			}
			t.Logf("%d reconnects, %v", out.Reconnects, out.Ledger)
		})
	}
}

// runKilled runs a workload whose connections are killed every now and then.
func runKilled(t *testing.T, d *testdb.Database, w engine.Workload, mode engine.PSMode) results.Outcome {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	var killer sync.WaitGroup
	killer.Go(func() { kill(ctx, d.Connector(), d.Name) })
	out, err := engine.Run(t.Context(), d.Connector(), w, engine.Order{Clients: clients(8), Duration: plan.Duration(time.Second), PSMode: mode, Seed: 4}, nil, nil)
	end()
	killer.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// kill waits until the load runs, then kills the connections to the database now and then. Those that have ended by themselves
// meanwhile are fine.
func kill(ctx context.Context, connector driver.Connector, database string) {
	db := sql.OpenDB(connector)
	defer db.Close()
	var idle int64
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		var writes int64
		_ = db.QueryRow("SELECT SUM(variable_value) FROM information_schema.global_status WHERE variable_name IN ('com_insert', 'com_update')").Scan(&writes)
		if idle == 0 {
			idle = writes
		}
		if writes > idle+100 {
			killAll(db, database)
		}
	}
}

func killAll(db *sql.DB, database string) {
	rows, err := db.Query("SELECT id FROM information_schema.processlist WHERE db=? AND id<>CONNECTION_ID()", database)
	if err != nil {
		return
	}
	var ids []int64
	for rows.Next() {
		var id int64
		if rows.Scan(&id) == nil {
			ids = append(ids, id)
		}
	}
	_ = rows.Close()
	for _, id := range ids {
		_, _ = db.Exec("KILL CONNECTION ?", id)
	}
}

// TestTransferKeepsTheTotal under deadlocks, killed connections, and rows that are not there.
func TestTransferKeepsTheTotal(t *testing.T) {
	d := testdb.Shared(t)
	for _, tt := range []struct {
		name   string
		mode   string
		tables plan.Tables
		spoil  string
	}{
		{"two tables", "transaction", spec("sbtest", 2, 5), ""},
		{"one table", "transaction", spec("sbtest", 1, 5), ""},
		{"one statement", "single_statement", spec("sbtest", 2, 5), ""},
		{"rows missing", "transaction", spec("sbtest", 2, 20), "DELETE FROM sbtest1 WHERE id>10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			prepare(t, d, tt.tables)
			if tt.spoil != "" {
				d.Exec(tt.spoil)
			}
			before := total(t, d, tt.tables)
			content := d.Rows("CHECKSUM TABLE sbtest1")[0][1]
			w, err := workload(t, "transfer").New(options(t, func(o *sysbench.TransferOptions) { o.Mode = tt.mode }), tt.tables, nil)
			if err != nil {
				t.Fatal(err)
			}
			out := runKilled(t, d, w, engine.PSAuto)
			if out.Events < 50 || sum(out.Restarts) == 0 {
				t.Errorf("%d events, restarts %s", out.Events, describe(out.Restarts))
			}
			if after := total(t, d, tt.tables); after != before {
				t.Errorf("the total was %d and is %d", before, after)
			}
			if d.Rows("CHECKSUM TABLE sbtest1")[0][1] == content {
				t.Error("nothing was moved")
			}
			c, ok := w.(tables.Conserver)
			if !ok || c.Conserves() != "k" {
				t.Error("the workload does not say what it conserves")
			}
		})
	}
	sp := spec("sbtest", 2, 5)
	before := total(t, d, sp)
	d.Exec("UPDATE sbtest2 SET k=k+1 WHERE id=1")
	if after := total(t, d, sp); after != before+1 {
		t.Errorf("the total was %d and is %d", before, after)
	}
	if _, err := tables.Total(t.Context(), d.Connector(), sysbench.Schema{}, spec("sbtest", 9, 1), "k"); err == nil || !strings.Contains(err.Error(), "sbtest") {
		t.Errorf("got %v", err)
	}
}

func total(t *testing.T, d *testdb.Database, sp plan.Tables) int64 {
	t.Helper()
	n, err := tables.Total(t.Context(), d.Connector(), sysbench.Schemas()[sp.Schema], sp, "k")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTextAndPreparedFindTheSame has one client send the same statements in both ways.
func TestTextAndPreparedFindTheSame(t *testing.T) {
	d := testdb.Shared(t)
	sp := spec("sbtest", 2, 500)
	var rows []int64
	var sums []string
	for _, mode := range []engine.PSMode{engine.PSAuto, engine.PSDisable} {
		prepare(t, d, sp)
		out := run(t, d, "oltp_read_write", standard(t, "oltp_read_write"), sp, engine.Order{Clients: clients(1), Events: 100, Seed: 9, PSMode: mode})
		rows = append(rows, out.Statements[results.Read].Rows, out.Statements[results.Write].Affected)
		sums = append(sums, d.Rows("CHECKSUM TABLE sbtest1")[0][1], d.Rows("CHECKSUM TABLE sbtest2")[0][1])
	}
	if rows[0] != rows[2] || rows[1] != rows[3] || rows[0] < 20_000 || sums[0] != sums[2] || sums[1] != sums[3] {
		t.Errorf("rows read and changed %v, checksums %v", rows, sums)
	}
}

func TestNothingIsAllocatedForAStatement(t *testing.T) {
	for _, d := range sysbench.Workloads() {
		sp := spec(d.Schema, 1, 1000)
		o := standard(t, d.Name)
		if b, ok := o.(*sysbench.BulkInsertOptions); ok {
			b.StatementSize = 1000
		}
		w, err := d.New(o, sp, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := w.Client("", 0, 1, rand.New(rand.NewPCG(1, 2)))
		var s engine.Statement
		one := func() {
			for range 100 {
				s = engine.Statement{Text: s.Text[:0], Args: s.Args[:0]}
				c.Next(&s)
				c.Done(1, 1)
			}
		}
		one()
		if n := testing.AllocsPerRun(5, one); n > 0 {
			t.Errorf("%s: %v allocations in 100 statements", d.Name, n)
		}
	}
}

func TestChecks(t *testing.T) {
	for _, tt := range []struct {
		workload string
		options  any
		tables   plan.Tables
		want     string // part of the error; empty: none
	}{
		{"oltp_read_write", nil, spec("sbtest", 1, 0), "set rows of tables above 0"},
		{"oltp_insert", nil, spec("sbtest", 1, 0), ""},
		{"bulk_insert", nil, spec("sbtest_bulk", 1, 0), ""},
		{"oltp_read_write", options(t, func(o *sysbench.ReadWriteOptions) {
			o.PointSelects, o.RangeSelects, o.Writes = 0, false, sysbench.Writes{}
		}), spec("sbtest", 1, 10), "no statement"},
		{"oltp_legacy", options(t, func(o *sysbench.LegacyOptions) { o.ReadOnly, o.WriteOnly = true, true }), spec("sbtest_legacy", 1, 10), "exclude each other"},
		{"transfer", nil, spec("sbtest", 1, 1), "2 or more"},
		{"transfer", nil, spec("sbtest", 2, 1), ""},
		{"transfer", options(t, func(o *sysbench.TransferOptions) { o.Mode = "single_statement" }), spec("sbtest", 2, 1), "2 or more"},
	} {
		if tt.options == nil {
			tt.options = standard(t, tt.workload)
		}
		d := workload(t, tt.workload)
		err := d.Check(tt.options, tt.tables)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.workload, err, tt.want)
		}
		if _, made := d.New(tt.options, tt.tables, nil); (made == nil) != (err == nil) {
			t.Errorf("%s: checked as %v, made as %v", tt.workload, err, made)
		}
	}
}
