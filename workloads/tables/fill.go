package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"benchplan/workloads/engine"
)

// chunkRows is how many rows are made from one stream of random numbers and loaded by one connection: contents don't
// depend on who loads which chunk.
const chunkRows = 10_000

const (
	mostBatch     = 512 << 10 // as sysbench
	fallbackBatch = 1 << 20   // where the server does not tell its max_allowed_packet
	batchMargin   = 1 << 10   // for the packet's header and what a proxy adds
)

// chunk is rows first to last (inclusive, from 1) of table i.
type chunk struct {
	table       int
	first, last int64
}

// fill loads all rows.
func (p *preparation) fill(ctx context.Context) error {
	if p.spec.Rows == 0 || len(p.wanted) == 0 {
		return nil
	}
	if err := p.decide(ctx); err != nil {
		return err
	}
	group, loading := errgroup.WithContext(ctx)
	group.SetLimit(p.options.Threads)
	// Chunks go round the tables, so that several connections seldom meet in one.
	for first := int64(1); first <= int64(p.spec.Rows); first += chunkRows {
		for _, i := range p.wanted {
			if loading.Err() != nil {
				break
			}
			c := chunk{table: i, first: first, last: min(first+chunkRows-1, int64(p.spec.Rows))}
			group.Go(func() error { return p.load(loading, c) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// decide settles the method and the size of a batch.
func (p *preparation) decide(ctx context.Context) error {
	p.method = p.options.Method
	if p.method == Auto {
		p.method = Insert
		if p.takesLoadData(ctx) {
			p.method = LoadData
		}
	}
	packet := int64(fallbackBatch)
	if err := p.db.QueryRowContext(ctx, "SELECT @@max_allowed_packet").Scan(&packet); err != nil || packet <= 0 {
		packet = fallbackBatch
	}
	p.batch = int(max(batchMargin, min(packet-batchMargin, mostBatch)))
	if p.options.BatchBytes > 0 {
		p.batch = min(p.batch, p.options.BatchBytes)
	}
	return ctx.Err()
}

// takesLoadData loads nothing into the first table, to see whether the server and what stands before it allow that.
func (p *preparation) takesLoadData(ctx context.Context) bool {
	var on string
	if err := p.db.QueryRowContext(ctx, "SELECT @@local_infile").Scan(&on); err != nil || on != "1" && !strings.EqualFold(on, "on") {
		return false
	}
	_, err := p.loadReader(ctx, p.wanted[0], strings.NewReader(""))
	return err == nil
}

func (p *preparation) load(ctx context.Context, c chunk) error {
	rows := p.rowsOf(c)
	var err error
	if p.method == LoadData {
		err = p.loadData(ctx, c, rows)
	} else {
		err = p.insert(ctx, c, rows)
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("fill table %s (%s, rows %d to %d): %w", p.names[c.table], p.method, c.first, c.last, err)
	}
	return nil
}

// rowsOf gives the rows of a chunk one by one; the memory of a row is used again for the next.
func (p *preparation) rowsOf(c chunk) func() (engine.Args, bool) {
	random := rand.New(rand.NewPCG(p.options.Seed, uint64(c.table)<<40^uint64(c.first)))
	var row engine.Args
	n := c.first
	return func() (engine.Args, bool) {
		if n > c.last {
			return nil, false
		}
		row = row[:0]
		p.schema.Row(&row, p.spec, c.table, n, random)
		n++
		return row, true
	}
}

// insert loads a chunk by INSERT statements of many rows.
func (p *preparation) insert(ctx context.Context, c chunk, next func() (engine.Args, bool)) error {
	head := fmt.Sprintf("INSERT INTO %s (%s) VALUES ", Quote(p.names[c.table]), quoteAll(p.schema.Columns(p.spec)))
	batch := []byte(head)
	var rows int64
	flush := func() error {
		if rows == 0 {
			return nil
		}
		result, err := p.db.ExecContext(ctx, string(batch))
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err == nil && n != rows {
			return fmt.Errorf("the server took %d of %d rows", n, rows)
		}
		p.bytes.Add(int64(len(batch)))
		p.loaded(rows)
		batch, rows = append(batch[:0], head...), 0
		return nil
	}
	for row, ok := next(); ok; row, ok = next() {
		end := len(batch)
		if rows > 0 {
			batch = append(batch, ',')
		}
		batch = appendTuple(batch, row)
		rows++
		if len(batch) <= p.batch || rows == 1 {
			continue
		}
		// One row too many: it begins the next batch.
		last := string(batch[end+1:])
		batch, rows = batch[:end], rows-1
		if err := flush(); err != nil {
			return err
		}
		batch, rows = append(batch, last...), 1
	}
	return flush()
}

// appendTuple writes (1,'a','b'). The rows that schemas make have no character that a server could read in two ways.
func appendTuple(dst []byte, row engine.Args) []byte {
	dst = append(dst, '(')
	for i := range row {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = engine.AppendLiteral(dst, &row[i], true)
	}
	return append(dst, ')')
}

// loadData loads a chunk by one LOAD DATA statement. With LOCAL the server makes warnings of errors, so the rows are counted.
func (p *preparation) loadData(ctx context.Context, c chunk, next func() (engine.Args, bool)) error {
	reader := &lines{next: next}
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

func (p *preparation) loadReader(ctx context.Context, table int, reader io.Reader) (int64, error) {
	name := "benchplan-" + strconv.FormatUint(loads.Add(1), 10)
	mysql.RegisterReaderHandler(name, func() io.Reader { return reader })
	defer mysql.DeregisterReaderHandler(name)
	result, err := p.db.ExecContext(ctx, fmt.Sprintf("LOAD DATA LOCAL INFILE 'Reader::%s' INTO TABLE %s CHARACTER SET utf8mb4 (%s)",
		name, Quote(p.names[table]), quoteAll(p.schema.Columns(p.spec))))
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
	next  func() (engine.Args, bool)
	rest  []byte // made and not read yet
	line  []byte // memory of rest
	bytes int64
}

func (l *lines) Read(dst []byte) (n int, err error) {
	for n < len(dst) {
		if len(l.rest) == 0 {
			row, ok := l.next()
			if !ok {
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

func appendLine(dst []byte, row engine.Args) []byte {
	for i := range row {
		if i > 0 {
			dst = append(dst, '\t')
		}
		switch a := &row[i]; a.Kind {
		case engine.Int:
			dst = strconv.AppendInt(dst, a.Int, 10)
		case engine.Uint:
			dst = strconv.AppendUint(dst, uint64(a.Int), 10)
		default:
			dst = appendField(dst, a.Bytes)
		}
	}
	return append(dst, '\n')
}

func appendField(dst, text []byte) []byte {
	for _, b := range text {
		switch b {
		case 0:
			dst = append(dst, '\\', '0')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\\':
			dst = append(dst, '\\', '\\')
		default:
			dst = append(dst, b)
		}
	}
	return dst
}
