package steps

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"benchplan/plan"
	"benchplan/workloads"
	"benchplan/workloads/tables"
)

// mayDrop tells whether tables that benchplan did not make may be dropped on a connection: with --force, and on a server
// whose data are gone with the run anyway.
func (c *Call) mayDrop(conn *connection) bool { return c.run.Force || conn.temporary() }

// confirmForeign asks before tables that benchplan did not make are dropped. Without --force they are not.
func (c *Call) confirmForeign(ctx context.Context, conn *connection, t *plan.Target, wanted *plan.Tables) error {
	if conn.temporary() || !c.run.Force || c.run.Confirm == nil {
		return nil
	}
	connector, err := conn.connector(t.Database)
	if err != nil {
		return err
	}
	foreign, err := tables.Foreign(ctx, connector)
	if err != nil {
		return conn.advise(err)
	}
	names := tables.Names(workloads.Schema(wanted.Schema), *wanted)
	foreign = slices.DeleteFunc(foreign, func(name string) bool { return !slices.Contains(names, name) })
	if len(foreign) == 0 {
		return nil
	}
	return c.confirm("Drop tables of %s on %s that benchplan did not make: %s?", t.Database, conn.name(), someOf(foreign))
}

// someOf lists names, the first few where there are many.
func someOf(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
