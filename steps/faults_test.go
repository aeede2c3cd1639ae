package steps

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"benchplan/results"
	"benchplan/steps/localserver"
	"benchplan/steps/localserver/proxytest"
	"benchplan/steps/localserver/servertest"
)

// What a run comes to when its server fails, by the moment at which it does. "broke off": the step fails at once. "no answer": it
// fails when target.Patience is over. "not in": it fails after connect_timeout, and "refused" at once. "-": nothing is noticed. Each of
// these ends the plan with exit status 1, after finally; wait goes on trying until its own timeout. A cell that came to connecting its
// clients is in the record, as failed, with what was counted until then.
//
//	            | killed, cut, | restarted,  | frozen,      | half-open  | no connections   | no prepared     | read-only,
//	            | reset        | cut once    | black hole   |            | (and cut)        | statements (cut)| disk full
//	reach       | broke off    | -           | not in       | -          | refused 1040     | -               | -
//	sql         | broke off    | broke off   | no answer    | no answer  | broke off        | broke off       | -
//	wait        | timeout      | -           | timeout      | -          | timeout          | -               | -
//	prepare     | broke off    | broke off   | no answer    | no answer  | broke off        | broke off       | 1290, 1114
//	connecting  | failed, 0    | complete    | failed, 0    | complete   | failed, 0, 1040  | failed, 0, 1461 | failed, 1290, 1114
//	load        | failed after | complete,   | by duration: | as frozen  | failed after     | failed after    | failed at once,
//	            | reconnect_   | reconnects  | complete, cut|            | reconnect_timeout| the same, 1461  | one error counted
//	            | timeout      |             | by events:   |            | 1040             |                 |
//	            |              |             | failed after |            |                  |                 |
//	            |              |             | silence      |            |                  |                 |
//	between     | no cell more | complete    | no cell more | complete   | no cell more     | no cell more    | failed
//	verify      | broke off    | broke off   | no answer    | no answer  | broke off        | broke off       | -
//	finally     | broke off    | broke off   | no answer    | no answer  | broke off        | broke off       | -

// The limits that the plans of these tests set, and what a loaded machine may add.
const (
	faultPatience = 3 * time.Second // in place of target.Patience
	faultSlack    = time.Minute
)

// phase is a moment of a run at which its server fails.
type phase struct {
	name  string
	steps string // of the plan; the last of them is hit
	event string // after which the server fails; empty: before the run
	query string // if not empty, not before the server executes one that has this text
	step  string // in which it shows
}

// faultLoad is the load that is hit. It leaves the machine to others.
func faultLoad(name, io, ends string) string {
	return fmt.Sprintf("  - { name: %s, run: { workload: benchyou_random, threads: { write: 2, read: 1 }, rate: 150, reconnect_timeout: RECONNECT, grace: 1s, silence: 3s, ps_mode: auto, io: %s, %s } }\n", name, io, ends)
}

const (
	faultData = "  - { name: data, prepare: { method: insert } }\n"
	longWay   = "SELECT SLEEP(2)"
)

