package steps

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchplan/results"
	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
	"benchplan/workloads/engine"
)

// TestRunCountsWhatTheServerCounts: exactly so many events, and the statements of the record are those that the server counted.
// The tables are made anew each time: the same cell draws the same ids, and an insert that meets one is counted by the server
// and restarted by us.
func TestRunCountsWhatTheServerCounts(t *testing.T) {
	server := servertest.Start(t, localserver.Config{}) // nobody else sends it statements
	db := servertest.OpenDB(t, server, "")
	status := func(name string) (value int64) {
		var variable string
		if err := db.QueryRow("SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(&variable, &value); err != nil {
			t.Error(err)
		}
		return value
	}
	// With text, one client asks for the sql_mode before it writes texts into statements.
	for mode, asked := range map[string]int64{"auto": 0, "disable": 1} {
		t.Run(mode, func(t *testing.T) {
			var inserts, selects int64
			o := trial{on: func(event string) {
				switch event {
				case "cell 1 of 1":
					inserts, selects = -status("Com_insert"), -status("Com_select")
				case "cell done complete":
					inserts, selects = inserts+status("Com_insert"), selects+status("Com_select")
				}
			}, plan: fmt.Sprintf(`
target: { socket: %s, database: counts }
tables: { schema: benchyou, count: 4 }
steps:
  - database: create
  - prepare:
  - name: mix
    labels: { config: plain, mix: rw }
    run: { workload: benchyou_random, threads: { write: 64, read: 64 }, events: 10000, ps_mode: %s }
    assert: [ events == 10000, errors == 0, restarts == 0 ]
  - verify:
`, server.Socket(), mode)}.carryOut(t).done(t)
			cell := o.cells[0]
			write, read := cell.Outcome.Statements[results.Write].Count, cell.Outcome.Statements[results.Read].Count
			if cell.Outcome.Events != 10000 || write+read != 10000 || write != inserts || read != selects-asked || write == 0 || read == 0 {
				t.Errorf("events %d, writes %d of %d, reads %d of %d", cell.Outcome.Events, write, inserts, read, selects)
			}
		})
	}
}

