package steps

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchplan/plan"
	"benchplan/steps/localserver/servertest"
)

func TestSplitScript(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"one":                        {"SELECT 1", []string{"SELECT 1"}},
		"two, and a tail":            {"SELECT 1; SELECT 2;\n", []string{"SELECT 1", "SELECT 2"}},
		"empty ones":                 {";;\n ; SELECT 1;;", []string{"SELECT 1"}},
		"nothing":                    {" \n\t", nil},
		"in single quotes":           {`INSERT INTO t VALUES ('a;b', 'it''s;', 'c\';d'); SELECT 1`, []string{`INSERT INTO t VALUES ('a;b', 'it''s;', 'c\';d')`, "SELECT 1"}},
		"in double quotes":           {`SELECT "a;""b;\";"; SELECT 2`, []string{`SELECT "a;""b;\";"`, "SELECT 2"}},
		"in backticks":               {"SELECT `a;\\`; SELECT `b``;`", []string{"SELECT `a;\\`", "SELECT `b``;`"}},
		"a quote that is not ended":  {"SELECT 'a; SELECT 2", []string{"SELECT 'a; SELECT 2"}},
		"a comment to the line end":  {"-- a; b\nSELECT 1; # c; d\nSELECT 2 --\te;\n; --\n--", []string{"-- a; b\nSELECT 1", "# c; d\nSELECT 2 --\te;"}},
		"two minuses are none":       {"SELECT 1--2; SELECT 3", []string{"SELECT 1--2", "SELECT 3"}},
		"a comment between":          {"/* a; b */ SELECT 1 /* c; */; /* d */", []string{"/* a; b */ SELECT 1 /* c; */"}},
		"a comment that is executed": {"/*!40101 SET NAMES utf8 */; /*M!100100 SET a=1 */;", []string{"/*!40101 SET NAMES utf8 */", "/*M!100100 SET a=1 */"}},
		"a quote in a comment":       {"SELECT 1; -- it's\nSELECT 2", []string{"SELECT 1", "-- it's\nSELECT 2"}},
		"a stored program":           {"SELECT 1; CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END", []string{"SELECT 1", "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END"}},
		"one without a body":         {"CREATE PROCEDURE p() SELECT 1; SELECT 2", []string{"CREATE PROCEDURE p() SELECT 1", "SELECT 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := splitScript(c.script)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, script := range []string{"DELIMITER //\nSELECT 1//", "SELECT 1; delimiter ;;", "-- x\nDelimiter $$"} {
		if got, err := splitScript(script); err == nil || !strings.Contains(err.Error(), "DELIMITER") {
			t.Errorf("%q: %q, %v", script, got, err)
		}
	}
}

func TestSQLRowsHaveTypes(t *testing.T) {
	target, _, _ := onShared(t)
	carryOut(t, target+`
steps:
  - sql:
      - CREATE TABLE t (i INT, big BIGINT UNSIGNED, d DECIMAL(10,2), huge DECIMAL(40,20), f FLOAT, x DOUBLE, day DATE, at DATETIME, s VARCHAR(20), n INT)
      - INSERT INTO t VALUES (-7, 18446744073709551615, 1.50, 12345678901234567890.12345678901234567890, 0.1, 0.25, '2024-02-29', '2024-02-29 01:02:03', 'ä', NULL)
      - SELECT * FROM t
    assert:
      - len(rows) == 1
      - rows[0].i == -7
      - rows[0].d == 1.5
      - rows[0].huge == "12345678901234567890.12345678901234567890"
      - rows[0].f == 0.1
      - rows[0].x == 0.25
      - rows[0].day == "2024-02-29"
      - rows[0].at == "2024-02-29 01:02:03"
      - rows[0].s == "ä"
      - rows[0].n == nil
      - 'string(rows[0].big) == "18446744073709551615"'
  - { sql: "SELECT SUM(i) AS s, COUNT(*) AS n FROM t", assert: [ 'rows[0].s == -7', 'rows[0].n == 1' ] }
  - { sql: [ "SELECT 1 AS a", "DELETE FROM t" ], assert: "rows[0].a == 1" }
  - { sql: "SELECT i FROM t", assert: [ 'len(rows) == 0' ] }
  - { sql: { statements: "SELECT DATABASE() AS d", database: "" }, assert: "rows[0].d == nil" }
  - sql: "CREATE PROCEDURE p() BEGIN SELECT 1 AS a; SELECT 2 AS a; DO 0; END"
  - { sql: CALL p(), assert: [ 'len(rows) == 1', 'rows[0].a == 2' ] }
  - { id: x, sql: "SET @a = 5; SELECT @a AS a" }
  - { if: "steps.x.rows[0].a == 5", sql: "SELECT ${{ steps.x.rows[0].a }} AS b", assert: "rows[0].b == 5" }
`).done(t)
}

func TestSQLFaults(t *testing.T) {
	target, _, server := onShared(t)
	for name, c := range map[string]struct{ step, want string }{
		"in the middle":         {"sql: [ SELECT 1, SELECT nonsense, SELECT 2 ]", "sql: statement 2 of 3, `SELECT nonsense`: target " + server.Socket() + ": Error 1054"},
		"in a script":           {`sql: "SELECT 1; SELECT\n  nonsense"`, "sql: statement 2 of 2, `SELECT nonsense`: "},
		"in a later result":     {`sql: [ "CREATE PROCEDURE q() BEGIN SELECT 1; SELECT * FROM missing; END", CALL q() ]`, "sql: statement 2 of 2, `CALL q()`: … missing"},
		"too many rows":         {"sql: SELECT * FROM seq_1_to_10001", "sql: statement 1 of 1 … more than 10000 rows"},
		"no such file":          {"sql: { file: missing.sql }", "sql: file: open … missing.sql"},
		"no statement in it":    {`sql: "-- nothing"`, "sql: there is no statement in it"},
		"a database not there":  {"sql: { statements: SELECT 1, database: not_there }", "sql: target … Unknown database 'not_there'"},
		"a short secret quoted": {`sql: "SELECT ' FROM ${{ secrets.S }} x"`, "sql: statement 1 of 1, `SELECT ' FROM *** x`: … syntax"},
	} {
		t.Run(name, func(t *testing.T) {
			o := trial{env: map[string]string{"S": "q7Z"}, plan: target + "steps:\n  - " + c.step + "\n"}.carryOut(t)
			o.fails(t, "p.yaml:3:5: "+c.want)
			o.noneHolds(t, "q7Z")
		})
	}
	_, err := plan.Read(plan.Source{Name: "p.yaml", Text: []byte("steps:\n  - sql: |\n      DELIMITER //\n      SELECT 1//\n")}, Vocabulary(), plan.Options{})
	if err == nil || !strings.Contains(err.Error(), "p.yaml:2:5: DELIMITER is a command of the mysql client") {
		t.Error(err)
	}
}

// TestSQLFileIsFoundBesideThePlan, whatever folder benchplan was started in.
func TestSQLFileIsFoundBesideThePlan(t *testing.T) {
	target, database, server := onShared(t)
	script := filepath.Join(t.TempDir(), "make.sql")
	if err := os.WriteFile(script, []byte("\uFEFF-- make it\nCREATE TABLE made (id INT); INSERT INTO made VALUES (1), (2);"), 0o600); err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel("/", script)
	if err != nil {
		t.Fatal(err)
	}
	up := strings.Repeat("../", 20) // from the plan's folder, wherever that is
	carryOut(t, target+"steps:\n  - sql: { file: "+up+rel+" }\n").done(t)
	if got := scalar(t, server, database, "SELECT COUNT(*) FROM made"); got != "2" {
		t.Errorf("%s rows", got)
	}
}

// TestSQLErrorQuotesNoPartOfASecret: a server quotes a statement from the place of the mistake on, which can be within the secret.
func TestSQLErrorQuotesNoPartOfASecret(t *testing.T) {
	o := trial{
		plan: "steps:\n  - sql: \"SELECT '${{ secrets.S }}' FROM nowhere\"\n",
		env:  map[string]string{"S": `SuperS3cr'et"x\y&z`},
	}.carryOut(t)
	if len(o.errs) != 1 || strings.Contains(o.errs[0], `et"x`) || strings.Contains(o.errs[0], "SuperS3cr") || !strings.Contains(o.errs[0], "near ***") {
		t.Errorf("%q", o.errs)
	}
}

// TestAStatementOfAStepThatIsBrokenOff does not go on at the server under what comes next.
func TestAStatementOfAStepThatIsBrokenOff(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	admin := servertest.OpenDB(t, server, "")
	o := carryOut(t, "target: { socket: "+server.Socket()+", user: root, database: "+servertest.Database(t, server)+" }\nsteps:\n  - { sql: SELECT SLEEP(1234), timeout: 300ms }\n")
	if len(o.errs) != 1 || !strings.Contains(o.errs[0], "300ms") {
		t.Errorf("%q", o.errs)
	}
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		var n int
		if err := admin.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%SLEEP(1234)%' AND id <> CONNECTION_ID()").Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
		if time.Since(begin) > 20*time.Second {
			t.Fatal("the server goes on")
		}
	}
}
