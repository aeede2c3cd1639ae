package engine

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"unsafe"

	"benchplan/results"
)

// script is the statements of a role, ready for one of the two ways of sending them.
type script struct {
	templates []string
	patterns  []pattern // for sending as text; nil: prepared
	backslash bool      // the server takes a backslash in a literal for an escape
}

// statement is the part of driver.Stmt by which prepared statements run without a context: a context that can end costs
// two hand-overs to another goroutine per statement, and the engine ends statements by closing the socket.
type statement interface {
	Exec(args []driver.Value) (driver.Result, error)
	Query(args []driver.Value) (driver.Rows, error)
	Close() error
}

// connection is the line of a session whose statements a server executes.
type connection struct {
	script    *script
	connector driver.Connector

	wire     wire
	conn     driver.Conn
	queryer  driver.QueryerContext
	execer   driver.ExecerContext
	prepared []statement

	values []driver.Value // memory for the arguments of a prepared statement
	text   []byte         // memory for a statement sent as text
}

// open opens the connection and prepares the templates.
func (c *connection) open(ctx context.Context) error {
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
	c.prepared = c.prepared[:0]
	if c.script.patterns == nil {
		for _, sql := range c.script.templates {
			stmt, err := preparer.PrepareContext(ctx, sql)
			if err != nil {
				return fmt.Errorf("prepare %q: %w", shorten(sql), err)
			}
			c.prepared = append(c.prepared, stmt)
		}
	}
	c.conn, c.queryer, c.execer = conn, queryer, execer
	return nil
}

// close closes the connection, if there is one. The server frees the prepared statements by itself.
func (c *connection) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

func (c *connection) classify(err error) fault { return classify(err) }

func (c *connection) sever() { c.wire.sever() }

// execute has the server execute the statement, and reads all that it returns.
func (c *connection) execute(s *Statement) (rows, affected int64, err error) {
	if s.Template != Plain && c.script.patterns == nil {
		return c.executePrepared(c.prepared[s.Template], s)
	}
	text := s.Text
	if s.Template != Plain {
		c.text, err = c.script.patterns[s.Template].render(c.text[:0], s.Args, c.script.backslash)
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

func (c *connection) executePrepared(stmt statement, s *Statement) (rows, affected int64, err error) {
	c.values = c.values[:0]
	for i := range s.Args {
		c.values = append(c.values, value(&s.Args[i]))
	}
	if s.Class == results.Read {
		found, err := stmt.Query(c.values)
		if err != nil {
			return 0, 0, err
		}
		rows, err = drain(found)
		return rows, 0, err
	}
	result, err := stmt.Exec(c.values)
	if err != nil {
		return 0, 0, err
	}
	affected, err = result.RowsAffected()
	return 0, affected, err
}

// value boxes an argument, as the driver's interface asks for.
func value(a *Arg) driver.Value {
	switch a.Kind {
	case Int:
		return a.Int
	case Uint:
		return uint64(a.Int)
	}
	if a.Bytes == nil {
		return []byte{} // nil would be NULL
	}
	return a.Bytes
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
	rows, err := c.queryer.QueryContext(ctx, "SELECT @@sql_mode", nil)
	if err != nil {
		if f := classify(err); f.lost || ctx.Err() != nil {
			return true, err
		}
		return true, nil
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(row); err != nil || len(row) == 0 {
		return true, nil
	}
	mode, ok := row[0].([]byte)
	return !ok || !strings.Contains(string(mode), "NO_BACKSLASH_ESCAPES"), nil
}
