package target

import (
	"context"
	"database/sql/driver"
	"fmt"
)

// guarded is a connection of the driver whose panics are errors. The driver trusts what a server sends: a packet that is shorter than it
// says, and it reads beyond its end.
type guarded struct {
	full
	socket *wary
	broken bool
}

// full is all that a connection of the driver can do.
type full interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// mend makes an error of a panic, and says of the error of a broken connection why it is broken. It is deferred.
func (g *guarded) mend(err *error) {
	if p := recover(); p != nil {
		g.broken = true
		*err = fmt.Errorf("%w: what it sends cannot be read (%v)", errNonsense, p)
		return
	}
	*err = g.socket.explain(*err)
}

// IsValid tells whether the connection can be used again.
func (g *guarded) IsValid() bool { return !g.broken && g.full.IsValid() }

// Ping asks for a sign of life.
func (g *guarded) Ping(ctx context.Context) (err error) {
	defer g.mend(&err)
	return g.full.Ping(ctx)
}

// ExecContext executes a statement.
func (g *guarded) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (_ driver.Result, err error) {
	defer g.mend(&err)
	return g.full.ExecContext(ctx, query, args)
}

// QueryContext executes a statement that gives rows.
func (g *guarded) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (rows driver.Rows, err error) {
	defer g.mend(&err)
	if rows, err = g.full.QueryContext(ctx, query, args); err != nil {
		return nil, err
	}
	return g.rows(rows), nil
}

// BeginTx begins a transaction.
func (g *guarded) BeginTx(ctx context.Context, o driver.TxOptions) (_ driver.Tx, err error) {
	defer g.mend(&err)
	return g.full.BeginTx(ctx, o)
}

// PrepareContext prepares a statement.
func (g *guarded) PrepareContext(ctx context.Context, query string) (s driver.Stmt, err error) {
	defer g.mend(&err)
	if s, err = g.full.PrepareContext(ctx, query); err != nil {
		return nil, err
	}
	if all, ok := s.(fullStatement); ok {
		return &guardedStatement{all, g}, nil
	}
	return s, nil
}

type fullStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
	driver.NamedValueChecker
}

type guardedStatement struct {
	fullStatement
	on *guarded
}

// ExecContext executes the statement.
func (s *guardedStatement) ExecContext(ctx context.Context, args []driver.NamedValue) (_ driver.Result, err error) {
	defer s.on.mend(&err)
	return s.fullStatement.ExecContext(ctx, args)
}

// QueryContext executes the statement, which gives rows.
func (s *guardedStatement) QueryContext(ctx context.Context, args []driver.NamedValue) (rows driver.Rows, err error) {
	defer s.on.mend(&err)
	if rows, err = s.fullStatement.QueryContext(ctx, args); err != nil {
		return nil, err
	}
	return s.on.rows(rows), nil
}

// fullRows is all that rows of the driver can do.
type fullRows interface {
	driver.RowsNextResultSet
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
}

func (g *guarded) rows(rows driver.Rows) driver.Rows {
	if all, ok := rows.(fullRows); ok {
		return &guardedRows{all, g}
	}
	return rows
}

type guardedRows struct {
	fullRows
	on *guarded
}

// Next reads a row.
func (r *guardedRows) Next(row []driver.Value) (err error) {
	defer r.on.mend(&err)
	return r.fullRows.Next(row)
}

// NextResultSet goes on to the next result.
func (r *guardedRows) NextResultSet() (err error) {
	defer r.on.mend(&err)
	return r.fullRows.NextResultSet()
}

// Close reads what is left.
func (r *guardedRows) Close() (err error) {
	defer r.on.mend(&err)
	return r.fullRows.Close()
}
