package steps

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"benchplan/plan"
)

// limits are the bounds of a server that loads meet; 0 is none, or one that the server does not tell.
type limits struct {
	server      string // how messages call it
	connections int64  // max_connections
	account     int64  // max_user_connections, of the account that is used
	prepared    int64  // max_prepared_stmt_count; -1 is none, and 0 allows none at all
	files       int64  // open_files_limit
	tables      int64  // table_open_cache
}

// spareFiles is how many files a server opens besides connections and tables: logs, tablespaces of its own, temporary files.
const spareFiles = 100

// proxies pass questions for variables on to a server behind them, whose limits are not those of their clients.
var proxies = []string{"radon", "vitess", "proxysql", "maxscale", "shardingsphere", "mycat", "dble"}

// serverLimits reads the limits out of a server's variables; nil where they do not count: of a proxy, and where the target says so.
func serverLimits(ctx context.Context, db *sql.DB, conn *connection, t *plan.Target, variables map[string]string) *limits {
	if !t.CheckLimits || slices.Contains(proxies, conn.server.Topology["product"]) {
		return nil
	}
	number := func(name string, otherwise int64) int64 {
		n, err := strconv.ParseInt(variables[name], 10, 64)
		if err != nil {
			return otherwise
		}
		return n
	}
	l := &limits{
		server: conn.name(), connections: number("max_connections", 0), account: accountLimit(ctx, db, conn),
		prepared: number("max_prepared_stmt_count", -1),
	}
	switch conn.server.Topology["product"] {
	case "", "mariadb", "percona", "aurora": // others know the names of these only
		l.files, l.tables = number("open_files_limit", 0), number("table_open_cache", 0)
	}
	return l
}

// accountLimit is how many connections the account may have at once; 0 where there is no limit or the server does not know any.
func accountLimit(ctx context.Context, db *sql.DB, conn *connection) int64 {
	var own, global sql.NullInt64
	if db.QueryRowContext(ctx, "SELECT @@SESSION.max_user_connections, @@GLOBAL.max_user_connections").Scan(&own, &global) != nil {
		return 0
	}
	if own.Int64 == global.Int64 && conn.server.Topology["product"] == "mariadb" && isAdministrator(ctx, db) {
		return 0 // MariaDB does not hold those to it
	}
	return own.Int64
}

// isAdministrator tells whether an account of MariaDB has the privilege that frees from max_user_connections.
func isAdministrator(ctx context.Context, db *sql.DB) bool {
	rows, err := db.QueryContext(ctx, "SHOW GRANTS")
	if err != nil {
		return false
	}
	defer rows.Close()
	for rows.Next() {
		var grant string
		if rows.Scan(&grant) != nil {
			return false
		}
		everywhere := strings.Contains(grant, " ON *.* ")
		if everywhere && slices.ContainsFunc([]string{"ALL PRIVILEGES", "SUPER", "CONNECTION ADMIN"}, func(p string) bool { return strings.Contains(grant, p) }) {
			return true
		}
	}
	return false
}

// shortage is one thing of which there is less than a step needs.
type shortage struct {
	what   string // a variable's name, or what it is called
	needed int64
	text   string
}

func (s shortage) String() string { return s.text }

// refuse gives an error that names everything of which there is too little for a step; nil where there is enough.
func (n need) refuse(here machineLimits, l *limits) error {
	var texts []string
	for _, s := range n.shortages(here, l) {
		texts = append(texts, s.text)
	}
	if len(texts) == 0 {
		return nil
	}
	return final{errors.New(strings.Join(texts, "; and "))}
}

// shortages lists everything of which there is too little for a step. l is nil where nothing is known of the server.
func (n need) shortages(here machineLimits, l *limits) []shortage {
	var found []shortage
	if files := int64(n.connections() + spareDescriptors); here.files > 0 && files > here.files {
		found = append(found, shortage{"files of this machine", files, fmt.Sprintf(
			"this machine lets benchplan open %d files (RLIMIT_NOFILE), and %d are needed: %s and %d of benchplan's own; raise the limit, as by `ulimit -n %d`",
			here.files, files, n.clientsText(), spareDescriptors, files)})
	}
	if l == nil {
		return found
	}
	tell := func(what string, needed int64, format string, args ...any) {
		found = append(found, shortage{what, needed, fmt.Sprintf("%s: %s", l.server, fmt.Sprintf(format, args...))})
	}
	connections := int64(n.connections())
	if l.connections > 0 && connections > l.connections {
		tell("max_connections", connections, "max_connections is %d, and %d are needed: %s; SET GLOBAL max_connections = %d, or use fewer clients%s",
			l.connections, connections, n.clientsText(), connections, unlessProxy)
	}
	if l.account > 0 && connections > l.account {
		tell("max_user_connections", connections, "the account may have %d connections at once (max_user_connections), and %d are needed: %s; raise its limit, or use fewer clients",
			l.account, connections, n.clientsText())
	}
	if prepared := int64(n.prepared); l.prepared >= 0 && prepared > l.prepared {
		tell("max_prepared_stmt_count", prepared, "max_prepared_stmt_count is %d, and %d are needed: %s; SET GLOBAL max_prepared_stmt_count = %d, or send text by ps_mode: disable%s",
			l.prepared, prepared, n.preparedText(), prepared, unlessProxy)
	}
	if files := connections + int64(n.tables) + spareFiles; l.files > 0 && files > l.files {
		tell("open_files_limit", files, "the server may open %d files (open_files_limit), and %d are needed: %s, %d tables and %d of its own; raise open_files_limit where it is started",
			l.files, files, n.clientsText(), n.tables, spareFiles)
	}
	return found
}

const unlessProxy = " (or, where a proxy serves many clients over few connections, give the target check_limits: off)"

func (n need) clientsText() string {
	if n.bytes > 0 {
		return fmt.Sprintf("%d connections that fill tables and %d beside them", n.clients, ownConnections)
	}
	return fmt.Sprintf("%d clients and %d connections that read the server's status and hold the lock of the tables", n.clients, ownConnections)
}

func (n need) preparedText() string {
	if n.prepared%n.clients == 0 {
		return fmt.Sprintf("%d clients × %d statements", n.clients, n.prepared/n.clients)
	}
	return fmt.Sprintf("those of %d clients", n.clients)
}

// warning tells of what does not keep a load from running, but makes it slower than it could be; empty: of nothing.
func (n need) warning(l *limits) string {
	open := int64(n.clients) * int64(n.tables)
	if l == nil || n.bytes > 0 || l.tables == 0 || open <= l.tables {
		return ""
	}
	return fmt.Sprintf("%s: table_open_cache is %d, and %d clients on %d tables want %d: the server closes and opens tables while it is measured; SET GLOBAL table_open_cache = %d",
		l.server, l.tables, n.clients, n.tables, open, open)
}

// machineLimits are the bounds of this machine; 0 is none, or one that is not known.
type machineLimits struct {
	files int64 // that benchplan may open
}

// spareDescriptors is how many files benchplan opens besides its connections: the run folder's, and those of what it watches.
const spareDescriptors = 64

func thisMachine() machineLimits { return machineLimits{files: openFiles()} }
