package engine

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"benchplan/results"
)

// clock counts nanoseconds since the load started.
type clock struct{ base time.Time }

func (c *clock) now() int64 { return int64(time.Since(c.base)) }

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

// runner drives one session over a connection, from one goroutine.
type runner struct {
	session   session
	script    *script
	connector driver.Connector
	clock     *clock
	patience  time.Duration // how long to try to reconnect

	wire     wire
	conn     driver.Conn
	queryer  driver.QueryerContext
	execer   driver.ExecerContext
	prepared []statement

	values []driver.Value // memory for the arguments of a prepared statement
	text   []byte         // memory for a statement sent as text

	lostAt    int64       // since when there is no connection; 0 while there is one
	lostError error       // why there is none
	away      atomic.Bool // there is none, for others to read
	over      atomic.Bool // drive has returned
}

// connect opens the connection and prepares the templates.
func (r *runner) connect(ctx context.Context) error {
	conn, err := r.connector.Connect(r.wire.record(ctx))
	if err != nil {
		return err
	}
	if err := r.adopt(ctx, conn); err != nil {
		_ = conn.Close()
		return err
	}
	return nil
}

// adopt makes the connection the runner's.
func (r *runner) adopt(ctx context.Context, conn driver.Conn) error {
	if !r.wire.attached() {
		return errors.New("the connector does not say which socket a connection has: make it by engine.NewConnector")
	}
	queryer, ok1 := conn.(driver.QueryerContext)
	execer, ok2 := conn.(driver.ExecerContext)
	preparer, ok3 := conn.(driver.ConnPrepareContext)
	if !ok1 || !ok2 || !ok3 {
		return fmt.Errorf("connections of type %T cannot run statements directly", conn)
	}
	r.prepared = r.prepared[:0]
	if r.script.patterns == nil {
		for _, sql := range r.script.templates {
			stmt, err := preparer.PrepareContext(ctx, sql)
			if err != nil {
				return fmt.Errorf("prepare %q: %w", shorten(sql), err)
			}
			r.prepared = append(r.prepared, stmt)
		}
	}
	r.conn, r.queryer, r.execer = conn, queryer, execer
	return nil
}

// disconnect closes the connection, if there is one. The server frees the prepared statements by itself.
func (r *runner) disconnect() {
	if r.conn != nil {
		_ = r.conn.Close()
		r.conn = nil
	}
}

// drive runs the session to its end. ended is over once the cell is: then no new connection is tried.
func (r *runner) drive(ended context.Context) {
	defer r.over.Store(true)
	defer r.disconnect()
	defer func() { r.session.abandon(r.clock.now()) }()
	for next := r.session.begin(r.clock.now()); next != stop; {
		switch next {
		case execute:
			rows, affected, err := r.execute(&r.session.statement)
			now := r.clock.now()
			if err == nil {
				next = r.session.answered(now, rows, affected)
				continue
			}
			f := classify(err)
			if f.lost {
				r.lostError = err
			}
			next = r.session.failed(now, f)
		case reconnect:
			since := r.clock.now()
			if !r.reconnect(ended, since) {
				return
			}
			now := r.clock.now()
			next = r.session.reconnected(now, time.Duration(now-since))
		}
	}
}

const (
	firstBackOff = 10 * time.Millisecond
	mostBackOff  = time.Second
)

// reconnect tries, ever less often, until there is a connection (true), the cell is over, or patience is at its end.
func (r *runner) reconnect(ended context.Context, since int64) bool {
	r.disconnect()
	r.lostAt = max(since, 1)
	r.away.Store(true)
	ctx, cancel := context.WithTimeout(ended, r.patience)
	defer cancel()
	for wait := firstBackOff; ; wait = min(2*wait, mostBackOff) {
		err := r.connect(ctx)
		if err == nil {
			r.lostAt, r.lostError = 0, nil
			r.away.Store(false)
			return true
		}
		if ctx.Err() == nil {
			r.lostError = err
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
			continue
		case <-ctx.Done():
			pause.Stop()
		}
		if ended.Err() == nil {
			r.session.cell.fail(r.clock.now(), fmt.Errorf("%w: no connection for %s: %w", ErrServerLost, r.patience, r.reason()))
		}
		return false
	}
}

// reason gives the last error met while there is no connection.
func (r *runner) reason() error {
	if r.lostError == nil {
		return errors.New("no answer")
	}
	return r.lostError
}

// execute has the server execute the statement, and reads all that it returns.
func (r *runner) execute(s *Statement) (rows, affected int64, err error) {
	if s.Template != Plain && r.script.patterns == nil {
		return r.executePrepared(r.prepared[s.Template], s)
	}
	text := s.Text
	if s.Template != Plain {
		r.text, err = r.script.patterns[s.Template].render(r.text[:0], s.Args, r.script.backslash)
		if err != nil {
			return 0, 0, err
		}
		text = r.text
	}
	// The driver copies the statement into its packet and keeps nothing of it, so the string need not have memory of its own.
	query := unsafe.String(unsafe.SliceData(text), len(text))
	if s.Class == results.Read {
		found, err := r.queryer.QueryContext(context.Background(), query, nil)
		if err != nil {
			return 0, 0, err
		}
		rows, err = drain(found)
		return rows, 0, err
	}
	result, err := r.execer.ExecContext(context.Background(), query, nil)
	if err != nil {
		return 0, 0, err
	}
	affected, err = result.RowsAffected()
	return 0, affected, err
}

func (r *runner) executePrepared(stmt statement, s *Statement) (rows, affected int64, err error) {
	r.values = r.values[:0]
	for i := range s.Args {
		r.values = append(r.values, value(&s.Args[i]))
	}
	if s.Class == results.Read {
		found, err := stmt.Query(r.values)
		if err != nil {
			return 0, 0, err
		}
		rows, err = drain(found)
		return rows, 0, err
	}
	result, err := stmt.Exec(r.values)
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
func (r *runner) escapesByBackslash(ctx context.Context) (bool, error) {
	rows, err := r.queryer.QueryContext(ctx, "SELECT @@sql_mode", nil)
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
