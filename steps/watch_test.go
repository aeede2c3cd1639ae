package steps

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
)

// watchedPlan is a load on a server that is there.
func watchedPlan(target string) string {
	return target + `
tables: { schema: sbtest, rows: 500 }
steps:
  - prepare:
  - { name: rw, run: { workload: oltp_read_write, threads: 2, duration: 1200ms } }
`
}

// TestFiguresBesideALoad: in the journal, and for each second, of this machine with the server on it, and of the server.
func TestFiguresBesideALoad(t *testing.T) {
	server := servertest.Start(t, localserver.Config{TCP: true})
	db := servertest.OpenDB(t, server, "")
	for _, statement := range []string{"CREATE DATABASE d", "CREATE USER tcp@'127.0.0.1' IDENTIFIED BY 'long-word'", "GRANT ALL ON *.* TO tcp@'127.0.0.1'"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	tcp := "user: tcp, password: \"${{ secrets.WORD }}\", database: d, address: \"" + server.Address() + "\""
	for name, c := range map[string]struct {
		target string
		server bool // it is known to run here
		pid    int
	}{
		"a socket":             {"target: { socket: " + server.Socket() + ", database: d }", true, server.PID()},
		"a private server":     {"", true, -1},
		"TCP":                  {"target: { " + tcp + " }", false, 0},
		"TCP, on this machine": {"target: { " + tcp + ", monitor: local }", true, server.PID()},
		"a socket, unwatched":  {"target: { socket: " + server.Socket() + ", database: d, monitor: none }", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := trial{plan: watchedPlan(c.target), env: map[string]string{"WORD": "long-word"}}.carryOut(t).done(t)
			cell := o.cells[0]
			if len(cell.Machines) != 1 {
				t.Fatalf("machines %+v", cell.Machines)
			}
			here := cell.Machines[0]
			if here.Role != results.Generator || here.Server != c.server || here.Usage.CPUs == 0 || here.Usage.ContextSwitches == 0 || here.Processes["benchplan"].PID != os.Getpid() {
				t.Errorf("%+v", here)
			}
			process, known := here.Processes["server"]
			if known != c.server || c.pid > 0 && process.PID != c.pid || known && process.User+process.System == 0 {
				t.Errorf("the server's process is %+v, want %d", process, c.pid)
			}
			if rows := lines(t, filepath.Join(o.folder, here.SeriesFile)); rows < 2 {
				t.Errorf("%d lines of the machine's seconds", rows)
			}
			status := cell.Server
			if status == nil || status.Counters["questions"] < cell.Outcome.Events || status.Counters["com_commit"] == 0 || len(status.Variables) > 0 {
				t.Errorf("status %+v", status)
			} else if rows := lines(t, filepath.Join(o.folder, status.SeriesFile)); rows < 2 {
				t.Errorf("%d lines of the server's seconds", rows)
			}
			if host := o.run.Targets[0].Host; (host != nil) != c.server || host != nil && (host.CPUs == 0 || host.Disk == "") {
				t.Errorf("the server's machine is %+v", host)
			}
			o.noneHolds(t, "long-word")
		})
	}
}

// lines counts those of a file.
func lines(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
	}
	return strings.Count(string(b), "\n")
}

// TestWhatIsNotWatched: a rehearsal, and the server of a load on this machine.
func TestWhatIsNotWatched(t *testing.T) {
	o := trial{plan: watchedPlan(""), change: func(c *Config) { c.Rehearse = true }}.carryOut(t).done(t)
	if cell := o.cells[0]; cell.Machines != nil || cell.Server != nil {
		t.Errorf("rehearsed: %+v %+v", cell.Machines, cell.Server)
	}
	o = carryOut(t, "steps:\n  - { name: c, run: { workload: cpu, threads: 1, duration: 1s } }\n").done(t)
	if cell := o.cells[0]; len(cell.Machines) != 1 || cell.Machines[0].Server || cell.Machines[0].Processes["benchplan"].User == 0 || cell.Server != nil {
		t.Errorf("a load on this machine: %+v %+v", cell.Machines, cell.Server)
	}
}

// TestVariablesOfACell: those that differ from the run's record of the server, which is as it was first met.
func TestVariablesOfACell(t *testing.T) {
	o := carryOut(t, `
target: { local: { options: { innodb_flush_log_at_trx_commit: 1 } } }
tables: { schema: sbtest, rows: 100 }
steps:
  - prepare:
  - { name: first, run: { workload: oltp_point_select, events: 10 } }
  - server: { set: { innodb_flush_log_at_trx_commit: 2 } }
  - { name: set, run: { workload: oltp_point_select, events: 10 } }
  - server: { restart: { sync_binlog: 7 } }
  - { name: restarted, run: { workload: oltp_point_select, events: 10 } }
`).done(t)
	if got := o.run.Targets[0].Variables; got["innodb_flush_log_at_trx_commit"] != "1" || got["sync_binlog"] != "0" {
		t.Errorf("the server was met with %s and %s", got["innodb_flush_log_at_trx_commit"], got["sync_binlog"])
	}
	for i, want := range []map[string]string{nil, {"innodb_flush_log_at_trx_commit": "2"}, {"sync_binlog": "7"}} {
		var got map[string]string
		if o.cells[i].Server != nil {
			got = o.cells[i].Server.Variables
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", o.cells[i].Key(), got, want)
		}
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s: %s is %q, want %q", o.cells[i].Key(), name, got[name], value)
			}
		}
	}
}

func TestAddressOfAMonitor(t *testing.T) {
	for _, c := range []struct{ monitor, target, want string }{
		{"", "10.0.0.1:3306", "10.0.0.1"},
		{"", "db.example", "db.example"},
		{":2222", "10.0.0.1:3306", "10.0.0.1:2222"},
		{":2222", "[fe80::1]:3306", "[fe80::1]:2222"},
		{"", "[fe80::1]:3306", "fe80::1"},
		{"jump.example", "10.0.0.1:3306", "jump.example"},
		{"fe80::2", "10.0.0.1:3306", "fe80::2"},
	} {
		if got := sshAddress(c.monitor, c.target); got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.monitor, c.target, got, c.want)
		}
	}
	m := &machines{folder: "/plans"}
	access := m.access(&plan.Target{Address: "h", Monitor: &plan.Monitor{Key: "keys/id", KnownHosts: "~/.ssh/other", User: "u"}})
	if access.Key != "/plans/keys/id" || access.KnownHosts != "~/.ssh/other" || access.User != "u" || access.Address != "h" {
		t.Errorf("%+v", access)
	}
}
