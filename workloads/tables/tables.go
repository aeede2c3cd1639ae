package tables

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"benchplan/plan"
	"benchplan/workloads/guard"
)

// ErrForeign is the error of an operation that would drop a table that benchplan did not make.
var ErrForeign = errors.New("was not made by benchplan")

// codeNoSuchTable is the server's error number for a table that is not there.
const codeNoSuchTable = 1146

// systemSchemas are never touched.
var systemSchemas = []string{"mysql", "sys", "information_schema", "performance_schema"}

// TableRows is how many rows one table has.
type TableRows struct {
	Table string
	Rows  int64
}

// Cleanup drops the tables of the spec, one statement a table. Missing ones are fine; one that benchplan did not make is
// ErrForeign, before anything is dropped, unless force is set. It gives the names of those dropped.
func Cleanup(ctx context.Context, connector driver.Connector, schema Schema, spec plan.Tables, force bool) ([]string, error) {
	return CleanupMade(ctx, connector, schema, spec, nil, force)
}

// CleanupMade is Cleanup for who holds what Prepare remembered: those tables are dropped too.
func CleanupMade(ctx context.Context, connector driver.Connector, schema Schema, spec plan.Tables, made *Made, force bool) ([]string, error) {
	db, err := open(ctx, connector, DefaultThreads())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	names := Names(schema, spec)
	found, err := inspectAll(ctx, db, names)
	if err != nil {
		return nil, err
	}
	if err := refuseForeign(names, found, made, force); err != nil {
		return nil, err
	}
	var dropped []string
	for i, name := range names {
		if !found[i].exists {
			continue
		}
		if err := drop(ctx, db, name); err != nil {
			return dropped, err
		}
		made.forget(name)
		dropped = append(dropped, name)
	}
	return dropped, nil
}

// Count gives the number of rows of each table of the spec, in order.
func Count(ctx context.Context, connector driver.Connector, schema Schema, spec plan.Tables) ([]TableRows, error) {
	db, err := open(ctx, connector, DefaultThreads())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows := make([]TableRows, spec.Count)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(DefaultThreads())
	for i, name := range Names(schema, spec) {
		group.Go(guard.Func(func() error {
			n, err := countRows(ctx, db, name)
			rows[i] = TableRows{Table: name, Rows: n}
			return err
		}))
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return rows, nil
}

func countRows(ctx context.Context, db *sql.DB, table string) (n int64, err error) {
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+Quote(table)).Scan(&n); err != nil {
		return 0, fmt.Errorf("count the rows of table %s: %w", table, err)
	}
	return n, nil
}

// DefaultThreads is how many connections work at once where nobody says.
func DefaultThreads() int { return min(16, 2*runtime.GOMAXPROCS(0)) }

// open gives a pool of so many connections, and refuses the server's own schemas.
func open(ctx context.Context, connector driver.Connector, threads int) (*sql.DB, error) {
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(threads)
	db.SetMaxIdleConns(threads)
	if err := checkSchema(ctx, db); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

func checkSchema(ctx context.Context, db *sql.DB) error {
	if err := db.PingContext(ctx); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	var name sql.NullString
	if err := db.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&name); err != nil {
		// A proxy need not know the function: then the statements to come will tell.
		return ctx.Err()
	}
	if !name.Valid {
		return errors.New("no database is selected: give the target a database")
	}
	if slices.Contains(systemSchemas, strings.ToLower(name.String)) {
		return fmt.Errorf("database %s belongs to the server: give the target a database of its own", name.String)
	}
	return nil
}

// state is what SHOW CREATE TABLE says of a table.
type state struct {
	exists      bool
	ours        bool   // benchplan made it
	fingerprint string // as it was when it was made
	ddl         string
}

// inspect looks at one table.
func inspect(ctx context.Context, db *sql.DB, table string) (state, error) {
	rows, err := db.QueryContext(ctx, "SHOW CREATE TABLE "+Quote(table))
	if server, ok := errors.AsType[*mysql.MySQLError](err); ok && server.Number == codeNoSuchTable {
		return state{}, nil
	}
	if err != nil {
		return state{}, fmt.Errorf("look at table %s: %w", table, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return state{}, fmt.Errorf("look at table %s: %w", table, err)
	}
	s := state{exists: true}
	if rows.Next() && len(columns) >= 2 {
		// A view has more columns than a table; the text is the second of either.
		row := make([]any, len(columns))
		for i := range row {
			row[i] = new(sql.RawBytes)
		}
		if err := rows.Scan(row...); err != nil {
			return state{}, fmt.Errorf("look at table %s: %w", table, err)
		}
		s.ddl = string(*row[1].(*sql.RawBytes))
	}
	if m := markedTable.FindStringSubmatch(s.ddl); m != nil {
		s.ours, s.fingerprint = true, m[1]
	}
	return s, rows.Err()
}

// inspectAll looks at all of them.
func inspectAll(ctx context.Context, db *sql.DB, tables []string) ([]state, error) {
	states := make([]state, len(tables))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(DefaultThreads())
	for i, table := range tables {
		group.Go(guard.Func(func() (err error) {
			states[i], err = inspect(ctx, db, table)
			return err
		}))
	}
	return states, group.Wait()
}

// refuseForeign names the first table that is not ours.
func refuseForeign(tables []string, states []state, made *Made, force bool) error {
	for i, s := range states {
		if s.exists && !s.ours && !force && !made.knows(tables[i], s.ddl) {
			return fmt.Errorf("table %s %w: drop it yourself, choose another database, or use --force", tables[i], ErrForeign)
		}
	}
	return nil
}

func drop(ctx context.Context, db *sql.DB, table string) error {
	if _, err := db.ExecContext(ctx, "DROP TABLE IF EXISTS "+Quote(table)); err != nil {
		return fmt.Errorf("drop table %s: %w", table, err)
	}
	return nil
}
