package protocol_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"flag"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"benchplan/workloads/engine/protocol"
	"benchplan/workloads/internal/testdb"
)

var update = flag.Bool("update", false, "ask a server again for the answers in testdata")

func TestMain(m *testing.M) { testdb.Main(m) }

const captures = "testdata/answers.json"

// exchange is a command and what a server is known to answer.
type exchange struct {
	name    string
	prepare string // sent first; the answer is to its execution, or to itself where execute is not set
	execute bool
	query   string

	rows, affected int64
	params         int
	code           uint16 // of the error
	local          bool   // it asks for a file
}

// The table beside has ids 1 to 5, and v of NULL; row 3 makes a subquery fail when it is reached.
const failing = "SELECT id, CASE WHEN id=3 THEN (SELECT 1 UNION SELECT 2) ELSE id END FROM five ORDER BY id"

var exchanges = []exchange{
	{name: "nothing to say", query: "DO 1"},
	{name: "rows changed", query: "UPDATE five SET w=w+1 WHERE id<4", affected: 3},
	{name: "text rows", query: "SELECT * FROM five", rows: 5},
	{name: "text row that begins with NULL", query: "SELECT v, id FROM five WHERE id=1", rows: 1},
	{name: "no row", query: "SELECT * FROM five WHERE id=9"},
	{name: "value of 300 bytes", query: "SELECT REPEAT('x',300), 2", rows: 1},
	{name: "syntax error", query: "SELECT FROM", code: 1064},
	{name: "error after two rows", query: failing, code: 1242},
	{name: "several results", query: "CALL several()", rows: 5, affected: 2},
	{name: "file of the client", query: "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE five", local: true},
	{name: "prepare", prepare: "SELECT id, v FROM five WHERE id=? OR id=?", params: 2},
	{name: "prepare without parameters", prepare: "SELECT id, v FROM five"},
	{name: "prepare without columns", prepare: "UPDATE five SET w=? WHERE id=?", params: 2},
	{name: "prepare with neither", prepare: "DO 1"},
	{name: "prepare error", prepare: "SELECT nothing FROM five", code: 1054},
	{name: "binary rows", prepare: "SELECT id, v FROM five", execute: true, rows: 5},
	{name: "no binary row", prepare: "SELECT id FROM five WHERE id>9", execute: true},
	{name: "rows changed by a prepared statement", prepare: "UPDATE five SET w=w+1 WHERE id<3", execute: true, affected: 2},
	{name: "error after two binary rows", prepare: failing, execute: true, code: 1242},
	{name: "warnings", query: "SELECT 1/0, CAST('x' AS INT)", rows: 1},
	{name: "rows changed with warnings", query: "INSERT IGNORE INTO five (id) VALUES (1)"},
	{name: "error raised", query: "SIGNAL SQLSTATE '70100' SET MYSQL_ERRNO=1615, MESSAGE_TEXT='Prepared statement needs to be re-prepared'", code: 1615},
	{name: "several binary results", prepare: "CALL several()", execute: true, rows: 5, affected: 2},
	{name: "rows of what changes", query: "REPLACE INTO five (id) VALUES (4),(5) RETURNING id", rows: 2},
	{name: "duplicate key", prepare: "INSERT INTO five (id) VALUES (1)", execute: true, code: 1062},
}

// capture is what a server answered, by the name of the exchange.
type capture struct {
	Server       string
	Capabilities protocol.Capabilities
	Answers      map[string]string // hexadecimal
}

