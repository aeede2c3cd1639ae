package tables

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"benchplan/plan"
	"benchplan/workloads/guard"
)

// Method is a way of filling tables.
type Method string

// The methods.
const (
	Auto     Method = "auto"      // the first of prepared, load_data and insert that the server takes
	Prepared Method = "prepared"  // prepared INSERT statements of many rows, a transaction for some at a time
	LoadData Method = "load_data" // LOAD DATA LOCAL INFILE from memory
	Insert   Method = "insert"    // INSERT statements of many rows, as text
)

// Methods lists them.
var Methods = []Method{Auto, Prepared, LoadData, Insert}

// PrepareOptions says how tables are made.
type PrepareOptions struct {
	Method  Method // empty is Auto
	Threads int    // connections at once; 0: twice the processors, at most 16. LOAD DATA uses one a table where it locks the AUTO_INCREMENT counter
	Reuse   bool   // keep tables that are already as wanted: same DDL, seed and number of rows
	Force   bool   // drop tables in the way even if benchplan did not make them
	Seed    uint64 // decides the contents, whatever the method and the number of threads
	// BatchBytes is the most that one INSERT has, at most 512 KiB and the server's max_allowed_packet; 0 for that most.
	BatchBytes int
	// Made remembers tables that could not be marked as benchplan's; nil: nobody does. See Report.Unmarked.
	Made *Made
}

// Report is what was prepared.
type Report struct {
	Tables  int           // all of them, reused ones included
	Reused  int           // tables that were as wanted
	Rows    int64         // rows loaded; those of reused tables don't count
	Bytes   int64         // sent for the rows
	Elapsed time.Duration // from the first statement to the last
	Method  Method        // the one that was used; empty where nothing was loaded
	// Unmarked lists tables made by the plan's own CREATE TABLE for which the server took no comment. Once Made is lost they
	// are not known to be benchplan's.
	Unmarked []string
}

// Prepare makes the tables of the spec, fills them and builds their indexes; several at once, and several parts of one at
// once. Tables of the same name that benchplan made are dropped (or kept, see Reuse); others are ErrForeign, before
// anything is touched, unless Force is set. progress, which may be nil, is told the rows that are loaded and the rows there
// will be; it is never called twice at a time.
func Prepare(ctx context.Context, connector driver.Connector, schema Schema, spec plan.Tables, o PrepareOptions, progress func(done, total int64)) (Report, error) {
	began := time.Now()
	if err := checkSpec(schema, spec); err != nil {
		return Report{}, err
	}
	if o.Method == "" {
		o.Method = Auto
	}
	if !slices.Contains(Methods, o.Method) {
		return Report{}, fmt.Errorf("method %q is unknown: it is one of %v", o.Method, Methods)
	}
	if o.Threads <= 0 {
		o.Threads = DefaultThreads()
	}
	db, err := open(ctx, connector, o.Threads)
	if err != nil {
		return Report{}, err
	}
	defer db.Close()
	p := &preparation{db: db, schema: schema, spec: spec, options: o, names: Names(schema, spec), progress: progress}
	p.unmarked = make([]bool, len(p.names))
	err = p.run(ctx)
	report := Report{Tables: len(p.names), Reused: p.reused, Rows: p.rows, Bytes: p.bytes.Load(), Elapsed: time.Since(began), Method: p.method}
	if p.refused.Load() {
		report.Method = Insert
	}
	for i, unmarked := range p.unmarked {
		if unmarked {
			report.Unmarked = append(report.Unmarked, p.names[i])
		}
	}
	return report, err
}

func checkSpec(schema Schema, spec plan.Tables) error {
	if spec.Count < 1 {
		return fmt.Errorf("tables: count is %d: it takes at least 1", spec.Count)
	}
	if commentOption.MatchString(spec.Options) {
		return errors.New("tables: options has a COMMENT: benchplan needs the comment to know its tables again")
	}
	if err := schema.Check(spec); err != nil {
		return fmt.Errorf("tables: %w", err)
	}
	return nil
}

// preparation is one call of Prepare.
type preparation struct {
	db      *sql.DB
	schema  Schema
	spec    plan.Tables
	options PrepareOptions
	names   []string
	wanted  []int // indexes of the tables that have to be made
	reused  int   // how many need not
	method  Method
	batch   int    // bytes of one INSERT
	charset string // in which values are sent
	// clientCharset is in what the server otherwise takes what connections say, to be set back; empty: it does not tell.
	clientCharset string
	counts        bool // the tables have an AUTO_INCREMENT column
	// unmarked tells, by table, that the server took no comment for it.
	unmarked []bool

	refused  atomic.Bool // prepared statements, where INSERT would do: see load
	bytes    atomic.Int64
	mu       sync.Mutex // over rows and calls of progress
	rows     int64
	progress func(done, total int64)
}

