package results

import (
	"maps"
	"slices"
)

// Direction says which way a metric is better.
type Direction string

// The directions.
const (
	Higher  Direction = "higher"
	Lower   Direction = "lower"
	Neither Direction = "neither" // a fact about the load, not a merit
)

// Metric is a figure of a cell. The list that Metrics gives serves tables, assertions and documentation alike.
type Metric struct {
	Name   string    // in expressions, CSV and JSON
	Title  string    // of a column; a space may become a line break
	Unit   string    // "ms", "s", "1/s", "MiB/s"; empty for plain numbers
	Better Direction // which way is better
	Doc    string    // one sentence

	value func(*Cell) (float64, bool)
}

// Group is what metrics are about: a list of them has a heading for each.
type Group struct {
	Title   string // empty: the load itself
	Metrics []Metric
}

// MetricGroups gives the metrics of Metrics by what they are about.
func MetricGroups() []Group {
	return []Group{
		{"", slices.Clone(loadMetrics)},
		{"of an open loop (rate)", slices.Clone(openMetrics)},
		{"of a load on this machine", slices.Clone(hostMetrics)},
		{"of the server's machine, where it is watched (monitor); of this machine for a load on it", slices.Clone(machineMetrics)},
		{"of benchplan itself, on Linux", slices.Clone(generatorMetrics)},
		{"of the server: what SHOW GLOBAL STATUS counted, for all of its clients; _op is per event", slices.Clone(serverMetrics)},
	}
}

// Value gives the metric of a cell. It is false where the metric does not apply: a percentile of reads where none were
// made, any rate where nothing was measured.
func (m Metric) Value(c *Cell) (float64, bool) { return m.value(c) }

// Host tells that only loads on this machine have the metric: where there are none of those it need not be listed.
func (m Metric) Host() bool {
	return slices.ContainsFunc(hostMetrics, func(h Metric) bool { return h.Name == m.Name })
}

// Watched tells that only cells have the metric whose machines or server were watched, or whose loop was open: where no cell has it, it
// need not be listed.
func (m Metric) Watched() bool {
	return slices.ContainsFunc(slices.Concat(openMetrics, machineMetrics, generatorMetrics, serverMetrics), func(w Metric) bool { return w.Name == m.Name })
}

// Metrics lists all metrics in the order in which they are printed.
func Metrics() []Metric { return slices.Clone(metrics) }

// MetricByName finds a metric.
func MetricByName(name string) (Metric, bool) {
	i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return Metric{}, false
	}
	return metrics[i], true
}

var metrics = slices.Concat(loadMetrics, openMetrics, hostMetrics, machineMetrics, generatorMetrics, serverMetrics)

// loadMetrics are those of any load.
var loadMetrics = slices.Concat([]Metric{
	{"tps", "tps", "1/s", Higher, "events (transactions) per second", func(c *Cell) (float64, bool) { return rate(c, c.Outcome.Events) }},
	{"qps", "qps", "1/s", Higher, "statements per second, of all classes", queriesPerSecond},
	{"reads", "reads/s", "1/s", Higher, "statements that read (SELECT) per second", classRate(Read)},
	{"writes", "writes/s", "1/s", Higher, "statements that write (INSERT, UPDATE, DELETE, REPLACE) per second", classRate(Write)},
	{"others", "others/s", "1/s", Higher, "all other statements (BEGIN, COMMIT, XA …) per second", classRate(Other)},
	{"events", "events", "", Neither, "events (transactions) that were done", func(c *Cell) (float64, bool) { return float64(c.Outcome.Events), true }},
},
	latencies("", "", "of an event, from its first statement (with a rate: from when it was due) to the end of its last", func(c *Cell) Latency { return c.Outcome.Latency }),
	latencies("read_", "read ", "of an event of the role read, all of its statements included; without such a role, of a statement that reads", classLatency(Read)),
	latencies("write_", "write ", "of an event of the role write, BEGIN, COMMIT and XA included; without such a role, of a statement that writes", classLatency(Write)),
	[]Metric{
		{"errors", "errors", "", Lower, "errors that were not restarted", func(c *Cell) (float64, bool) { return float64(sumErrors(c.Outcome.Errors)), true }},
		{"restarts", "restarts", "", Lower, "events that were rolled back and began anew: after a deadlock, a lock wait timeout, a lost connection, or what on_error says", func(c *Cell) (float64, bool) { return float64(sumErrors(c.Outcome.Restarts)), true }},
		{"reconnects", "reconnects", "", Lower, "connections that were lost and opened again", func(c *Cell) (float64, bool) { return float64(c.Outcome.Reconnects), true }},
		{"rows_per_read", "rows/read", "", Neither, "rows that a statement that reads returned, on average", rowsPerRead},
		{"elapsed", "elapsed", "s", Neither, "measured time, without warm-up", func(c *Cell) (float64, bool) { return c.Outcome.Elapsed, measured(c) }},
		{"clients", "clients", "", Neither, "clients, over all roles", func(c *Cell) (float64, bool) { return float64(c.Outcome.Clients), true }},
	})

