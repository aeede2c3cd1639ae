package engine_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
)

// relayed gives a change of a connector that reaches the server, which has only a socket file, over TCP. What the server says is passed
// on by reply, one call a connection, which ends when it returns.
func relayed(t *testing.T, d *testdb.Database, reply func(client, server net.Conn)) func(*mysql.Config) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var relays sync.WaitGroup
	relays.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", d.Server.Socket())
			if err != nil {
				_ = client.Close()
				continue
			}
			pass := func(how func()) {
				how()
				_, _ = client.Close(), server.Close()
			}
			relays.Go(func() { pass(func() { _, _ = io.Copy(server, client) }) })
			relays.Go(func() { pass(func() { reply(client, server) }) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		relays.Wait()
	})
	return func(c *mysql.Config) { c.Net, c.Addr = "tcp", listener.Addr().String() }
}

// blob is a statement of a prepared template with one argument, of that text.
func blob(template int, class results.Class, text string) engine.Statement {
	s := engine.Statement{Template: template, Class: class}
	s.Args.Text(func(dst []byte) []byte { return append(dst, text...) })
	return s
}

// TestAnswersInCrumbs: whatever pieces an answer comes in, it is the same.
func TestAnswersInCrumbs(t *testing.T) { everyIOAtOnce(t, testAnswersInCrumbs) }

