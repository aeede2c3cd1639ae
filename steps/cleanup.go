package steps

import (
	"context"

	"benchplan/plan"
	"benchplan/workloads"
	"benchplan/workloads/tables"
)

type cleanupSpec struct{}

func cleanupKind() Kind {
	return checked(define("drops the tables of the scope; missing ones are fine", doCleanup), func(_ *cleanupSpec, in plan.Place) []plan.Problem {
		return checkTables(in)
	})
}

func doCleanup(ctx context.Context, c *Call, _ *cleanupSpec) (map[string]any, error) {
	conn, t, wanted, err := c.data(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.confirmForeign(ctx, conn, t, wanted); err != nil {
		return nil, err
	}
	connector, err := conn.connector(t.Database)
	if err != nil {
		return nil, err
	}
	schema := workloads.Schemas()[wanted.Schema]
	dropped, err := tables.Cleanup(ctx, connector, schema, *wanted, c.mayDrop(conn))
	c.run.expected.forget(conn, t.Database, dropped)
	if noSuchDatabase(err) {
		return nil, nil // and so no table
	}
	if err != nil {
		return nil, tablesError(conn, err)
	}
	c.Log.Info("cleaned up", "tables", dropped)
	return nil, nil
}
