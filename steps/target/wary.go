package target

import (
	"bytes"
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
	w := &wary{Conn: conn, left: mostGreeting, await: true}
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
	left    int    // bytes that may come until the client says something
	spoke   bool   // the client has said something
	tls     bool   // what comes is encrypted
	command bool   // the client has said a command; before, it logs in
	await   bool   // the first packet of an answer is to come
	head    []byte // its beginning; of the greeting, all
	wrong   error
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
	if len(p) > header && !w.tls {
		// The sequence begins anew with each command; what goes on in it is a step of the log-in before the first, and the data of a
		// LOAD DATA LOCAL after it.
		w.command = w.command || p[3] == 0
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
		w.head = append(w.head, p[:min(n, mostGreeting)]...)
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

// looksAt judges the first packet of an answer once enough of it is there. The driver reads beyond the end of a greeting, or of the end of a
// log-in, that is shorter than it should be; and where a result begins with a number of columns that none can have, it would ask for memory
// for all of them.
func (w *wary) looksAt() error {
	const header, longestNumber = 4, 9
	if len(w.head) < header {
		return nil
	}
	length := int(w.head[0]) | int(w.head[1])<<8 | int(w.head[2])<<16
	payload := w.head[header:]
	if needed := min(length, longestNumber); w.spoke && len(payload) < needed || !w.spoke && len(payload) < length {
		return nil // the rest is to come
	}
	payload = payload[:min(length, len(payload))]
	w.await = false
	switch {
	case !w.spoke && !isGreeting(payload):
		return fmt.Errorf("%w: it begins with what is no greeting", errNonsense)
	case w.spoke && !w.command && !isStep(payload):
		return fmt.Errorf("%w: it answers the log-in with what is no answer", errNonsense)
	case w.command && tooWide(payload):
		return fmt.Errorf("%w: it announces a result of more than %d columns", errNonsense, mostColumns)
	}
	return nil
}

// isGreeting tells whether a packet is a greeting, or the error in place of one.
func isGreeting(p []byte) bool {
	if isError(p) {
		return true
	}
	end := bytes.IndexByte(p, 0) // of the server's version
	const number, salt, short, long = 4, 9, 2, 1 + 2 + 2 + 1 + 10 + 13
	least := end + 1 + number + salt + short
	return end > 0 && (len(p) == least || len(p) >= least+long) || len(p) > 0 && p[0] < 10 // of which the driver says that it is too old
}

// isError tells whether a packet is an error with all that belongs to one.
func isError(p []byte) bool {
	return len(p) > 3 && p[0] == 0xff && (p[3] != '#' || len(p) >= 9)
}

// isStep tells whether a packet is a step of the log-in: its end, an error, or a question.
func isStep(p []byte) bool {
	switch {
	case len(p) == 0:
		return false
	case p[0] == 0xff:
		return isError(p)
	case p[0] == 0:
		return len(p) >= 7 && p[1] == 0 && p[2] == 0
	}
	return true
}

// tooWide tells whether a packet announces more columns than a result can have.
func tooWide(p []byte) bool {
	switch {
	case len(p) >= 3 && p[0] == 0xfc:
		return binary.LittleEndian.Uint16(p[1:]) > mostColumns
	case len(p) > 0 && p[0] == 0xfd:
		return true
	}
	return len(p) >= 9 && p[0] == 0xfe
}