func TestRecord(t *testing.T) {
	target, database, server := onShared(t)
	o := trial{change: func(c *Config) { c.Seed = 42 }, plan: target + `
tables: { schema: benchyou, count: 2, rows: 50 }
steps:
  - name: group
    matrix: { engine: [ a, b ] }
    repeat: 2
    order: interleaved
    steps:
      - prepare:
      - name: mix
        labels: { mix: rw }
        run: { workload: benchyou_random, rows_per_insert: 2, threads: { write: 2, read: 1 }, events: 20, warmup: 10ms, on_error: { 1105: count, default: stop } }
`}.carryOut(t).done(t)
	type short struct {
		Key           string
		Repeat, Round int
		Seq           int
		Rows          int64
		Order         string
	}
	var got []short
	seeds := map[any]bool{}
	for _, c := range o.cells {
		got = append(got, short{c.Key(), c.Repeat, c.Round, c.Seq, c.RowsAtStart, c.Attributes["order"]})
		seeds[c.Options["seed"]] = true
	}
	want := []short{
		{"group/mix{engine=a,mix=rw}", 1, 1, 1, 100, "interleaved"}, {"group/mix{engine=b,mix=rw}", 1, 1, 2, 100, "interleaved"},
		{"group/mix{engine=a,mix=rw}", 2, 2, 3, 100, "interleaved"}, {"group/mix{engine=b,mix=rw}", 2, 2, 4, 100, "interleaved"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(seeds) != 4 {
		t.Errorf("seeds %v: each cell and each repeat has its own", seeds)
	}
	c := o.cells[0]
	if c.Target.Address != server.Socket() || c.Target.Database != database || c.ServerVersion == "" || c.Status != results.Complete || fmt.Sprint(c.Options["rows_per_insert"]) != "2" || c.Wanted.Events != 20 || c.Clients["write"] != 2 {
		t.Errorf("%+v", c)
	}
	if len(o.run.Targets) != 1 || o.run.Targets[0].Variables["version"] == "" {
		t.Errorf("targets %+v", o.run.Targets)
	}
}

// TestSeedOfACellIsItsOwn: it depends on the run's seed, the identity and the repeat, and not on what ran before.
func TestSeedOfACellIsItsOwn(t *testing.T) {
	target, _, _ := onShared(t)
	page := target + `
tables: { schema: benchyou }
steps:
  - prepare:
  - { name: one, run: { workload: benchyou_random, threads: { write: 1 }, events: 1 } }
  - { name: two, run: { workload: benchyou_random, threads: { write: 1 }, events: 1 } }
`
	seed := func(seed int64, only ...string) any {
		o := trial{plan: page, change: func(c *Config) { c.Seed, c.Only = seed, only }}.carryOut(t).done(t)
		return o.cells[len(o.cells)-1].Options["seed"]
	}
	if a, b, c := seed(1), seed(1, "two"), seed(2); a != b || a == c {
		t.Errorf("%v %v %v", a, b, c)
	}
}

func TestRunFaults(t *testing.T) {
	target, database, server := onShared(t)
	at := "p.yaml:6:5: run \"mix\": target " + server.Socket() + ": workload benchyou_random: "
	for name, c := range map[string]struct {
		before, run, want string
		cells             int
	}{
		"tables missing":    {"sql: SELECT 1", "events: 10", at + " … 1146 … make the tables first", 1},
		"an error stops it": {"sql: CREATE TABLE benchyou0 (id INT)", "events: 10", at + " … 1054", 1},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := servertest.OpenDB(t, server, database).Exec("DROP TABLE IF EXISTS benchyou0"); err != nil {
				t.Fatal(err)
			}
			o := carryOut(t, target+"tables: { schema: benchyou }\nsteps:\n  - "+c.before+"\n  - name: mix\n    run: { workload: benchyou_random, threads: { write: 2 }, "+c.run+" }\n")
			o.fails(t, c.want)
			if n := strings.Count(o.errs[0], "prepare"); n > 1 {
				t.Errorf("the remedy is given %d times: %s", n, o.errs[0])
			}
			if len(o.cells) != c.cells || o.cells[0].Status != results.Failed || o.cells[0].Outcome.Stopped != results.ByError || o.cells[0].Error == "" {
				t.Errorf("cells %+v", o.cells)
			}
		})
	}
	for text, want := range map[string]string{
		"{ workload: benchyou_random }":                                                             "would never end",
		"{ workload: benchyou_random, threads: 4, events: 1 }":                                      "has the roles write read update delete",
		"{ workload: benchyou_random, threads: { writ: 4 }, events: 1 }":                            `has no role "writ"`,
		"{ workload: benchyou_random, threads: { write: 0 }, events: 1 }":                           "there are no clients",
		"{ workload: benchyou_random, threads: { write: 1 }, events: 1, on_error: { x: stop } }":    "neither the number of an error nor default",
		"{ workload: benchyou_random, threads: { write: 1 }, events: 1, on_error: { 1105: halt } }": `"halt" is not one of: stop, restart, count, reconnect`,
		"{ workload: benchyou_random, threads: { write: 1 }, events: 1, keys: existing }":           "needs tables with rows",
		"{ workload: benchyou_rand, events: 1 }":                                                    `there is no workload "benchyou_rand"`,
	} {
		if err := read("tables: { schema: benchyou }\nsteps:\n  - run: " + text + "\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestTimeoutOfARun is a failure, and what was measured is kept.
func TestTimeoutOfARun(t *testing.T) {
	target, _, _ := onShared(t)
	o := carryOut(t, target+`
tables: { schema: benchyou }
steps:
  - prepare:
  - { name: mix, timeout: 700ms, run: { workload: benchyou_random, threads: { write: 2 }, duration: 1h } }
`)
	o.fails(t, `p.yaml:6:34: run "mix": it took longer than its timeout of 700ms`)
	if len(o.cells) != 1 || o.cells[0].Status != results.Failed || o.cells[0].Outcome.Events == 0 || o.cells[0].Error != "it took longer than its timeout of 700ms" {
		t.Errorf("cells %+v", o.cells)
	}
}

// TestPrivateServerThatDies: in a load, in a preparation, and between two steps.
func TestPrivateServerThatDies(t *testing.T) {
	for name, c := range map[string]struct {
		steps, event, step string
		cells              int
	}{
		"in a load":        {"- { name: x, run: { workload: benchyou_random, threads: { write: 4 }, duration: 1h } }", "load", `p.yaml:5:16: run "x"`, 1},
		"in a preparation": {"- tables: { rows: 10M }\n    steps: [ prepare: ]", "filling", "p.yaml:6:14: prepare", 0},
		"between":          {"- wait: 300ms\n  - sql: SELECT 1", "step wait", "p.yaml:6:5: sql", 0},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			killed, pid := false, 0
			o := trial{plan: "tables: { schema: benchyou }\nsteps:\n  - prepare:\n  - { id: pid, sql: SELECT @@pid_file AS f }\n  " + c.steps + "\n", on: func(e string) {
				if e == c.event && !killed {
					killed = true
					pid = killPrivateServer(t)
				}
			}}.carryOut(t)
			if took := time.Since(begin); took > 20*time.Second || pid == 0 {
				t.Errorf("it took %s, pid %d", took, pid)
			}
			o.fails(t, c.step+": private server: … signal: killed")
			if len(o.cells) != c.cells {
				t.Errorf("%d cells", len(o.cells))
			}
			for _, cell := range o.cells {
				if cell.Status != results.Failed || cell.Outcome.Events == 0 || cell.Outcome.Stopped != results.ByError {
					t.Errorf("%+v", cell)
				}
			}
		})
	}
}

// startOf gives when a process began, in ticks since the machine did: the 22nd field of its stat, the 20th behind the name.
func startOf(pid string) uint64 {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat")
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 20 {
		return 0
	}
	began, _ := strconv.ParseUint(fields[19], 10, 64)
	return began
}

// killPrivateServer kills -9 the server that this process has started last.
func killPrivateServer(t *testing.T) int {
	t.Helper()
	youngest, newest := 0, uint64(0)
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Error(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		status, _ := os.ReadFile("/proc/" + e.Name() + "/status")
		command, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) && strings.Contains(string(command), "--datadir=") {
			if began := startOf(e.Name()); began >= newest {
				youngest, newest = pid, began // process ids wrap around, the clock does not
			}
		}
	}
	if youngest == 0 {
		t.Error("no private server is there")
		return 0
	}
	p, err := os.FindProcess(youngest)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Error(err)
	}
	return youngest
}