var faultPhases = []phase{
	{name: "reach", steps: "  - { name: x, sql: SELECT 1 }\n", step: "sql"},
	{name: "sql", steps: "  - { name: x, sql: " + longWay + " }\n", event: `step sql "x"`, query: longWay, step: "sql"},
	{name: "wait", steps: "  - { name: x, wait: { until: { sql: SELECT 1 }, timeout: 4s, interval: 50ms } }\n", event: `step wait "x"`, step: "wait"},
	{name: "prepare", steps: "  - tables: { rows: 20k }\n    steps: [ { name: x, prepare: { method: insert, threads: 2 } } ]\n", event: "filling", step: "prepare"},
	{name: "prepare, prepared", steps: "  - tables: { rows: 20k }\n    steps: [ { name: x, prepare: { method: prepared, threads: 2 } } ]\n", event: "filling", step: "prepare"},
	{name: "connecting, loop", steps: faultData + faultLoad("x", "loop", "duration: 1s"), event: "cell 1 of 1", step: "run"},
	{name: "connecting, driver", steps: faultData + faultLoad("x", "driver", "duration: 1s"), event: "cell 1 of 1", step: "run"},
	{name: "duration, loop", steps: faultData + faultLoad("x", "loop", "duration: DURATION"), event: "load", step: "run"},
	{name: "duration, driver", steps: faultData + faultLoad("x", "driver", "duration: DURATION"), event: "load", step: "run"},
	{name: "events, loop", steps: faultData + faultLoad("x", "loop", "events: EVENTS"), event: "load", step: "run"},
	{name: "events, driver", steps: faultData + faultLoad("x", "driver", "events: EVENTS"), event: "load", step: "run"},
	{name: "between", steps: faultData + faultLoad("first", "auto", "events: 20") + faultLoad("x", "auto", "events: 20"), event: "cell done complete", step: "run"},
	// One table, so that no other connection of the step is on its way in.
	{name: "verify", steps: "  - tables: { count: 1 }\n    steps: [ { name: data, prepare: { method: insert } }, { name: x, verify: } ]\n", event: `step verify "x"`, query: "COUNT(*)", step: "verify"},
	{name: "finally", steps: "  - wait: 1ms\nfinally:\n  - { name: x, sql: " + longWay + " }\n", event: `step sql "x"`, query: longWay, step: "sql"},
}

// disaster is what befalls a server, and what comes of it.
type disaster struct {
	name      string
	own       bool   // it befalls more than the connections of one run
	servers   int    // that share the phases, where each takes long; 0: one
	soft      bool   // what is under way goes on
	reconnect string // of loads; empty: 3s
	duration  string // of those that have one; empty: they end by the disaster
	events    string // likewise
	inflict   func(*victim)
	// comes gives, by phase, what the error holds (empty: there is none), and what the last cell is; "" is none.
	comes map[string]ending
}

// ending is how a run ends.
type ending struct {
	says  string // parts of the error, with … between; empty: there is none
	cell  string // status, and what is counted; parts with … between
	maybe bool   // or nothing is noticed: a connection that is lost between two statements is replaced
}

// victim is a server with a proxy before it.
type victim struct {
	t        *testing.T
	server   *localserver.Server
	proxy    *proxytest.Proxy
	admin    *sql.DB // of one connection
	database string
	after    []func() // what makes it well again
}

func (v *victim) later(do func()) { v.after = append(v.after, do) }

func (v *victim) signal(sig syscall.Signal) {
	if err := syscall.Kill(v.server.PID(), sig); err != nil {
		v.t.Error(err)
	}
}

// freeze stops the server, and waits until all its threads stand still.
func (v *victim) freeze() {
	v.signal(syscall.SIGSTOP)
	for begin := time.Now(); time.Since(begin) < faultSlack; time.Sleep(time.Millisecond) {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", v.server.PID()))
		moves := func(stat string) bool {
			text, err := os.ReadFile(stat)
			return err == nil && !strings.Contains(string(text), ") T ")
		}
		if err == nil && !slices.ContainsFunc(threads, moves) {
			return
		}
	}
}

func (v *victim) exec(statements ...string) {
	for _, s := range statements {
		if _, err := v.admin.Exec(s); err != nil {
			v.t.Errorf("%s: %v", s, err)
		}
	}
}

// set sets a variable until it is well again.
func (v *victim) set(name, value string) {
	before := v.scalar("SELECT @@GLOBAL." + name)
	v.exec("SET GLOBAL " + name + "=" + value)
	v.later(func() { v.exec("SET GLOBAL " + name + "=" + before) })
}

// scalar asks one thing.
func (v *victim) scalar(query string, args ...any) (value string) {
	if err := v.admin.QueryRow(query, args...).Scan(&value); err != nil {
		v.t.Errorf("%s: %v", query, err)
	}
	return value
}

func (v *victim) restart() {
	if err := v.server.Restart(context.WithoutCancel(v.t.Context()), nil); err != nil {
		v.t.Error(err)
	}
}

// breaks has all connections go wrong, and those to come.
func (v *victim) breaks(how proxytest.Manner) {
	v.proxy.Fail(proxytest.Always(proxytest.Fault{How: how}))
	v.proxy.Break(how)
}

