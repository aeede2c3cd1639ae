package servertest_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"benchplan/steps/localserver/servertest"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m)) }

func TestShared(t *testing.T) {
	server := servertest.Shared(t)
	if again := servertest.Shared(t); again != server {
		t.Error("a second server was started")
	}
	database := servertest.Database(t, server)
	var selected string
	if err := servertest.OpenDB(t, server, database).QueryRow("SELECT DATABASE()").Scan(&selected); err != nil {
		t.Fatal(err)
	}
	if selected != database {
		t.Errorf("the database is %q, want %q", selected, database)
	}
}

func TestGoleakPassesOverTheSharedServer(t *testing.T) {
	servertest.Shared(t)
	goleak.VerifyNone(t, servertest.Goroutine())
}