func TestRehearsedOrder(t *testing.T) {
	for _, c := range []struct{ clients, want []int }{
		{[]int{1}, []int{1}},
		{[]int{64}, []int{64}},
		{[]int{64, 128, 0}, []int{21, 42, 0}},
		{[]int{100000, 1, 1, 1}, []int{61, 1, 1, 1}},
		{[]int{32, 32}, []int{32, 32}},
	} {
		o := engine.Order{}
		for _, n := range c.clients {
			o.Clients = append(o.Clients, engine.RoleClients{Count: n})
		}
		var got []int
		for _, r := range rehearsed(o).Clients {
			got = append(got, r.Count)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v: %s", c.clients, diff)
		}
	}
}

// TestHowStatementsAreSent is in the record, and among the options where the plan says so.
func TestHowStatementsAreSent(t *testing.T) {
	o := carryOut(t, `
tables: { schema: sbtest, rows: 100 }
steps:
  - prepare:
  - { name: driver, run: { workload: oltp_point_select, threads: 2, events: 5, io: driver } }
  - { name: left out, run: { workload: oltp_point_select, threads: 2, events: 5 } }
`).done(t)
	if c := o.cells[0]; c.Options["io"] != "driver" || c.Outcome.IO != "driver" {
		t.Errorf("options %v, driven by %q", c.Options, c.Outcome.IO)
	}
	if c := o.cells[1]; c.Options["io"] != nil || c.Outcome.IO != "loop" && runtime.GOOS == "linux" {
		t.Errorf("options %v, driven by %q", c.Options, c.Outcome.IO)
	}
}

// TestPSModeOfTheTarget: the run's mode comes before the target's, and that before the workload's own.
func TestPSModeOfTheTarget(t *testing.T) {
	o := carryOut(t, `
target: { ps_mode: disable }
tables: { schema: sbtest, rows: 100 }
steps:
  - prepare:
  - { name: target, run: { workload: oltp_point_select, threads: 1, events: 5 } }
  - { name: run, run: { workload: oltp_point_select, threads: 1, events: 5, ps_mode: auto } }
`).done(t)
	for i, want := range []string{"disable", "auto"} {
		if got := fmt.Sprint(o.cells[i].Options["ps_mode"]); got != want {
			t.Errorf("%s: %s, want %s", o.cells[i].Path, got, want)
		}
	}
}
