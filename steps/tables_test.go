package steps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchplan/results"
	"benchplan/steps/localserver/servertest"
	"benchplan/workloads/tables"
)

// TestPrepareVerifyCleanup: the account that is kept of the tables, over several preparations, loads and reuse.
func TestPrepareVerifyCleanup(t *testing.T) {
	target, _, _ := onShared(t)
	o := carryOut(t, target+`
tables: { schema: benchyou, count: 2, rows: 100 }
steps:
  - prepare: { threads: 3, method: insert }
  - verify:
  - name: one
    run: { workload: benchyou_random, rows_per_insert: 3, threads: { write: 2, read: 1 }, events: 50 }
  - verify:
  - name: two
    run: { workload: benchyou_random, threads: { read: 1 }, events: 10 }
  - prepare: { reuse: true }
  - verify:
  - prepare: { reuse: true }
  - name: three
    run: { workload: benchyou_random, keys: existing, threads: { delete: 2 }, events: 40 }
  - verify:
  - tables: { rows: 7 }
    steps: [ prepare: , verify: ]
  - cleanup:
  - cleanup:
  - prepare:
  - name: four
    run: { workload: benchyou_random, threads: { write: 1 }, events: 5 }
  - verify:
`).done(t)
	var rows []int64
	for _, c := range o.cells {
		rows = append(rows, c.RowsAtStart)
	}
	inserted := o.cells[0].Outcome.Ledger["benchyou0"].Inserted + o.cells[0].Outcome.Ledger["benchyou1"].Inserted
	if diff := cmp.Diff([]int64{200, 200 + inserted, 200, 200}, rows); diff != "" || inserted == 0 {
		t.Errorf("%d inserted, %s", inserted, diff)
	}
	var prepared []string
	for _, e := range o.events {
		if strings.HasPrefix(e, "prepared") {
			prepared = append(prepared, e)
		}
	}
	if prepared[2] != "prepared 2 reused 2" {
		t.Errorf("%q", prepared)
	}
}

func TestVerifyNamesTableAndBothValues(t *testing.T) {
	target, _, _ := onShared(t)
	carryOut(t, target+`
tables: { schema: benchyou, count: 3, rows: 10 }
steps:
  - prepare:
  - sql: DELETE FROM benchyou1 WHERE id <= 3
  - sql: INSERT INTO benchyou2 (k) VALUES (1)
  - verify:
`).fails(t, "p.yaml:8:5: verify: table benchyou1 has 7 rows, expected 10 (10 inserted, 0 deleted); table benchyou2 has 11 rows, expected 10")
	carryOut(t, target+`
tables: { schema: benchyou, count: 2, rows: 10 }
steps:
  - verify:
`).fails(t, "p.yaml:5:5: verify: nothing is known to hold these tables against: benchyou0, benchyou1; put a prepare step before")
	carryOut(t, target+`
tables: { schema: benchyou, count: 1, rows: 10 }
steps:
  - prepare:
  - database: recreate
  - verify:
`).fails(t, "p.yaml:7:5: verify: target … benchyou0' doesn't exist")
}

func TestVerifyGivesOrTakesTheUnsure(t *testing.T) {
	for unsure, differ := range map[int64]bool{0: true, 4: true, 5: false} {
		key := ledger{}
		conn := &connection{key: "k"}
		key.prepared(conn, "d", []string{"t"}, 10)
		key.changed(conn, "d", map[string]results.Changes{"t": {Unsure: unsure}, "other": {Inserted: 1}})
		if len(key) != 1 || key.rows(conn, "d", []string{"t"}) != 10 || key.rows(conn, "d", []string{"t", "other"}) != 0 {
			t.Errorf("%v", key)
		}
		text := differs(tables.TableRows{Table: "t", Rows: 15}, key[tableKey{"k", "d", "t"}])
		if (text != "") != differ {
			t.Errorf("unsure %d: %q", unsure, text)
		}
	}
}

