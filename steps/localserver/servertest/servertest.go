// Package servertest gives tests a real server to run their SQL on.
//
// A package that needs one starts it once for all its tests, when the first of them asks:
//
//	func TestMain(m *testing.M) { os.Exit(servertest.Main(m)) }
//
//	func TestInsert(t *testing.T) {
//		server := servertest.Shared(t)
//		database := servertest.Database(t, server) // of this test alone, dropped at its end
//		db := servertest.OpenDB(t, server, database)
//		…
//	}
//
// A test that restarts the server, kills it or wants options of its own takes one of its own from Start. Where goleak
// runs while the shared server does, it is told so with goleak.VerifyNone(t, servertest.Goroutine()).
package servertest

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"benchplan/steps/localserver"
)

// shared is the one server of a test binary. A test binary is one program with one main: what is global to it cannot
// be handed down from anywhere.
var shared struct {
	sync.Mutex
	server *localserver.Server
	err    error
}

// Main runs the tests, stops the shared server if there is one, and gives the exit status.
func Main(m *testing.M) int {
	status := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		if err := shared.server.Stop(context.Background()); err != nil {
			fmt.Println(err)
			status = 1
		}
	}
	return status
}

// Shared gives the test binary's server, listening on its socket and on TCP. Its package's TestMain has to call Main.
func Shared(t testing.TB) *localserver.Server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = localserver.Start(context.Background(), localserver.Config{TCP: true, MaxConnections: 500})
	}
	if shared.err != nil {
		t.Fatalf("a server for the tests: %v", shared.err)
	}
	return shared.server
}

// Start gives a server of the test's own, as the config says; it is stopped when the test ends.
func Start(t testing.TB, c localserver.Config) *localserver.Server {
	t.Helper()
	server, err := localserver.Start(t.Context(), c)
	if err != nil {
		t.Fatalf("a server for the test: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return server
}

// DSN gives the data source name, for go-sql-driver/mysql, of a database on the server through its socket; an empty
// database selects none.
func DSN(server *localserver.Server, database string) string {
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = server.User(), "unix", server.Socket(), database
	return c.FormatDSN()
}

// OpenDB opens a database on the server; an empty one selects none. It is closed when the test ends.
func OpenDB(t testing.TB, server *localserver.Server, database string) *sql.DB {
	t.Helper()
	db := open(t, server, database)
	t.Cleanup(func() { db.Close() }) // fails where the test has stopped the server
	return db
}

// open gives a handle whose driver writes nothing to standard error: what matters comes back as errors.
func open(t testing.TB, server *localserver.Server, database string) *sql.DB {
	t.Helper()
	c, err := mysql.ParseDSN(DSN(server, database))
	if err != nil {
		t.Fatal(err)
	}
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	return sql.OpenDB(connector)
}

// databases counts those that were made, for their names.
var databases atomic.Int64

// Database makes an empty database on the server and gives its name; it is dropped when the test ends.
func Database(t testing.TB, server *localserver.Server) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	execute(t, t.Context(), server, "CREATE DATABASE "+name)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
		defer cancel()
		execute(t, ctx, server, "DROP DATABASE IF EXISTS "+name)
	})
	return name
}

// execute runs one statement on a connection of its own.
func execute(t testing.TB, ctx context.Context, server *localserver.Server, statement string) {
	t.Helper()
	db := open(t, server, "")
	defer db.Close()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		t.Errorf("%s: %v", statement, err)
	}
}

// Goroutine lets goleak pass over the goroutine that waits for the shared server's end.
func Goroutine() goleak.Option {
	return goleak.IgnoreAnyFunction("benchplan/steps/localserver.(*process).run")
}