// occupy cuts the connections of the run and takes all that the server has.
func (v *victim) occupy() {
	v.breaks(proxytest.Cut)
	v.set("max_connections", "10")
	db := servertest.OpenDB(v.t, v.server, "")
	for {
		conn, err := db.Conn(v.t.Context())
		if err != nil {
			break
		}
		v.later(func() { _ = conn.Close() })
	}
	v.proxy.Fail(nil)
	v.later(func() { db.SetMaxIdleConns(-1) })
}

// The endings that several disasters have.
var (
	brokeOff   = ending{says: "target 127.0.0.1: … the connection broke off; see whether the server runs"}
	timedOut   = ending{says: "waited 4s for `SELECT 1`: target"}
	unanswered = ending{says: "no answer for … see whether the server hangs"}
	notIn      = ending{says: "the server did not let the client in within 3s … connect_timeout"}
	goesOn     = ending{}
	complete   = ending{cell: "complete"}
	lost       = ending{says: "server lost: no connection for 3s: ", cell: "failed … restarts {0 "}
	notBegun   = ending{says: "of 3 clients connected, then: … the connection broke off", cell: "failed events 0 "}
)

func gone() map[string]ending {
	return map[string]ending{
		"reach": brokeOff, "sql": brokeOff, "wait": timedOut, "prepare": brokeOff, "connecting": notBegun, "duration": lost, "events": lost,
		"between": {says: brokeOff.says, cell: "complete events 20 "}, "verify": brokeOff, "finally": brokeOff,
	}
}

func once() map[string]ending {
	back := ending{cell: "complete events 450 … reconnects 3 "}
	return map[string]ending{
		"reach": goesOn, "sql": brokeOff, "wait": goesOn, "prepare": {says: brokeOff.says, maybe: true}, "connecting": complete, "events": back,
		"between": complete, "verify": brokeOff, "finally": brokeOff,
	}
}

func silent() map[string]ending {
	silence := ending{says: "server lost: it answered no statement of any client for … give the run a duration", cell: "failed"}
	return map[string]ending{
		"reach": notIn, "sql": unanswered, "wait": timedOut, "prepare": unanswered, "connecting": {says: "0 of 3 clients connected, then: " + notIn.says, cell: "failed events 0 "},
		"duration": {cell: "complete … cut 3"}, "events": silence, "between": {says: notIn.says, cell: "complete events 20 "}, "verify": {says: "count the rows of table … " + unanswered.says}, "finally": unanswered,
	}
}

// but gives what comes with some of it replaced.
func but(comes, others map[string]ending) map[string]ending {
	for name, e := range others {
		comes[name] = e
	}
	return comes
}

