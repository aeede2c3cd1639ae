package engine_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps/localserver/proxytest"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
)

// told is a client of one statement an event, which notes what it is told.
type told struct {
	statements []engine.Statement
	at         int
	log        *[]string
}

func (c *told) Next(s *engine.Statement) {
	*s = c.statements[c.at%len(c.statements)]
	s.Last = true
}
func (c *told) Done(rows, affected int64) {
	*c.log = append(*c.log, fmt.Sprintf("%d rows, %d changed", rows, affected))
	c.at++
}
func (c *told) Undo(_ *engine.Statement, lost bool) bool {
	*c.log = append(*c.log, fmt.Sprintf("undo, lost: %t", lost))
	c.at++
	return false
}

// telling is a load of such clients; all but the first only read.
type telling struct {
	templates  []string
	statements []engine.Statement
	log        *[]string
}

func (w telling) Templates(string) []string { return w.templates }
func (w telling) Client(_ string, index, _ int, _ *rand.Rand) engine.Client {
	if index > 0 {
		return &told{statements: []engine.Statement{plain("SELECT REPEAT('a', 100000)", results.Read)}, log: new([]string)}
	}
	return &told{statements: w.statements, log: w.log}
}

// TestEveryAnswerIsTheSame has the engine and the driver execute what is answered in all the ways that there are.
func TestEveryAnswerIsTheSame(t *testing.T) {
	t.Parallel()
	const packet = 20 << 20
	d := testdb.Own(t, map[string]string{"max_allowed_packet": fmt.Sprint(packet)})
	d.Exec(
		"CREATE TABLE things (id INT PRIMARY KEY, v LONGBLOB) ENGINE=innodb",
		"INSERT INTO things VALUES (1,NULL),(2,'two'),(3,'three')",
		"CREATE PROCEDURE several() BEGIN SELECT id FROM things; SELECT 1; UPDATE things SET v=CONCAT(v,'x') WHERE id<4; END",
		"CREATE PROCEDURE shown() BEGIN SELECT id FROM things; SELECT 1; END",
		"CREATE TABLE noted (id INT AUTO_INCREMENT PRIMARY KEY, n BIGINT UNSIGNED, length BIGINT, sum CHAR(32)) ENGINE=innodb",
	)
	const failing = "SELECT id, CASE WHEN id=3 THEN (SELECT 1 UNION SELECT 2) ELSE id END FROM things ORDER BY id"
	prepared := []string{
		"SELECT id, v FROM things WHERE id<=?",
		failing + " LIMIT ?",
		"SELECT REPEAT('a', ?), 'b'",
		"UPDATE things SET v=v WHERE id<=?",
		"INSERT INTO things (id) VALUES (?)",
		"INSERT INTO noted (n, length, sum) SELECT ?, LENGTH(b), MD5(b) FROM (SELECT ? AS b) x",
		"DO 1",
		"SELECT 1 FROM things",
		"SELECT v, id FROM things WHERE id=? OR id=?",
		"INSERT INTO things VALUES (?, 'new') RETURNING id, v",
		"CALL shown()",
		"SELECT id, v FROM things WHERE id<=?",
	}
	read := func(s engine.Statement) engine.Statement { s.Class = results.Read; return s }
	note := func(size int) engine.Statement {
		s := engine.Statement{Template: 5, Class: results.Write}
		s.Args.Uint(1<<63 + uint64(size))
		s.Args.Text(func(dst []byte) []byte {
			for i := range size {
				dst = append(dst, byte(i*i>>3))
			}
			return dst
		})
		return s
	}
	var statements []engine.Statement
	for _, n := range []int64{0, 1, 2, 3, 3} {
		statements = append(statements, read(write(0, n)), write(3, n))
	}
	statements = append(statements,
		read(write(1, 2)), read(write(1, 3)), // an error in the middle of rows
		read(write(2, 10)), read(write(2, 1<<16)), read(write(2, 1<<24-20)), read(write(2, 1<<24)),
		write(4, 1), read(write(6)), write(6), read(write(7)), read(write(8, 1, 2)),
		note(0), note(250), note(251), note(1<<16), note(packet/3), note(17<<20),
		read(write(0)), read(write(0, 1, 2)), // arguments that do not fit
		write(9, 21), write(9, 22), write(9, 22), write(9, 23), write(10), write(10), write(10), write(11, 1), write(11, 3), // rows, by what is no read
	)
	var large []engine.Statement // sent alike in both modes, so in one is enough
	for _, size := range []int{16<<20 - 12, 17 << 20, packet} {
		large = append(large, plain("SELECT '"+strings.Repeat("x", size)+"'", results.Read))
	}
	for _, text := range []string{
		"DO 1", "SELECT * FROM things", "SELECT v, id FROM things", "UPDATE things SET v='2' WHERE id=2", "SELECT FROM", failing, "CALL several()",
		"SELECT REPEAT('a', 17<<20)", "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE things", "SELECT 1 FROM things WHERE id>9",
		"KILL CONNECTION_ID()", "SELECT 2",
	} {
		statements = append(statements, plain(text, results.Read), plain(text, results.Other))
	}
	type outcome struct {
		Log              []string
		Rows, Affected   map[results.Class]int64
		Errors, Restarts map[int]int64
		Noted            [][]string
	}
	count := func(list []results.ErrorCount) map[int]int64 {
		m := map[int]int64{}
		for _, e := range list {
			m[e.Code] += e.Count
		}
		return m
	}
	for n, modes := range map[int][]engine.PSMode{1: {engine.PSAuto, engine.PSDisable}, 2: {engine.PSAuto}} {
		for _, mode := range modes {
			statements := slices.Clone(statements)
			if mode == engine.PSAuto {
				statements = append(statements, large...)
			}
			var outcomes []outcome
			for _, io := range ioModes {
				d.Exec("DELETE FROM things WHERE id>3", "DELETE FROM noted", "ALTER TABLE noted AUTO_INCREMENT=1", "UPDATE things SET v=id")
				var o outcome
				w := telling{templates: prepared, statements: statements, log: &o.Log}
				order := engine.Order{IO: io, Clients: clients(n), EventsEach: plan.Count(len(statements)), PSMode: mode, OnErrorDefault: engine.Count}
				out, err := engine.Run(t.Context(), d.Connector(func(c *mysql.Config) { c.MaxAllowedPacket = 0 }), w, order, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				o.Rows, o.Affected = map[results.Class]int64{}, map[results.Class]int64{}
				for class, s := range out.Statements {
					o.Rows[class], o.Affected[class] = s.Rows, s.Affected
				}
				o.Errors, o.Restarts = count(out.Errors), count(out.Restarts)
				o.Noted = d.Rows("SELECT n, length, sum FROM noted ORDER BY n, length, sum")
				outcomes = append(outcomes, o)
			}
			if diff := cmp.Diff(outcomes[0], outcomes[1]); diff != "" {
				t.Errorf("%d clients, %s (-engine +driver):\n%s", n, mode, diff)
			}
			if got := outcomes[0]; len(got.Log) < len(statements) || got.Restarts[0] == 0 || len(got.Noted) == 0 || len(got.Errors) < 4 {
				t.Errorf("%d clients, %s: the test does not meet what it should: %+v", n, mode, got)
			}
		}
	}
}

// TestTheDriverStepsIn where the engine cannot drive a socket itself, and only there.
func TestTheDriverStepsIn(t *testing.T) {
	t.Parallel()
	d := testdb.Own(t, certificate(t))
	counterTable(d, 1)
	for _, tt := range []struct {
		name   string
		change func(c *mysql.Config)
		loops  bool
	}{
		{"plain", func(*mysql.Config) {}, true},
		{"TLS", func(c *mysql.Config) { c.TLS = &tls.Config{InsecureSkipVerify: true} }, false},
		{"compression", func(c *mysql.Config) { _ = c.Apply(mysql.EnableCompression(true)) }, false},
		{"time limit for reads", func(c *mysql.Config) { c.ReadTimeout = time.Minute }, false},
		{"connection that is more than a socket", func(c *mysql.Config) {
			c.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, addr)
				return struct{ net.Conn }{conn}, err
			}
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d.Exec("UPDATE counters SET v=0")
			o := engine.Order{Clients: clients(3), Events: 90}
			out, err := engine.Run(t.Context(), d.Connector(tt.change), always(increment, write(0, 0)), o, nil, nil)
			if err != nil || out.Events != 90 || sum(d) != 90 {
				t.Errorf("%d events, sum %d, %v", out.Events, sum(d), err)
			}
			o.IO = engine.IOLoop
			_, err = engine.Run(t.Context(), d.Connector(tt.change), always(increment, write(0, 0)), o, nil, nil)
			if used := engine.IOMode(out.IO); (used == engine.IOLoop) != tt.loops || !tt.loops && used != engine.IODriver {
				t.Errorf("driven by %q", used)
			}
			if (err == nil) != tt.loops || err != nil && !strings.Contains(err.Error(), "without TLS") {
				t.Errorf("io: loop gives error %v", err)
			}
		})
	}
}

