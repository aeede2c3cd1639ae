// Package target turns a plan's target into connections: the driver's configuration with its encryption, the server's
// identity, and errors that say what to do. It knows no steps and no load.
package target

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"benchplan/plan"

	"github.com/go-sql-driver/mysql"
)

// Name is how messages and records call a target: host:port, or the path of its socket.
func Name(t *plan.Target) string {
	if t.Socket != "" {
		return t.Socket
	}
	return withPort(t.Address)
}

func withPort(address string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), "3306")
}

// Config gives the driver's configuration of a target, with no database selected. Files of its TLS options are sought from
// folder; the error says which of them cannot be used.
func Config(t *plan.Target, folder string) (*mysql.Config, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd = t.User.Reveal(), t.Password.Reveal()
	c.Net, c.Addr = "tcp", withPort(t.Address)
	if t.Socket != "" {
		c.Net, c.Addr = "unix", t.Socket
	}
	c.Timeout = t.ConnectTimeout.D()
	c.AllowCleartextPasswords = t.AllowCleartext
	c.AllowOldPasswords = t.AllowOldPasswords
	c.Params = t.Params
	if t.TLS == nil || t.TLS.Mode == "false" || t.TLS.Mode == "off" {
		return c, nil
	}
	host := ""
	if t.Socket == "" {
		host, _, _ = net.SplitHostPort(c.Addr)
	}
	var err error
	if c.TLS, err = TLS(t.TLS, host, folder); err != nil {
		return nil, fmt.Errorf("target %s: %w", Name(t), err)
	}
	c.AllowFallbackToPlaintext = t.TLS.Mode == "preferred"
	return c, nil
}

// Advise adds to the error of a connection which target it was and what to do. Wrapped errors stay reachable.
func Advise(t *plan.Target, err error) error {
	if err == nil {
		return nil
	}
	name := Name(t)
	if remedy := Remedy(t, err); remedy != "" {
		return fmt.Errorf("target %s: %w: %s", name, err, remedy)
	}
	return fmt.Errorf("target %s: %w", name, err)
}

// Remedy says what to do about the error of a connection; empty where that is not known.
func Remedy(t *plan.Target, err error) string {
	_, unknownHost := errors.AsType[*net.DNSError](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	server, _ := errors.AsType[*mysql.MySQLError](err)
	network, _ := errors.AsType[net.Error](err)
	switch {
	case unknownHost:
		return "the host name is not known; check the target's address"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there; check the target's address and that the server runs"
	case errors.Is(err, syscall.ENOENT) && t.Socket != "":
		return "there is no such socket; check the target's socket and that the server runs"
	case errors.Is(err, errDiskFull):
		return "make room there (binary logs, temporary files); what was begun is still waiting"
	case errors.Is(err, ErrNoAnswer):
		return "see whether the server hangs, by its error log and its processes, and what stands before it"
	case untrusted:
		return Distrust(err)
	case errors.Is(err, mysql.ErrNoTLS):
		return "the server offers no TLS; set tls: preferred or leave it out"
	case errors.Is(err, mysql.ErrCleartextPassword):
		return "the server asks for the password in clear; allow that by allow_cleartext_password: true, with tls only"
	case errors.Is(err, mysql.ErrOldPassword):
		return "the account has a password of before MySQL 4.1; allow that by allow_old_passwords: true"
	case errors.Is(err, errNonsense), errors.Is(err, mysql.ErrMalformPkt), errors.Is(err, mysql.ErrBusyBuffer), errors.Is(err, mysql.ErrPktSync), errors.Is(err, mysql.ErrPktSyncMul):
		return "check the target's address: does a MySQL server listen there?"
	case server != nil:
		return serverRemedy(t, int(server.Number))
	case network != nil && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("check the target's address, or give it more time by connect_timeout (%s)", t.ConnectTimeout)
	case brokeOff(err):
		return "the connection broke off; see whether the server runs, by its error log, and what stands before it (a proxy, a firewall)"
	}
	return ""
}

// brokeOff tells whether a connection ended before its time.
func brokeOff(err error) bool {
	for _, end := range []error{mysql.ErrInvalidConn, driver.ErrBadConn, mysql.ErrMalformPkt, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// Distrust says what to do about a server's certificate (a *tls.CertificateVerificationError) that is not taken.
func Distrust(err error) string {
	invalid, _ := errors.AsType[x509.CertificateInvalidError](err)
	_, otherName := errors.AsType[x509.HostnameError](err)
	switch {
	case invalid.Reason == x509.Expired && invalid.Cert != nil:
		return fmt.Sprintf("the server's certificate holds from %s to %s: renew it there, or set this machine's clock",
			invalid.Cert.NotBefore.UTC().Format(time.DateTime), invalid.Cert.NotAfter.UTC().Format(time.DateTime))
	case otherName:
		return "the server's certificate is for another name: use that in the address, or say it by tls: {server_name: NAME}"
	}
	return "the server's certificate is not trusted; name its authority by tls: {ca: FILE}"
}

func serverRemedy(t *plan.Target, code int) string {
	switch code {
	case 1045, 1044, 1698:
		return "check the target's user and password, and what the account may do from this host"
	case 1049:
		return fmt.Sprintf("the database %q is not there; make it by a step `database: create`", t.Database)
	case 1040:
		return "the server takes no more connections: raise its max_connections, or end others"
	case 1203, 1226:
		return "the account has as many connections as it may: raise its max_user_connections, or end others"
	case 1461:
		return "raise the server's max_prepared_stmt_count, or end connections that hold prepared statements"
	case 1290, 1792, 1836:
		return "the server does not let this account write: set read_only (and super_read_only) OFF, or name the server that is written to"
	case 3, 1021, 1026, 1114:
		return "its disk or a limit of its tablespace (innodb_data_file_path, tmp_table_size) is full: make room, or fill fewer rows"
	case 1130:
		return "the server lets no connection in from this host"
	}
	return ""
}
