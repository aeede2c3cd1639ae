package steps

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
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

func systemDatabase(name string) bool { return slices.Contains(systemDatabases, strings.ToLower(name)) }

func notTouched(database string) string {
	return fmt.Sprintf("the database %s belongs to the server and is not touched; give the target another one", database)
}

func databaseKind() Kind {
	return checked(define("creates, drops or recreates the target's database", doDatabase), checkDatabase)
}

func checkDatabase(_ *databaseSpec, in plan.Place) []plan.Problem {
	switch {
	case in.Target == nil:
		return nil
	case in.Target.Database == "":
		return []plan.Problem{problem("action", "the target names no database")}
	case systemDatabase(in.Target.Database):
		return []plan.Problem{problem("action", notTouched(in.Target.Database))}
	}
	return nil
}

func doDatabase(ctx context.Context, c *Call, spec *databaseSpec) (map[string]any, error) {
	conn, t, err := c.target(ctx)
	if err == nil && systemDatabase(t.Database) { // an earlier step has told the name
		err = final{errors.New(notTouched(t.Database))}
	}
	if err != nil {
		return nil, err
	}
	db, err := conn.db(ctx, "")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	there, err := conn.has(ctx, t.Database)
	if err != nil {
		return nil, err
	}
	if there && spec.Action != "create" {
		if err := c.run.hold(ctx, conn, t.Database); err != nil {
			return nil, err
		}
		if err := c.dropDatabase(ctx, conn, db, t.Database); err != nil {
			return nil, fmt.Errorf("drop database %s: %w", t.Database, err)
		}
		there = false
	}
	if !there && spec.Action != "drop" {
		if _, err := db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+tables.Quote(t.Database)); err != nil {
			return nil, fmt.Errorf("create database %s: %w", t.Database, conn.advise(err))
		}
		conn.databases[t.Database] = true
	}
	return nil, nil
}

// has tells whether a database is there, by selecting it: that every server and proxy knows.
func (c *connection) has(ctx context.Context, database string) (bool, error) {
	db, err := c.db(ctx, database)
	if noSuchDatabase(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, db.Close()
}

// dropDatabase drops a database in which every table is benchplan's own. It asks, unless this run has made it.
func (c *Call) dropDatabase(ctx context.Context, conn *connection, db *sql.DB, name string) error {
	if !c.mayDrop(conn) {
		connector, err := conn.connector(name)
		if err != nil {
			return err
		}
		foreign, err := tables.Foreign(ctx, connector)
		if err != nil {
			return conn.advise(err)
		}
		if len(foreign) > 0 {
			return final{fmt.Errorf("it holds tables that benchplan did not make (%s); --force drops it all the same", someOf(foreign))}
		}
	}
	if !conn.temporary() && !conn.databases[name] {
		if err := c.confirm("Drop the database %s on %s?", name, conn.name()); err != nil {
			return err
		}
	}
	c.run.expected.forgetDatabase(conn, name)
	maps.DeleteFunc(c.run.balances, func(k balanceKey, _ balance) bool { return k.server == conn.key && k.database == name })
	if _, err := db.ExecContext(ctx, "DROP DATABASE IF EXISTS "+tables.Quote(name)); err != nil {
		return conn.advise(err)
	}
	return nil
}
