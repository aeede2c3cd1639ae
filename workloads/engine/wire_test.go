package engine

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"
	"time"
)

// late is a fake of a server that lets a client in just when the time is over: a real one cannot be made to.
type late struct{ closed bool }

func (l *late) Driver() driver.Driver { return nil }

func (l *late) Connect(ctx context.Context) (driver.Conn, error) {
	<-ctx.Done()
	return lateConn{l}, nil
}

type lateConn struct{ of *late }

func (lateConn) Prepare(string) (driver.Stmt, error) { return nil, driver.ErrBadConn }
func (lateConn) Begin() (driver.Tx, error)           { return nil, driver.ErrBadConn }
func (c lateConn) Close() error                      { c.of.closed = true; return nil }

// TestAConnectionThatComesTooLate is none: the driver closes its socket when the time is over, even if the server has just let it in.
func TestAConnectionThatComesTooLate(t *testing.T) {
	l := new(late)
	conn, err := bounded{l, time.Millisecond}.Connect(t.Context())
	if conn != nil || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "did not let the client in within 1ms") || !l.closed {
		t.Errorf("%v, %v, closed: %t", conn, err, l.closed)
	}
}

// TestAnAnswerThatComesTooLate is none either.
func TestAnAnswerThatComesTooLate(t *testing.T) {
	c := connection{connector: bounded{new(late), time.Millisecond}}
	limited, explain, done := c.answering(t.Context())
	defer done()
	<-limited.Done()
	if err := explain(nil); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "did not answer within 1ms") {
		t.Error(err)
	}
}
