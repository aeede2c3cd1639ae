package localserver

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
)

// freeAddress gives the wished-for address if nobody listens there, or one with a free port.
func freeAddress(wish string) (string, error) {
	if wish != "" && !portTaken(wish) {
		return wish, nil
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("a port for the private server: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// portTaken tells whether the address cannot be listened on.
func portTaken(address string) bool {
	l, err := net.Listen("tcp4", address)
	if err != nil {
		return true
	}
	l.Close()
	return false
}

// admitTCP gives root a password of its own on 127.0.0.1.
func (s *Server) admitTCP(ctx context.Context) error {
	db, err := s.open()
	if err != nil {
		return err
	}
	defer db.Close()
	password := rand.Text() // letters and digits
	for _, statement := range []string{
		"SET SESSION sql_log_bin = 0",
		"DROP USER IF EXISTS 'root'@'127.0.0.1'",
		"CREATE USER 'root'@'127.0.0.1' IDENTIFIED BY '" + password + "'",
		"GRANT ALL PRIVILEGES ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION",
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: an account for TCP: %w", s.program, err)
		}
	}
	s.password = password
	return nil
}