func testAnswersInCrumbs(t *testing.T, mode engine.IOMode) {
	d := testdb.Shared(t)
	counterTable(d, 5)
	to := relayed(t, d, func(client, server net.Conn) {
		for buffer := make([]byte, 64<<10); ; {
			n, err := server.Read(buffer)
			for i := range n {
				if _, err := client.Write(buffer[i : i+1]); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	w := load{templates: []string{"SELECT id, ? FROM counters", "UPDATE counters SET v=v+1 WHERE id<?"}, event: func(int, *rand.Rand) []engine.Statement {
		return []engine.Statement{
			blob(0, results.Read, strings.Repeat("x", 300)), write(1, 3), plain("SELECT id FROM counters", results.Read), plain("SELECT FROM", results.Other),
		}
	}}
	o := engine.Order{IO: mode, Clients: clients(3), Events: 10, OnError: map[int]engine.Action{1064: engine.Count}}
	out, err := engine.Run(t.Context(), d.Connector(to), w, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Restarts) != 0 || find(out.Errors, 1064).Count != 10 || len(out.Errors) != 1 {
		t.Errorf("errors %+v, restarts %+v", out.Errors, out.Restarts)
	}
	if r, w := out.Statements[results.Read], out.Statements[results.Write]; r.Rows != 100 || r.Count != 20 || w.Affected != 30 {
		t.Errorf("%d rows of %d reads, %d changed", r.Rows, r.Count, w.Affected)
	}
}

// troubled is what becomes of the answers to statements that have the marker: each is handed, with its number from 0, to a function that
// gives what goes on to the client in its place, and whether the connection then ends.
func troubled(change func(n int, answer []byte) ([]byte, bool)) func(client, server net.Conn) {
	var mu sync.Mutex
	next := 0
	return func(client, server net.Conn) {
		for buffer := make([]byte, 64<<10); ; {
			n, err := server.Read(buffer)
			if err != nil {
				return
			}
			answer, last := buffer[:n], false
			if bytes.Contains(answer, []byte(marker)) { // the statement gives it back
				mu.Lock()
				answer, last = change(next, answer)
				next++
				mu.Unlock()
			}
			if _, err := client.Write(answer); err != nil || last {
				return
			}
		}
	}
}

// TestAnswersThatBreakOff after any number of bytes are lost connections, after which the event begins anew.
func TestAnswersThatBreakOff(t *testing.T) { everyIOAtOnce(t, testAnswersThatBreakOff) }

func testAnswersThatBreakOff(t *testing.T, mode engine.IOMode) {
	for _, ps := range []engine.PSMode{engine.PSAuto, engine.PSDisable} {
		t.Run(string(ps), func(t *testing.T) {
			t.Parallel()
			d := testdb.Shared(t)
			const broken = 50 // an answer is longer
			to := relayed(t, d, troubled(func(n int, answer []byte) ([]byte, bool) {
				if n < broken {
					return answer[:n], true
				}
				return answer, false
			}))
			w := always([]string{"SELECT ?, 1 UNION ALL SELECT 2, 3"}, blob(0, results.Read, marker+strings.Repeat("x", 50)))
			out, err := engine.Run(t.Context(), d.Connector(to), w, engine.Order{IO: mode, Clients: clients(2), EventsEach: 5, PSMode: ps, ServerLost: 600 * second}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if out.Events != 10 || lost(out.Restarts) != broken || out.Reconnects != broken || len(out.Errors) != 0 || out.Statements[results.Read].Rows != 20 {
				t.Errorf("%d events, %d reconnects, errors %+v, restarts %+v, %+v", out.Events, out.Reconnects, out.Errors, out.Restarts, out.Statements)
			}
		})
	}
}

// TestAServerThatSaysWhyItEnds a connection, right after the answer before: the next statement has no answer of its own.
func TestAServerThatSaysWhyItEnds(t *testing.T) { everyIOAtOnce(t, testAServerThatSaysWhyItEnds) }

func testAServerThatSaysWhyItEnds(t *testing.T, mode engine.IOMode) {
	const shutdown = "\x24\x00\x00\x00\xff\x1d\x04#08S01Server shutdown in progress"
	for name, last := range map[string]string{
		"an error":                 shutdown,
		"an error of half":         shutdown[:9],
		"an answer to nothing":     "\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00",
		"a request for a file":     "\x0c\x00\x00\x01\xfb/etc/passwd",
		"what is no packet at all": "\xff\xff\xff\xff\xff",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := testdb.Shared(t)
			to := relayed(t, d, troubled(func(n int, answer []byte) ([]byte, bool) {
				if n%5 == 0 {
					return append(bytes.Clone(answer), last...), true
				}
				return answer, false
			}))
			w := always([]string{"SELECT ?"}, blob(0, results.Read, marker))
			out, err := engine.Run(t.Context(), d.Connector(to), w, engine.Order{IO: mode, Clients: clients(2), EventsEach: 10}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			// After four of the 20 answers a connection ends; the last of a client may have no statement after it.
			n := lost(out.Restarts)
			if out.Events != 20 || n < 2 || n > 4 || out.Reconnects != n || len(out.Errors) != 0 || out.Statements[results.Read].Rows != 20 {
				t.Errorf("%d events, %d reconnects, errors %+v, restarts %+v, %+v", out.Events, out.Reconnects, out.Errors, out.Restarts, out.Statements)
			}
		})
	}
}

// TestStatementsThatTheServerFindsTooLarge: the engine is told a limit above the server's, which ends the connection for that.
func TestStatementsThatTheServerFindsTooLarge(t *testing.T) {
	everyIOAtOnce(t, testStatementsThatTheServerFindsTooLarge)
}

func testStatementsThatTheServerFindsTooLarge(t *testing.T, mode engine.IOMode) {
	d := testdb.Own(t, map[string]string{"max_allowed_packet": "1M"})
	large := strings.Repeat("x", 3<<20)
	for _, n := range []int{1, 2} {
		var log []string
		w := telling{templates: []string{"SELECT LENGTH(?)"}, log: &log, statements: []engine.Statement{
			blob(0, results.Read, large), plain("SELECT 1", results.Read), plain("SELECT LENGTH('"+large+"')", results.Read), plain("SELECT 2", results.Read),
		}}
		o := engine.Order{IO: mode, Clients: clients(n), EventsEach: plan.Count(4), OnError: map[int]engine.Action{2013: engine.Count}}
		out, err := engine.Run(t.Context(), d.Connector(), w, o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := "undo, lost: true; 1 rows, 0 changed; undo, lost: true; 1 rows, 0 changed"
		if got := strings.Join(log, "; "); got != want || lost(out.Errors) != 2 || len(out.Restarts) != 0 {
			t.Errorf("%d clients: %s; errors %+v, restarts %+v", n, got, out.Errors, out.Restarts)
		}
	}
}

// TestStatementsOutliveTheTableAsItWas when they were prepared: columns come and go, and so do tables.
func TestStatementsOutliveTheTableAsItWas(t *testing.T) {
	everyIOAtOnce(t, testStatementsOutliveTheTableAsItWas)
}

func testStatementsOutliveTheTableAsItWas(t *testing.T, mode engine.IOMode) {
	for _, n := range []int{1, 2} {
		d := testdb.Shared(t)
		d.Exec("CREATE TABLE things (id INT PRIMARY KEY, v INT)", "INSERT INTO things VALUES (1,1),(2,2),(3,3)")
		changes := map[int]string{
			2: "ALTER TABLE things ADD COLUMN w VARCHAR(20) DEFAULT 'new'",
			4: "ALTER TABLE things DROP COLUMN v",
			6: "DROP TABLE things",
			8: "CREATE TABLE things (id BIGINT, a INT DEFAULT 1, b INT DEFAULT 2, c INT DEFAULT 3, v INT DEFAULT 4) AS SELECT 2 AS id UNION SELECT 3",
		}
		w := load{templates: []string{"SELECT * FROM things WHERE id>=?", "UPDATE things SET id=id+10 WHERE id>?"}}
		at := make([]int, n)
		w.event = func(index int, _ *rand.Rand) []engine.Statement {
			if at[index]++; index == 0 && changes[at[index]] != "" {
				d.Exec(changes[at[index]])
			}
			if index > 0 {
				return []engine.Statement{plain("SELECT 1", results.Other)}
			}
			s := write(0, 2)
			s.Class = results.Read
			return []engine.Statement{s, write(1, 100)}
		}
		// An event of the first client whose table is not there has an error in place of its two statements.
		o := engine.Order{IO: mode, Clients: clients(n), EventsEach: 10, OnError: map[int]engine.Action{1146: engine.Count}}
		out, err := engine.Run(t.Context(), d.Connector(), w, o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		reads, writes := out.Statements[results.Read], out.Statements[results.Write]
		if reads.Count != 8 || reads.Rows != 16 || writes.Count != 8 || writes.Affected != 0 || find(out.Errors, 1146).Count != 2 || len(out.Errors) != 1 || len(out.Restarts) != 0 {
			t.Errorf("%d clients: reads %+v, writes %+v, errors %+v, restarts %+v", n, reads, writes, out.Errors, out.Restarts)
		}
	}
}
