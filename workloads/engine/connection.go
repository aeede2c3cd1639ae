package engine

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"benchplan/results"
)

// script is the statements of a role, ready for one of the two ways of sending them.
type script struct {
	templates []string
	patterns  []pattern // for sending as text; nil: prepared
	dialect   *dialect
}

// dialect is how the server reads literals. All clients of a run share it.
type dialect struct {
	backslash bool      // it takes a backslash for an escape
	asked     sync.Once // whether it does
}

// statement is the part of driver.Stmt by which prepared statements run without a context: a context that can end costs
// two hand-overs to another goroutine per statement, and the engine ends statements by closing the socket.
type statement interface {
	Exec(args []driver.Value) (driver.Result, error)
	Query(args []driver.Value) (driver.Rows, error)
	Close() error
}

// preparedByDriver is a template as the driver has prepared it.
type preparedByDriver struct {
	statement
	returnsRows bool // whatever its class: then the rows changed are not known
	executed    bool
}

// connection is the line of a session whose statements a server executes.
type connection struct {
	script    *script
	connector driver.Connector

	wire     wire
	conn     driver.Conn
	queryer  driver.QueryerContext
	execer   driver.ExecerContext
	prepared []preparedByDriver

	mode    IOMode
	socket  *socket  // with which the engine does without the driver; nil: it does not
	buffers *buffers // of a client that has the socket for itself

	values []driver.Value // memory for the arguments of a prepared statement
	boxes  []*box         // likewise, by their place
	text   []byte         // memory for a statement sent as text
}

// open opens the connection and prepares the templates.
func (c *connection) open(ctx context.Context) error {
	c.wire.observes = c.mode != IODriver && c.mode != ""
	c.wire.greeting = nil
	conn, err := c.connector.Connect(c.wire.record(ctx))
	if err != nil {
		return err
	}
	if err := c.adopt(ctx, conn); err != nil {
		_ = conn.Close()
		return err
	}
	return nil
}

// adopt makes a connection of the driver its own.
func (c *connection) adopt(ctx context.Context, conn driver.Conn) error {
	if !c.wire.attached() {
		return errors.New("the connector does not say which socket a connection has: make it by engine.NewConnector")
	}
	queryer, ok1 := conn.(driver.QueryerContext)
	execer, ok2 := conn.(driver.ExecerContext)
	preparer, ok3 := conn.(driver.ConnPrepareContext)
	if !ok1 || !ok2 || !ok3 {
		return fmt.Errorf("connections of type %T cannot run statements directly", conn)
	}
	c.queryer, c.execer = queryer, execer
	if err := c.ask(ctx); err != nil {
		return err
	}
	if c.wire.plain() {
		return c.detach(ctx, conn)
	}
	if c.mode == IOLoop {
		return fmt.Errorf("io: %s: %w", IOLoop, errNoLoop)
	}
	if err := c.prepare(ctx, preparer); err != nil {
		return err
	}
	c.conn = conn
	return nil
}

// errNoLoop says why the engine cannot drive a socket itself.
var errNoLoop = errors.New("it takes Linux, and a TCP or Unix socket without TLS, compression and time limits of the driver for single reads and writes; leave io out to have the driver step in")

