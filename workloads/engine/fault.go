package engine

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/go-sql-driver/mysql"

	"benchplan/results"
	"benchplan/workloads/engine/protocol"
)

// ErrServerLost is the error of a cell whose server went away and did not come back in time.
var ErrServerLost = errors.New("server lost")

// Error numbers of the MySQL protocol that mean something to the engine.
const (
	codeShutdown         = 1053
	codeDuplicateKey     = 1062
	codePacketTooLarge   = 1153
	codeLockWaitTimeout  = 1205
	codeDeadlock         = 1213
	codeSnapshotConflict = 1020
	codeKilled           = 1927 // MariaDB
	codeUnknown          = 2000 // the client library's "unknown error"
	codeGone             = 2006
	codeServerLost       = 2013
	codeIdleTimeout      = 4031 // MySQL
)

// remedies say what to do about errors that are met often, by error number.
var remedies = map[int]string{
	1040:               "raise the server's max_connections (and the proxy's limit), or use fewer clients",
	1045:               "check the target's user and password, and that the account may connect from this host",
	1049:               "make the database first (step database: create), or correct the target's database",
	1146:               "make the tables first (step prepare) with the same schema and count",
	1054:               "the tables are of another schema: prepare them anew",
	1203:               "raise the account's max_user_connections, or use fewer clients",
	1226:               "raise the account's limit, or use fewer clients",
	1461:               "raise the server's max_prepared_stmt_count to at least clients × statements × tables, or run with ps_mode: disable",
	codePacketTooLarge: "raise the server's max_allowed_packet, or put fewer rows into an insert",
	codeDuplicateKey:   "rows of an earlier run are in the way: prepare the tables anew, or allow it with on_error: {1062: restart}",
	1114:               diskFull,
	3:                  diskFull,
	1021:               diskFull,
	1026:               diskFull,
	1290:               readOnly,
	1792:               readOnly,
	1836:               readOnly,
}

const (
	readOnly = "the server does not let this account write: set read_only (and super_read_only) OFF, or name the server that is written to"
	diskFull = "the server's disk or a limit of its tablespace is full: make room there, or run for less time"
)

// fault is an error of a statement as a session sees it.
type fault struct {
	code    int  // the server's number; 0 for a lost connection
	lost    bool // the connection cannot be used any more
	message string
	err     error
}

// classify sorts the errors of the driver.
func classify(err error) fault {
	if server, ok := errors.AsType[*mysql.MySQLError](err); ok {
		f := fault{code: int(server.Number), message: server.Message, err: err}
		switch f.code {
		case codeKilled, codeShutdown, codeGone, codeServerLost, codeIdleTimeout:
			f.code, f.lost = 0, true
		}
		return f
	}
	f := fault{message: err.Error(), err: err}
	switch {
	case errors.Is(err, mysql.ErrPktTooLarge):
		f.code = codePacketTooLarge
	case broken(err):
		f.lost = true
	default:
		f.code = codeUnknown
	}
	return f
}

// broken tells whether after err the connection is of no use.
func broken(err error) bool {
	for _, target := range []error{
		driver.ErrBadConn, mysql.ErrInvalidConn, mysql.ErrMalformPkt, mysql.ErrPktSync, mysql.ErrPktSyncMul, mysql.ErrBusyBuffer,
		protocol.ErrMalformed, protocol.ErrSequence,
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	_, network := errors.AsType[net.Error](err)
	_, system := errors.AsType[syscall.Errno](err)
	return network || system
}

// advise adds the remedy of an error that has one. Wrapped errors stay reachable.
func advise(err error) error {
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("%w: raise the limit of open files (ulimit -n) above the number of clients", err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%w: this host has no free port left towards the server; widen net.ipv4.ip_local_port_range or use fewer clients", err)
	case errors.Is(err, mysql.ErrPktTooLarge):
		return fmt.Errorf("%w: %s", err, remedies[codePacketTooLarge])
	}
	if server, ok := errors.AsType[*mysql.MySQLError](err); ok && remedies[int(server.Number)] != "" {
		return fmt.Errorf("%w: %s", err, remedies[int(server.Number)])
	}
	return err
}

// StatementError is the error of a statement, or of an event of a host workload, that stopped a cell.
type StatementError struct {
	Role      string // of the client; may be empty
	Client    int    // its index within the role
	Class     results.Class
	Statement string // as the workload gave it, arguments not filled in, shortened; empty for a host workload
	Err       error  // the driver's, with a remedy where there is one
}

func (e *StatementError) Error() string {
	role := e.Role
	if role != "" {
		role += " "
	}
	if e.Statement == "" {
		return fmt.Sprintf("%sclient %d: %v", role, e.Client, e.Err)
	}
	return fmt.Sprintf("%sclient %d: %v (statement: %s)", role, e.Client, e.Err, e.Statement)
}

// Unwrap gives the driver's error.
func (e *StatementError) Unwrap() error { return e.Err }

// shorten keeps what a reader needs to recognise a statement.
func shorten(sql string) string {
	const most = 120
	if len(sql) <= most {
		return sql
	}
	return sql[:most] + "…"
}
