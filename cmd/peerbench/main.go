//go:build unix

// Command peerbench compares benchplan with sysbench on a private server.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

type bench struct {
	workloads  []string
	transports []Transport
	clients    []int
	runs       int
	seconds    int

	server       *server
	theirs, ours tool
	tables       tables
	cells        []loadCell
	log          io.Writer
}

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, time.Now().UTC().Format(time.TimeOnly)+" "+format+"\n", args...)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := execute(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peerbench:", err)
		os.Exit(1)
	}
}

func execute(ctx context.Context) error {
	workload := flag.String("workload", "oltp_point_select,oltp_read_only,oltp_read_write", "")
	clients := flag.String("clients", "1,8,64,256", "")
	transport := flag.String("transport", "socket,tcp", "")
	runs := flag.Int("runs", 3, "")
	seconds := flag.Int("time", 1, "seconds a run")
	rows := flag.Int64("rows", 100_000, "")
	io := flag.String("io", "", "")
	program := flag.String("benchplan", "bin/benchplan", "")
	file := flag.String("json", "", "")
	flag.Parse()

	if err := liftFileLimit(); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "peerbench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	b := &bench{workloads: strings.Split(*workload, ","), runs: *runs, seconds: *seconds, log: os.Stderr, tables: tables{4, *rows}}
	for t := range strings.SplitSeq(*transport, ",") {
		b.transports = append(b.transports, Transport(t))
	}
	for c := range strings.SplitSeq(*clients, ",") {
		n, err := strconv.Atoi(c)
		if err != nil {
			return err
		}
		b.clients = append(b.clients, n)
	}
	b.server, err = startServer(ctx, map[string]string{
		"innodb_buffer_pool_size": "1G", "innodb_log_file_size": "512M", "innodb_flush_log_at_trx_commit": "2",
	}, 1100, 4)
	if err != nil {
		return err
	}
	defer b.server.end()
	b.theirs = sysbench{"sysbench", b.server, folder, b.tables}
	b.ours = benchplan{*program, b.server, folder, b.tables, *io}
	if _, err := b.ours.prepare(ctx, 4, b.tables); err != nil {
		return err
	}
	if err := b.runLoads(ctx); err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\t\t\tevents/s\t\t\t\tCPU µs/query\t\t\t\t")
	fmt.Fprintln(w, "workload\ttransport\tclients\tsysbench\tbenchplan\tratio\tmin-max\tsysbench\tbenchplan\tratio\tmin-max\t")
	for _, c := range b.cells {
		t, u := c.figure(outcome.perSecond), c.figure(outcome.cpuPerQuery)
		fmt.Fprintf(w, "%s\t%s\t%d\t%.0f\t%.0f\t%.2f\t%.2f-%.2f\t%.1f\t%.1f\t%.2f\t%.2f-%.2f\t\n", c.Workload, c.Transport, c.Clients,
			t.Theirs, t.Ours, t.Ratio, t.Least, t.Most, u.Theirs, u.Ours, u.Ratio, u.Least, u.Most)
	}
	w.Flush()
	if *file != "" {
		var all []outcome
		for _, c := range b.cells {
			for _, p := range c.pairs {
				all = append(all, p.Theirs, p.Ours)
			}
		}
		text, _ := json.MarshalIndent(all, "", " ")
		return os.WriteFile(*file, text, 0o644)
	}
	return nil
}
