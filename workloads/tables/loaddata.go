package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"
)

// loadPacket is how much of what LOAD DATA reads the driver sends at a time, whatever the server takes.
const loadPacket = 16 << 10

// takesLoadData loads nothing into the first table, to see whether the server and what stands before it allow that.
func (p *preparation) takesLoadData(ctx context.Context) bool {
	var on string
	if err := p.db.QueryRowContext(ctx, "SELECT @@local_infile").Scan(&on); err != nil || on != "1" && !strings.EqualFold(on, "on") {
		return false
	}
	_, err := p.loadReader(ctx, p.wanted[0], strings.NewReader(""))
	return err == nil
}

// wide finds the character sets in which ASCII is not one byte a character.
var wide = regexp.MustCompile(`(?i)\b(?:ucs2|utf16|utf16le|utf32)\b`)

// chooseCharset says what the server is to take lines for: bytes, which it stores as they are. That takes a fifth less of its time than
// utf8mb4, where it looks at each byte whether a longer character begins there and converts the values if the columns are of another
// character set. ASCII, as the rows are, is the same bytes in all but a few of them.
func (p *preparation) chooseCharset(ctx context.Context) error {
	s, err := inspect(ctx, p.db, p.names[p.wanted[0]]) // the tables of a spec are alike
	if err != nil {
		return err
	}
	p.charset = "binary"
	if wide.MatchString(s.ddl) {
		p.charset = "utf8mb4"
	}
	p.counts = strings.Contains(strings.ToUpper(s.ddl), "AUTO_INCREMENT")
	return nil
}

// interleaved is the innodb_autoinc_lock_mode in which no statement locks the counter of a table.
const interleaved = 2

// locksCounter tells whether LOAD DATA keeps the AUTO_INCREMENT counter of its table locked until it ends, as MariaDB does by default:
// others that load the table could only wait, and wait for longer than innodb_lock_wait_timeout. A server that does not tell is taken
// to.
func (p *preparation) locksCounter(ctx context.Context) (bool, error) {
	if !p.counts {
		return false, nil
	}
	var mode int
	err := p.db.QueryRowContext(ctx, "SELECT @@innodb_autoinc_lock_mode").Scan(&mode)
	return err != nil || mode != interleaved, ctx.Err()
}

// loadData loads a part by one LOAD DATA statement. With LOCAL the server makes warnings of errors, so the rows are counted.
func (p *preparation) loadData(ctx context.Context, c part, rows *source) error {
	reader := &lines{rows: rows}
	n, err := p.loadReader(ctx, c.table, reader)
	p.bytes.Add(reader.bytes)
	if err != nil {
		return err
	}
	if want := c.last - c.first + 1; n != want {
		return fmt.Errorf("the server took %d of %d rows", n, want)
	}
	p.loaded(n)
	return nil
}

// loads counts the uses of the driver's registry of readers, whose names have to be unique within the process.
var loads atomic.Uint64

// loadReader has the server load what a reader gives.
//
// The session is left as it is. unique_checks=0 and foreign_key_checks=0 have nothing to save here, but make MariaDB from 10.7 on sort
// in a file what it loads into an empty table, which takes it half as long again, and more, for rows that come in order.
func (p *preparation) loadReader(ctx context.Context, table int, reader io.Reader) (int64, error) {
	name := "benchplan-" + strconv.FormatUint(loads.Add(1), 10)
	mysql.RegisterReaderHandler(name, func() io.Reader { return reader })
	defer mysql.DeregisterReaderHandler(name)
	result, err := p.db.ExecContext(ctx, fmt.Sprintf("LOAD DATA LOCAL INFILE 'Reader::%s' INTO TABLE %s CHARACTER SET %s (%s)",
		name, Quote(p.names[table]), p.charset, quoteAll(p.schema.Columns(p.spec))))
	if err != nil {
		return 0, loadDataAdvice(err)
	}
	return result.RowsAffected()
}

// loadDataAdvice adds what to do to the errors of servers that do not take LOAD DATA LOCAL.
func loadDataAdvice(err error) error {
	server, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return err
	}
	switch server.Number {
	case 1148, 3948, 2068, 4166:
		return fmt.Errorf("%w: set the server's local_infile to ON, or use method: insert", err)
	}
	return err
}

// lines reads rows as LOAD DATA wants them by default: a line each, tabs between values, a backslash to escape.
type lines struct {
	rows  *source
	rest  []byte // made and not read yet
	line  []byte // memory of rest
	bytes int64
}

// Read implements io.Reader.
func (l *lines) Read(dst []byte) (n int, err error) {
	for n < len(dst) {
		if len(l.rest) == 0 {
			row := l.rows.read()
			if row == nil {
				break
			}
			l.line = appendLine(l.line[:0], row)
			l.rest = l.line
		}
		copied := copy(dst[n:], l.rest)
		l.rest = l.rest[copied:]
		n += copied
	}
	l.bytes += int64(n)
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