var disasters = []disaster{
	{name: "killed", own: true, comes: gone(), inflict: func(v *victim) {
		v.signal(syscall.SIGKILL)
		v.later(v.restart)
	}},
	{name: "restarted", own: true, reconnect: "40s", events: "450", comes: once(), inflict: func(v *victim) {
		v.signal(syscall.SIGKILL)
		v.restart()
	}},
	{name: "frozen", own: true, servers: 4, duration: "3s", comes: silent(), inflict: func(v *victim) {
		v.freeze()
		v.later(func() { v.signal(syscall.SIGCONT) })
	}},
	{name: "no connections", own: true, inflict: (*victim).occupy, comes: but(gone(), map[string]ending{
		"reach":      {says: "Error 1040 … raise its max_connections"},
		"prepare":    {says: "target 127.0.0.1: … fill table benchyou"},
		"connecting": {says: "0 of 3 clients connected, then: Error 1040 … raise the server's max_connections", cell: "failed events 0 "},
		"duration":   lost,
		"events":     lost,
		"between":    {says: "Error 1040 … raise its max_connections", cell: "complete events 20 "},
	})},
	{name: "no prepared statements", own: true, inflict: func(v *victim) {
		v.set("max_prepared_stmt_count", "0")
		v.proxy.Break(proxytest.Cut)
	}, comes: but(once(), map[string]ending{
		// Error 1461 where a statement is prepared before the connections are cut, else they broke off.
		"prepare, prepared": {says: "target 127.0.0.1: … fill table benchyou", maybe: true},
		"connecting":        {says: "0 of 3 clients connected, then: prepare … Error 1461 … raise the server's max_prepared_stmt_count", cell: "failed events 0 "},
		"duration":          lost,
		"events":            lost,
		"between":           {says: "max_prepared_stmt_count is 0, and … are needed", cell: "complete events 20 "},
	})},
	{name: "read-only", own: true, soft: true, inflict: func(v *victim) { v.set("read_only", "ON") }, comes: map[string]ending{
		"reach": goesOn, "sql": goesOn, "wait": goesOn, "verify": goesOn, "finally": goesOn,
		"prepare":    {says: "fill table benchyou … Error 1290 … set read_only"},
		"connecting": {says: "Error 1290 … set read_only", cell: "failed … errors {1290 "},
		"duration":   {says: "Error 1290 … set read_only", cell: "failed … errors {1290 "},
		"events":     {says: "Error 1290 … set read_only", cell: "failed … errors {1290 "},
		"between":    {says: "Error 1290 … set read_only", cell: "failed … errors {1290 "},
	}},
	{name: "half-open", duration: "3s", inflict: func(v *victim) { v.proxy.Break(proxytest.Swallow) }, comes: but(silent(), map[string]ending{
		"reach": goesOn, "wait": goesOn, "connecting": complete, "between": complete,
		"sql":     {says: "no answer for … has nothing to do for this one … see whether the server hangs"},
		"finally": {says: "no answer for … has nothing to do for this one … see whether the server hangs"},
	})},
	{name: "black hole", duration: "3s", comes: silent(), inflict: func(v *victim) { v.breaks(proxytest.Swallow) }},
	{name: "cut", comes: gone(), inflict: func(v *victim) { v.breaks(proxytest.Cut) }},
	{name: "reset", comes: gone(), inflict: func(v *victim) { v.breaks(proxytest.Reset) }},
	{name: "cut once", reconnect: "40s", events: "450", comes: once(), inflict: func(v *victim) { v.proxy.Break(proxytest.Cut) }},
}

// TestServerFaults has each disaster befall a server in each phase of a run.
func TestServerFaults(t *testing.T) {
	t.Parallel()
	for _, d := range disasters {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			if !d.own {
				for _, p := range faultPhases {
					t.Run(p.name, func(t *testing.T) {
						t.Parallel()
						suffer(t, servertest.Shared(t), d, p)
					})
				}
				return
			}
			share := (len(faultPhases) + max(d.servers, 1) - 1) / max(d.servers, 1)
			for phases := range slices.Chunk(faultPhases, share) {
				t.Run("from "+phases[0].name, func(t *testing.T) {
					t.Parallel()
					server := servertest.Start(t, localserver.Config{MaxConnections: 100})
					for _, p := range phases {
						t.Run(p.name, func(t *testing.T) { suffer(t, server, d, p) })
					}
				})
			}
		})
	}
}

// suffer runs the plan of a phase, inflicts the disaster on its server, and holds what comes against what has to.
func suffer(t *testing.T, server *localserver.Server, d disaster, p phase) {
	name, _, _ := strings.Cut(p.name, ",")
	want, ok := d.comes[p.name]
	if !ok {
		want, ok = d.comes[name]
	}
	if !ok {
		return
	}
	v := &victim{
		t: t, server: server, proxy: proxytest.New(t, "unix", server.Socket()), database: servertest.Database(t, server),
		admin: servertest.OpenDB(t, server, ""),
	}
	v.admin.SetMaxOpenConns(1)
	v.exec("CREATE USER IF NOT EXISTS benchplan@localhost", "GRANT CREATE, DROP, INDEX, ALTER, SELECT, INSERT, UPDATE, DELETE ON *.* TO benchplan@localhost")
	text := fmt.Sprintf("target: { address: \"%s\", user: benchplan, database: %s, connect_timeout: 3s }\ntables: { schema: benchyou, count: 2, rows: 500 }\nsteps:\n%s",
		v.proxy.Address(), v.database, strings.NewReplacer("RECONNECT", cmp.Or(d.reconnect, "3s"), "DURATION", cmp.Or(d.duration, "1h"), "EVENTS", cmp.Or(d.events, "1M")).Replace(p.steps))
	begin := time.Now()
	var struck sync.WaitGroup
	var first sync.Once
	strike := func() {
		begin = time.Now()
		d.inflict(v)
	}
	on := func(e string) {
		if e != p.event {
			return
		}
		first.Do(func() {
			if p.query == "" {
				strike()
				return
			}
			release := func() {}
			if p.step == "verify" && !d.soft {
				release = v.hold()
			}
			struck.Go(func() {
				if !d.soft {
					v.await(p.query)
				}
				strike()
				release()
			})
		})
	}
	if p.event == "" {
		strike()
	}
	o := trial{plan: text, change: func(c *Config) { c.patience = faultPatience }, on: on}.carryOut(t)
	struck.Wait()
	took := time.Since(begin)
	for _, do := range slices.Backward(v.after) {
		do()
	}
	if took > faultSlack { // far more than the limits of the plan
		t.Errorf("it took %s", took)
	}
	want.check(t, o, p.step)
	v.leavesNothing()
}

