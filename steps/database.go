package steps

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"benchplan/plan"
	"benchplan/workloads/tables"
)

// databaseSpec is what to do with the target's database.
type databaseSpec struct {
	Action string `key:"action" short:"true" required:"true" enum:"create|drop|recreate" doc:"create it if it is not there, drop it if it is, or both in turn"`
}

// systemDatabases belong to the server.
var systemDatabases = []string{"mysql", "sys", "information_schema", "performance_schema"}

func databaseKind() Kind {
	k := define("creates, drops or recreates the target's database", doDatabase)
	return checked(k, func(spec *databaseSpec, in plan.Place) []plan.Problem {
		if in.Target != nil && slices.Contains(systemDatabases, strings.ToLower(in.Target.Database)) {
			return []plan.Problem{problem("action", fmt.Sprintf("the database %s belongs to the server and is not touched; give the target another one", in.Target.Database))}
		}
		return nil
	})
}

func doDatabase(ctx context.Context, c *Call, spec *databaseSpec) (map[string]any, error) {
	conn, t, err := c.target(ctx)
	if err != nil {
		return nil, err
	}
	db, err := conn.db(ctx, "")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if spec.Action != "create" {
		if err := c.dropDatabase(ctx, conn, db, t.Database); err != nil {
			return nil, fmt.Errorf("drop database %s: %w", t.Database, err)
		}
	}
	if spec.Action != "drop" {
		if _, err := db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+tables.Quote(t.Database)); err != nil {
			return nil, fmt.Errorf("create database %s: %w", t.Database, conn.advise(err))
		}
	}
	return nil, nil
}

// dropDatabase drops a database in which every table is benchplan's own.
func (c *Call) dropDatabase(ctx context.Context, conn *connection, db *sql.DB, name string) error {
	if slices.Contains(systemDatabases, strings.ToLower(name)) {
		return fmt.Errorf("it belongs to the server: %w", errNoRetry)
	}
	if conn.private == nil && !c.run.Force {
		connector, err := conn.connector(name)
		if err != nil {
			return err
		}
		foreign, err := tables.Foreign(ctx, connector)
		if err != nil {
			return conn.advise(err)
		}
		if len(foreign) > 0 {
			return fmt.Errorf("it holds tables that benchplan did not make (%s); --force drops it all the same: %w", someOf(foreign), errNoRetry)
		}
	}
	if conn.private == nil {
		if err := c.confirm(fmt.Sprintf("Drop the database %s on %s?", name, conn.name())); err != nil {
			return err
		}
	}
	_, err := db.ExecContext(ctx, "DROP DATABASE IF EXISTS "+tables.Quote(name))
	return conn.advise(err)
}

func someOf(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
