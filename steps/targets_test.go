package steps

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchplan/steps/localserver"
	"benchplan/steps/localserver/proxytest"
	"benchplan/steps/localserver/servertest"
)

// TestSeveralTargets: two accounts and two databases of one server, a private server, and another with options, in one plan; each
// is reached once.
func TestSeveralTargets(t *testing.T) {
	target, database, server := onShared(t)
	connections := func() string {
		return scalar(t, server, "", "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Connections'")
	}
	before := connections()
	o := carryOut(t, target+fmt.Sprintf(`
tables: { schema: benchyou, count: 1, rows: 10 }
steps:
  - { sql: SELECT 1, repeat: 5 }
  - prepare:
  - target: { local: { options: { max_connections: 33 } } }
    tables: { rows: 20 }
    steps:
      - { sql: SELECT @@max_connections AS n, assert: "rows[0].n == 33" }
      - prepare:
      - verify:
      - name: a
        run: { workload: benchyou_random, threads: { write: 1 }, events: 5 }
      - target: { database: second }
        steps:
          - { sql: SELECT DATABASE() AS d, assert: "rows[0].d == 'second'" }
  - target: { local: { options: { max_connections: 44 } }, params: { sql_mode: "''" } }
    steps:
      - { sql: "SELECT @@max_connections AS n, @@sql_mode AS m, DATABASE() AS d", assert: [ "rows[0].n == 44", "rows[0].m == ''", "rows[0].d == '%s'" ] }
  - name: b
    run: { workload: benchyou_random, threads: { write: 1 }, events: 5 }
  - verify:
`, database)).done(t)
	if len(o.run.Targets) != 3 {
		t.Errorf("targets %+v", o.run.Targets)
	}
	if a, b := o.cells[0], o.cells[1]; a.Target.Address != "private server" || a.RowsAtStart != 20 || a.Attributes["option max_connections"] != "33" || b.Target.Address != server.Socket() || b.RowsAtStart != 10 || len(b.Attributes) != 0 {
		t.Errorf("%+v\n%+v", a, b)
	}
	var x, y int
	fmt.Sscan(before, &x)
	fmt.Sscan(connections(), &y)
	if y-x > 40 {
		t.Errorf("%d connections were made", y-x)
	}
}

// TestDataThatAreKept: the private server's folder is beside the plan and stays; tables of others in it are not dropped.
func TestDataThatAreKept(t *testing.T) {
	folder := t.TempDir()
	page := "target: { local: { data: " + filepath.Join(folder, "data") + " } }\ntables: { schema: benchyou }\nsteps:\n"
	carryOut(t, page+"  - sql: CREATE TABLE benchyou0 (precious INT)\n").done(t)
	carryOut(t, page+"  - prepare:\n").fails(t, "p.yaml:4:5: prepare: private server: table benchyou0 was not made by benchplan")
	carryOut(t, page+"  - sql: SELECT precious FROM benchyou0\n").done(t)
	if _, err := os.Stat(filepath.Join(folder, "data")); err != nil {
		t.Error(err)
	}
}

// TestTargetOverTLS holds the server against an authority of one's own.
func TestTargetOverTLS(t *testing.T) {
	certificates := newAuthority(t)
	server := servertest.Start(t, localserver.Config{TCP: true, Options: map[string]string{
		"ssl_ca": certificates.file("ca.pem"), "ssl_cert": certificates.file("server.pem"), "ssl_key": certificates.file("server.key"),
	}})
	db := servertest.OpenDB(t, server, "")
	for _, statement := range []string{"CREATE USER 'tls'@'127.0.0.1' IDENTIFIED BY 'word'", "GRANT ALL ON *.* TO 'tls'@'127.0.0.1'"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	page := func(tls string) string {
		return fmt.Sprintf("target: { address: \"%s\", user: tls, password: \"${{ secrets.WORD }}\", tls: %s }\nsteps:\n  - { sql: { statements: \"SHOW STATUS LIKE 'Ssl_cipher'\", database: \"\" }, assert: \"rows[0].Value != ''\" }\n", server.Address(), tls)
	}
	ca := certificates.file("ca.pem")
	for name, c := range map[string]struct{ tls, want string }{
		"its authority":         {"{ ca: " + ca + " }", ""},
		"not verified":          {"{ skip_verify: true }", ""},
		"preferred":             {"preferred", ""},
		"nobody's authority":    {"true", "p.yaml:3:7: sql: target … the server's certificate is not trusted; name its authority by tls: {ca: FILE}"},
		"another name":          {"{ ca: " + ca + ", server_name: other.example }", "p.yaml:3:7: sql: target … other.example … is for another name: use that in the address"},
		"a file that is no PEM": {"{ ca: p.yaml }", "p.yaml:3:7: sql: target … tls: ca: "},
		"none":                  {"false", "p.yaml:3:7: sql: assert … "},
	} {
		t.Run(name, func(t *testing.T) {
			o := trial{plan: page(c.tls), env: map[string]string{"WORD": "word"}}.carryOut(t)
			switch {
			case c.want == "":
				o.done(t)
			case name == "none":
				if len(o.errs) != 1 || !strings.Contains(o.errs[0], "assert does not hold") {
					t.Errorf("%q", o.errs)
				}
			default:
				o.fails(t, c.want)
			}
		})
	}
}

// TestCertificateThatHasExpired: the run fails before the log-in, and says until when it was good.
func TestCertificateThatHasExpired(t *testing.T) {
	t.Parallel()
	certificates := newAuthority(t)
	_, expired, _ := certificates.issue(t, "expired", certificates.authority, certificates.key)
	server := servertest.Start(t, localserver.Config{TCP: true, Options: map[string]string{
		"ssl_cert": certificates.file("expired.pem"), "ssl_key": certificates.file("expired.key"),
	}})
	carryOut(t, fmt.Sprintf("target: { address: \"%s\", tls: { ca: %s } }\nsteps:\n  - sql: SELECT 1\n", server.Address(), certificates.file("ca.pem"))).
		fails(t, "p.yaml:3:5: sql: target … certificate has expired … holds from … to "+expired.NotAfter.UTC().Format("2006-01-02 15:04:05")+": renew it there")
}

// TestPortThatTakesNobody: the queue of connections that wait to be taken is full.
func TestPortThatTakesNobody(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	carryOut(t, fmt.Sprintf("target: { address: \"%s\", connect_timeout: 500ms }\nsteps:\n  - sql: SELECT 1\n", proxytest.Full(t))).
		fails(t, "p.yaml:3:5: sql: target 127.0.0.1: … check the target's address, or give it more time by connect_timeout (500ms)")
	if took := time.Since(begin); took > faultSlack {
		t.Errorf("it took %s", took)
	}
}