func loadCaptures(t testing.TB) (list []capture) {
	t.Helper()
	data, err := os.ReadFile(captures)
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestCapture asks a real server, and keeps its answers where -update is given. Without, it sees that a server of today answers what the
// table says.
func TestCapture(t *testing.T) {
	d := testdb.Shared(t)
	d.Exec(
		"CREATE TABLE five (id INT PRIMARY KEY, v VARCHAR(10), w INT DEFAULT 0)",
		"INSERT INTO five (id) VALUES (1),(2),(3),(4),(5)",
		"CREATE PROCEDURE several() BEGIN SELECT * FROM five; SELECT 1 FROM five WHERE id=1; UPDATE five SET w=w+1 WHERE id<3; END",
	)
	var list []capture
	for _, asked := range []protocol.Capabilities{
		{DeprecateEOF: true, CacheMetadata: true}, {}, {DeprecateEOF: true}, {CacheMetadata: true},
	} {
		c := capture{Server: d.Rows("SELECT VERSION()")[0][0], Answers: map[string]string{}}
		for _, x := range exchanges {
			peer := connect(t, d, asked)
			c.Capabilities = peer.capabilities
			c.Answers[x.name] = hex.EncodeToString(peer.ask(t, x))
			_ = peer.Close()
		}
		check(t, c)
		list = append(list, c)
	}
	if !*update {
		return
	}
	data, err := json.MarshalIndent(list, "", "\t")
	if err == nil {
		err = os.WriteFile(captures, append(data, '\n'), 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// peer is a connection on which the driver has logged in. It can make the driver ask for less than it does.
type peer struct {
	net.Conn
	asked        protocol.Capabilities
	seen         bool
	capabilities protocol.Capabilities
}

func (p *peer) Write(b []byte) (int, error) {
	if !p.seen {
		p.seen = true
		b = slices.Clone(b)
		if !p.asked.DeprecateEOF {
			b[4+3] &^= 1 // CLIENT_DEPRECATE_EOF
		}
		if !p.asked.CacheMetadata {
			b[4+28] = 0 // MariaDB's own
		}
		p.capabilities, _ = protocol.ReadCapabilities(b)
	}
	return p.Conn.Write(b)
}

func connect(t *testing.T, d *testdb.Database, asked protocol.Capabilities) *peer {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.Logger = &mysql.NopLogger{} // what it says when its connection is closed
	cfg.Net, cfg.Addr, cfg.User, cfg.DBName = "unix", d.Server.Socket(), d.Server.User(), d.Name
	p := &peer{asked: asked}
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		p.Conn = conn
		return p, err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := connector.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return p
}

// ask sends the commands of an exchange, and gives all that comes back for the last.
func (p *peer) ask(t *testing.T, x exchange) []byte {
	t.Helper()
	var c protocol.Command
	if x.prepare == "" {
		c.Text(append(c.Query(1<<20), x.query...))
		if x.local {
			return p.send(t, &c, 0, 0, 0, 2) // the file, which is empty
		}
		return p.send(t, &c)
	}
	c.Prepare(x.prepare, 1<<20)
	answer := p.send(t, &c)
	if x.execute {
		var a protocol.Answer
		a.Capabilities = p.capabilities
		a.Begin(1, true)
		if _, status, err := a.Feed(answer); status != protocol.Done || err != nil || a.Err() != nil {
			t.Fatal(status, err, a.Err())
		}
		c.Execute(a.ID, 0, 1<<20)
		answer = p.send(t, &c)
	}
	return answer
}

// send sends a command, more that belongs to it, and a ping. It does not understand the answer: it ends where that to the ping begins.
func (p *peer) send(t *testing.T, c *protocol.Command, more ...byte) (answer []byte) {
	t.Helper()
	packets, _, err := c.Packets()
	if err != nil {
		t.Fatal(err)
	}
	packets = append(append(slices.Clone(packets), more...), 1, 0, 0, 0, 0x0e)
	if _, err := p.Conn.Write(packets); err != nil {
		t.Fatal(err)
	}
	pong := []byte{7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0}
	_ = p.Conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	for buf := make([]byte, 4096); !bytes.HasSuffix(answer, pong) || len(answer) == len(pong); {
		n, err := p.Conn.Read(buf)
		if answer = append(answer, buf[:n]...); err != nil {
			t.Fatalf("%v after %x", err, answer)
		}
	}
	return answer[:len(answer)-len(pong)]
}