// answering limits how long the server may take for one answer while the connection is being made ready. explain says so of an error.
func (c *connection) answering(ctx context.Context) (limited context.Context, explain func(error) error, done context.CancelFunc) {
	limit := patience(c.connector)
	if limit == 0 {
		return ctx, func(err error) error { return err }, func() {}
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	return limited, func(err error) error {
		// After that time the driver closes the connection, be the answer there or not.
		if limited.Err() != nil && ctx.Err() == nil {
			return fmt.Errorf("the server did not answer within %s: %w", limit, context.DeadlineExceeded)
		}
		return err
	}, cancel
}

// prepare has the driver prepare the templates.
func (c *connection) prepare(ctx context.Context, preparer driver.ConnPrepareContext) error {
	c.prepared = c.prepared[:0]
	if c.script.patterns != nil {
		return nil
	}
	for _, sql := range c.script.templates {
		limited, explain, done := c.answering(ctx)
		stmt, err := preparer.PrepareContext(limited, sql)
		err = explain(err)
		done()
		if err != nil {
			return fmt.Errorf("prepare %q: %w", shorten(sql), err)
		}
		c.prepared = append(c.prepared, preparedByDriver{statement: stmt, returnsRows: returnsRows(stmt)})
	}
	return nil
}

// ask has the server tell, once for all clients, how it reads literals.
func (c *connection) ask(ctx context.Context) (err error) {
	if c.script.patterns != nil {
		c.script.dialect.asked.Do(func() { c.script.dialect.backslash, err = c.escapesByBackslash(ctx) })
	}
	return err
}

// detach takes the socket of a connection from the driver, and prepares the templates.
func (c *connection) detach(ctx context.Context, conn driver.Conn) error {
	greeting := c.wire.greeting
	s := &socket{limit: greeting.limit}
	s.answer.Capabilities = greeting.capabilities
	if s.limit == 0 {
		limit, err := c.variable(ctx, "max_allowed_packet")
		if err == nil {
			s.limit, err = strconv.Atoi(limit)
		}
		if err != nil {
			return fmt.Errorf("max_allowed_packet of the server: %w", err)
		}
		s.limit-- // as the driver takes it
	}
	if c.script.patterns == nil {
		b := buffers{in: make([]byte, 4<<10)}
		for _, sql := range c.script.templates {
			limited, explain, done := c.answering(ctx)
			err := explain(s.prepare(limited, greeting.Conn, &b, sql))
			done()
			if err != nil {
				return fmt.Errorf("prepare %q: %w", shorten(sql), err)
			}
		}
	}
	var err error
	if s.descriptor, err = takeOver(greeting.Conn); err != nil {
		return err
	}
	c.wire.attach(s.descriptor)
	_ = conn.Close()                                     // what the driver has of it
	c.wire.greeting, c.queryer, c.execer = nil, nil, nil // so that its memory is free too
	c.socket = s
	return nil
}

// close closes the connection, if there is one. The server frees the prepared statements by itself.
func (c *connection) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
	if c.socket != nil {
		c.socket.descriptor.free()
		c.socket = nil
	}
}

func (c *connection) classify(err error) fault { return classify(err) }

func (c *connection) sever() { c.wire.sever() }

// execute has the server execute the statement, and reads all that it returns.
func (c *connection) execute(s *Statement) (rows, affected int64, err error) {
	if c.socket != nil {
		if c.buffers == nil {
			c.buffers = newBuffers()
		}
		return c.socket.execute(c.buffers, c.script, s)
	}
	if s.Template != Plain && c.script.patterns == nil {
		return c.executePrepared(&c.prepared[s.Template], s)
	}
	text := s.Text
	if s.Template != Plain {
		c.text, err = c.script.patterns[s.Template].render(c.text[:0], s.Args, c.script.dialect.backslash)
		if err != nil {
			return 0, 0, err
		}
		text = c.text
	}
	// The driver copies the statement into its packet and keeps nothing of it, so the string need not have memory of its own.
	query := unsafe.String(unsafe.SliceData(text), len(text))
	if s.Class == results.Read {
		found, err := c.queryer.QueryContext(context.Background(), query, nil)
		if err != nil {
			return 0, 0, err
		}
		rows, err = drain(found)
		return rows, 0, err
	}
	result, err := c.execer.ExecContext(context.Background(), query, nil)
	if err != nil {
		return 0, 0, err
	}
	affected, err = result.RowsAffected()
	return 0, affected, err
}

