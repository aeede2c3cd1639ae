package tables

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"benchplan/workloads/engine"
)

const (
	// mostTuples is how many rows a prepared INSERT has. MariaDB takes as much time a row with half and with twice as many, and more
	// with five times as many.
	mostTuples = 500

	// mostParameters is what the protocol has room for in a statement.
	mostParameters = 1<<16 - 1

	// parameterBytes is what a parameter has at most beside its value: its type, its length, and its bit among the NULLs.
	parameterBytes = 12
)

// takesPrepared begins a transaction and prepares an INSERT in it, to see whether the server and what stands before it allow that.
func (p *preparation) takesPrepared(ctx context.Context) bool {
	l, err := p.newLoader(ctx, p.wanted[0], new(memory))
	if err != nil {
		return false
	}
	return errors.Join(l.prepare(ctx, l.most), l.end(ctx, nil)) == nil
}

// insertPrepared loads a part by prepared INSERT statements, in one transaction. There is no value to be parsed for the server, and no
// byte of it to be looked at, as there is with LOAD DATA: it takes MariaDB a third less time a row.
func (p *preparation) insertPrepared(ctx context.Context, c part, rows *source, m *memory) (err error) {
	l, err := p.newLoader(ctx, c.table, m)
	if err != nil {
		return err
	}
	defer func() {
		if err = l.end(ctx, err); err == nil {
			p.loaded(l.done)
		}
	}()
	for rows.appendTo(&l.rows) {
		if err := l.added(ctx); err != nil {
			return err
		}
	}
	return l.flush(ctx)
}

// loader is a connection on which rows are inserted into a table, in a transaction. It uses the driver without database/sql, which makes
// a copy of the arguments for each statement: together with what there is to be collected it took as long as making the rows.
type loader struct {
	preparation *preparation
	conn        *sql.Conn
	head, tuple string // of the statement: what comes before the rows, and a row
	width       int    // parameters of a row
	most        int    // rows of a statement

	statement executor
	takes     int // rows of it

	*memory       // of what is to be sent
	bytes   int   // of its values, and what they have beside
	done    int64 // rows that were inserted
}

// memory is what any number of loaders may use, one after the other.
type memory struct {
	rows   engine.Args // one after the other
	values []driver.NamedValue
}

// executor is what a statement of the driver can do.
type executor interface {
	driver.Stmt
	driver.StmtExecContext
}

// newLoader takes a connection and begins a transaction. Why the server is told a character set says chooseCharset.
func (p *preparation) newLoader(ctx context.Context, table int, m *memory) (l *loader, err error) {
	columns := p.schema.Columns(p.spec)
	m.rows = m.rows[:0]
	l = &loader{
		preparation: p, memory: m, width: len(columns), most: max(1, min(mostTuples, mostParameters/len(columns))),
		head:  fmt.Sprintf("INSERT INTO %s (%s) VALUES ", Quote(p.names[table]), quoteAll(columns)),
		tuple: "(?" + strings.Repeat(",?", len(columns)-1) + ")",
	}
	if l.conn, err = p.db.Conn(ctx); err != nil {
		return nil, err
	}
	if p.clientCharset != "" {
		_, err = l.conn.ExecContext(ctx, "SET character_set_client="+p.charset)
	}
	if err == nil {
		_, err = l.conn.ExecContext(ctx, "START TRANSACTION")
	}
	if err != nil {
		return nil, l.end(ctx, err)
	}
	return l, nil
}

// end commits, and makes the connection what it was. After an error, which it gives too, it ends the connection, and by that the
// transaction.
func (l *loader) end(ctx context.Context, err error) error {
	defer l.conn.Close()
	l.close()
	if err == nil {
		_, err = l.conn.ExecContext(ctx, "COMMIT")
	}
	if err == nil && l.preparation.clientCharset != "" {
		_, err = l.conn.ExecContext(ctx, "SET character_set_client="+l.preparation.clientCharset)
	}
	if err != nil {
		_ = l.conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	return err
}

// prepare makes a statement of so many rows.
func (l *loader) prepare(ctx context.Context, rows int) error {
	l.close()
	return l.conn.Raw(func(conn any) error {
		preparer, ok := conn.(driver.ConnPrepareContext)
		if !ok {
			return errors.New("the driver prepares no statements")
		}
		statement, err := preparer.PrepareContext(ctx, l.head+l.tuple+strings.Repeat(","+l.tuple, rows-1))
		if err != nil {
			return err
		}
		l.statement, ok = statement.(executor)
		if !ok {
			return errors.Join(errors.New("the driver executes no prepared statements"), statement.Close())
		}
		l.takes = rows
		return nil
	})
}

// close closes the statement, if there is one. The server answers nothing to that, and where it cannot be sent, what follows on the
// connection meets the same, of which the driver then says that the connection broke off.
func (l *loader) close() {
	if l.statement == nil {
		return
	}
	_ = l.conn.Raw(func(any) error {
		_ = l.statement.Close()
		return nil
	})
	l.statement, l.takes = nil, 0
}

// added counts the row that was appended last, and sends what fills a statement.
func (l *loader) added(ctx context.Context) error {
	before := len(l.rows) - l.width
	bytes := 0
	for i := range l.width {
		bytes += parameterBytes
		if a := &l.rows[before+i]; a.Kind == engine.Bytes {
			bytes += len(a.Bytes)
		}
	}
	if l.bytes+bytes > l.preparation.batch && before > 0 {
		// One row too many: it begins the next statement. No later one tries as many, so that it need not be prepared anew each time.
		last := l.rows[before:]
		l.rows, l.most = l.rows[:before], before/l.width
		if err := l.flush(ctx); err != nil {
			return err
		}
		l.rows, l.bytes = l.rows[:l.width], bytes
		for i := range last {
			l.rows[i], last[i] = last[i], l.rows[i] // so that each has memory of its own
		}
		return nil
	}
	l.bytes += bytes
	if len(l.rows) >= l.most*l.width {
		return l.flush(ctx)
	}
	return nil
}

// flush sends what there is.
func (l *loader) flush(ctx context.Context) error {
	rows := len(l.rows) / l.width
	if rows == 0 {
		return nil
	}
	if rows != l.takes {
		if err := l.prepare(ctx, rows); err != nil {
			return err
		}
	}
	l.box()
	err := l.conn.Raw(func(any) error {
		result, err := l.statement.ExecContext(ctx, l.values[:len(l.rows)])
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err == nil && n != int64(rows) {
			return fmt.Errorf("the server took %d of %d rows", n, rows)
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.preparation.bytes.Add(int64(l.bytes))
	l.done += int64(rows)
	l.rows, l.bytes = l.rows[:0], 0
	return nil
}

// box makes the rows values of the driver. A text that is where one of the same length was is in its value already.
func (l *loader) box() {
	for len(l.values) < len(l.rows) {
		l.values = append(l.values, driver.NamedValue{Ordinal: len(l.values) + 1})
	}
	for i := range l.rows {
		a, v := &l.rows[i], &l.values[i].Value
		switch a.Kind {
		case engine.Int:
			*v = a.Int
		case engine.Uint:
			*v = uint64(a.Int)
		default:
			if a.Bytes == nil {
				a.Bytes = []byte{} // nil would be NULL
			}
			if b, ok := (*v).([]byte); !ok || len(b) != len(a.Bytes) || unsafe.SliceData(b) != unsafe.SliceData(a.Bytes) {
				*v = a.Bytes
			}
		}
	}
}
