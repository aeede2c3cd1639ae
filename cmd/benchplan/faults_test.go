package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchplan/results"
	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
)

// TestFaultsSayWhatAndWhere: each fault that people meet gives one clear error with its place, in bounded time.
func TestFaultsSayWhatAndWhere(t *testing.T) {
	server := servertest.Shared(t)
	_, database, _ := onServer(t)
	http500 := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"Error":"the backend is gone"}`)
	}))
	t.Cleanup(http500.Close)
	silent := silentServer(t)
	t.Setenv("WRONG_PASSWORD", "not-the-one")
	socket := fmt.Sprintf("socket: %s, user: root", server.Socket())

	for name, c := range map[string]struct {
		plan string
		want []string
	}{
		"wrong password": {
			"target: { address: \"" + server.Address() + "\", user: root, password: \"${{ secrets.WRONG_PASSWORD }}\" }\nsteps:\n  - database: create\n",
			[]string{":3:5: database: target " + server.Address(), "Access denied", "check the target's user and password"},
		},
		"unknown host": {
			"target: { address: no-such-host.invalid }\nsteps:\n  - database: create\n",
			[]string{":3:5: database: target no-such-host.invalid:3306", "the host name is not known"},
		},
		"nothing listens": {
			"target: { address: \"" + closedPort(t) + "\" }\nsteps:\n  - sql: SELECT 1\n",
			[]string{":3:5: sql: target 127.0.0.1:", "connection refused", "nothing listens there"},
		},
		"no such socket": {
			"target: { socket: /nonexistent/mysqld.sock }\nsteps:\n  - sql: SELECT 1\n",
			[]string{":3:5: sql: target /nonexistent/mysqld.sock", "there is no such socket"},
		},
		"a server that says nothing": {
			"target: { address: \"" + silent + "\", connect_timeout: 300ms }\nsteps:\n  - sql: SELECT 1\n",
			[]string{":3:5: sql: target " + silent},
		},
		"database missing": {
			"target: { " + socket + ", database: not_there }\ntables: { schema: benchyou }\nsteps:\n  - prepare:\n",
			[]string{":4:5: prepare: target", "Unknown database 'not_there'", "database: create"},
		},
		"table missing": {
			"target: { " + socket + ", database: " + database + " }\ntables: { schema: benchyou }\nsteps:\n  - name: mix\n    run: { workload: benchyou_random, threads: { write: 1 }, duration: 1s }\n",
			[]string{`:5:5: run "mix": target`, "doesn't exist", "prepare"},
		},
		"HTTP 500": {
			"steps:\n  - http: { put: \"" + http500.URL + "/v1/radon/config\", json: {} }\n",
			[]string{":2:5: http: PUT " + http500.URL + "/v1/radon/config: status 500 Internal Server Error: {\"Error\":\"the backend is gone\"}"},
		},
		"HTTP hangs": {
			"steps:\n  - http: { get: \"http://" + silent + "/\", timeout: 300ms }\n",
			[]string{":2:5: http: GET http://" + silent + "/: no whole answer within the timeout of 300ms"},
		},
		"HTTP refused": {
			"steps:\n  - http: { get: \"http://" + closedPort(t) + "/\" }\n",
			[]string{":2:5: http: GET http://127.0.0.1:", "nothing listens there"},
		},
		"a step takes too long": {
			"steps:\n  - name: slow\n    timeout: 200ms\n    wait: 1h\n",
			[]string{`:4:5: wait "slow": it took longer than its timeout of 200ms`},
		},
		"SQL error": {
			"target: { " + socket + ", database: " + database + " }\nsteps:\n  - sql: [ SELECT 1, SELECT nonsense ]\n",
			[]string{":3:5: sql: statement 2 of 2, `SELECT nonsense`", "Unknown column 'nonsense'"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := planFile(t, "p.yaml", c.plan)
			begin := time.Now()
			got := benchplan(t, "run", file, "--runs", t.TempDir(), "--quiet").want(t, exitFailed)
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			got.says(t, c.want...)
			if n := strings.Count(got.err, "\n"); n != 1 {
				t.Errorf("want one line, got %d:\n%s", n, got.err)
			}
		})
	}
}

// silentServer takes connections and never answers.
func silentServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		var held []net.Conn // one that nobody holds any more is closed by the garbage collector
		for {
			conn, err := l.Accept()
			if err != nil {
				break
			}
			held = append(held, conn)
		}
		for _, conn := range held {
			conn.Close()
		}
	}()
	return l.Addr().String()
}

func TestSecretThatIsNotSet(t *testing.T) {
	os.Unsetenv("NO_SUCH_PASSWORD")
	file := planFile(t, "p.yaml", "target:\n  address: 127.0.0.1\n  password: ${{ secrets.NO_SUCH_PASSWORD }}\nsteps:\n  - database: create\n")
	runs := t.TempDir()
	benchplan(t, "run", file, "--runs", runs).want(t, exitUsage).
		says(t, "p.yaml:3:17: the secret NO_SUCH_PASSWORD is not set", "password: ${{ secrets.NO_SUCH_PASSWORD }}", "^")
	if entries, _ := os.ReadDir(runs); len(entries) > 0 {
		t.Error("a run folder was made")
	}
	got := benchplan(t, "validate", file).want(t, exitDone)
	if !strings.Contains(got.out, "secrets: NO_SUCH_PASSWORD") {
		t.Errorf("validate does not name the secret:\n%s", got.out)
	}
}

func TestServerThatDiesInACell(t *testing.T) {
	server := servertest.Start(t, localserver.Config{})
	runs := filepath.Join(t.TempDir(), "run")
	file := planFile(t, "p.yaml", fmt.Sprintf(`