// TestDropping: what is asked, what is dropped, and what is never touched.
func TestDropping(t *testing.T) {
	for name, c := range map[string]struct {
		before []string // statements
		steps  string
		answer bool
		force  bool
		asked  []string
		errs   []string
	}{
		"a database that was there":         {nil, "- database: drop", true, false, []string{"Drop the database DB on SOCKET?"}, nil},
		"and no is the answer":              {nil, "- { database: drop, retry: 3 }", false, false, []string{"Drop the database DB on SOCKET?"}, []string{"p.yaml:4:5: database: drop database DB: Drop the database DB on SOCKET? The answer was no, so nothing was dropped; --yes answers yes"}},
		"asked once":                        {nil, "- { database: recreate, repeat: 3 }", true, false, []string{"Drop the database DB on SOCKET?"}, nil},
		"one that the run has made":         {[]string{"DROP DATABASE DB"}, "- database: create\n- database: recreate\n- database: drop", false, false, nil, nil},
		"one that is not there":             {[]string{"DROP DATABASE DB"}, "- database: drop", false, false, nil, nil},
		"one with a table of others":        {[]string{"CREATE TABLE DB.precious (id INT)"}, "- { database: drop, retry: 3 }", true, false, nil, []string{"p.yaml:4:5: database: drop database DB: it holds tables that benchplan did not make (precious); --force drops it all the same"}},
		"with force":                        {[]string{"CREATE TABLE DB.precious (id INT)"}, "- database: drop", true, true, []string{"Drop the database DB on SOCKET?"}, nil},
		"our own tables":                    {nil, "- prepare:\n- prepare:\n- cleanup:", false, false, nil, nil},
		"our own tables, with force":        {nil, "- prepare:\n- prepare:\n- cleanup:", false, true, nil, nil},
		"tables of others":                  {[]string{"CREATE TABLE DB.benchyou0 (id INT)"}, "- { prepare: , retry: 3 }", true, false, nil, []string{"p.yaml:4:5: prepare: target SOCKET: table benchyou0 was not made by benchplan"}},
		"tables of others, with force":      {[]string{"CREATE TABLE DB.benchyou0 (id INT)", "CREATE TABLE DB.other (id INT)"}, "- prepare:\n- cleanup:", true, true, []string{"Drop tables of DB on SOCKET that benchplan did not make: benchyou0?"}, nil},
		"and no is the answer to that":      {[]string{"CREATE TABLE DB.benchyou0 (id INT)"}, "- cleanup:", false, true, []string{"Drop tables of DB on SOCKET that benchplan did not make: benchyou0?"}, []string{"p.yaml:4:3: cleanup: Drop tables of DB … The answer was no"}},
		"cleanup where nothing is":          {[]string{"DROP DATABASE DB"}, "- cleanup:", false, false, nil, nil},
		"cleanup of one of the two":         {nil, "- prepare:\n- sql: DROP TABLE benchyou1\n- cleanup:", false, false, nil, nil},
		"a preparation that was broken off": {nil, "- prepare:\n- { prepare: , timeout: 1ns, continue_on_error: true }\n- verify:", false, false, nil, []string{"p.yaml:5:5: prepare: it took longer", "p.yaml:6:3: verify: nothing is known"}},
	} {
		t.Run(name, func(t *testing.T) {
			target, database, server := onShared(t)
			named := strings.NewReplacer("DB", database, "SOCKET", server.Socket())
			db := servertest.OpenDB(t, server, "")
			for _, statement := range c.before {
				if _, err := db.Exec(named.Replace(statement)); err != nil {
					t.Fatal(err)
				}
			}
			var asked []string
			o := trial{plan: target + "tables: { schema: benchyou, count: 2, rows: 3 }\nsteps:\n" + c.steps + "\n", change: func(cfg *Config) {
				cfg.Force = c.force
				cfg.Confirm = func(question string) bool { asked = append(asked, question); return c.answer }
			}}.carryOut(t)
			for i := range c.asked {
				c.asked[i] = named.Replace(c.asked[i])
			}
			for i := range c.errs {
				c.errs[i] = named.Replace(c.errs[i])
			}
			o.fails(t, c.errs...)
			if diff := cmp.Diff(c.asked, asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSystemDatabases are never touched, in whatever letters they are written.
func TestSystemDatabases(t *testing.T) {
	_, _, server := onShared(t)
	for _, name := range []string{"mysql", "MySQL", "SYS", "Information_Schema", "performance_schema"} {
		for _, step := range []string{"database: create", "database: drop", "database: recreate", "prepare:", "cleanup:", "verify:"} {
			text := fmt.Sprintf("target: { socket: %s, database: %s }\ntables: { schema: benchyou }\nsteps:\n  - %s\n", server.Socket(), name, step)
			if err := read(text); err == nil || !strings.Contains(err.Error(), "belongs to the server") {
				t.Errorf("%s in %s: %v", step, name, err)
			}
			later := strings.Replace(text, "database: "+name, "database: \"${{ vars.d }}\"", 1)
			if err := read("vars: { d: " + name + " }\n" + later); err == nil || !strings.Contains(err.Error(), "belongs to the server") {
				t.Errorf("%s in %s, told by a variable: %v", step, name, err)
			}
		}
	}
}

// TestSystemDatabasesThatAStepTells: what only the run knows is refused by the run.
func TestSystemDatabasesThatAStepTells(t *testing.T) {
	_, _, server := onShared(t)
	for _, step := range []string{"database: drop", "database: create", "prepare:", "cleanup:", "verify:", "run: { workload: benchyou_random, threads: { write: 1 }, events: 1 }"} {
		o := trial{change: func(c *Config) { c.Force = true }, plan: fmt.Sprintf("target: { socket: %s, user: %s }\nsteps:\n  - { id: a, sql: { statements: \"SELECT 'mySQL' AS d\", database: \"\" } }\n  - target: { database: \"${{ steps.a.rows[0].d }}\" }\n    tables: { schema: benchyou }\n    steps: [ { %s } ]\n", server.Socket(), server.User(), step)}.carryOut(t)
		if len(o.errs) != 1 || !strings.Contains(o.errs[0], "the database mySQL belongs to the server") {
			t.Errorf("%s: %q", step, o.errs)
		}
	}
}
