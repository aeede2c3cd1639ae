package results

import "strings"

// machineMetrics are those of the machine whose work is measured. The first of them are the columns of benchyou, which took them from
// iostat and vmstat, with what belongs into them. An operation (op) is an event.
var machineMetrics = []Metric{
	{"rio", "rio", "1/s", Neither, "reads that its disks did per second (iostat r/s)", usageRate(reads, 1)},
	{"rio_op", "rio/op", "", Lower, "reads that its disks did per event", usagePerEvent(reads, 1)},
	{"wio", "wio", "1/s", Neither, "writes that its disks did per second (iostat w/s)", usageRate(writes, 1)},
	{"wio_op", "wio/op", "", Lower, "writes that its disks did per event", usagePerEvent(writes, 1)},
	{"rmb", "rMB", "MiB/s", Neither, "MiB read from its disks per second (iostat rMB/s)", usageRate(bytesRead, mebibyte)},
	{"rkb_op", "rKB/op", "KiB", Lower, "KiB read from its disks per event", usagePerEvent(bytesRead, kibibyte)},
	{"wmb", "wMB", "MiB/s", Neither, "MiB written to its disks per second (iostat wMB/s)", usageRate(bytesWritten, mebibyte)},
	{"wkb_op", "wKB/op", "KiB", Lower, "KiB written to its disks per event", usagePerEvent(bytesWritten, kibibyte)},
	{"csw", "csw", "1/s", Neither, "context switches per second (vmstat cs)", usageRate(switches, 1)},
	{"csw_op", "csw/op", "", Lower, "context switches per event (what benchyou calls cpu/op)", usagePerEvent(switches, 1)},
	{"cpu_us_op", "cpu µs/op", "µs", Lower, "microseconds of CPU time, user and system of all CPUs, per event", usagePerEvent(busySeconds, 1e-6)},
	{"free_mb", "freeMB", "MiB", Neither, "MiB of memory free at the end (vmstat free)", usageFigure(func(u Usage) float64 { return float64(u.Free) / mebibyte })},
	{"cache_mb", "cacheMB", "MiB", Neither, "MiB of memory in page cache and buffers at the end (vmstat cache + buff)", usageFigure(func(u Usage) float64 { return float64(u.Cached) / mebibyte })},
	{"cpu_user", "cpu user %", "%", Neither, "percent of the time of all CPUs in programs (vmstat us)", usageFigure(func(u Usage) float64 { return 100 * u.User })},
	{"cpu_system", "cpu system %", "%", Neither, "percent of the time of all CPUs in the kernel, interrupts included (vmstat sy)", usageFigure(func(u Usage) float64 { return 100 * u.System })},
	{"cpu_iowait", "cpu iowait %", "%", Neither, "percent of the time of all CPUs idle with a disk at work (vmstat wa)", usageFigure(func(u Usage) float64 { return 100 * u.IOWait })},
	{"cpu_steal", "cpu steal %", "%", Lower, "percent of the time of all CPUs that the hypervisor took for others (vmstat st)", usageFigure(func(u Usage) float64 { return 100 * u.Steal })},
	{"run_queue", "run queue", "", Neither, "runnable tasks, on average (vmstat r)", usageFigure(func(u Usage) float64 { return u.RunQueue })},
	{"net_rx_mb", "net rx", "MiB/s", Neither, "MiB received from the network per second, the loopback left out", usageRate(func(u Usage) float64 { return float64(u.BytesReceived) }, mebibyte)},
	{"net_tx_mb", "net tx", "MiB/s", Neither, "MiB sent to the network per second, the loopback left out", usageRate(func(u Usage) float64 { return float64(u.BytesSent) }, mebibyte)},
}

