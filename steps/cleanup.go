package steps

import (
	"context"

	"benchplan/plan"
	"benchplan/workloads"
	"benchplan/workloads/tables"
)

type cleanupSpec struct{}

func cleanupKind() Kind {
	return checked(define("drops the tables and removes the files of the scope; missing ones are fine", doCleanup), func(_ *cleanupSpec, in plan.Place) []plan.Problem {
		return checkData(in)
	})
}

func doCleanup(ctx context.Context, c *Call, _ *cleanupSpec) (map[string]any, error) {
	return nil, c.onData(func() error { return c.cleanupTables(ctx) }, c.cleanupFiles)
}

func (c *Call) cleanupTables(ctx context.Context) error {
	if nothing, err := c.nothingToClean(); nothing || err != nil {
		return err
	}
	conn, t, wanted, err := c.data(ctx)
	if err != nil {
		return err
	}
	if err := c.confirmForeign(ctx, conn, t, wanted); err != nil {
		return err
	}
	connector, err := conn.connector(t.Database)
	if err != nil {
		return err
	}
	schema := workloads.Schema(wanted.Schema)
	dropped, err := tables.CleanupMade(ctx, connector, schema, *wanted, c.made(conn, t), c.mayDrop(conn))
	c.run.expected.forget(conn, t.Database, dropped)
	delete(c.run.balances, keyOfBalance(conn, t, wanted))
	if noSuchDatabase(err) {
		return nil // and so no table
	}
	if err != nil {
		return tablesError(conn, err)
	}
	c.Log.Info("cleaned up", "tables", dropped)
	return nil
}

// nothingToClean tells whether the target is a private server with data of its own that no step has needed: it is not started
// to drop what it cannot have.
func (c *Call) nothingToClean() (bool, error) {
	t, err := c.Scope.Target()
	if err != nil || !t.Private() || t.Local != nil && t.Local.Data != "" || c.run.targets.find(t) != nil {
		return false, err
	}
	c.note("cleanup at %s: its target is the private server, which no step has used; nothing was dropped anywhere", c.Scope.At())
	return true, nil
}
