package steps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
)

const flushVariable = "innodb_flush_log_at_trx_commit"

// TestSetIsPutBack: at the end of each group cell, in reverse order, after success, failure and interrupt; and while it
// holds, each cell's record tells it.
func TestSetIsPutBack(t *testing.T) {
	server := servertest.Start(t, localserver.Config{}) // other tests share theirs
	target := fmt.Sprintf("target: { socket: %s, database: set_is_put_back }\n", server.Socket())
	global := func(name string) string { return scalar(t, server, "", "SELECT @@GLOBAL."+name) }
	before := global(flushVariable) + global("max_connections") + global("sql_mode")

	t.Run("in a matrix", func(t *testing.T) {
		o := carryOut(t, target+`
tables: { schema: benchyou }
steps:
  - database: create
  - prepare:
  - matrix: { flush: [0, 2] }
    steps:
      - server: { set: { innodb_flush_log_at_trx_commit: "${{ matrix.flush }}" } }
      - { sql: SELECT @@GLOBAL.innodb_flush_log_at_trx_commit AS v, assert: "rows[0].v == matrix.flush" }
      - name: mix
        run: { workload: benchyou_random, threads: { write: 1 }, events: 5 }
  - { sql: SELECT @@GLOBAL.innodb_flush_log_at_trx_commit AS v, assert: "rows[0].v == 1" }
  - name: plain
    run: { workload: benchyou_random, threads: { write: 1 }, events: 5 }
`).done(t)
		var got []string
		for _, c := range o.cells {
			got = append(got, c.Key()+" "+c.Attributes["variable "+flushVariable])
		}
		if diff := cmp.Diff([]string{"mix{flush=0} 0", "mix{flush=2} 2", "plain{} "}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("in reverse, after finally", func(t *testing.T) {
		carryOut(t, target+`
steps:
  - steps:
      - server: { set: { max_connections: 200, sql_mode: "NO_ZERO_DATE,STRICT_TRANS_TABLES" } }
      - server: { set: { max_connections: 201, sort_buffer_size: 1M, slow_query_log: on, long_query_time: 0.5 } }
    finally:
      - { sql: SELECT @@GLOBAL.max_connections AS v, assert: "rows[0].v == 201" }
`).done(t)
	})
	t.Run("after a failure", func(t *testing.T) {
		carryOut(t, target+"steps:\n  - server: { set: { max_connections: 300 } }\n  - sql: SELECT nonsense\n").fails(t, "p.yaml:4:5: sql: … nonsense")
	})
	t.Run("after an interrupt", func(t *testing.T) {
		ctx, on := interruptAt(t, "step wait", 0)
		trial{ctx: ctx, on: on, plan: target + "steps:\n  - server: { set: { max_connections: 300 } }\n  - wait: 1h\n"}.carryOut(t).isInterrupted(t)
	})
	t.Run("faults", func(t *testing.T) {
		for text, want := range map[string]string{
			"no_such_variable: 1": "server: set no_such_variable: target … Unknown system variable",
			"version: x":          "server: set version = x: target … read only",
			flushVariable + ": 7": "server: set " + flushVariable + " = 7: the server took it as 3",
		} {
			carryOut(t, target+"steps:\n  - server: { set: { "+text+" } }\n").fails(t, "p.yaml:3:5: "+want)
		}
	})
	if after := global(flushVariable) + global("max_connections") + global("sql_mode"); after != before {
		t.Errorf("%s, was %s", after, before)
	}
}

// TestRestart: start-up options as an axis, on the same data; stop, start, and what they refuse.
func TestRestart(t *testing.T) {
	o := carryOut(t, `
target: { local: { options: { innodb_flush_log_at_trx_commit: 0 } } }
tables: { schema: benchyou, rows: 100 }
steps:
  - prepare:
  - server: { set: { max_connections: 77 } }
  - matrix: { pool: [ 32M, 48M ] }
    steps:
      - server: { restart: { innodb_buffer_pool_size: "${{ matrix.pool }}" } }
      - { sql: "SELECT @@innodb_buffer_pool_size DIV 1048576 AS pool, @@GLOBAL.max_connections AS n", assert: [ 'string(rows[0].pool) + "M" == matrix.pool', "rows[0].n != 77" ] }
      - verify:
      - name: mix
        run: { workload: benchyou_random, threads: { write: 1 }, events: 5 }
  - server: restart
  - { sql: "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit AS f", assert: "rows[0].f == 0" }
  - server: stop
  - { sql: SELECT 1, continue_on_error: true }
  - server: start
  - { server: start, continue_on_error: true }
  - name: after
    run: { workload: benchyou_random, threads: { write: 1 }, events: 5 }
  - server: { restart: { no_such_option: 1 } }
finally:
  - { sql: SELECT 1, if: "false" }
`)
	o.fails(t,
		"p.yaml:17:7: sql: the private server is stopped; start it again by a step `server: start`",
		"p.yaml:19:7: server: the private server runs already; use `server: restart`",
		"p.yaml:22:5: server: … no_such_option")
	var got []string
	for _, c := range o.cells {
		got = append(got, fmt.Sprint(c.Key(), " ", c.Attributes, " ", c.RowsAtStart))
	}
	want := []string{
		"mix{pool=32M} map[option innodb_buffer_pool_size:32M option innodb_flush_log_at_trx_commit:0] 100",
		"mix{pool=48M} map[option innodb_buffer_pool_size:48M option innodb_flush_log_at_trx_commit:0] 105",
		"after{} map[option innodb_flush_log_at_trx_commit:0] 110",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestServerOfSomebodyElse(t *testing.T) {
	target, _, _ := onShared(t)
	for text, want := range map[string]string{
		"server: restart":                              "only the private local server can be restarted",
		"server: { restart: { a: 1 } }":                "only the private local server can be restarted",
		"server: { set: { \"a; DROP\": 1 } }":          "is not the name of a variable",
		"server: { set: { a: 1 }, restart: {} }":       "server takes one of",
		"server: reboot":                               "is not one of: restart, start, stop",
		"server: { set: { a: \"${{ secrets.X }}\" } }": "cannot hold a secret",
	} {
		if err := read(target + "steps:\n  - " + text + "\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := read("steps:\n  - server: { restart: {} }\n"); err != nil {
		t.Error(err)
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		wanted, literal, got string
		same                 bool
	}{
		{"ON", "'ON'", "1", true},
		{"off", "'off'", "0", true},
		{"off", "'off'", "1", false},
		{"8M", "8388608", "8388608", true},
		{"0.5", "0.5", "0.500000", true},
		{"1e3", "1e3", "1000", true},
		{"-1", "-1", "-1", true},
		{"inf", "'inf'", "INF", true},
		{"ROW", "'ROW'", "row", true},
		{"it's\\", "'it''s\\\\'", "it's\\", true},
		{"B,A", "'B,A'", "A,B", true},
		{"A", "'A'", "A,B", false},
		{"5", "5", "6", false},
		{"", "''", "", true},
	} {
		if got := literal(c.wanted); got != c.literal {
			t.Errorf("%q: %s, want %s", c.wanted, got, c.literal)
		}
		if got := sameSetting(c.wanted, c.got); got != c.same {
			t.Errorf("%q and %q: %v", c.wanted, c.got, got)
		}
	}
}