// generatorMetrics are those of the program that drove the load.
var generatorMetrics = []Metric{
	{"generator_cpu", "generator cpu %", "%", Neither, "percent of all CPUs of its machine that benchplan took", generated(func(c *Cell, m *Machine, p Process) (float64, bool) {
		return 100 * p.share(m.Usage), m.Usage.CPUs > 0
	})},
	{"generator_cpu_us_op", "generator cpu µs/op", "µs", Neither, "microseconds of CPU time that benchplan took per event", generated(func(c *Cell, m *Machine, p Process) (float64, bool) {
		return perEvent(c, (p.User+p.System)*1e6, m.Usage.Elapsed)
	})},
	{"generator_wait_us_op", "generator wait µs/op", "µs", Lower, "microseconds per event in which a thread of benchplan was ready and had no CPU (schedstat)", generated(func(c *Cell, m *Machine, p Process) (float64, bool) {
		return perEvent(c, p.Wait*1e6, m.Usage.Elapsed)
	})},
	{"generator_gc", "generator gc %", "%", Lower, "percent of the time in which benchplan's garbage collector stopped it", generated(func(c *Cell, m *Machine, p Process) (float64, bool) {
		return 100 * p.GCPause / m.Usage.Elapsed, true
	})},
}

// serverMetrics are those of the server: of its process where that is known, the others of its status variables.
var serverMetrics = []Metric{
	{"server_cpu_us_op", "server cpu µs/op", "µs", Lower, "microseconds of CPU time that the server's process took per event", serverCPU},
	{"buffer_pool_hit", "pool hit %", "%", Higher, "percent of the pages asked for that were in the buffer pool (1 − innodb_buffer_pool_reads / innodb_buffer_pool_read_requests)", bufferPoolHit},
	{"innodb_reads_op", "pages read/op", "", Lower, "pages that were not in the buffer pool per event (innodb_buffer_pool_reads)", statusPerEvent(1, innodb("innodb_buffer_pool_reads"))},
	{"log_kb_op", "log KB/op", "KiB", Lower, "KiB written to the redo log per event (innodb_os_log_written)", statusPerEvent(kibibyte, innodb("innodb_os_log_written"))},
	{"fsyncs_op", "fsyncs/op", "", Lower, "times that InnoDB synced a file per event (innodb_os_log_fsyncs, of the redo log; where the server does not count these apart, innodb_data_fsyncs, of all files)", statusPerEvent(1, counted("innodb_os_log_fsyncs"), innodb("innodb_data_fsyncs"))},
	{"lock_waits_s", "lock waits/s", "1/s", Lower, "row locks waited for per second (innodb_row_lock_waits)", statusRate(innodb("innodb_row_lock_waits"))},
	{"tmp_tables_s", "tmp tables/s", "1/s", Lower, "temporary tables made per second, those of the looks at the status taken off (created_tmp_tables)", statusRate(counted("created_tmp_tables"))},
	{"tmp_disk_tables_s", "tmp disk tables/s", "1/s", Lower, "temporary tables made on disk per second (created_tmp_disk_tables)", statusRate(beside("created_tmp_tables", "created_tmp_disk_tables"))},
	{"rows_read_op", "rows read/op", "", Lower, "rows that the server read per event (innodb_rows_read; of MariaDB rows_read)", statusPerEvent(1,
		family("innodb_rows_", "innodb_rows_read"), beside("handler_tmp_write", "rows_read"))},
	{"rows_written_op", "rows written/op", "", Neither, "rows inserted, updated and deleted per event (innodb_rows_…; of MariaDB handler_write, _update, _delete)", statusPerEvent(1,
		family("innodb_rows_", "innodb_rows_inserted", "innodb_rows_updated", "innodb_rows_deleted"),
		// Only MariaDB has handler_tmp_write, which each look at the status changes. MySQL's handler_write counts such rows too.
		beside("handler_tmp_write", "handler_write", "handler_update", "handler_delete"))},
}

const kibibyte = 1 << 10

func reads(u Usage) float64        { return float64(u.Reads) }
func writes(u Usage) float64       { return float64(u.Writes) }
func bytesRead(u Usage) float64    { return float64(u.BytesRead) }
func bytesWritten(u Usage) float64 { return float64(u.BytesWritten) }
func switches(u Usage) float64     { return float64(u.ContextSwitches) }
func busySeconds(u Usage) float64  { return (u.User + u.System) * u.Elapsed * float64(u.CPUs) }

// usageFigure is of the machine under test; it applies where that was watched.
func usageFigure(figure func(Usage) float64) func(*Cell) (float64, bool) {
	return func(c *Cell) (float64, bool) {
		m := c.underTest()
		if m == nil || m.Usage.Elapsed <= 0 {
			return 0, false
		}
		return figure(m.Usage), true
	}
}

