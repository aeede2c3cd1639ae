// Package testdb gives the tests of workloads a database on a real server, and looks at what they did to it.
package testdb

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"testing"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
	"benchplan/workloads/engine"
)

// Main is the TestMain of a package that uses this one: it also sees that no goroutine is left.
func Main(m *testing.M) {
	status := servertest.Main(m)
	if err := goleak.Find(); err != nil {
		fmt.Println(err)
		status = 1
	}
	os.Exit(status)
}

// Database is an empty database on a server.
type Database struct {
	Server *localserver.Server
	Name   string
	t      testing.TB
}

// Shared gives a database on the server that all tests of the package use.
func Shared(t testing.TB) *Database {
	t.Helper()
	server := servertest.Shared(t)
	return &Database{Server: server, Name: servertest.Database(t, server), t: t}
}

// Own gives a database on a server of the test's own, for a test that changes the server, stops it or kills it.
func Own(t testing.TB, options map[string]string) *Database {
	t.Helper()
	d := &Database{Server: servertest.Start(t, localserver.Config{Options: options}), Name: "test", t: t}
	db := servertest.OpenDB(t, d.Server, "")
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE test"); err != nil {
		t.Fatal(err)
	}
	return d
}

// Kill ends the server at once, as a crash does.
func (d *Database) Kill() {
	d.t.Helper()
	d.signal(os.Kill)
}

// Freeze has the server stand still. When it returns, the server does.
func (d *Database) Freeze() {
	d.t.Helper()
	d.signal(freeze)
	if err := stopped(d.Server.PID()); err != nil {
		d.t.Error(err)
	}
}

// Thaw has a server go on that stands still.
func (d *Database) Thaw() {
	d.t.Helper()
	d.signal(thaw)
}

func (d *Database) signal(sig os.Signal) {
	d.t.Helper()
	process, err := os.FindProcess(d.Server.PID())
	if err == nil {
		err = process.Signal(sig)
	}
	if err != nil {
		d.t.Error(err)
	}
}

// KillConnections has the server end so many of the database's connections but the one that says so.
func (d *Database) KillConnections(most int) {
	d.t.Helper()
	d.Exec(fmt.Sprintf(`BEGIN NOT ATOMIC
		DECLARE CONTINUE HANDLER FOR 1094 BEGIN END; -- it has ended by itself
		FOR c IN (SELECT id FROM information_schema.processlist WHERE db=DATABASE() AND id<>CONNECTION_ID() LIMIT %d) DO
			KILL CONNECTION c.id;
		END FOR;
	END`, most))
}

// Connector is an engine's connector to the database; change may alter its configuration.
func (d *Database) Connector(change ...func(*mysql.Config)) driver.Connector {
	d.t.Helper()
	cfg, err := mysql.ParseDSN(servertest.DSN(d.Server, d.Name))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, f := range change {
		f(cfg)
	}
	c, err := engine.NewConnector(cfg)
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// with runs do with a handle of the database.
func (d *Database) with(do func(db *sql.DB)) {
	d.t.Helper()
	db := sql.OpenDB(d.Connector())
	db.SetMaxOpenConns(1)
	defer db.Close()
	do(db)
}

// Exec runs statements one after another on one connection.
func (d *Database) Exec(statements ...string) {
	d.t.Helper()
	d.with(func(db *sql.DB) {
		for _, q := range statements {
			if _, err := db.ExecContext(d.t.Context(), q); err != nil {
				d.t.Fatalf("%s: %v", q, err)
			}
		}
	})
}

// Rows gives all values of a query as text.
func (d *Database) Rows(query string) (all [][]string) {
	d.t.Helper()
	d.with(func(db *sql.DB) {
		rows, err := db.QueryContext(d.t.Context(), query)
		if err != nil {
			d.t.Fatalf("%s: %v", query, err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			d.t.Fatalf("%s: %v", query, err)
		}
		for rows.Next() {
			texts := make([]string, len(columns))
			row := make([]any, len(columns))
			for i := range row {
				row[i] = &texts[i]
			}
			if err := rows.Scan(row...); err != nil {
				d.t.Fatalf("%s: %v", query, err)
			}
			all = append(all, texts)
		}
		if err := rows.Err(); err != nil {
			d.t.Fatalf("%s: %v", query, err)
		}
	})
	return all
}

// Status gives a counter of the whole server.
func (d *Database) Status(name string) (n int64) {
	d.t.Helper()
	rows := d.Rows("SHOW GLOBAL STATUS LIKE '" + name + "'")
	if len(rows) != 1 {
		d.t.Fatalf("status %s: %v", name, rows)
	}
	if _, err := fmt.Sscan(rows[0][1], &n); err != nil {
		d.t.Fatal(err)
	}
	return n
}