// hold keeps the query of a verification waiting for its table until the disaster has come.
func (v *victim) hold() (release func()) {
	conn, err := servertest.OpenDB(v.t, v.server, v.database).Conn(v.t.Context())
	if err == nil {
		_, err = conn.ExecContext(v.t.Context(), "LOCK TABLES benchyou0 WRITE")
	}
	if err != nil {
		v.t.Error(err)
	}
	return func() { _ = conn.Raw(func(any) error { return driver.ErrBadConn }) } // so that it is closed
}

// await waits until the server executes a statement that holds the text.
func (v *victim) await(query string) {
	for begin := time.Now(); time.Since(begin) < faultSlack; time.Sleep(10 * time.Millisecond) {
		if v.scalar("SELECT COUNT(*) FROM information_schema.processlist WHERE db=? AND LOCATE(?, info)", v.database, query) != "0" {
			return
		}
	}
	v.t.Errorf("the server never executed %s", query)
}

// check holds an outcome against it.
func (want ending) check(t *testing.T, o outcome, step string) {
	t.Helper()
	all := strings.Join(o.errs, "\n")
	if want.says == "" || want.maybe && o.err == nil {
		o.done(t)
	} else if len(o.errs) != 1 || o.run.Status != results.RunFailed || len(o.run.Errors) != 1 {
		t.Fatalf("status %s, %d errors:\n%s", o.run.Status, len(o.errs), all)
	} else {
		inOrder(t, all, "p.yaml: … : "+step+` "x": … `+want.says)
	}
	text := ""
	for _, c := range o.cells {
		out := c.Outcome
		text = fmt.Sprintf("%s events %d errors %v restarts %v reconnects %d cut %d", c.Status, out.Events, out.Errors, out.Restarts, out.Reconnects, out.Cut)
		text = strings.NewReplacer("[", "", "]", "").Replace(text)
		if (c.Status == results.Failed) != (c.Error != "") || c.Status == results.Failed && out.Stopped != results.ByError {
			t.Errorf("%s, stopped by %s: %s", text, out.Stopped, c.Error)
		}
	}
	if want.cell == "" && len(o.cells) > 0 {
		t.Errorf("the record has %s", text)
	}
	inOrder(t, text, want.cell)
}

// inOrder looks for the parts of a text, which stand in it in that order with … between.
func inOrder(t *testing.T, text, parts string) {
	t.Helper()
	rest := text
	for part := range strings.SplitSeq(parts, "…") {
		_, after, found := strings.Cut(rest, strings.TrimSpace(part))
		if !found {
			t.Errorf("%q is not there, of %q, in:\n%s", part, parts, text)
			return
		}
		rest = after
	}
}

// leavesNothing sees that the server has no connection of the run any more.
func (v *victim) leavesNothing() {
	v.proxy.Close() // it has kept from the server that clients are gone
	n := ""
	for begin := time.Now(); time.Since(begin) < faultSlack; time.Sleep(20 * time.Millisecond) {
		if n = v.scalar("SELECT COUNT(*) FROM information_schema.processlist WHERE db=?", v.database); n == "0" {
			return
		}
	}
	v.t.Errorf("the server still has %s connections of the run", n)
}
