package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// options say what is measured, how often and how long.
type options struct {
	workloads  []string
	transports []Transport
	clients    []int
	parts      []string // names of parts; all unless picked
	runs       int      // of each tool in each cell
	seconds    int      // of each of them
	seed       uint64
	io         string // option io of benchplan's run; empty: left out
	tables     tables // under load
	prepared   tables // by prepare
	settings   map[string]string
	long       bool

	benchplan, sysbench string // the programs
	goTool, source      string // the program go, and the root of benchplan's module, where its Go benchmarks are
	json                string // file of all runs; empty: none
	markdown            bool
}

// allWorkloads are those of which throughput and processor time are compared.
var allWorkloads = []string{pointSelect, readOnly, readWrite}

// The workloads that are named in more than one place.
const (
	pointSelect = "oltp_point_select"
	readOnly    = "oltp_read_only"
	readWrite   = "oltp_read_write"
)

// defaultSettings are those of the server that both tools load: it holds all in memory, and a commit waits for no disk, whose moods
// would be in every figure.
var defaultSettings = map[string]string{
	"innodb_buffer_pool_size": "1G", "innodb_log_file_size": "512M", "innodb_flush_log_at_trx_commit": "2",
}

// readOptions reads the command line.
func readOptions(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("peerbench", flag.ContinueOnError)
	f.SetOutput(stderr)
	workloads := f.String("workload", strings.Join(allWorkloads, ","), "the workloads that are compared")
	transports := f.String("transport", "socket,tcp", "how clients reach the server")
	clients := f.String("clients", "1,8,64,256", "the numbers of clients")
	only := f.String("only", "", "the `parts` that are measured: "+strings.Join(partNames(), ",")+" (all; "+limitPart+" in the long form only)")
	f.BoolVar(&o.long, "long", false, "the form for the record: -runs 7 -time 3, each cell warmed up, the bare client, and prepare of five times the rows")
	f.IntVar(&o.runs, "runs", 3, "rounds: runs of each tool in each cell")
	f.IntVar(&o.seconds, "time", 1, "`seconds` of a run")
	f.Uint64Var(&o.seed, "seed", 1, "of the random numbers of the first run; each later one has the next")
	f.StringVar(&o.io, "io", "", "benchplan's option io: auto, loop or driver")
	f.Int64Var(&o.tables.Rows, "rows", 100_000, "rows of each of the four tables under load")
	f.StringVar(&o.benchplan, "benchplan", "bin/benchplan", "the `program` benchplan")
	f.StringVar(&o.sysbench, "sysbench", "sysbench", "the `program` sysbench 1.0")
	f.StringVar(&o.goTool, "go", "go", "the `program` go, for the Go benchmarks")
	f.StringVar(&o.source, "source", ".", "the root `folder` of benchplan's source, for its Go benchmarks")
	f.StringVar(&o.json, "json", "", "a `file` for all runs and figures")
	f.BoolVar(&o.markdown, "markdown", false, "print the tables as Markdown")
	o.settings = maps.Clone(defaultSettings)
	f.Func("server", "a `name=value` for the server, laid over "+settingsText(defaultSettings)+"; may be given several times", func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return errors.New("it takes name=value")
		}
		o.settings[name] = value
		return nil
	})
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%q: it takes flags only", f.Arg(0))
	}
	o.lengthen(f)
	o.tables.Count, o.prepared = 4, tables{4, o.tables.Rows}
	if o.long {
		o.prepared.Rows *= 5
	}
	if o.clients, err = numbers(*clients); err != nil {
		return o, fmt.Errorf("-clients: %w", err)
	}
	o.workloads, o.parts = strings.Split(*workloads, ","), strings.Split(*only, ",")
	if *only == "" {
		o.parts = slices.DeleteFunc(partNames(), func(name string) bool { return name == limitPart && !o.long })
	}
	for name := range strings.SplitSeq(*transports, ",") {
		o.transports = append(o.transports, Transport(name))
	}
	return o, o.check()
}

// lengthen gives the long form its own runs, unless they were said.
func (o *options) lengthen(f *flag.FlagSet) {
	if !o.long {
		return
	}
	said := map[string]bool{}
	f.Visit(func(f *flag.Flag) { said[f.Name] = true })
	if !said["runs"] {
		o.runs = 7
	}
	if !said["time"] {
		o.seconds = 3
	}
}

func (o options) check() error {
	for _, t := range o.transports {
		if t != Socket && t != TCP {
			return fmt.Errorf("-transport %q: it takes %s and %s", t, Socket, TCP)
		}
	}
	for _, w := range o.workloads {
		if !slices.Contains(allWorkloads, w) {
			return fmt.Errorf("-workload %q: it takes %s", w, strings.Join(allWorkloads, ", "))
		}
	}
	for _, p := range o.parts {
		if !slices.Contains(partNames(), p) {
			return fmt.Errorf("-only %q: it takes %s", p, strings.Join(partNames(), ", "))
		}
	}
	if o.runs < 1 || o.seconds < 1 || o.tables.Rows < 1 {
		return errors.New("-runs, -time and -rows take 1 and more")
	}
	return nil
}

func numbers(text string) (list []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > mostClients {
			return nil, fmt.Errorf("%q is no number of clients between 1 and %d", part, mostClients)
		}
		list = append(list, n)
	}
	return list, nil
}

// settingsText writes settings of a server as one text.
func settingsText(settings map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		list = append(list, name+"="+settings[name])
	}
	return strings.Join(list, " ")
}