func (c *connection) executePrepared(stmt *preparedByDriver, s *Statement) (rows, affected int64, err error) {
	c.values = c.values[:0]
	for i := range s.Args {
		if i == len(c.boxes) {
			c.boxes = append(c.boxes, newBox())
		}
		c.values = append(c.values, c.boxes[i].put(&s.Args[i]))
	}
	if s.Class == results.Read {
		found, err := stmt.Query(c.values)
		if err != nil {
			return 0, 0, err
		}
		rows, err = drain(found)
		return rows, 0, err
	}
	if stmt.returnsRows {
		found, err := stmt.Query(c.values)
		if err != nil {
			return 0, 0, err
		}
		_, err = drain(found)
		return 0, 0, err
	}
	result, err := stmt.Exec(c.values)
	if !stmt.executed {
		stmt.executed, stmt.returnsRows = true, returnsRows(stmt.statement) // a CALL has columns only now
	}
	if err != nil {
		return 0, 0, err
	}
	affected, err = result.RowsAffected()
	return 0, affected, err
}

// returnsRows tells whether the driver was told columns of the statement. MariaDB does not send these again with each answer; the
// driver's Exec waits for them for ever (go-sql-driver/mysql 1.10.1), and its Query does not. It keeps them to itself; the statements
// of another driver have none that could be seen.
func returnsRows(stmt statement) bool {
	v := reflect.ValueOf(stmt)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return false
	}
	columns := v.Elem().FieldByName("columns")
	return columns.Kind() == reflect.Slice && columns.Len() > 0
}

// box is memory for an argument as the driver's interface asks for it: Go would take new memory for each number that it makes an
// interface of. The driver copies arguments into its packet and keeps nothing of them, so the next may stand in the same place.
type box struct {
	signed   int64
	unsigned uint64
	bytes    []byte

	values [Bytes + 1]driver.Value // of the fields above, by ArgKind
}

func newBox() *box {
	b := new(box)
	b.values = [...]driver.Value{Int: valueAt(&b.signed), Uint: valueAt(&b.unsigned), Bytes: valueAt(&b.bytes)}
	return b
}

// valueAt gives an interface whose value is whatever stands at p at the time that it is asked.
func valueAt[T any](p *T) driver.Value {
	var v driver.Value = *p // for the type
	(*[2]unsafe.Pointer)(unsafe.Pointer(&v))[1] = unsafe.Pointer(p)
	return v
}

// put puts an argument into the box. What it gives holds until the next is put there.
func (b *box) put(a *Arg) driver.Value {
	switch a.Kind {
	case Int:
		b.signed = a.Int
	case Uint:
		b.unsigned = uint64(a.Int)
	case Bytes:
		if b.bytes = a.Bytes; b.bytes == nil {
			b.bytes = []byte{} // nil would be NULL
		}
	}
	return b.values[a.Kind]
}

// drain reads all rows and counts them. It asks for none of their columns: the driver then takes the row's packet from
// the socket without making values out of it, which is all that a load generator needs.
func drain(rows driver.Rows) (n int64, err error) {
	for {
		switch err := rows.Next(nil); err {
		case nil:
			n++
		case io.EOF:
			return n, rows.Close()
		default:
			_ = rows.Close()
			return n, err
		}
	}
}

// escapesByBackslash asks the server how it reads literals. A server that cannot tell does as all do by default.
func (c *connection) escapesByBackslash(ctx context.Context) (bool, error) {
	mode, err := c.variable(ctx, "sql_mode")
	if err != nil && (classify(err).lost || errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil) {
		return true, err
	}
	return !strings.Contains(mode, "NO_BACKSLASH_ESCAPES"), nil
}

// variable asks the server for a variable of the session.
func (c *connection) variable(ctx context.Context, name string) (value string, err error) {
	ctx, explain, done := c.answering(ctx)
	defer done()
	defer func() { err = explain(err) }()
	rows, err := c.queryer.QueryContext(ctx, "SELECT @@"+name, nil)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(row); err == io.EOF || err == nil && len(row) == 0 {
		return "", nil
	} else if err != nil {
		return "", err
	}
	switch v := row[0].(type) {
	case []byte:
		return string(v), nil
	case int64, uint64:
		return fmt.Sprint(v), nil
	}
	return "", nil
}
