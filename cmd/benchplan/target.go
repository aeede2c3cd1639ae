package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// parseTarget turns a DSN as the Go MySQL driver writes it into the YAML mapping that a plan would have; empty for no DSN. What
// it does not say, the plan's own password for one, stays as the plan has it.
func parseTarget(dsn string) (string, error) {
	if dsn == "" {
		return "", nil
	}
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		return "", fmt.Errorf("--target: %w; write it as user@tcp(host:port)/database or user@unix(/path/of/socket)/database", err)
	}
	if c.Passwd != "" {
		return "", fmt.Errorf("--target: a password on the command line is seen by everybody in the list of processes; put it into the environment variable %s", targetPassword)
	}
	way := "address"
	switch c.Net {
	case "unix":
		way = "socket"
	case "tcp":
	default:
		return "", fmt.Errorf("--target: the network %q is neither tcp nor unix", c.Net)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "{ %s: %s", way, strconv.Quote(c.Addr))
	if c.User != "" {
		fmt.Fprintf(&b, ", user: %s", strconv.Quote(c.User))
	}
	if c.DBName != "" {
		fmt.Fprintf(&b, ", database: %s", strconv.Quote(c.DBName))
	}
	if _, set := os.LookupEnv(targetPassword); set {
		fmt.Fprintf(&b, `, password: "${{ secrets.%s }}"`, targetPassword)
	}
	return b.String() + " }", nil
}