// certificate gives the options of a server that takes TLS.
func certificate(t *testing.T) map[string]string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	public, err := x509.CreateCertificate(crand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return map[string]string{"ssl_cert": write("cert.pem", "CERTIFICATE", public), "ssl_key": write("key.pem", "PRIVATE KEY", private)}
}

func TestOneClientThatHangsIsCut(t *testing.T) { everyIOAtOnce(t, testOneClientThatHangsIsCut) }

func testOneClientThatHangsIsCut(t *testing.T, io engine.IOMode) {
	d := testdb.Shared(t)
	out, err := engine.Run(t.Context(), d.Connector(), sleeps("60"), engine.Order{IO: io, Clients: clients(1), Duration: second / 2, Grace: second / 10}, nil, nil)
	if err != nil || out.Cut != 1 || out.Unfinished != 1 {
		t.Errorf("%d cut, %d unfinished, %v", out.Cut, out.Unfinished, err)
	}
}

// TestManyClientsOverTCP: statements and answers of all sizes, so that neither side takes all at once.
func TestManyClientsOverTCP(t *testing.T) { everyIOAtOnce(t, testManyClientsOverTCP) }

func testManyClientsOverTCP(t *testing.T, mode engine.IOMode) {
	d := testdb.Shared(t)
	to := tcp(t, d)
	text := strings.Repeat("x", 1<<20)
	w := load{templates: []string{"SELECT ?, REPEAT('a', 1000000) UNION ALL SELECT 'b', 'c'"}, event: func(_ int, random *rand.Rand) []engine.Statement {
		s := engine.Statement{Class: results.Read}
		s.Args.Text(func(dst []byte) []byte { return append(dst, text[:random.IntN(len(text))]...) })
		return []engine.Statement{s, plain("SELECT 1", results.Read)}
	}}
	out, err := engine.Run(t.Context(), d.Connector(to), w, engine.Order{IO: mode, Clients: clients(40), Events: 80}, nil, nil)
	if err != nil || out.Events != 80 || out.Statements[results.Read].Rows != 240 || len(out.Restarts) != 0 {
		t.Errorf("%d events, %+v, restarts %+v, %v", out.Events, out.Statements, out.Restarts, err)
	}
}

// tcp gives a change of a connector that reaches the server, which has only a socket file, over TCP.
func tcp(t *testing.T, d *testdb.Database) func(*mysql.Config) {
	t.Helper()
	p := proxytest.New(t, "unix", d.Server.Socket())
	return func(c *mysql.Config) { c.Net, c.Addr = "tcp", p.Address() }
}