target: { socket: %s, database: dies }
tables: { schema: benchyou, count: 2 }
steps:
  - database: create
  - prepare:
  - { name: first, run: { workload: benchyou_random, threads: { write: 2 }, events: 100 } }
  - { name: second, run: { workload: benchyou_random, threads: { write: 2 }, duration: 4s } }
`, server.Socket()))
	go func() {
		time.Sleep(2 * time.Second)
		process, err := os.FindProcess(server.PID())
		if err == nil {
			_ = process.Kill()
		}
	}()
	got := benchplan(t, "run", file, "--out", runs).want(t, exitFailed)
	got.says(t, `p.yaml:8:21: run "second": target`)
	run, cells := opened(t, runs)
	if run.Status != results.RunFailed || len(cells) != 2 || cells[0].Status != results.Complete || cells[1].Status != results.Failed || cells[1].Outcome.Events == 0 {
		t.Errorf("status %s, cells %+v", run.Status, cells)
	}
}

func TestForeignTablesStay(t *testing.T) {
	target, database, server := onServer(t)
	db := servertest.OpenDB(t, server, database)
	if _, err := db.Exec("CREATE TABLE benchyou0 (precious INT)"); err != nil {
		t.Fatal(err)
	}
	for kind, step := range map[string]string{"prepare": "prepare:", "cleanup": "cleanup:", "database": "database: drop"} {
		t.Run(kind, func(t *testing.T) {
			file := planFile(t, "p.yaml", target+"tables: { schema: benchyou, count: 1 }\nsteps:\n  - "+step+"\n")
			benchplan(t, "run", file, "--runs", t.TempDir()).want(t, exitFailed).says(t, "benchyou0", "--force")
			if _, err := db.Exec("SELECT precious FROM benchyou0"); err != nil {
				t.Fatal(err)
			}
		})
	}
	file := planFile(t, "p.yaml", target+"tables: { schema: benchyou, count: 1 }\nsteps:\n  - prepare:\n  - cleanup:\n")
	benchplan(t, "run", file, "--runs", t.TempDir(), "--force").want(t, exitDone)
}

func TestShellNeedsLeave(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	file := planFile(t, "p.yaml", "steps:\n  - shell: touch "+made+"\n")
	benchplan(t, "run", file, "--runs", t.TempDir()).want(t, exitUsage).says(t, "p.yaml:2:5", "--allow-shell")
	if _, err := os.Stat(made); err == nil {
		t.Error("the command was executed")
	}
	benchplan(t, "run", file, "--runs", t.TempDir(), "--allow-shell").want(t, exitDone)
	if _, err := os.Stat(made); err != nil {
		t.Error(err)
	}
}

func TestSecretInACommandIsRefused(t *testing.T) {
	file := planFile(t, "p.yaml", "steps:\n  - shell: \"mysql -p${{ secrets.NO_SUCH_PASSWORD }}\"\n  - shell: { command: \"mysql -p$P\", env: { P: \"${{ secrets.NO_SUCH_PASSWORD }}\" } }\n")
	benchplan(t, "validate", file).want(t, exitUsage).says(t, "p.yaml:2:12: shell: a secret in a command is seen by everybody")
	t.Setenv("NO_SUCH_PASSWORD", "x")
	benchplan(t, "validate", file).want(t, exitUsage).says(t, "p.yaml:2:12: shell: a secret in a command is seen by everybody")
}

func TestPasswordInAPlanIsRefused(t *testing.T) {
	file := planFile(t, "p.yaml", "target: { address: 127.0.0.1, password: hunter22 }\nsteps:\n  - sql: SELECT 1\n")
	benchplan(t, "validate", file).want(t, exitUsage).says(t, "p.yaml:1:41: password: what stands in a plan", "${{ secrets.NAME }}")
}

// TestProgressOnATerminal: on a terminal the last line is drawn by a goroutine of its own, which must never wait for a line that
// waits for it; and no line is lost.
func TestProgressOnATerminal(t *testing.T) {
	path, err := exec.LookPath("benchplan")
	if err != nil {
		t.Fatal(err)
	}
	file := planFile(t, "p.yaml", "steps:\n  - matrix: { i: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], j: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }\n    repeat: 10\n    steps: [ { name: tick, wait: 1ms } ]\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	script := exec.CommandContext(ctx, "script", "-qec", path+" run "+file+" --runs "+t.TempDir(), "/dev/null") // gives it a terminal
	script.Env = append(os.Environ(), "TERM=xterm", "COLUMNS=100")
	output, err := script.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if n := strings.Count(string(output), "wait tick i="); n < 1000 {
		t.Errorf("%d lines of 1000", n)
	}
}

// TestWhatARunPrintsIsMasked: at the end of a run its record is printed from memory, where what came along beside the plan stands as it was.
func TestWhatARunPrintsIsMasked(t *testing.T) {
	const secret = "hunter22-that-nobody-sees"
	t.Setenv("A_PASSWORD", secret)
	file := planFile(t, "p.yaml", `vars: { note: "" }
steps:
  - shell: { command: "true", env: { P: "${{ secrets.A_PASSWORD }}" } }
  - run: { workload: cpu, cpu_max_prime: 100, events: 10 }
`)
	got := benchplan(t, "run", file, "--runs", t.TempDir(), "--allow-shell", "--set", "vars.note="+secret, "--format", "html").want(t, exitDone)
	if strings.Contains(got.out+got.err, secret) || !strings.Contains(got.out, "--set vars.note=") {
		t.Error("the page shows the secret, or not that something was set")
	}
}
