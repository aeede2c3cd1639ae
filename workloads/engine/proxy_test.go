package engine_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"benchplan/workloads/internal/testdb"
)

// marker is in the statements whose replies a proxy holds up. They have to be sent as text.
const marker = "/* event */"

// proxy stands between clients and the server, on a TCP port: it holds up replies and writes down what it did, so that the
// truth can be computed from what really happened and not from what was meant.
type proxy struct {
	listener net.Listener
	server   string // its socket
	// hold returns when the reply to event n (from 0) may go on.
	hold func(n int)

	mu      sync.Mutex
	passed  []passage // in the order in which the requests came
	clients int       // connections so far
	open    []net.Conn
	work    sync.WaitGroup
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, server: d.Server.Socket(), hold: hold}
	p.work.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.mu.Lock()
		for _, c := range p.open {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.work.Wait()
	})
	return p
}

// through makes a connector go through the proxy.
func (p *proxy) through(c *mysql.Config) { c.Net, c.Addr = "tcp", p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.open = append(p.open, client, server)
		number := p.clients
		p.clients++
		p.mu.Unlock()
		under := make(chan int, 1) // the event whose reply is to come
		p.work.Go(func() { p.requests(number, client, server, under) })
		p.work.Go(func() { p.replies(server, client, under) })
	}
}

// requests passes on what a client sends. A short statement comes in one piece.
func (p *proxy) requests(number int, client io.Reader, server io.WriteCloser, under chan<- int) {
	defer server.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		if bytes.Contains(buffer[:n], []byte(marker)) {
			p.mu.Lock()
			under <- len(p.passed)
			p.passed = append(p.passed, passage{client: number, request: time.Now()})
			p.mu.Unlock()
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// replies passes on what the server answers.
func (p *proxy) replies(server io.Reader, client io.WriteCloser, under <-chan int) {
	defer client.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		event := -1
		select {
		case event = <-under:
			p.hold(event)
		default:
		}
		now := time.Now()
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
		if event >= 0 {
			p.mu.Lock()
			p.passed[event].reply = now
			p.mu.Unlock()
		}
	}
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
