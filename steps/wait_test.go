package steps

import (
	"net"
	"testing"
	"time"

	"benchplan/steps/localserver/servertest"
)

func TestWaitUntil(t *testing.T) {
	target, database, server := onShared(t)
	tr := newTrace(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	db := servertest.OpenDB(t, server, database)
	makeLater := func() {
		for _, statement := range []string{"CREATE TABLE later (id INT)", "INSERT INTO later VALUES (1), (2)"} {
			if _, err := db.Exec(statement); err != nil {
				t.Error(err)
			}
		}
	}
	for name, c := range map[string]struct{ until, errs string }{
		"a time":                   {"50ms", ""},
		"tcp":                      {`{ until: { tcp: "` + listener.Addr().String() + `" } }`, ""},
		"tcp, never":               {`{ until: { tcp: "127.0.0.1:1" }, timeout: 1s, interval: 10ms }`, "waited 1s for 127.0.0.1:1: … connection refused"},
		"http":                     {`{ until: { http: "` + tr.URL + `/a" } }`, ""},
		"http with an expression":  {`{ until: { http: "` + tr.URL + `/b", expression: json.asked > 3 }, interval: 1ms }`, ""},
		"http, never":              {`{ until: { http: "` + tr.URL + `/fail" }, timeout: 1s, interval: 10ms }`, "waited 1s for " + tr.URL + "/fail: … status 500"},
		"http that hangs":          {`{ until: { http: "` + tr.URL + `/hang" }, timeout: 200ms, interval: 10ms }`, "waited 200ms for "},
		"sql":                      {`{ until: { sql: SELECT 1 } }`, ""},
		"sql with an expression":   {`{ until: { sql: SELECT COUNT(*) AS n FROM later, expression: "rows[0].n == 2" }, interval: 10ms }`, ""},
		"sql, never":               {`{ until: { sql: SELECT 1 FROM never }, timeout: 1s, interval: 10ms }`, "waited 1s for `SELECT 1 FROM never`: … never' doesn't exist"},
		"an expression, never":     {`{ until: { sql: SELECT 1 AS a, expression: "rows[0].a == 2" }, timeout: 1s, interval: 10ms }`, "waited 1s for … it does not hold: rows[0].a == 2"},
		"an expression alone":      {`{ until: { expression: vars.x == 1 } }`, ""},
		"one that will never hold": {`{ until: { expression: vars.x == 2 }, timeout: 50ms, interval: 10ms }`, "waited 50ms for vars.x == 2: it does not hold"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := trial{plan: target + "vars: { x: 1 }\nsteps:\n  - wait: " + c.until + "\n"}
			tr.on = func(e string) {
				if e == "step wait" && name == "sql with an expression" {
					time.AfterFunc(100*time.Millisecond, makeLater)
				}
			}
			o := tr.carryOut(t)
			if c.errs == "" {
				o.done(t)
				return
			}
			o.fails(t, "p.yaml:4:5: wait: "+c.errs)
		})
	}
}
