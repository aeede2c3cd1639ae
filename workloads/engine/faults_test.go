package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps/localserver/proxytest"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
)

// TestConnectionsThatBreakAfterSomeBytes has every connection go wrong after so many bytes: in the greeting, the log-in, the preparation of
// statements, the head of a packet, a row, a statement. The cell comes to its end or is given up, in a time that its limits set, and
// says how far it came.
func TestConnectionsThatBreakAfterSomeBytes(t *testing.T) {
	const stride = 31 // make soak has all
	everyIO(t, func(t *testing.T, io engine.IOMode) { breakAfterSomeBytes(t, io, stride) })
}

// breakAfterSomeBytes tries places that are so many bytes apart.
func breakAfterSomeBytes(t *testing.T, io engine.IOMode, stride int64) {
	d := testdb.Shared(t)
	w := always([]string{"SELECT ? AS a, REPEAT('b', 300) AS b UNION ALL SELECT 1, 'c'", "SELECT ?"}, read(0), read(1))
	for _, how := range []proxytest.Manner{proxytest.Cut, proxytest.Reset, proxytest.Swallow} {
		stride, last := stride, int64(1100)
		if how == proxytest.Swallow {
			stride *= 7 // each takes as long as the limits are
		}
		for _, replies := range []bool{false, true} {
			if !replies {
				last = 500
			}
			t.Run(fmt.Sprintf("%s, replies %t", how, replies), func(t *testing.T) {
				for after := int64(0); after < last; after += stride {
					t.Run(fmt.Sprint(after), func(t *testing.T) {
						t.Parallel()
						breaks(t, d, io, w, proxytest.Fault{How: how, After: after, Replies: replies})
					})
				}
			})
		}
	}
}

func read(template int) engine.Statement {
	s := write(template, 7)
	s.Class = results.Read
	return s
}

// breaks runs a few events of two clients whose connections have that fault.
func breaks(t *testing.T, d *testdb.Database, io engine.IOMode, w load, fault proxytest.Fault) {
	const events = 4
	proxy := proxytest.New(t, "unix", d.Server.Socket())
	proxy.Fail(proxytest.Always(fault))
	connector := d.Connector(func(c *mysql.Config) {
		c.Net, c.Addr, c.Timeout = "tcp", proxy.Address(), time.Second
	})
	o := engine.Order{IO: io, Clients: clients(2), Events: events, ServerLost: second / 5, Silence: second, Grace: second / 2}
	begin := time.Now()
	out, err := engine.Run(t.Context(), connector, w, o, nil, nil)
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	if (err == nil) != (out.Events == events) || (err != nil) != (out.Stopped == results.ByError) {
		t.Errorf("%d events, stopped by %s, %v", out.Events, out.Stopped, err)
	}
	if err != nil && !errors.Is(err, engine.ErrServerLost) && !strings.Contains(err.Error(), "of 2 clients connected, then: ") {
		t.Error(err)
	}
	if proxy.Met() > 200 {
		t.Errorf("it connected %d times", proxy.Met())
	}
}

// TestAServerThatHangsWhileClientsPrepare: a client is let in and then has no answer.
func TestAServerThatHangsWhileClientsPrepare(t *testing.T) {
	everyIOAtOnce(t, testAServerThatHangsWhileClientsPrepare)
}

func testAServerThatHangsWhileClientsPrepare(t *testing.T, io engine.IOMode) {
	for _, mode := range []engine.PSMode{engine.PSAuto, engine.PSDisable} {
		d := testdb.Shared(t)
		proxy := proxytest.New(t, "unix", d.Server.Socket())
		proxy.Tap(func() (request, reply func([]byte)) {
			return func(b []byte) {
				if text := string(b); strings.Contains(text, "SELECT ?") || strings.Contains(text, "sql_mode") {
					proxy.Break(proxytest.Swallow)
				}
			}, func([]byte) {}
		})
		connector := d.Connector(func(c *mysql.Config) { c.Net, c.Addr, c.Timeout = "tcp", proxy.Address(), time.Second })
		begin := time.Now()
		_, err := engine.Run(t.Context(), connector, always([]string{"SELECT ?"}, read(0)), engine.Order{IO: io, Clients: clients(3), Events: 10, PSMode: mode}, nil, nil)
		if took := time.Since(begin); took > 30*time.Second || err == nil || !strings.Contains(err.Error(), "within 1s: context deadline exceeded") {
			t.Errorf("%s: it took %s: %v", mode, took, err)
		}
	}
}

// TestAConnectionThatBreaksAgainAndAgain: each new connection serves some statements and never a whole event. That ends though every
// reconnect succeeds, and without thousands of them.
func TestAConnectionThatBreaksAgainAndAgain(t *testing.T) {
	everyIOAtOnce(t, testAConnectionThatBreaksAgainAndAgain)
}

func testAConnectionThatBreaksAgainAndAgain(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	for _, o := range []engine.Order{{Events: 100}, {Duration: plan.Duration(time.Hour)}} {
		var event []engine.Statement
		for range 100 {
			event = append(event, read(0))
		}
		proxy := proxytest.New(t, "unix", d.Server.Socket())
		proxy.Fail(proxytest.Always(proxytest.Fault{How: proxytest.Cut, After: 1000, Replies: true}))
		o.IO, o.Clients, o.ServerLost = io, clients(2), 3*second
		begin := time.Now()
		out, err := engine.Run(t.Context(), d.Connector(func(c *mysql.Config) { c.Net, c.Addr = "tcp", proxy.Address() }), always([]string{"SELECT ?"}, event...), o, nil, nil)
		if took := time.Since(begin); took > 40*time.Second {
			t.Errorf("it took %s", took)
		}
		if !errors.Is(err, engine.ErrServerLost) || !strings.Contains(err.Error(), "no event came to its end between") {
			t.Error(err)
		}
		if out.Events != 0 || out.Reconnects == 0 || out.Statements[results.Read].Latency.Count == 0 || proxy.Met() > 200 {
			t.Errorf("%d events, %d reconnects, %d connections, %+v", out.Events, out.Reconnects, proxy.Met(), out.Statements)
		}
	}
}