// openMetrics are those of an open loop.
var openMetrics = []Metric{
	{"due", "due/s", "1/s", Neither, "events that were due per second: the rate that was asked for, as the schedule came out", scheduled(func(s *Schedule) float64 { return s.Rate })},
	{"late", "late", "", Lower, "events that were due when all clients were busy", scheduled(func(s *Schedule) float64 { return float64(s.Late) })},
	{"dropped", "dropped", "", Lower, "events that were due and not begun when the time was up", scheduled(func(s *Schedule) float64 { return float64(s.Dropped) })},
	{"queue_mean", "mean queue", "", Lower, "events that were due and not begun, on average", scheduled(func(s *Schedule) float64 { return s.QueueMean })},
	{"queue_max", "max queue", "", Lower, "the most events that were due and not begun at one time", scheduled(func(s *Schedule) float64 { return float64(s.QueueMax) })},
}

func scheduled(figure func(*Schedule) float64) func(*Cell) (float64, bool) {
	return func(c *Cell) (float64, bool) {
		if c.Outcome.Schedule == nil {
			return 0, false
		}
		return figure(c.Outcome.Schedule), true
	}
}

// hostMetrics are those that only loads on this machine have.
var hostMetrics = []Metric{
	{"file_reads", "file reads/s", "1/s", Higher, "blocks of files read per second", counterRate(CountFileReads, 1)},
	{"file_writes", "file writes/s", "1/s", Higher, "blocks of files written per second", counterRate(CountFileWrites, 1)},
	{"fsyncs", "fsyncs/s", "1/s", Higher, "files synced to the disk per second", counterRate(CountFsyncs, 1)},
	{"mib_read", "read MiB/s", "MiB/s", Higher, "MiB read from files per second", counterRate(CountBytesRead, mebibyte)},
	{"mib_written", "written MiB/s", "MiB/s", Higher, "MiB written to files per second", counterRate(CountBytesWritten, mebibyte)},
	{"mib_memory", "MiB/s", "MiB/s", Higher, "MiB of memory passed over per second", counterRate(CountMemoryBytes, mebibyte)},
	{"fsync_end", "fsync end", "s", Lower, "time that it took, after the load, to sync all files (file_fsync_end); it is in no other figure", func(c *Cell) (float64, bool) {
		n := c.Outcome.Counters[CountFsyncEnd]
		return float64(n) / 1e6, n > 0
	}},
}

// latencies makes the metrics of one distribution; each applies where it counted something.
func latencies(prefix, title, of string, get func(*Cell) Latency) []Metric {
	parts := []struct {
		name, doc string
		part      func(Latency) float64
	}{
		{"mean", "mean latency", func(l Latency) float64 { return l.Mean }},
		{"p50", "median latency", func(l Latency) float64 { return l.P50 }},
		{"p95", "95th percentile of the latency", func(l Latency) float64 { return l.P95 }},
		{"p99", "99th percentile of the latency", func(l Latency) float64 { return l.P99 }},
		{"p999", "99.9th percentile of the latency", func(l Latency) float64 { return l.P999 }},
		{"max", "highest latency", func(l Latency) float64 { return l.Max }},
		{"min", "lowest latency", func(l Latency) float64 { return l.Min }},
	}
	list := make([]Metric, len(parts))
	for i, p := range parts {
		list[i] = Metric{prefix + p.name, title + p.name, "ms", Lower, p.doc + " " + of, func(c *Cell) (float64, bool) {
			l := get(c)
			return p.part(l), l.Count > 0
		}}
	}
	return list
}

// classLatency is that of the events of the role which is named like the class: what its transactions cost is in it. Only
// where no client has that role, it is that of the bare statements.
func classLatency(class Class) func(*Cell) Latency {
	return func(c *Cell) Latency {
		i := slices.IndexFunc(c.Outcome.Roles, func(r Role) bool { return r.Name == string(class) && r.Clients > 0 })
		if i >= 0 {
			return c.Outcome.Roles[i].Latency
		}
		return c.Outcome.Statements[class].Latency
	}
}

// measured tells whether the cell's clock ever ran.
func measured(c *Cell) bool { return c.Outcome.Elapsed > 0 }

func rate(c *Cell, n int64) (float64, bool) {
	if !measured(c) {
		return 0, false
	}
	return float64(n) / c.Outcome.Elapsed, true
}

// counterRate is that of a counter of a load on this machine; it applies where there was anything to count.
func counterRate(name string, unit float64) func(*Cell) (float64, bool) {
	return func(c *Cell) (float64, bool) {
		n := c.Outcome.Counters[name]
		v, ok := rate(c, n)
		return v / unit, ok && n > 0
	}
}

const mebibyte = 1 << 20

func queriesPerSecond(c *Cell) (float64, bool) {
	if c.Load != "" {
		return 0, false
	}
	var n int64
	for _, s := range c.Outcome.Statements {
		n += s.Count
	}
	return rate(c, n)
}

// classRate applies where statements of the class were tried, also if all of them failed.
func classRate(class Class) func(*Cell) (float64, bool) {
	return func(c *Cell) (float64, bool) {
		n := c.Outcome.Statements[class].Count
		tried := n > 0 || slices.ContainsFunc(c.Outcome.Errors, func(e ErrorCount) bool { return e.Class == class && e.Count > 0 })
		v, ok := rate(c, n)
		return v, ok && tried
	}
}

func rowsPerRead(c *Cell) (float64, bool) {
	reads := c.Outcome.Statements[Read]
	if reads.Count == 0 {
		return 0, false
	}
	return float64(reads.Rows) / float64(reads.Count), true
}

func sumErrors(list []ErrorCount) int64 {
	var n int64
	for _, e := range list {
		n += e.Count
	}
	return n
}

// metricNames lists all metrics by name.
func metricNames() []string {
	names := map[string]bool{}
	for _, m := range metrics {
		names[m.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}
