package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// sysbench drives sysbench 1.0.
type sysbench struct {
	program string
	server  *server
	folder  string // for its files of options
	tables  tables
}

func (sysbench) name() string { return "sysbench" }

// restarted are the errors after which both tools begin an event anew.
var restarted = []string{"1213", "1020", "1205", "1062"}

// config writes a file of options for a transport, readable by the own user only: on the command line everybody would see the password.
func (s sysbench) config(transport Transport) (string, error) {
	lines := []string{"db-driver=mysql", "mysql-user=" + s.server.User(), "mysql-db=" + database, "mysql-ignore-errors=" + strings.Join(restarted, ",")}
	switch transport {
	case Socket:
		lines = append(lines, "mysql-socket="+s.server.Socket())
	case TCP:
		host, port, err := s.server.hostPort()
		if err != nil {
			return "", err
		}
		lines = append(lines, "mysql-host="+host, "mysql-port="+port, "mysql-password="+s.server.Password())
	}
	file := filepath.Join(s.folder, "sysbench-"+string(transport)+".conf")
	return file, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}

func (s sysbench) arguments(transport Transport, test string, t tables, threads int, more ...string) ([]string, error) {
	file, err := s.config(transport)
	if err != nil {
		return nil, fmt.Errorf("sysbench: %w", err)
	}
	return append([]string{
		test, "--config-file=" + file, "--rand-type=uniform", "--db-ps-mode=auto",
		fmt.Sprintf("--tables=%d", t.Count), fmt.Sprintf("--table-size=%d", t.Rows), fmt.Sprintf("--threads=%d", threads),
	}, more...), nil
}

func (s sysbench) load(ctx context.Context, l load) (outcome, error) {
	limit := []string{fmt.Sprintf("--time=%d", l.Seconds), "--events=0"}
	if l.Seconds == 0 {
		limit = []string{"--time=0", fmt.Sprintf("--events=%d", l.Clients)}
	}
	args, err := s.arguments(l.Transport, l.Workload, s.tables, l.Clients, append(limit, fmt.Sprintf("--rand-seed=%d", l.Seed), "run")...)
	if err != nil {
		return outcome{}, err
	}
	text, e, err := run(ctx, nil, s.program, args...)
	if err != nil {
		return outcome{}, err
	}
	o, err := readReport(string(text))
	o.effort = e
	return o, err
}

// version asks the program for it, and sees that it is one that is known.
func (s sysbench) version(ctx context.Context) (string, error) {
	text, _, err := run(ctx, nil, s.program, "--version")
	if err != nil {
		return "", fmt.Errorf("sysbench 1.0 is needed to compare with; the package sysbench of Debian, Ubuntu and Fedora brings it: %w", err)
	}
	version := strings.TrimSpace(string(text))
	if !strings.HasPrefix(version, "sysbench 1.0.") {
		return "", fmt.Errorf("%s is %q, and its command line and report are known of sysbench 1.0 only", s.program, version)
	}
	return version, nil
}

func (s sysbench) prepare(ctx context.Context, threads int, t tables) (effort, error) {
	args, err := s.arguments(Socket, readWrite, t, threads, "prepare")
	if err != nil {
		return effort{}, err
	}
	_, e, err := run(ctx, nil, s.program, args...)
	return e, err
}

// What is read of a report of sysbench 1.0.
var (
	reportQueries = regexp.MustCompile(`(?m)^ +queries: +(\d+) `)
	reportIgnored = regexp.MustCompile(`(?m)^ +ignored errors: +(\d+) `)
	reportSeconds = regexp.MustCompile(`(?m)^ +total time: +([0-9.]+)s`)
	reportEvents  = regexp.MustCompile(`(?m)^ +total number of events: +(\d+)`)
)

// readReport reads the report that sysbench prints at the end of a run.
func readReport(text string) (o outcome, err error) {
	number := func(what string, pattern *regexp.Regexp) (n float64) {
		m := pattern.FindStringSubmatch(text)
		if m == nil {
			if err == nil {
				err = fmt.Errorf("sysbench's report has no %s: it is not that of sysbench 1.0\n%s", what, tail(text))
			}
			return 0
		}
		n, parseErr := strconv.ParseFloat(m[1], 64)
		if parseErr != nil && err == nil {
			err = fmt.Errorf("sysbench's report: %s: %w", what, parseErr)
		}
		return n
	}
	o.Queries = int64(number("queries", reportQueries))
	o.Restarts = int64(number("ignored errors", reportIgnored))
	o.Measured = number("total time", reportSeconds)
	o.Events = int64(number("total number of events", reportEvents))
	return o, err
}
