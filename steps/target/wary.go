package target

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// The bounds of what a server may send, far above what one does that is not broken: the driver takes everything into memory.
const (
	mostGreeting = 64 << 10 // bytes, until the client has said anything
	mostAnswer   = 64 << 20 // bytes, to one command
	mostColumns  = 4096     // of one result: no server has more
)

// errNonsense is the error of a server that does not keep to MySQL's protocol.
var errNonsense = errors.New("the server does not speak MySQL's protocol as it should")

// Dial connects as a driver's configuration asks, and bounds what the server may send as an answer. It is for statements of which the
// answers are read whole, not for a load.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w := &wary{Conn: conn, left: mostGreeting}
	if last, ok := ctx.Value(waryKey{}).(**wary); ok {
		*last = w
	}
	return w, nil
}

// Wary makes a connector's errors say so where the server has broken the protocol. The driver panics at some of what a server should not
// send, and may be called by a goroutine that nobody else could save from that.
func Wary(c driver.Connector) driver.Connector { return connector{c} }

type connector struct{ driver.Connector }

type waryKey struct{}

// Connect connects.
func (c connector) Connect(ctx context.Context) (conn driver.Conn, err error) {
	defer func() {
		if p := recover(); p != nil {
			conn, err = nil, fmt.Errorf("%w: its greeting cannot be read (%v)", errNonsense, p)
		}
	}()
	var socket *wary
	if conn, err = c.Connector.Connect(context.WithValue(ctx, waryKey{}, &socket)); err != nil {
		return nil, socket.explain(err)
	}
	if all, ok := conn.(full); ok {
		return &guarded{full: all, socket: socket}, nil
	}
	return conn, nil
}

// wary is a connection that ends where the server sends what no client should take.
type wary struct {
	net.Conn
	left  int    // bytes that may come until the client says something
	spoke bool   // the client has said something
	tls   bool   // what comes is encrypted
	await bool   // the first packet of an answer to a command is to come
	head  []byte // its beginning
	wrong error
}

// explain says of an error of the driver why it has found the connection no good, where that was for what the server sends.
func (w *wary) explain(err error) error {
	if err == nil || w == nil || w.wrong == nil || errors.Is(err, errNonsense) {
		return err
	}
	return fmt.Errorf("%w: %w", w.wrong, err)
}

// Write begins a new command, of which the answer may be as long as answers may.
func (w *wary) Write(p []byte) (int, error) {
	const header, requestTLS, flagTLS = 4, 32, 0x08 // a request for TLS has 32 bytes, the flag in the second
	if !w.spoke {
		w.tls = len(p) == header+requestTLS && p[header+1]&flagTLS != 0
	}
	w.spoke, w.left = true, mostAnswer
	if !w.tls && len(p) > header && p[3] == 0 { // the sequence begins anew with each command
		w.await, w.head = true, w.head[:0]
	}
	return w.Conn.Write(p)
}

// Read reads what is within the bounds.
func (w *wary) Read(p []byte) (int, error) {
	if w.wrong != nil {
		return 0, w.wrong
	}
	n, err := w.Conn.Read(p)
	if w.left -= n; w.left < 0 {
		w.wrong = fmt.Errorf("%w: it sends without end", errNonsense)
		return 0, w.wrong
	}
	if w.await && n > 0 {
		w.head = append(w.head, p[:min(n, longestHead-len(w.head))]...)
		if w.wrong = w.looksAt(); w.wrong != nil {
			return 0, w.wrong
		}
	}
	return n, err
}

// SyscallConn lets the driver see whether the server has closed the connection.
func (w *wary) SyscallConn() (syscall.RawConn, error) {
	if c, ok := w.Conn.(syscall.Conn); ok {
		return c.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// longestHead is a packet's header and the longest number of columns.
const longestHead = 4 + 9

// looksAt judges the first packet of an answer once enough of it is there: where a result begins with a number of columns that none can
// have, the driver would ask for memory for all of them.
func (w *wary) looksAt() error {
	if len(w.head) < 5 {
		return nil
	}
	length, kind := int(w.head[0])|int(w.head[1])<<8|int(w.head[2])<<16, w.head[4]
	columns := uint64(0)
	switch {
	case kind == 0xfc && length >= 3:
		if len(w.head) < 7 {
			return nil
		}
		columns = uint64(binary.LittleEndian.Uint16(w.head[5:]))
	case kind == 0xfd, kind == 0xfe && length >= 9:
		columns = mostColumns + 1
	}
	w.await = false
	if columns > mostColumns {
		return fmt.Errorf("%w: it announces a result of more than %d columns", errNonsense, mostColumns)
	}
	return nil
}
