// Package proxytest gives tests a network before a server that does not do what it should: a TCP proxy whose connections end, are reset
// or fall silent after so many bytes or at a word, and a port that takes no more connections.
package proxytest

import (
	"net"
	"sync"
	"testing"
)

// Manner is how a connection goes wrong.
type Manner int

// The manners.
const (
	Cut     Manner = iota // both sides are told that the connection ended (FIN)
	Reset                 // the client gets an RST
	Swallow               // nothing passes any more, and nobody is told
)

// String names it for the names of tests.
func (m Manner) String() string { return [...]string{"cut", "reset", "swallow"}[m] }

// Fault is what befalls one connection.
type Fault struct {
	How     Manner
	After   int64 // bytes that still pass
	Replies bool  // those of the server are counted, not those of the client
}

// Proxy stands between clients and a server, on a TCP port of this machine.
type Proxy struct {
	listener net.Listener
	network  string // of the server
	address  string
	work     sync.WaitGroup

	mu     sync.Mutex
	fault  func(n int) *Fault
	taps   func() (request, reply func([]byte))
	links  map[*link]bool
	met    int
	closed bool
}

// New gives a proxy before the server at that address of a network ("unix" or "tcp"). It ends with the test.
func New(t testing.TB, network, address string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, network: network, address: address, links: map[*link]bool{}}
	p.work.Go(p.accept)
	t.Cleanup(p.Close)
	return p
}

// Address is where clients reach it.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Close ends all connections and the proxy, and waits for that.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for l := range p.links {
		l.close()
	}
	p.mu.Unlock()
	p.work.Wait()
}

// Fail says what befalls the connections that come from now on, counted from 0; nil, and a nil Fault, is nothing.
func (p *Proxy) Fail(fault func(n int) *Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.met = fault, 0
}

// Always is for Fail: it befalls every connection.
func Always(f Fault) func(int) *Fault { return func(int) *Fault { return &f } }

// Tap has what passes looked at, and held up for as long as that takes, on the connections that come from now on. It is asked once for
// each, for what is to look at the requests and at the replies, in the pieces in which they come.
func (p *Proxy) Tap(taps func() (request, reply func([]byte))) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taps = taps
}

// Break does that to all connections that there are now.
func (p *Proxy) Break(how Manner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.fail(how)
	}
}

// Met counts the connections since Fail was last called.
func (p *Proxy) Met() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.met
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(p.network, p.address)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.link(client.(*net.TCPConn), server)
	}
}

func (p *Proxy) link(client *net.TCPConn, server net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &link{client: client, server: server}
	if p.fault != nil {
		l.fault = p.fault(p.met)
	}
	p.met++
	if p.closed {
		l.close()
		return
	}
	p.links[l] = true
	pass := func([]byte) {}
	request, reply := pass, pass
	if p.taps != nil {
		request, reply = p.taps()
	}
	var both sync.WaitGroup
	both.Go(func() { l.relay(server, client, false, request) })
	both.Go(func() { l.relay(client, server, true, reply) })
	p.work.Go(func() {
		both.Wait()
		l.close()
		p.mu.Lock()
		delete(p.links, l)
		p.mu.Unlock()
	})
}

// link is one connection through the proxy.
type link struct {
	client *net.TCPConn
	server net.Conn
	fault  *Fault

	mu     sync.Mutex
	passed int64 // bytes that the fault counts
	silent bool
}

func (l *link) close() {
	_ = l.client.Close()
	_ = l.server.Close()
}

// fail has the connection go wrong now.
func (l *link) fail(how Manner) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = true
	switch how {
	case Cut:
		_ = l.client.CloseWrite() // what it still sends is read, so that no RST comes of it
		_ = l.server.Close()
	case Reset:
		_ = l.client.SetLinger(0)
		l.close()
	}
}

// relay passes on what comes from one side, until that ends.
func (l *link) relay(to, from net.Conn, replies bool, tap func([]byte)) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			l.ended()
			return
		}
		tap(buffer[:n])
		if !l.pass(to, buffer[:n], replies) {
			return
		}
	}
}

// ended lets the other side know that one has closed the connection, unless nobody is to know anything.
func (l *link) ended() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.silent {
		l.silent = true
		l.close()
	}
}

// pass writes as much of what came as the fault allows. false: the connection is of no use any more.
func (l *link) pass(to net.Conn, data []byte, replies bool) bool {
	l.mu.Lock()
	silent, broken := l.silent, false
	if f := l.fault; !silent && f != nil && f.Replies == replies {
		left := f.After - l.passed
		if broken = int64(len(data)) > left; broken {
			data = data[:left]
		}
		l.passed += int64(len(data))
	}
	l.mu.Unlock()
	if silent {
		return true
	}
	if len(data) > 0 {
		if _, err := to.Write(data); err != nil {
			l.ended()
			return false
		}
	}
	if broken {
		l.fail(l.fault.How)
	}
	return true
}
