package target

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
)

func TestMain(m *testing.M) {
	status := servertest.Main(m)
	if err := goleak.Find(); err != nil && status == 0 {
		fmt.Println(err)
		status = 1
	}
	os.Exit(status)
}

// handle opens a connection to a socket as an account.
func handle(t *testing.T, socket, user string) *sql.DB {
	t.Helper()
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.Logger = user, "unix", socket, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func TestIdentify(t *testing.T) {
	server := servertest.Start(t, localserver.Config{Options: map[string]string{"log_bin": "log", "server_id": "7", "read_only": "1"}})
	db := servertest.OpenDB(t, server, "")
	for _, statement := range []string{"CREATE USER nobody@localhost", "CHANGE MASTER TO MASTER_HOST='10.9.8.7', MASTER_PORT=3307"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	s := Identify(t.Context(), handle(t, server.Socket(), "root"))
	if !strings.Contains(s.Version, "MariaDB") || s.VersionComment == "" || s.Variables["server_id"] != "7" || s.Engines["InnoDB"] != "DEFAULT" || len(s.Unknown) != 0 {
		t.Errorf("%s, %s, engines %v, unknown %q", s.Version, s.VersionComment, s.Engines, s.Unknown)
	}
	want := map[string]string{"product": "mariadb", "log_bin": "ON", "read_only": "ON", "replica_of": "10.9.8.7:3307", "replica_state": "io No, sql No"}
	if diff := cmp.Diff(want, s.Topology); diff != "" {
		t.Error(diff)
	}
	s = Identify(t.Context(), handle(t, server.Socket(), "nobody"))
	if s.Version == "" || len(s.Unknown) != 2 || !strings.HasPrefix(s.Unknown[0], "SHOW REPLICA STATUS: Error 1227") || !strings.HasPrefix(s.Unknown[1], "SHOW REPLICAS: Error 1227") {
		t.Errorf("unknown %q", s.Unknown)
	}
}

// TestIdentifyAServerThatHangs: one question costs its own time, and two end the asking.
func TestIdentifyAServerThatHangs(t *testing.T) {
	server := servertest.Shared(t)
	for _, c := range []struct {
		name, silent string
		unknown      []string
		most         time.Duration
	}{
		{"on one question", "SHOW ENGINES", []string{"SHOW ENGINES: no answer within 3s"}, 9 * time.Second},
		{"on all", "S", []string{
			"SELECT VERSION() AS v: no answer within 3s", "SELECT @@version_comment AS c: no answer within 3s",
			"SHOW GLOBAL VARIABLES: not asked", "SHOW ENGINES: not asked", "SHOW REPLICA STATUS: not asked",
		}, 12 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := time.Now()
			s := Identify(t.Context(), handle(t, swallowing(t, server.Socket(), c.silent), server.User()))
			if took := time.Since(begin); took > c.most {
				t.Errorf("it took %s", took)
			}
			if len(s.Unknown) != len(c.unknown) {
				t.Fatalf("unknown %q", s.Unknown)
			}
			for i, want := range c.unknown {
				if !strings.HasPrefix(s.Unknown[i], want) {
					t.Errorf("%q, want %q", s.Unknown[i], want)
				}
			}
		})
	}
}

// swallowing gives a socket that leads to another, but for queries that begin with a text: those never arrive.
func swallowing(t *testing.T, to, begin string) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "s") // a test's own may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
		os.RemoveAll(folder)
	})
	serving.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", to)
			if err != nil {
				client.Close()
				continue
			}
			serving.Go(func() {
				defer client.Close()
				_, _ = io.Copy(client, server) // ends with the connection
			})
			serving.Go(func() {
				defer server.Close()
				packet := make([]byte, 64<<10) // questions are short: one comes in one piece
				for {
					n, err := client.Read(packet)
					if err != nil {
						return
					}
					const command, query = 4, 3 // where it stands, and COM_QUERY
					if n > command && packet[command] == query && bytes.HasPrefix(packet[command+1:n], []byte(begin)) {
						continue
					}
					if _, err := server.Write(packet[:n]); err != nil {
						return
					}
				}
			})
		}
	})
	return path
}

