// Command peerbench holds benchplan against sysbench: the same statements on the same tables of one private server, in turn.
//
//	make bench            the short form, under five minutes
//	make bench LONG=1     the form for the record: seven rounds over all cells, three seconds a run, and the bare client
//
// It starts a MariaDB whose buffer pool holds the tables, has benchplan make them once, and lets both tools do the same thing one
// directly after the other, as processes of their own. Every other turn is begun by the other tool, so that what drifts hits both
// alike; and each cell has one turn before any has its second, so that minutes in which the machine does otherwise decide no cell. A
// run of a second of each tool warms up and is not counted: before the first turn of each cell in the long form, else before that of
// each workload and transport. Neither tool has a warm-up of its own in its runs, since sysbench 1.0 knows none.
//
// The server is of a session of its own, as a service is, and the tools are of that of this program. Where Linux shares processors by
// session (sched(7), autogroups) it shares them between server and tool, whatever number of threads they have; so it does between services
// and between containers. In one session with the server, a tool of one thread has the share of one thread.
//
// # What the figures are
//
// Throughput is events per second as the tool itself reports them. Its queries are held against what the server counted meanwhile,
// and the time that it measured against the life of its process: a run of which the accounts differ is refused, said and done again.
//
// Client CPU a query is user and system time of the whole process, as the kernel tells it to wait4, over the queries that the tool
// reports. So it has the start, the connections and the report in it; what these take is told by a run of one event for each client.
//
// Peak memory is the most that was resident at any time, by the kernel. Rows per second of prepare are all rows over the life of the
// process, index included. Time lost between two cells is, of a matrix without warm-up, what lies between the ends of the loads of
// two cells beside the second that the later one measured. Allocations and the cost of recording are of Go benchmarks of the engine,
// against a driver and a peer that answer at once.
//
// The most by one thread is what a client comes to that only sends and receives, in the same turns: benchplan, which waits for its
// connections in the same way, cannot come to more.
//
// A ratio is benchplan's median over sysbench's. Least and most are the ratios of single pairs: from six pairs on, the median of
// many more would lie between them in 97 cases of 100 and more, whatever the distribution.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit statuses.
const (
	exitDone        = 0
	exitFailed      = 1 // some figure could not be had; whether the others reach what they are to reach changes nothing
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs the program and gives its exit status. Tables go to stdout, all else to stderr.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 2 && args[0] == bareCommand {
		if err := runBare(ctx, args[1], stdout); err != nil {
			fmt.Fprintln(stderr, "bare client:", err)
			return exitFailed
		}
		return exitDone
	}
	o, err := readOptions(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		fmt.Fprintln(stderr, "peerbench:", err)
		return exitUsage
	}
	r, err := measureAll(ctx, o, stderr)
	if r != nil {
		err = errors.Join(err, r.print(stdout, o.markdown))
		if o.json != "" {
			err = errors.Join(err, r.save(o.json))
		}
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "peerbench: interrupted")
		return exitInterrupted
	case err != nil:
		fmt.Fprintln(stderr, "peerbench:", err)
		return exitFailed
	}
	return exitDone
}
