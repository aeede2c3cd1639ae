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
	// hold is how long to hold up the reply to event n (from 0).
	hold func(n int) time.Duration

	mu     sync.Mutex
	n      int
	passed []passage // in the order in which the requests came
	open   []net.Conn
	work   sync.WaitGroup
}

// passage is a statement that went through: when its request came, and when its reply went on to the client.
type passage struct{ request, reply time.Time }

func newProxy(t *testing.T, d *testdb.Database, hold func(n int) time.Duration) *proxy {
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
		p.mu.Unlock()
		under := make(chan int, 1) // the event whose reply is to come
		p.work.Go(func() { p.requests(client, server, under) })
		p.work.Go(func() { p.replies(server, client, under) })
	}
}

// requests passes on what a client sends. A short statement comes in one piece.
func (p *proxy) requests(client io.Reader, server io.WriteCloser, under chan<- int) {
	defer server.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		if bytes.Contains(buffer[:n], []byte(marker)) {
			p.mu.Lock()
			p.passed = append(p.passed, passage{request: time.Now()})
			under <- p.n
			p.n++
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
			time.Sleep(p.hold(event))
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

// seen gives what went through, when no client runs any more.
func (p *proxy) seen() []passage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed
}