func (p *preparation) run(ctx context.Context) error {
	found, err := inspectAll(ctx, p.db, p.names)
	if err != nil {
		return err
	}
	if err := refuseForeign(p.names, found, p.options.Made, p.options.Force); err != nil {
		return err
	}
	if err := p.choose(ctx, found); err != nil {
		return err
	}
	if err := p.each(ctx, func(ctx context.Context, i int) error { return p.create(ctx, i, found[i].exists) }); err != nil {
		return err
	}
	return p.fill(ctx)
}

// each does something for every table that has to be made, some at once.
func (p *preparation) each(ctx context.Context, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.options.Threads)
	for _, i := range p.wanted {
		group.Go(guard.Func(func() error { return do(ctx, i) }))
	}
	return group.Wait()
}

// choose decides which tables have to be made.
func (p *preparation) choose(ctx context.Context, found []state) error {
	keep := make([]bool, len(p.names))
	if p.options.Reuse {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(p.options.Threads)
		for i := range p.names {
			group.Go(guard.Func(func() (err error) {
				keep[i], err = p.asWanted(ctx, i, found[i])
				return err
			}))
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	for i := range p.names {
		if keep[i] {
			p.reused++
		} else {
			p.wanted = append(p.wanted, i)
		}
	}
	return nil
}

// asWanted tells whether a table is what Prepare would make. A preparation that was broken off shows in the number of rows
// or in an index that is missing.
func (p *preparation) asWanted(ctx context.Context, i int, s state) (bool, error) {
	if !s.ours || s.fingerprint != fingerprint(p.schema, p.spec, i, p.options.Seed) {
		return false, nil
	}
	for _, index := range p.schema.Indexes(p.spec, i) {
		if !strings.Contains(s.ddl, "KEY "+Quote(index.Name)) {
			return false, nil
		}
	}
	n, err := countRows(ctx, p.db, p.names[i])
	return n == int64(p.spec.Rows), err
}

func (p *preparation) create(ctx context.Context, i int, exists bool) error {
	if exists {
		if err := drop(ctx, p.db, p.names[i]); err != nil {
			return err
		}
	}
	p.options.Made.forget(p.names[i])
	custom := customStatement(p.schema, p.spec, i)
	statement := custom
	if statement == "" {
		statement = createStatement(p.schema, p.spec, i, p.options.Seed)
	}
	if _, err := p.db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("create table %s: %w", p.names[i], err)
	}
	if custom == "" {
		return nil
	}
	return p.mark(ctx, i)
}

// markTime is how long marking a table may take at most, interrupted or not.
const markTime = 10 * time.Second

// mark puts the comment on a table that is made. Where the server does not take it, the table is remembered as it is. An
// interrupt does not come between making and marking: what is not marked nobody would clean up.
func (p *preparation) mark(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), markTime)
	defer cancel()
	_, err := p.db.ExecContext(ctx, markStatement(p.schema, p.spec, i, p.options.Seed))
	if _, refused := errors.AsType[*mysql.MySQLError](err); err != nil && !refused {
		return fmt.Errorf("comment on table %s: %w", p.names[i], err)
	}
	return p.remember(ctx, i)
}

// remember looks at a table, and notes its definition if it carries no mark.
func (p *preparation) remember(ctx context.Context, i int) error {
	s, err := inspect(ctx, p.db, p.names[i])
	if err != nil {
		return err
	}
	if !s.exists {
		return fmt.Errorf("create table %s: the plan's CREATE TABLE made no table of this name", p.names[i])
	}
	if !s.ours {
		p.unmarked[i] = true
		p.options.Made.note(p.names[i], s.ddl)
	}
	return nil
}

func (p *preparation) index(ctx context.Context, i int) error {
	for _, index := range p.schema.Indexes(p.spec, i) {
		if _, err := p.db.ExecContext(ctx, indexStatement(p.names[i], index)); err != nil {
			return fmt.Errorf("create index %s of table %s: %w", index.Name, p.names[i], err)
		}
		if p.unmarked[i] {
			if err := p.remember(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// loaded notes rows that are in.
func (p *preparation) loaded(rows int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows += rows
	if p.progress != nil {
		p.progress(p.rows, int64(p.spec.Rows)*int64(len(p.wanted)))
	}
}
