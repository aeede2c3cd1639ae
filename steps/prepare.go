package steps

import (
	"context"
	"errors"

	"benchplan/plan"
	"benchplan/workloads"
	"benchplan/workloads/tables"
)

// prepareSpec says how the tables and files of the scope are made.
type prepareSpec struct {
	Method  string `key:"method" default:"auto" enum:"auto|prepared|load_data|insert" doc:"prepared: INSERT of many rows by prepared statements, in transactions; load_data: LOAD DATA LOCAL; insert: INSERT of many rows; auto: the first of them that the server takes"`
	Threads int    `key:"threads" default:"0" min:"0" max:"1000" unit:"connections" doc:"connections that load at once; 0: twice the processors, at most 16"`
	Reuse   bool   `key:"reuse" default:"off" doc:"keep tables that are already as wanted: same definition, seed and number of rows; and files of the right size"`
}

func prepareKind() Kind {
	return checked(define("makes the tables and the files of the scope and fills them", doPrepare), func(_ *prepareSpec, in plan.Place) []plan.Problem {
		return checkData(in)
	})
}

// checkData says what is wrong with what a step is to make or to remove: tables, files, or both.
func checkData(in plan.Place) []plan.Problem {
	switch {
	case in.Tables != nil || in.BadTables:
		return checkTables(in)
	case in.Files == nil:
		return []plan.Problem{problem("", errNoData.Error())}
	}
	return nil
}

// checkTables says what is wrong with the tables that a step is to work on.
func checkTables(in plan.Place) []plan.Problem {
	if in.BadTables {
		return nil // reported where they stand
	}
	if in.Tables == nil {
		return []plan.Problem{problem("", errNoTables.Error())}
	}
	if in.Target != nil && systemDatabase(in.Target.Database) {
		return []plan.Problem{problem("", notTouched(in.Target.Database))}
	}
	schema := workloads.Schema(in.Tables.Schema)
	if schema == nil {
		return nil
	}
	if err := schema.Check(*in.Tables); err != nil {
		return []plan.Problem{problem("", "tables: "+err.Error())}
	}
	return nil
}

func doPrepare(ctx context.Context, c *Call, spec *prepareSpec) (map[string]any, error) {
	return nil, c.onData(
		func() error { return c.prepareTables(ctx, spec) },
		func(files *plan.Files) error { return c.prepareFiles(ctx, files, spec) })
}

func (c *Call) prepareTables(ctx context.Context, spec *prepareSpec) error {
	conn, t, wanted, err := c.data(ctx)
	if err != nil {
		return err
	}
	if err := c.confirmForeign(ctx, conn, t, wanted); err != nil {
		return err
	}
	if !c.run.Rehearse {
		if short := c.run.diskShortage(ctx, conn, t, needOfPrepare(spec, wanted), wanted); short != nil {
			return final{errors.New(short.text)}
		}
	}
	names := tables.Names(workloads.Schema(wanted.Schema), *wanted)
	c.run.filled[tableKey{server: conn.key, database: t.Database}] = true
	report, err := c.prepare(ctx, conn, t, *wanted, spec)
	if c.otherProduct(t, err) {
		c.note("rehearsal: the private server does not take the tables as they are, so they are made without engine and options: %v", err)
		plain := *wanted
		plain.Engine, plain.Options = "", ""
		if schema, ok := workloads.Schema(plain.Schema).(tables.Portable); ok {
			plain = schema.Portable(plain)
		}
		report, err = c.prepare(ctx, conn, t, plain, spec)
	}
	delete(c.run.balances, keyOfBalance(conn, t, wanted))
	if err != nil {
		c.run.expected.forget(conn, t.Database, names)
		return tablesError(conn, err)
	}
	c.run.expected.prepared(conn, t.Database, names, int64(wanted.Rows))
	c.Log.Info("prepared", "tables", report.Tables, "reused", report.Reused, "rows", report.Rows, "bytes", report.Bytes, "method", report.Method, "ms", report.Elapsed.Milliseconds())
	c.run.Observer.Prepared(report)
	if len(report.Unmarked) > 0 {
		c.note("the server does not let benchplan mark its tables (%s): only this run knows that they are its own, and another needs --force to drop them", someOf(report.Unmarked))
	}
	return nil
}

func (c *Call) prepare(ctx context.Context, conn *connection, t *plan.Target, wanted plan.Tables, spec *prepareSpec) (tables.Report, error) {
	connector, err := conn.connector(t.Database)
	if err != nil {
		return tables.Report{}, err
	}
	options := tables.PrepareOptions{
		Method: tables.Method(spec.Method), Threads: spec.Threads, Reuse: spec.Reuse, Force: c.mayDrop(conn), Seed: uint64(c.run.Plan.Seed),
		Made: c.made(conn, t),
	}
	return tables.Prepare(ctx, connector, workloads.Schema(wanted.Schema), wanted, options, c.run.Observer.Filling)
}

// made gives what this run remembers of the tables of a database that could not be marked.
func (c *Call) made(conn *connection, t *plan.Target) *tables.Made {
	key := tableKey{server: conn.key, database: t.Database}
	if c.run.made[key] == nil {
		c.run.made[key] = &tables.Made{}
	}
	return c.run.made[key]
}

// tablesError adds what to do to the errors of making and dropping tables.
func tablesError(conn *connection, err error) error {
	foreign := errors.Is(err, tables.ErrForeign)
	err = conn.advise(err)
	if foreign {
		return final{err}
	}
	return err
}
