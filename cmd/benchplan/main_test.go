package main

import (
	"bytes"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchplan/results"
	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	// testscript runs the tests itself and exits; the shared server has to end before that.
	testscript.Main(testsWithServer{m}, map[string]func(){"benchplan": main})
}

type testsWithServer struct{ m *testing.M }

func (t testsWithServer) Run() int { return servertest.Main(t.m) }

// outcome is what a call of the program gave.
type outcome struct {
	status   int
	out, err string
}

// benchplan calls the program in this process, with its runs in a folder of the test.
func benchplan(t *testing.T, args ...string) outcome {
	t.Helper()
	var out, errOut bytes.Buffer
	status := execute(args, strings.NewReader(""), &out, &errOut)
	return outcome{status, out.String(), errOut.String()}
}

// want fails the test where the status is another, and shows what was printed.
func (o outcome) want(t *testing.T, status int) outcome {
	t.Helper()
	if o.status != status {
		t.Fatalf("exit status %d, want %d\nstdout:\n%s\nstderr:\n%s", o.status, status, o.out, o.err)
	}
	return o
}

// says fails the test where standard error lacks a text.
func (o outcome) says(t *testing.T, texts ...string) outcome {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(o.err, text) {
			t.Errorf("stderr lacks %q:\n%s", text, o.err)
		}
	}
	return o
}

// planFile writes a plan into the test's folder.
func planFile(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// onServer writes the target of a plan that runs on the tests' server, in a database of the test's own.
func onServer(t *testing.T) (target, database string, server *localserver.Server) {
	t.Helper()
	server = servertest.Shared(t)
	database = servertest.Database(t, server)
	return fmt.Sprintf("target: { socket: %s, user: %s, database: %s }\n", server.Socket(), server.User(), database), database, server
}

// opened reads the run in a folder.
func opened(t *testing.T, folder string) (*results.Run, []results.Cell) {
	t.Helper()
	run, cells, warnings, err := results.Open(folder)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	return run, cells
}

// closedPort gives an address on which nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
