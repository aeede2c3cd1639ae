package steps

import (
	"strings"
	"testing"
	"time"
)

// rehearse runs a plan as --rehearse does.
func rehearse(t *testing.T, text string) outcome {
	t.Helper()
	return trial{plan: text, change: func(c *Config) { c.Rehearse = true }}.carryOut(t)
}

// TestRehearsal: a plan for servers that are not here, from end to end.
func TestRehearsal(t *testing.T) {
	begin := time.Now()
	o := rehearse(t, `
vars: { admin: "http://192.0.2.1:8080" }
target: { address: "192.0.2.1:3308", user: bench, password: "${{ secrets.PASS }}", database: one, params: { no_such_variable: 1 } }
tables: { schema: benchyou, count: 2, rows: 1M, engine: other_engine, options: DISTRIBUTED BY (backend1) }
steps:
  - http: { put: "${{ vars.admin }}/config", json: { twopc: true, keep: 1 } }
  - http: { patch: "${{ vars.admin }}/config", json: { twopc: false, token: "${{ secrets.PASS }}" } }
  - http: { post: "${{ vars.admin }}/other", json: { audit: A } }
  - http: { get: "${{ vars.admin }}/debug/configz" }
    assert: [ json.proxy == false, json.audit == "A", json.keep == 1, 'headers["x-kind"] == "stand-in"' ]
  - { http: { get: "${{ vars.admin }}/missing", status: 204 }, assert: [ json.nothing == 1 ] }
  - { id: last, http: { get: "${{ vars.admin }}/config" }, assert: [ json.keep == 17 ] }
  - { if: "steps.last.json.twopc == false", wait: 1h }
  - wait: { until: { tcp: "192.0.2.1:1" }, timeout: 1h }
  - wait: { until: { http: "${{ vars.admin }}/debug/configz", expression: json.audit == "B" }, interval: 10ms, timeout: 1h }
  - wait: { until: { sql: SELECT 1 AS a, expression: "rows[0].a == 2" }, interval: 10ms, timeout: 1h }
  - shell: touch made
    assert: stdout == "made"
  - sql: SHOW RADON STATUS OF ALL
    assert: "rows[0].x == 1"
  - server: { set: { no_such_variable: 1, max_connections: 300 } }
  - prepare:
  - verify:
  - name: mix
    run: { workload: benchyou_random, threads: { write: 64, read: 128 }, duration: 1h, events: 200k }
  - target: { database: two }
    steps:
      - { sql: SELECT DATABASE() AS d, assert: "rows[0].d == 'two'" }
      - prepare:
      - cleanup:
  - target: { address: 192.0.2.2, database: three }
    steps:
      - { sql: SELECT DATABASE() AS d, assert: "rows[0].d == 'three'" }
finally:
  - cleanup:
  - database: drop
rehearse:
  http:
    - { get: /debug/configz, headers: { x-kind: stand-in }, json: { proxy: "${{ sent.twopc }}", audit: "${{ sent.audit }}", keep: "${{ sent.keep }}" } }
`).done(t)
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	c := o.cells[0]
	if c.Outcome.Events != 200 || c.Tables.Rows != 1000 || c.RowsAtStart != 2000 || c.Clients["write"] == 0 || c.Clients["read"] == 0 || c.Clients["write"]+c.Clients["read"] > 64 {
		t.Errorf("%+v", c)
	}
	if len(o.run.Targets) != 2 {
		t.Errorf("targets %+v", o.run.Targets)
	}
	notes := strings.Join(o.notes, "\n")
	for _, text := range []string{"skipped the shell step at", "did not wait for 192.0.2.1:1", "SHOW RADON STATUS", "no_such_variable is not set", "made without engine and options", "went on all the same"} {
		if !strings.Contains(notes, text) {
			t.Errorf("the notes lack %q:\n%s", text, notes)
		}
	}
}

// TestRehearsalFindsMistakes: what the stand-in's rules answer is checked, and so is SQL that the private server knows.
func TestRehearsalFindsMistakes(t *testing.T) {
	rehearse(t, `
target: { address: 192.0.2.1 }
steps:
  - http: { put: "http://192.0.2.1/config", json: { twopc_enable: true } }
  - { http: { get: "http://192.0.2.1/configz" }, assert: json.twopc == true, continue_on_error: true }
  - { http: { get: "http://192.0.2.1/down" }, continue_on_error: true }
  - sql: SELECT 1 FROM missing
rehearse:
  http:
    - { get: /configz, json: { twopc: "${{ sent['twopc-enable'] }}" } }
    - { get: /down, status: 503, body: gone }
`).fails(t, "p.yaml:5:58: http: assert does not hold", "p.yaml:6:7: http: GET http://192.0.2.1/down: status 503 Service Unavailable: gone", "p.yaml:7:5: sql: … missing")
}
