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
	// hold returns when the reply to event n (from 0) may go on.
	hold func(n int)

	mu      sync.Mutex
	passed  []passage // in the order in which the requests came
	clients int       // connections so far
}

// passage is a statement that went through.
type passage struct {
	client         int       // its connection
	request, reply time.Time // when the request came, and when the reply went on to the client
	// The client did not send it before it had the reply to its statement before, and had the reply when it sent its next one: these
	// are known of all that went through.
	earliest, latest time.Time
}

func newProxy(t *testing.T, d *testdb.Database, hold func(n int)) *proxy {
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
	p.mu.Lock()
	number := p.clients
	p.clients++
	p.mu.Unlock()
	request = func(b []byte) {
		if bytes.Contains(b, []byte(marker)) {
			p.mu.Lock()
			defer p.mu.Unlock()
			under <- len(p.passed)
			p.passed = append(p.passed, passage{client: number, request: time.Now()})
		}
	}
	reply = func([]byte) {
		select {
		case event := <-under:
			p.hold(event)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.passed[event].reply = time.Now()
		default:
		}
	}
	return request, reply
}

// seen gives what went through in a run that began and ended then.
func (p *proxy) seen(began, ended time.Time) []passage {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := map[int]int{} // of a client
	for i := range p.passed {
		now := &p.passed[i]
		now.earliest, now.latest = began, ended
		if before, ok := last[now.client]; ok {
			p.passed[before].latest = now.request
			now.earliest = p.passed[before].reply
		}
		last[now.client] = i
	}
	return p.passed
}

// stall holds up the replies from one on until so many clients wait for one, and for a while longer.
type stall struct {
	from, clients int
	length        time.Duration
	released      chan struct{}
	given         <-chan struct{} // closed when nobody is to wait any more

	mu         sync.Mutex
	waiting    int
	begin, end time.Time // meanwhile each of the clients waited
}

func newStall(t *testing.T, from, clients int, length time.Duration) *stall {
	return &stall{from: from, clients: clients, length: length, released: make(chan struct{}), given: t.Context().Done()}
}

func (s *stall) hold(n int) {
	if n < s.from {
		return
	}
	s.mu.Lock()
	if s.waiting++; s.waiting == s.clients {
		s.begin = time.Now()
		time.AfterFunc(s.length, func() {
			s.end = time.Now()
			close(s.released)
		})
	}
	s.mu.Unlock()
	select {
	case <-s.released:
	case <-s.given:
	}
}