// TestProcessIDOfAServer: behind a socket the kernel tells it, else the server's file.
func TestProcessIDOfAServer(t *testing.T) {
	server := servertest.Shared(t)
	unix := mysql.NewConfig()
	unix.User, unix.Net, unix.Addr = server.User(), "unix", server.Socket()
	variables, err := Variables(t.Context(), handle(t, server.Socket(), server.User()))
	if err != nil {
		t.Fatal(err)
	}
	tcp := mysql.NewConfig()
	tcp.Addr = server.Address()
	stale := filepath.Join(t.TempDir(), "pid")
	if err := os.WriteFile(stale, fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config    *mysql.Config
		variables map[string]string
		want      int
	}{
		"socket":                      {unix, nil, server.PID()},
		"file":                        {tcp, variables, server.PID()},
		"file of a server elsewhere":  {tcp, map[string]string{"pid_file": "/nowhere/pid"}, 0},
		"file of another program now": {tcp, map[string]string{"pid_file": stale}, 0},
		"nothing told":                {tcp, nil, 0},
	} {
		if got := ProcessID(t.Context(), c.config, c.variables); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if !Running(server.PID()) || Running(1<<22+1) {
		t.Error("who runs is not told")
	}
}

// TestTopology of servers that cannot be had here: a fake gives their answers.
func TestTopology(t *testing.T) {
	variables := func(pairs ...string) rows {
		r := rows{columns: []string{"Variable_name", "Value"}}
		for i := 0; i < len(pairs); i += 2 {
			r.values = append(r.values, []string{pairs[i], pairs[i+1]})
		}
		return r
	}
	version := func(v string) rows { return rows{[]string{"v"}, [][]string{{v}}} }
	for name, c := range map[string]struct {
		answers map[string]rows
		want    map[string]string
		unknown int
	}{
		"MySQL with a replica": {map[string]rows{
			"SELECT VERSION() AS v": version("8.0.36"), "SHOW GLOBAL VARIABLES": variables("log_bin", "ON", "gtid_mode", "ON", "read_only", "OFF", "wsrep_on", ""),
			"SELECT @@version_comment AS c": {}, "SHOW ENGINES": {},
			"SHOW REPLICA STATUS": {}, "SHOW REPLICAS": {[]string{"Server_Id"}, [][]string{{"2"}, {"3"}}},
		}, map[string]string{"log_bin": "ON", "gtid_mode": "ON", "replicas": "2"}, 0},
		"before 8.0.22": {map[string]rows{
			"SELECT VERSION() AS v": version("5.7.44"), "SHOW GLOBAL VARIABLES": variables("log_bin", "OFF"), "SELECT @@version_comment AS c": {}, "SHOW ENGINES": {},
			"SHOW SLAVE STATUS": {[]string{"Master_Host", "Master_Port", "Slave_IO_Running", "Slave_SQL_Running"}, [][]string{{"h", "3306", "Yes", "No"}}},
		}, map[string]string{"replica_of": "h:3306", "replica_state": "io Yes, sql No"}, 0},
		"Galera": {map[string]rows{
			"SELECT VERSION() AS v": version("10.11.6-MariaDB"), "SHOW GLOBAL VARIABLES": variables("wsrep_on", "ON", "wsrep_cluster_name", "c"),
			"SELECT @@version_comment AS c": {}, "SHOW ENGINES": {}, "SHOW REPLICA STATUS": {},
			"SHOW GLOBAL STATUS LIKE 'wsrep_%'": variables("wsrep_cluster_size", "3", "wsrep_cluster_status", "Primary", "wsrep_thread_count", "2"),
		}, map[string]string{"product": "mariadb", "wsrep_cluster_name": "c", "wsrep_cluster_size": "3", "wsrep_cluster_status": "Primary"}, 0},
		"group replication": {map[string]rows{
			"SELECT VERSION() AS v": version("8.4.0"), "SHOW GLOBAL VARIABLES": variables("group_replication_group_name", "g"),
			"SELECT @@version_comment AS c": {}, "SHOW ENGINES": {}, "SHOW REPLICA STATUS": {},
			"SELECT * FROM performance_schema.replication_group_members": {[]string{"MEMBER_HOST", "MEMBER_PORT", "MEMBER_ROLE", "MEMBER_STATE"}, [][]string{{"b", "3306", "SECONDARY", "ONLINE"}, {"a", "3306", "PRIMARY", "ONLINE"}}},
		}, map[string]string{"group_replication_group_name": "g", "group_members": "a:3306 PRIMARY ONLINE; b:3306 SECONDARY ONLINE"}, 0},
		"TiDB": {map[string]rows{
			"SELECT VERSION() AS v": version("8.0.11-TiDB-v7.5.0"), "SHOW GLOBAL VARIABLES": variables("log_bin", "0"), "SELECT @@version_comment AS c": {}, "SHOW ENGINES": {}, "SHOW REPLICA STATUS": {},
			"SELECT TYPE AS t, COUNT(*) AS n FROM information_schema.CLUSTER_INFO GROUP BY TYPE ORDER BY TYPE": {[]string{"t", "n"}, [][]string{{"tidb", "2"}, {"tikv", "3"}}},
		}, map[string]string{"product": "tidb", "instances": "2 tidb, 3 tikv"}, 0},
		"Vitess": {map[string]rows{
			"SELECT VERSION() AS v": version("8.0.30-Vitess"), "SHOW GLOBAL VARIABLES": variables("log_bin", "OFF"), "SELECT @@version_comment AS c": {}, "SHOW ENGINES": {}, "SHOW REPLICA STATUS": {},
			"SHOW VITESS_SHARDS": {[]string{"Shards"}, [][]string{{"k/80-"}, {"k/-80"}}},
		}, map[string]string{"product": "vitess", "shards": "k/-80, k/80-"}, 0},
		"radon, which knows hardly anything": {map[string]rows{"SELECT VERSION() AS v": version("5.7-Radon-1.0")}, map[string]string{"product": "radon"}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			db := sql.OpenDB(fake(c.answers))
			defer db.Close()
			s := Identify(t.Context(), db)
			if diff := cmp.Diff(c.want, s.Topology); diff != "" {
				t.Error(diff)
			}
			if len(s.Unknown) != c.unknown {
				t.Errorf("unknown %q", s.Unknown)
			}
		})
	}
}

// fake is a server that has an answer to some questions and does not understand the others.
type fake map[string]rows

type rows struct {
	columns []string
	values  [][]string
}

func (f fake) Connect(context.Context) (driver.Conn, error) { return fakeConn{f}, nil }
func (f fake) Driver() driver.Driver                        { return nil }

type fakeConn struct{ answers fake }

func (fakeConn) Prepare(string) (driver.Stmt, error) { return nil, driver.ErrSkip }
func (fakeConn) Close() error                        { return nil }
func (fakeConn) Begin() (driver.Tx, error)           { return nil, driver.ErrSkip }

func (c fakeConn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	answer, ok := c.answers[query]
	if !ok {
		return nil, &mysql.MySQLError{Number: codeSyntax, Message: "syntax"}
	}
	return &fakeRows{rows: answer}, nil
}

type fakeRows struct {
	rows
	at int
}

func (r *fakeRows) Columns() []string { return r.columns }
func (r *fakeRows) Close() error      { return nil }
func (r *fakeRows) Next(into []driver.Value) error {
	if r.at == len(r.values) {
		return io.EOF
	}
	for i, v := range r.values[r.at] {
		into[i] = v
	}
	r.at++
	return nil
}
