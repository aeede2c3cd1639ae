//go:build unix

package main

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"time"

	"github.com/go-sql-driver/mysql"

	"benchplan/steps/localserver"
)

// Transport is how clients reach the server.
type Transport string

// The transports.
const (
	Socket Transport = "socket" // a Unix socket
	TCP    Transport = "tcp"    // 127.0.0.1
)

const database = "sbtest"

// server is the private server that both tools load, and this program's own connection to it.
type server struct {
	*localserver.Server
	db *sql.DB
}

// startServer starts a server whose buffer pool and log hold the tables, for so many clients.
func startServer(ctx context.Context, options map[string]string, clients, tables int) (*server, error) {
	local, err := localserver.Start(ctx, localserver.Config{
		Options: options, MaxConnections: clients, MaxPreparedStatements: clients * statementsPerTable * tables, TCP: true,
	})
	if err != nil {
		return nil, err
	}
	s := &server{Server: local}
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User = "unix", local.Socket(), local.User()
	connector, err := mysql.NewConnector(cfg)
	if err == nil {
		s.db = sql.OpenDB(connector)
		s.db.SetMaxOpenConns(1)
		err = s.recreate(ctx)
	}
	if err != nil {
		_ = s.end()
		return nil, err
	}
	return s, nil
}

// statementsPerTable is how many prepared statements a client of oltp_read_write has for a table.
const statementsPerTable = 9

// end ends the server, also where everything else was interrupted.
func (s *server) end() error {
	if s.db != nil {
		_ = s.db.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return s.Stop(ctx)
}

// recreate makes the database empty.
func (s *server) recreate(ctx context.Context) error {
	for _, q := range []string{"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database} {
		if _, err := s.db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

// executed counts the statements that the server has executed since it started, of the kinds that the workloads consist of.
func (s *server) executed(ctx context.Context) (n int64, err error) {
	rows, err := s.db.QueryContext(ctx, `SHOW GLOBAL STATUS WHERE Variable_name IN
		('Com_select', 'Com_insert', 'Com_update', 'Com_delete', 'Com_begin', 'Com_commit')`)
	if err != nil {
		return 0, fmt.Errorf("the server's counters: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var value int64
		if err := rows.Scan(&name, &value); err != nil {
			return 0, fmt.Errorf("the server's counters: %w", err)
		}
		n += value
	}
	return n, rows.Err()
}

// hostPort gives where the server listens on TCP.
func (s *server) hostPort() (host, port string, err error) { return net.SplitHostPort(s.Address()) }
