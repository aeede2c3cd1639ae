package target

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"benchplan/steps/localserver"
	"benchplan/steps/localserver/proxytest"
	"benchplan/steps/localserver/servertest"
)

const testPatience = 600 * time.Millisecond

// lookedAfter opens a pool of one connection to an address of a network.
func lookedAfter(t *testing.T, network, address string) (*Lookout, *sql.DB) {
	t.Helper()
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.Timeout, c.Logger = "root", network, address, 20*time.Second, &mysql.NopLogger{}
	l := NewLookout(c, testPatience)
	connector, err := l.Connector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return l, db
}

// TestALongStatementIsWaitedFor: many times the patience, while the server is at work; also where it takes nobody else in, and where it
// waits for a lock.
func TestALongStatementIsWaitedFor(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, localserver.Config{MaxConnections: 50})
	admin := servertest.OpenDB(t, server, "")
	admin.SetMaxOpenConns(1)
	for _, statement := range []string{"CREATE DATABASE x", "CREATE TABLE x.t (id INT)"} {
		if _, err := admin.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, before, statement, after string }{
		{"at work", "DO 1", "SELECT SLEEP(4)", "DO 1"},
		{"a lock", "LOCK TABLES x.t WRITE", "SELECT COUNT(*) FROM x.t", "UNLOCK TABLES"},
		{"takes nobody else in", "SET GLOBAL max_connections=10", "SELECT SLEEP(4)", "SET GLOBAL max_connections=50"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, db := lookedAfter(t, "unix", server.Socket())
			if err := db.Ping(); err != nil {
				t.Fatal(err)
			}
			if _, err := admin.Exec(c.before); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(c.before, "max_connections") {
				crowd := servertest.OpenDB(t, server, "")
				for {
					conn, err := crowd.Conn(t.Context())
					if err != nil {
						break
					}
					defer conn.Close()
				}
			}
			undone := make(chan error, 1)
			go func() {
				time.Sleep(5 * testPatience)
				_, err := admin.Exec(c.after)
				undone <- err
			}()
			var n int
			if err := db.QueryRow(c.statement).Scan(&n); err != nil {
				t.Error(err)
			}
			if err := <-undone; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestALostConnectionIsGivenUp: nothing passes any more, while the server is well.
func TestALostConnectionIsGivenUp(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, localserver.Config{})
	proxy := proxytest.New(t, "unix", server.Socket())
	l, db := lookedAfter(t, "tcp", proxy.Address())
	if err := db.Ping(); err != nil {
		t.Fatal(err)
	}
	proxy.Break(proxytest.Swallow)
	begin := time.Now()
	_, err := db.Exec("DO 1")
	took := time.Since(begin)
	if err = l.Explain(err); !errors.Is(err, ErrNoAnswer) || !strings.Contains(err.Error(), "has nothing to do for this one") || took < testPatience {
		t.Errorf("after %s: %v", took, err)
	}
	if _, err := db.Exec("DO 1"); err != nil {
		t.Errorf("a new connection: %v", err)
	}
}

// TestAnotherServerTellsNothing: new connections come to another one, as behind a balancer, which knows nothing of the statement.
func TestAnotherServerTellsNothing(t *testing.T) {
	t.Parallel()
	one, other := servertest.Start(t, localserver.Config{}), servertest.Start(t, localserver.Config{TCP: true})
	l, db := lookedAfter(t, "unix", one.Socket())
	l.config = l.config.Clone()
	l.config.Addr = other.Socket()
	var n int
	if err := db.QueryRow("SELECT SLEEP(4)").Scan(&n); err != nil {
		t.Error(err)
	}
	s, ok := l.look(t.Context())
	if !ok || s.err != nil || s.instance == "" {
		t.Errorf("the other server tells %+v", s)
	}
}

// goesOn tells whether the server still executes a statement that holds the text.
func goesOn(t *testing.T, admin *sql.DB, text string) bool {
	t.Helper()
	var n int
	if err := admin.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE CONCAT('%', ?, '%') AND id <> CONNECTION_ID()", text).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// TestAStatementThatIsBrokenOffEndsAtTheServer too, once somebody asks why it failed.
func TestAStatementThatIsBrokenOffEndsAtTheServer(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	admin := servertest.OpenDB(t, server, "")
	l, db := lookedAfter(t, "unix", server.Socket())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const statement = "SELECT SLEEP(1000) /* broken off */"
	go func() {
		for !goesOn(t, admin, statement) {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := db.ExecContext(ctx, statement); !errors.Is(l.Explain(err), context.Canceled) {
		t.Error(err)
	}
	for begin := time.Now(); goesOn(t, admin, statement); time.Sleep(10 * time.Millisecond) { // it ends at its next look
		if time.Since(begin) > 20*time.Second {
			t.Fatal("the server goes on")
		}
	}
}

// TestNobodyElseIsBrokenOff: new connections come to another server, where a connection of the same number is at work.
func TestNobodyElseIsBrokenOff(t *testing.T) {
	t.Parallel()
	one, other := servertest.Start(t, localserver.Config{}), servertest.Start(t, localserver.Config{TCP: true})
	before := servertest.OpenDB(t, one, "") // so that the number is not one that the other server has given already
	for range 10 {
		conn, err := before.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	l, db := lookedAfter(t, "unix", one.Socket())
	var id, same int64
	if err := db.QueryRow("SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	namesakes := servertest.OpenDB(t, other, "")
	conn, err := namesakes.Conn(t.Context())
	for err == nil && same < id {
		defer conn.Close()
		if conn, err = namesakes.Conn(t.Context()); err == nil {
			err = conn.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&same)
		}
	}
	if err != nil || same != id {
		t.Fatalf("connection %d of the other server in place of %d, %v", same, id, err)
	}
	defer conn.Close()
	killed := make(chan int, 1)
	go func() {
		result := -1 // the connection is gone
		_ = conn.QueryRowContext(t.Context(), "SELECT SLEEP(3)").Scan(&result)
		killed <- result
	}()
	l.config = l.config.Clone()
	l.config.Addr = other.Socket()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = db.ExecContext(ctx, "SELECT SLEEP(1000)")
	if err = l.Explain(err); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if result := <-killed; result != 0 {
		t.Errorf("SLEEP of another server gave %d", result)
	}
}
