package steps

import (
	"fmt"
	"strings"
	"testing"

	"benchplan/steps/localserver/servertest"
)

// TestStrangeDatabaseNames: a database can be called whatever the server allows. It is made, filled, put under load, verified, cleaned up and
// dropped, and nothing of its name is taken for SQL.
func TestStrangeDatabaseNames(t *testing.T) {
	_, _, server := onShared(t)
	db := servertest.OpenDB(t, server, "")
	if _, err := db.Exec("CREATE DATABASE IF NOT EXISTS precious"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"a-b", "x`y", "a.b", "ünï", "select", strings.Repeat("n", 64), "`; DROP DATABASE precious; -- ", "'; DROP DATABASE precious; -- x", `a"b`, `back\slash`, "50%_off", "a b", "precious`.`t", "${table}", "日本語", "1", "-- x", "/* x",
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasSuffix(name, " ") {
				name += "x" // no name ends in a blank
			}
			text := fmt.Sprintf(`target: { socket: %s, user: %s, database: '%s' }
tables: { schema: benchyou, count: 2, rows: 100 }
steps:
  - database: recreate
  - prepare:
  - { name: load, run: { workload: benchyou_random, keys: existing, threads: { write: 2, read: 2 }, duration: 500ms } } # so that its status is asked for twice
  - { name: text, run: { workload: benchyou_random, keys: existing, threads: { write: 2, read: 2 }, events: 100, ps_mode: disable } }
  - verify:
  - prepare: { reuse: true }
  - cleanup:
  - steps: [ prepare: { method: load_data }, { name: oltp, run: { workload: oltp_read_write, events: 50 } }, verify: ]
    tables: { schema: sbtest, count: 2, rows: 100 }
    finally: [ cleanup: ]
  - sql: SELECT DATABASE() AS name
    assert: 'rows[0].name == "%s"'
  - database: drop
`, server.Socket(), server.User(), strings.ReplaceAll(name, "'", "''"), strings.ReplaceAll(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name), "'", "''"))
			o := carryOut(t, text).done(t)
			if len(o.cells) != 3 || o.cells[0].Target.Database != name || o.cells[0].Server == nil {
				t.Errorf("%d cells, %+v, log:\n%s", len(o.cells), o.cells[0].Target, o.log)
			}
			for query, want := range map[string]int{"SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?": 0, "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'precious' OR schema_name = ?": 1} {
				var n int
				if err := db.QueryRow(query, name).Scan(&n); err != nil || n != want {
					t.Errorf("%s: %d, %v", query, n, err)
				}
			}
		})
	}
}
