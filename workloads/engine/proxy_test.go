package engine_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"benchplan/steps/localserver/proxytest"
	"benchplan/workloads/internal/testdb"
)

// marker is in the statements whose replies a proxy holds up. They have to be sent as text.
const marker = "/* event */"

// proxy holds up replies and writes down what it did, so that the truth can be computed from what really happened and not from what was
// meant.
type proxy struct {
	*proxytest.Proxy
	// hold is how long to hold up the reply to event n (from 0).
	hold func(n int) time.Duration

	mu     sync.Mutex
	passed []passage // in the order in which the requests came
}

// passage is a statement that went through: when its request came, and when its reply went on to the client.
type passage struct{ request, reply time.Time }

func newProxy(t *testing.T, d *testdb.Database, hold func(n int) time.Duration) *proxy {
	t.Helper()
	p := &proxy{Proxy: proxytest.New(t, "unix", d.Server.Socket()), hold: hold}
	p.Tap(p.look)
	return p
}

// through makes a connector go through the proxy.
func (p *proxy) through(c *mysql.Config) { c.Net, c.Addr = "tcp", p.Address() }

// look gives what looks at one connection. A short statement comes in one piece.
func (p *proxy) look() (request, reply func([]byte)) {
	under := make(chan int, 1) // the event whose reply is to come
	request = func(b []byte) {
		if bytes.Contains(b, []byte(marker)) {
			p.mu.Lock()
			defer p.mu.Unlock()
			under <- len(p.passed)
			p.passed = append(p.passed, passage{request: time.Now()})
		}
	}
	reply = func([]byte) {
		select {
		case event := <-under:
			time.Sleep(p.hold(event))
			p.mu.Lock()
			defer p.mu.Unlock()
			p.passed[event].reply = time.Now()
		default:
		}
	}
	return request, reply
}

// seen gives what went through, when no client runs any more.
func (p *proxy) seen() []passage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed
}