func usageRate(count func(Usage) float64, unit float64) func(*Cell) (float64, bool) {
	return usageFigure(func(u Usage) float64 { return count(u) / u.Elapsed / unit })
}

func usagePerEvent(count func(Usage) float64, unit float64) func(*Cell) (float64, bool) {
	return func(c *Cell) (float64, bool) {
		m := c.underTest()
		if m == nil {
			return 0, false
		}
		return perEvent(c, count(m.Usage)/unit, m.Usage.Elapsed)
	}
}

// perEvent divides what was counted over so many seconds by the events of as many: machine and load are not looked at in the same moment.
func perEvent(c *Cell, count, seconds float64) (float64, bool) {
	events, ok := rate(c, c.Outcome.Events)
	if !ok || events <= 0 || seconds <= 0 {
		return 0, false
	}
	return count / seconds / events, true
}

// generated is a figure of benchplan's own process.
func generated(figure func(*Cell, *Machine, Process) (float64, bool)) func(*Cell) (float64, bool) {
	return func(c *Cell) (float64, bool) {
		m := c.generator()
		if m == nil || m.Usage.Elapsed <= 0 {
			return 0, false
		}
		p, ok := m.Processes[ProcessGenerator]
		if !ok {
			return 0, false
		}
		return figure(c, m, p)
	}
}

func serverCPU(c *Cell) (float64, bool) {
	for _, m := range c.Machines {
		if p, ok := m.Processes[ProcessServer]; ok {
			return perEvent(c, (p.User+p.System)*1e6, m.Usage.Elapsed)
		}
	}
	return 0, false
}

// A counter adds up status variables of a server; it is false where the server does not have them. A record holds only what changed,
// be it by the looks at the status alone: one that is not there is 0 if others show that the server has it.
type counter func(*ServerStatus) (int64, bool)

func sumCounters(s *ServerStatus, names []string) (sum int64, some bool) {
	for _, name := range names {
		n, ok := s.Counters[name]
		sum, some = sum+n, some || ok
	}
	return sum, some
}

// counted takes variables of which one has changed.
func counted(names ...string) counter {
	return func(s *ServerStatus) (int64, bool) { return sumCounters(s, names) }
}

// family takes variables that every server has which has any whose name begins so.
func family(prefix string, names ...string) counter {
	return func(s *ServerStatus) (int64, bool) {
		for name := range s.Counters {
			if strings.HasPrefix(name, prefix) {
				sum, _ := sumCounters(s, names)
				return sum, true
			}
		}
		return 0, false
	}
}

// innodb takes a variable that every InnoDB has.
func innodb(name string) counter { return family("innodb_", name) }

// beside takes variables that every server has which has the witness.
func beside(witness string, names ...string) counter {
	return func(s *ServerStatus) (int64, bool) {
		_, ok := s.Counters[witness]
		sum, _ := sumCounters(s, names)
		return sum, ok
	}
}

// firstCounter takes the first of several ways to count that the server has.
func firstCounter(c *Cell, ways []counter) (int64, bool) {
	if c.Server == nil || c.Server.Elapsed <= 0 {
		return 0, false
	}
	for _, count := range ways {
		if n, ok := count(c.Server); ok {
			return n, true
		}
	}
	return 0, false
}

func statusRate(ways ...counter) func(*Cell) (float64, bool) {
	return func(c *Cell) (float64, bool) {
		n, ok := firstCounter(c, ways)
		if !ok {
			return 0, false
		}
		return float64(n) / c.Server.Elapsed, true
	}
}

func statusPerEvent(unit float64, ways ...counter) func(*Cell) (float64, bool) {
	return func(c *Cell) (float64, bool) {
		n, ok := firstCounter(c, ways)
		if !ok {
			return 0, false
		}
		return perEvent(c, float64(n)/unit, c.Server.Elapsed)
	}
}

func bufferPoolHit(c *Cell) (float64, bool) {
	if c.Server == nil {
		return 0, false
	}
	requests := c.Server.Counters["innodb_buffer_pool_read_requests"]
	if requests <= 0 {
		return 0, false
	}
	return 100 * (1 - float64(c.Server.Counters["innodb_buffer_pool_reads"])/float64(requests)), true
}
