package localserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
)

// launch starts the server with the options and waits until it answers.
func (s *Server) launch(ctx context.Context, options map[string]string) error {
	if !s.config.TCP {
		return s.launchAt(ctx, options, "--skip-networking")
	}
	// Between finding the port free and the server's taking it another may come first.
	for try := 1; ; try++ {
		address, err := freeAddress(s.Address())
		if err != nil {
			return err
		}
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		// With names resolved, 127.0.0.1 would be localhost, whose root has no password.
		err = s.launchAt(ctx, options, "--bind-address="+host, "--port="+port, "--skip-name-resolve")
		if err == nil {
			s.mu.Lock()
			s.address = address
			s.mu.Unlock()
			return nil
		}
		if try == 3 || ctx.Err() != nil || !portTaken(address) {
			return err
		}
	}
}

// launchAt starts the server listening where the arguments say, besides its socket.
func (s *Server) launchAt(ctx context.Context, options map[string]string, listen ...string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: starting: %w", s.program, context.Cause(ctx))
	}
	log, err := openLog(s.home.path)
	if err != nil {
		return err
	}
	// What the server must be held by comes last, where it wins.
	args := append([]string{"--no-defaults"}, s.config.tuning(s.program.Family, s.home.path, options)...)
	args = append(args, s.program.placement(s.home.path)...)
	args = append(args, "--socket="+socketPath(s.run.path), "--pid-file="+pidPath(s.run.path))
	cmd := exec.Command(s.program.Path, append(args, listen...)...)
	cmd.Env = s.program.environment()
	_ = os.Remove(socketPath(s.run.path)) // of a server that was killed
	p, err := startProcess(cmd, log, s.home != s.run)
	if err != nil {
		return fmt.Errorf("%s cannot be started: %w", s.program.Path, err)
	}
	// The server writes the same pid there when it is nearly ready; a sweep must know it from the first moment on.
	err = os.WriteFile(pidPath(s.run.path), strconv.AppendInt(nil, int64(p.pid()), 10), 0o600)
	if err == nil {
		err = s.awaitReady(ctx, p, options)
	}
	if err != nil {
		p.end(context.Background(), 0)
		return err
	}
	warnings := departures(log.text())
	for _, w := range warnings {
		s.log.Warn("the private server did not take an option as given", "server", w)
	}
	s.mu.Lock()
	s.process, s.warnings = p, warnings
	s.mu.Unlock()
	return nil
}

// awaitReady waits until the server answers a query, ends, or ctx does.
func (s *Server) awaitReady(ctx context.Context, p *process, options map[string]string) error {
	db, err := s.open()
	if err != nil {
		return err
	}
	defer db.Close()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.ended:
			return s.program.startFailure(p)
		case <-ctx.Done():
			return fmt.Errorf("%s: starting: %w", s.program, context.Cause(ctx))
		case <-tick.C:
		}
		if _, err := os.Stat(socketPath(s.run.path)); err != nil {
			continue
		}
		var l limits
		err := db.QueryRowContext(ctx, "SELECT @@global.max_connections, @@global.open_files_limit, @@global.max_prepared_stmt_count").Scan(&l.connections, &l.files, &l.statements)
		var answer *mysql.MySQLError
		if errors.As(err, &answer) {
			return fmt.Errorf("%s does not let %s in through its own socket: %w", s.program, root, err)
		}
		if err == nil {
			return s.checkLimits(options, l)
		}
	}
}

// open gives a handle on the server through its socket.
func (s *Server) open() (*sql.DB, error) {
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr = root, "unix", s.Socket()
	c.Logger = &mysql.NopLogger{} // connections that fail are expected while the server starts
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1) // so that SET SESSION counts for what follows
	return db, nil
}
