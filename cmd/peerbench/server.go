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

// database holds the tables of both tools.
const database = "sbtest"

const (
	mostClients        = 2000
	statementsPerTable = 9 // prepared by a client of oltp_read_write
)

// server is the private server that both tools load, with this program's own connection to it.
type server struct {
	*localserver.Server
	db *sql.DB
}

// startServer starts a server, with an empty database, for clients of so many tables.
func startServer(ctx context.Context, settings map[string]string, clients, tables int) (*server, error) {
	local, err := localserver.Start(ctx, localserver.Config{
		Options: settings, MaxConnections: clients, MaxPreparedStatements: clients * statementsPerTable * tables, TCP: true,
	})
	if err != nil {
		return nil, err
	}
	s := &server{Server: local}
	if err := s.connect(ctx); err != nil {
		_ = s.end()
		return nil, err
	}
	return s, nil
}

func (s *server) connect(ctx context.Context) error {
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User = "unix", s.Socket(), s.User()
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return err
	}
	s.db = sql.OpenDB(connector)
	s.db.SetMaxOpenConns(1)
	return s.recreate(ctx)
}

// end ends the server, also where everything else was interrupted.
func (s *server) end() error {
	if s.db != nil {
		_ = s.db.Close()
	}
	const patience = 20 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
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

// checkRows sees whether the tables have the rows that they were made with: a load that loses some has it easier from then on.
func (s *server) checkRows(ctx context.Context, t tables) error {
	for i := range t.Count {
		var n int64
		q := fmt.Sprintf("SELECT COUNT(*) FROM %s.sbtest%d", database, i+1)
		if err := s.db.QueryRowContext(ctx, q).Scan(&n); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
		if n != t.Rows {
			return fmt.Errorf("after the loads sbtest%d has %d rows, and had %d before", i+1, n, t.Rows)
		}
	}
	return nil
}

// hostPort gives where the server listens on TCP.
func (s *server) hostPort() (host, port string, err error) { return net.SplitHostPort(s.Address()) }
