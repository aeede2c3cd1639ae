package engine

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"benchplan/workloads/engine/protocol"
)

// NewConnector makes the connector that Run asks for: the driver's own, but the socket of each connection is recorded, so
// that a connection whose statement has no answer can be cut. Where cfg.DialFunc is nil it dials cfg.Net ("tcp" or "unix")
// itself; networks registered with the driver are not found. cfg.Timeout bounds all of connecting, the log-in included, and
// not only dialling: a server that takes connections and says nothing must not hold anybody up. It also bounds each answer of the server
// while a client prepares its statements. The driver's log is
// silenced, since every error is returned.
func NewConnector(cfg *mysql.Config) (driver.Connector, error) {
	c := cfg.Clone()
	dial := c.DialFunc
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	c.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		if w, ok := ctx.Value(wireKey{}).(*wire); ok {
			w.attach(conn)
			if w.observes && conformable(c) && takeable(conn) {
				return w.observe(conn, c.MaxAllowedPacket), nil
			}
		}
		return conn, nil
	}
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("connector: %w", err)
	}
	if cfg.Timeout > 0 {
		return bounded{connector, cfg.Timeout}, nil
	}
	return connector, nil
}

// bounded is a connector whose connections are there in time or not at all.
type bounded struct {
	driver.Connector
	limit time.Duration
}

func (b bounded) Connect(ctx context.Context) (driver.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	conn, err := b.Connector.Connect(limited)
	if limited.Err() != nil && ctx.Err() == nil {
		if err == nil {
			_ = conn.Close() // the driver has closed its socket, or is about to
		}
		return nil, fmt.Errorf("the server did not let the client in within %s: %w", b.limit, context.DeadlineExceeded)
	}
	return conn, err
}

// patience is how long a connection of the connector waits for one answer while it is being made ready; 0: as long as it takes.
func patience(c driver.Connector) time.Duration {
	b, _ := c.(bounded)
	return b.limit
}

// wire is the socket under a client's connection. A driver.Conn must be used by one goroutine at a time, its socket may be
// closed by any.
type wire struct {
	mu     sync.Mutex
	socket io.Closer
	cut    bool

	observes bool      // what the driver agrees on with the server is to be known
	greeting *greeting // of the connection; nil: it can only be used by the driver
}

type wireKey struct{}

// record gives a context in which dialling leaves the socket in w.
func (w *wire) record(ctx context.Context) context.Context {
	return context.WithValue(ctx, wireKey{}, w)
}

// attach takes the socket of a new connection; where the wire was cut it is closed at once.
func (w *wire) attach(socket io.Closer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.socket = socket
	if w.cut {
		_ = socket.Close()
	}
}

// attached tells whether a socket was recorded.
func (w *wire) attached() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.socket != nil
}

// sever closes the socket and those of all connections to come.
func (w *wire) sever() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = true
	if w.socket != nil {
		_ = w.socket.Close()
	}
}

// greeting is a connection through which the driver logs in, and what it agrees on with the server by that.
type greeting struct {
	net.Conn
	limit        int // of a packet, as the driver was told; 0: it asks the server
	written      bool
	known        bool
	capabilities protocol.Capabilities
}

// Write looks at the first packet of the driver.
func (g *greeting) Write(b []byte) (int, error) {
	if !g.written {
		g.written = true
		g.capabilities, g.known = protocol.ReadCapabilities(b)
	}
	return g.Conn.Write(b)
}

// observe gives the connection to the driver in a form that lets the engine look on.
func (w *wire) observe(conn net.Conn, limit int) net.Conn {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetKeepAlive(true) // as the driver does where it sees a TCP connection
	}
	w.greeting = &greeting{Conn: conn, limit: limit}
	return w.greeting
}

// plain tells whether the connection carries packets as they are, and such as the engine knows.
func (w *wire) plain() bool {
	g := w.greeting
	return g != nil && g.known && !g.capabilities.TLS && !g.capabilities.Compress && !g.capabilities.Other
}

// conformable tells whether the driver is configured to do nothing with statements that the engine does not do as well.
func conformable(c *mysql.Config) bool {
	return c.ReadTimeout == 0 && c.WriteTimeout == 0 && !c.RejectReadOnly && !c.AllowAllFiles
}
