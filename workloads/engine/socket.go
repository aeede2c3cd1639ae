package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-sql-driver/mysql"

	"benchplan/results"
	"benchplan/workloads/engine/protocol"
)

// errHungUp is that the server closed the connection.
var errHungUp = fmt.Errorf("the server closed the connection: %w", io.EOF)

// socket is a connection that the driver has opened and logged in, and on which the engine itself sends the statements and reads the
// answers. The Go runtime does not watch it.
type socket struct {
	descriptor *descriptor
	limit      int // of a command, bytes
	statements []preparedStatement
	answer     protocol.Answer
	unsent     []byte // of the command under way
	early      []byte // what came after the answer before: the server ends the connection
}

// preparedStatement is a template as the server knows it.
type preparedStatement struct {
	id     uint32
	params int
}

// buffers is the memory that any number of sockets share which are used one at a time.
type buffers struct {
	command protocol.Command
	in      []byte
}

func newBuffers() *buffers { return &buffers{in: make([]byte, 64<<10)} }

// encode gives the packets of a statement, and makes ready for their answer.
func (s *socket) encode(c *protocol.Command, script *script, st *Statement) ([]byte, error) {
	switch {
	case st.Template == Plain:
		c.Text(append(c.Query(s.limit), st.Text...))
	case script.patterns != nil:
		text, err := script.patterns[st.Template].render(c.Query(s.limit), st.Args, script.dialect.backslash)
		if err != nil {
			return nil, err
		}
		c.Text(text)
	default:
		p := s.statements[st.Template]
		c.Execute(p.id, p.params, s.limit)
		for i := range st.Args {
			switch a := &st.Args[i]; a.Kind {
			case Int:
				c.Int(a.Int)
			case Uint:
				c.Uint(uint64(a.Int))
			default:
				c.Bytes(a.Bytes)
			}
		}
	}
	packets, sequence, err := c.Packets()
	if err != nil {
		return nil, translate(err)
	}
	s.answer.Begin(sequence, false)
	return packets, nil
}

// outcome reads what the answer came to, as the driver tells it: rows of a read, and rows changed of all else.
func (s *socket) outcome(class results.Class) (rows, affected int64, err error) {
	if err := s.answer.Err(); err != nil {
		return 0, 0, translate(err)
	}
	if class == results.Read {
		return s.answer.Rows, 0, nil
	}
	return 0, s.answer.Affected, nil
}

// translate gives an error of the protocol as the driver gives it.
func translate(err error) error {
	if server, ok := errors.AsType[*protocol.ServerError](err); ok {
		return &mysql.MySQLError{Number: server.Code, SQLState: server.State, Message: server.Message}
	}
	if errors.Is(err, protocol.ErrTooLarge) {
		return mysql.ErrPktTooLarge
	}
	return err
}

// feed has the answer under way take what came. refusal is what has to be sent before it goes on. What comes after the answer is kept:
// a server that ends a connection says so at any time, and it holds for the statement to come.
func (s *socket) feed(data []byte) (status protocol.Status, refusal []byte, err error) {
	used, status, err := s.answer.Feed(data)
	switch {
	case err != nil:
		return status, nil, err
	case status == protocol.Refuse && used < len(data):
		return status, nil, fmt.Errorf("%w: the server went on before it had its answer", protocol.ErrMalformed)
	case status == protocol.Refuse:
		packet := s.answer.Refusal()
		return status, packet[:], nil
	case used < len(data):
		s.early = append(s.early, data[used:]...)
	}
	return status, nil, nil
}

// prepare prepares the templates over the connection, while it is still the driver's.
func (s *socket) prepare(ctx context.Context, conn net.Conn, templates []string) error {
	defer interruptible(ctx, conn)()
	b := buffers{in: make([]byte, 4<<10)}
	s.statements = make([]preparedStatement, 0, len(templates))
	for _, sql := range templates {
		b.command.Prepare(sql, s.limit)
		packets, sequence, err := b.command.Packets()
		if err == nil {
			s.answer.Begin(sequence, true)
			_, err = conn.Write(packets)
		}
		for status := protocol.More; err == nil && status != protocol.Done; {
			var n int
			if n, err = conn.Read(b.in); err == nil {
				status, _, err = s.feed(b.in[:n])
			}
		}
		if err == nil {
			err = s.answer.Err()
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("prepare %q: %w", shorten(sql), translate(err))
		}
		s.statements = append(s.statements, preparedStatement{s.answer.ID, s.answer.Params})
	}
	return nil
}

// interruptible lets the end of ctx break off what is under way on the connection, until the function that it gives is called.
func interruptible(ctx context.Context, conn net.Conn) (release func()) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}
