//go:build linux

package localserver_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
)

// temporary gives the test a folder for temporary files of its own, short enough for a socket, so that what is left
// there can be told to be the test's.
func temporary(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "lst-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	return dir
}

// wantNothingLeft fails where files are left in the folder or a server still runs that was started for it.
func wantNothingLeft(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "benchplan-server-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		t.Errorf("left behind: %s", path)
	}
	for _, pid := range serversOf(t, dir) {
		t.Errorf("left behind: process %s", pid)
	}
}

// serversOf gives the processes whose command line names the folder.
func serversOf(t *testing.T, dir string) []string {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var pids []string
	for _, path := range lines {
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte("="+dir+"/")) {
			pids = append(pids, strings.Split(path, "/")[2])
		}
	}
	return pids
}

// eventually waits until the condition holds, and fails the test where it does not.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 1000 {
		if holds() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("not within 20 s: %s", what)
}

// gone tells whether the process has ended, be it that nobody has asked for its status yet.
func gone(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err != nil || len(text) == 0
}

// variable reads a global variable of the server.
func variable(t *testing.T, server *localserver.Server, name string) string {
	t.Helper()
	db, err := sql.Open("mysql", servertest.DSN(server, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var value string
	if err := db.QueryRow("SELECT @@global." + name).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func execute(t *testing.T, server *localserver.Server, statements ...string) {
	t.Helper()
	db, err := sql.Open("mysql", servertest.DSN(server, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func TestStartAndStop(t *testing.T) {
	dir := temporary(t)
	began := time.Now()
	server, err := localserver.Start(t.Context(), localserver.Config{TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s ready in %s", server.Program(), time.Since(began))

	run := filepath.Dir(server.Socket())
	if info, err := os.Stat(run); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder %s is not for its user alone: %v, %v", run, info.Mode(), err)
	}
	execute(t, server, "CREATE DATABASE shop", "CREATE TABLE shop.item (id INT PRIMARY KEY) ENGINE=InnoDB", "INSERT INTO shop.item VALUES (1)")

	tcp := mysql.NewConfig()
	tcp.User, tcp.Passwd, tcp.Net, tcp.Addr = server.User(), server.Password(), "tcp", server.Address()
	if err := ping(t, tcp); err != nil {
		t.Errorf("over TCP: %v", err)
	}
	tcp.Passwd = ""
	var refused *mysql.MySQLError
	if err := ping(t, tcp); !errors.As(err, &refused) || refused.Number != 1045 {
		t.Errorf("over TCP without the password: %v, want error 1045", err)
	}

	pid := server.PID()
	if group, err := syscall.Getpgid(pid); err != nil || group != pid {
		t.Errorf("the server's process group is %d, %v: Ctrl-C in a terminal would reach it", group, err)
	}
	for range 2 {
		if err := server.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if !gone(pid) {
		t.Errorf("the server, pid %d, still runs", pid)
	}
	if server.PID() != 0 || server.Err() != nil {
		t.Errorf("after Stop: PID %d, Err %v", server.PID(), server.Err())
	}
	if err := server.Restart(t.Context(), nil); err == nil {
		t.Error("a stopped server was restarted")
	}
	wantNothingLeft(t, dir)
}

func ping(t *testing.T, c *mysql.Config) error {
	t.Helper()
	db, err := sql.Open("mysql", c.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return db.Ping()
}

func TestOnlyTheSocketIsOpenUnlessAskedFor(t *testing.T) {
	server := servertest.Start(t, localserver.Config{})
	if got := variable(t, server, "skip_networking"); got != "1" {
		t.Errorf("skip_networking = %s", got)
	}
	if server.Address() != "" || server.Password() != "" {
		t.Errorf("address %q, password %q, want none", server.Address(), server.Password())
	}
}

func TestOptionsReachTheServer(t *testing.T) {
	tests := map[string]struct {
		options map[string]string
		want    map[string]string
	}{
		"defaults": {
			nil,
			map[string]string{"innodb_buffer_pool_size": "67108864", "log_bin": "0", "performance_schema": "0", "innodb_flush_log_at_trx_commit": "1", "local_infile": "1"},
		},
		"either spelling, over the defaults; those of the other family": {
			map[string]string{"innodb_buffer_pool_size": "96M", "Performance-Schema": "ON", "skip_name_resolve": "OFF", "loose_innodb_redo_log_capacity": "64M"},
			map[string]string{"innodb_buffer_pool_size": "100663296", "performance_schema": "1", "skip_name_resolve": "0", "innodb_log_file_size": "16777216"},
		},
		"a binary log by its own name; limits of one's own; an empty value": {
			map[string]string{"log_bin": "ON", "server_id": "7", "sync_binlog": "1", "max_connections": "20", "sql_mode": ""},
			map[string]string{"log_bin": "1", "server_id": "7", "sync_binlog": "1", "max_connections": "20", "sql_mode": ""},
		},
		"no binary log": {map[string]string{"log_bin": "OFF"}, map[string]string{"log_bin": "0"}},
		"what is settled for good when the data are made": {
			map[string]string{"innodb_page_size": "8k", "lower_case_table_names": "1", "character_set_server": "utf8mb4", "sql_mode": "ANSI_QUOTES"},
			map[string]string{"innodb_page_size": "8192", "lower_case_table_names": "1", "character_set_server": "utf8mb4", "sql_mode": "ANSI_QUOTES"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			server := servertest.Start(t, localserver.Config{Options: tt.options, MaxConnections: 50})
			got := map[string]string{}
			for name := range tt.want {
				got[name] = variable(t, server, name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	dir := temporary(t)
	tests := map[string]struct {
		options map[string]string
		want    string
	}{
		"unknown":            {map[string]string{"innodb_nonsense": "1"}, "unknown variable 'innodb_nonsense=1'"},
		"a value of no kind": {map[string]string{"innodb_flush_method": "sometimes"}, "sometimes"},
		"the socket":         {map[string]string{"socket": "/tmp/x"}, "server option socket: benchplan sets it itself"},
		"the network":        {map[string]string{"skip_networking": "OFF"}, "server option skip_networking: benchplan sets it itself"},
		"dashes in front":    {map[string]string{"--innodb-buffer-pool-size": "1G"}, "not the name of an option"},
		"one option twice":   {map[string]string{"log-bin": "x", "skip_log_bin": ""}, "log-bin and skip_log_bin are the same one"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			server, err := localserver.Start(t.Context(), localserver.Config{Options: tt.options})
			if err == nil {
				server.Stop(t.Context())
				t.Fatal("it was taken")
			}
			t.Log(err)
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v\ndoes not say %q", err, tt.want)
			}
			wantNothingLeft(t, dir)
		})
	}
}

func TestValuesThatTheServerMovesIntoRangeAreTold(t *testing.T) {
	server := servertest.Start(t, localserver.Config{Options: map[string]string{"innodb_flush_log_at_trx_commit": "9"}})
	want := []string{"option 'innodb-flush-log-at-trx-commit': unsigned value 9 adjusted to 3"}
	if diff := cmp.Diff(want, beside(server.Warnings())); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if err := server.Restart(t.Context(), map[string]string{"innodb_flush_log_at_trx_commit": "2"}); err != nil {
		t.Fatal(err)
	}
	if got := beside(server.Warnings()); len(got) > 0 {
		t.Errorf("after a restart without it: %q", got)
	}
}

// beside leaves out what a server says where few files may be open, as for an ordinary user.
func beside(warnings []string) []string {
	return slices.DeleteFunc(warnings, func(w string) bool { return strings.HasPrefix(w, "Changed limits:") })
}

func TestManyClientsAtOnce(t *testing.T) {
	clients := 600
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil && files.Max < 4096 {
		clients = 300 // an ordinary user's limit
	}
	server := servertest.Start(t, localserver.Config{MaxConnections: clients, MaxPreparedStatements: 50_000})
	if got := variable(t, server, "max_prepared_stmt_count"); got != "50000" {
		t.Errorf("max_prepared_stmt_count = %s", got)
	}
	db := servertest.OpenDB(t, server, "")
	conns := make([]*sql.Conn, clients)
	errs := make([]error, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() { conns[i], errs[i] = db.Conn(t.Context()) })
	}
	wg.Wait()
	for _, c := range conns {
		if c != nil {
			c.Close()
		}
	}
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

func TestRestartKeepsDataAndChangesOptions(t *testing.T) {
	server := servertest.Start(t, localserver.Config{Options: map[string]string{"innodb_flush_log_at_trx_commit": "0", "sync_binlog": "3"}, TCP: true})
	execute(t, server, "CREATE DATABASE shop", "CREATE TABLE shop.item (id INT PRIMARY KEY) ENGINE=InnoDB", "INSERT INTO shop.item VALUES (1), (2), (3)")
	socket, address := server.Socket(), server.Address()

	check := func(flush string) {
		t.Helper()
		if got := variable(t, server, "innodb_flush_log_at_trx_commit"); got != flush {
			t.Errorf("innodb_flush_log_at_trx_commit = %s, want %s", got, flush)
		}
		if got := variable(t, server, "sync_binlog"); got != "3" {
			t.Errorf("sync_binlog = %s, want 3", got)
		}
		var rows int
		if err := servertest.OpenDB(t, server, "shop").QueryRow("SELECT COUNT(*) FROM item").Scan(&rows); err != nil || rows != 3 {
			t.Errorf("%d rows, %v; want 3", rows, err)
		}
		if server.Socket() != socket || server.Address() != address {
			t.Errorf("now at %s and %s, before at %s and %s", server.Socket(), server.Address(), socket, address)
		}
	}
	check("0")
	exited := server.Exited()
	if err := server.Restart(t.Context(), map[string]string{"innodb-flush-log-at-trx-commit": "2"}); err != nil {
		t.Fatal(err)
	}
	check("2")

	err := server.Restart(t.Context(), map[string]string{"innodb_nonsense": "1"})
	if err == nil || !strings.Contains(err.Error(), "unknown variable 'innodb_nonsense=1'") {
		t.Errorf("restarted with an unknown option: %v", err)
	}
	if server.PID() != 0 || server.Exited() != nil {
		t.Errorf("after a restart that failed: pid %d", server.PID())
	}
	if err := server.Restart(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	check("0")

	if err := server.Halt(t.Context()); err != nil {
		t.Error(err)
	}
	if err := server.Restart(t.Context(), nil); err != nil {
		t.Error(err)
	}
	check("0")
	select {
	case <-exited:
		t.Error("an end that was asked for was told as one that was not")
	default:
	}
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	dir := temporary(t)
	for _, after := range []time.Duration{0, 20, 100, 250, 400, 500, 600, 700} {
		ctx, cancel := context.WithTimeout(t.Context(), after*time.Millisecond)
		server, err := localserver.Start(ctx, localserver.Config{TCP: true})
		cancel()
		switch {
		case err == nil:
			if err := server.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		case !errors.Is(err, context.DeadlineExceeded):
			t.Errorf("cancelled after %d ms: %v", after, err)
		}
		wantNothingLeft(t, dir)
	}
}

// startVictim runs a benchplan of its own that has started a server, and gives it with the server's pid and socket.
func startVictim(t *testing.T, data string) (benchplan *exec.Cmd, pid int, socket string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), victim+"="+data)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(line, &pid, &socket); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return cmd, pid, socket
}

func TestKilledBenchplan(t *testing.T) {
	dir := temporary(t)
	for _, data := range []string{"-", filepath.Join(t.TempDir(), "kept")} {
		benchplan, pid, socket := startVictim(t, data)

		// One that runs beside it neither disturbs it nor is disturbed.
		other := servertest.Start(t, localserver.Config{})
		if _, err := os.Stat(socket); err != nil {
			t.Fatalf("a server of another benchplan was swept: %v", err)
		}
		if err := other.Stop(t.Context()); err != nil {
			t.Error(err)
		}

		if err := benchplan.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		benchplan.Wait()
		eventually(t, "the server of a killed benchplan ends by itself", func() bool { return gone(pid) })
		run := filepath.Dir(socket)
		if _, err := os.Stat(run); err != nil {
			t.Fatalf("the folder should be there still: %v", err)
		}
		var log bytes.Buffer
		next, err := localserver.Start(t.Context(), localserver.Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if err := next.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if !strings.Contains(log.String(), run) {
			t.Errorf("the log does not tell of the sweep:\n%s", log.String())
		}
		wantNothingLeft(t, dir)
	}
}

func TestBenchplanKilledWhileItStarts(t *testing.T) {
	dir := temporary(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []time.Duration{100, 200, 300, 400, 500} {
		benchplan := exec.Command(self)
		benchplan.Env = append(os.Environ(), victim+"=-")
		if err := benchplan.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after * time.Millisecond)
		benchplan.Process.Kill()
		benchplan.Wait()
		eventually(t, "what a killed benchplan was starting ends by itself", func() bool { return len(serversOf(t, dir)) == 0 })
	}
	server := servertest.Start(t, localserver.Config{})
	if err := server.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	wantNothingLeft(t, dir)
}

// A server that outlives its benchplan, as it does where the kernel does not end it, is ended by the next start.
func TestServerThatOutlivesItsBenchplanIsSwept(t *testing.T) {
	dir := temporary(t)
	benchplan, pid, _ := startVictim(t, filepath.Join(t.TempDir(), "kept"))
	// A server whose data are kept is asked to end, and a stopped process heeds that only when it goes on.
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	benchplan.Process.Kill()
	benchplan.Wait()
	if gone(pid) {
		t.Fatal("the server ended, so that there is nothing to test")
	}
	next := servertest.Start(t, localserver.Config{})
	if !gone(pid) {
		t.Errorf("the server, pid %d, still runs", pid)
	}
	if err := next.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	wantNothingLeft(t, dir)
}

func TestKilledServerIsTold(t *testing.T) {
	server := servertest.Start(t, localserver.Config{})
	execute(t, server, "CREATE DATABASE shop", "CREATE TABLE shop.item (id INT PRIMARY KEY) ENGINE=InnoDB", "INSERT INTO shop.item VALUES (1)")
	if err := server.Err(); err != nil {
		t.Errorf("while it runs: %v", err)
	}
	pid := server.PID()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-server.Exited():
	case <-time.After(20 * time.Second):
		t.Fatal("Exited was not closed")
	}
	err := server.Err()
	if err == nil {
		t.Fatal("no error")
	}
	t.Log(err)
	for _, want := range []string{fmt.Sprintf("(pid %d) ended by itself: signal: killed", pid), "its log: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %q", err, want)
		}
	}

	if err := server.Restart(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := servertest.OpenDB(t, server, "shop").QueryRow("SELECT COUNT(*) FROM item").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("after the restart: %d rows, %v; want 1", rows, err)
	}
	if err := server.Err(); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

func TestKeptFolder(t *testing.T) {
	dir := temporary(t)
	home := filepath.Join(t.TempDir(), "a folder", "kept")
	c := localserver.Config{Data: home}
	first := servertest.Start(t, c)
	execute(t, first, "CREATE DATABASE shop", "CREATE TABLE shop.item (id INT PRIMARY KEY) ENGINE=InnoDB", "INSERT INTO shop.item VALUES (1)")

	_, err := localserver.Start(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "is in use by another benchplan") {
		t.Errorf("a second server on the folder: %v", err)
	}
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantNothingLeft(t, dir)

	second := servertest.Start(t, c)
	var rows int
	if err := servertest.OpenDB(t, second, "shop").QueryRow("SELECT COUNT(*) FROM item").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("used again: %d rows, %v; want 1", rows, err)
	}
	if err := second.Stop(t.Context()); err != nil {
		t.Error(err)
	}

	// A start that fails leaves the data of earlier ones alone.
	c.Options = map[string]string{"innodb_nonsense": "1"}
	if _, err := localserver.Start(t.Context(), c); err == nil {
		t.Error("an unknown option was taken")
	}
	if _, err := os.Stat(filepath.Join(home, "data", "shop")); err != nil {
		t.Errorf("the data are gone: %v", err)
	}
}

func TestKeptFolderThatCannotBeMade(t *testing.T) {
	dir := temporary(t)
	home := filepath.Join(t.TempDir(), "kept")
	if _, err := localserver.Start(t.Context(), localserver.Config{Data: home, Options: map[string]string{"innodb_nonsense": "1"}}); err == nil {
		t.Error("an unknown option was taken")
	}
	if _, err := os.Stat(home); err == nil {
		t.Error("a folder without data was left behind")
	}
	wantNothingLeft(t, dir)
}

// A benchplan that is killed while it makes the data leaves a claim without data that count.
func TestKeptFolderWithIncompleteDataIsMadeAnew(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{"benchplan-server.json": `{"note": "…"}`, "data/ibdata1": "half a", "error.log": ""} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := servertest.Start(t, localserver.Config{Data: home})
	execute(t, server, "CREATE DATABASE shop")
}

func TestFolderWithSomethingElseIsRefused(t *testing.T) {
	dir := temporary(t)
	home := t.TempDir()
	letter := filepath.Join(home, "letter.txt")
	if err := os.WriteFile(letter, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := localserver.Start(t.Context(), localserver.Config{Data: home})
	if err == nil || !strings.Contains(err.Error(), home+" holds something that benchplan did not make (letter.txt)") {
		t.Errorf("error: %v", err)
	}
	entries, err := os.ReadDir(home)
	if err != nil || len(entries) != 1 {
		t.Errorf("in the folder now: %v, %v", entries, err)
	}
	wantNothingLeft(t, dir)
}

func TestSeveralAtOnce(t *testing.T) {
	dir := temporary(t)
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			server, err := localserver.Start(t.Context(), localserver.Config{TCP: true})
			if err != nil {
				t.Error(err)
				return
			}
			execute(t, server, fmt.Sprintf("CREATE DATABASE shop%d", i), "CREATE DATABASE shop")
			if err := server.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantNothingLeft(t, dir)
}

func TestSocketPathStaysShort(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	server := servertest.Start(t, localserver.Config{})
	if n := len(server.Socket()); n > 107 {
		t.Errorf("the socket's path %s has %d bytes", server.Socket(), n)
	}
	c, err := net.Dial("unix", server.Socket())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// TestSweepTakesFoldersWithoutAClaim: somebody was killed before claiming the folder; one that is being made is left alone.
func TestSweepTakesFoldersWithoutAClaim(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	old, fresh := filepath.Join(dir, "benchplan-server-old"), filepath.Join(dir, "benchplan-server-fresh")
	for _, folder := range []string{old, fresh} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	servertest.Start(t, localserver.Config{})
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old folder is there: %v", err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error(err)
	}
}
