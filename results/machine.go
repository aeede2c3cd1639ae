package results

// The machines of a cell.
const (
	// Generator is the machine that drove the load.
	Generator = "generator"
	// ServerMachine is the machine of the server, where that is another one or is watched by itself.
	ServerMachine = "server"
)

// The processes of a machine whose share of it can be known.
const (
	ProcessGenerator = "benchplan"
	ProcessServer    = "server"
)

// Machine is what one machine did while a cell was measured, warm-up not counted.
type Machine struct {
	Role string `json:"role"` // Generator or ServerMachine
	// Server tells that the server under test runs on it. A machine that drives the load and runs the server is there once, as Generator.
	Server bool   `json:"server,omitempty"`
	Name   string `json:"name,omitempty"` // its host name
	Usage  Usage  `json:"usage"`
	// Processes are those whose share of it is known, by ProcessGenerator and, where that is a process of this machine, ProcessServer.
	Processes map[string]Process `json:"processes,omitempty"`
	// SeriesFile has a Usage for each second of the load's series, or for several where the machine was slow to answer; set by Writer.Append.
	SeriesFile string  `json:"series_file,omitempty"`
	SeriesCRC  string  `json:"series_crc,omitempty"` // CRC-32 of the file, in hexadecimal; set by Writer.Append
	Seconds    []Usage `json:"-"`                    // kept in series/
}

// Usage is what a machine did over a span of time, by its kernel's counters. Linux has them all; what is not known is 0.
type Usage struct {
	At      float64 `json:"at_s,omitempty"` // its start, in seconds after the measured part began
	Elapsed float64 `json:"elapsed_s"`      // seconds, by the machine's own clock
	CPUs    int     `json:"cpus"`
	// User (nice included), System (interrupts included), IOWait, Steal and Idle are shares of the time of all CPUs, 0 to 1.
	User   float64 `json:"cpu_user"`
	System float64 `json:"cpu_system"`
	IOWait float64 `json:"cpu_iowait"`
	Steal  float64 `json:"cpu_steal"` // taken by the hypervisor for others
	Idle   float64 `json:"cpu_idle"`

	ContextSwitches int64   `json:"context_switches"`
	RunQueue        float64 `json:"run_queue"` // runnable tasks, the mean of what was seen at each second

	// Reads, Writes, BytesRead and BytesWritten are of whole disks: partitions and devices stacked upon others are not counted again.
	Reads        int64 `json:"disk_reads"`
	Writes       int64 `json:"disk_writes"`
	BytesRead    int64 `json:"disk_bytes_read"`
	BytesWritten int64 `json:"disk_bytes_written"`

	BytesReceived int64 `json:"net_bytes_received"` // of all network devices but the loopback
	BytesSent     int64 `json:"net_bytes_sent"`

	Free   int64 `json:"memory_free_bytes"`   // at the end of the span
	Cached int64 `json:"memory_cached_bytes"` // page cache and buffers, likewise
}

// Process is what one process took of its machine while a cell was measured.
type Process struct {
	PID    int     `json:"pid"`
	User   float64 `json:"cpu_user_s"`
	System float64 `json:"cpu_system_s"`
	// Wait is how many thread-seconds it was ready to run and had no CPU, where the kernel tells (schedstat).
	Wait   float64 `json:"run_queue_wait_s,omitempty"`
	Memory int64   `json:"resident_bytes,omitempty"` // at the end
	// GCPause and GCs are of benchplan itself: seconds in which its garbage collector stopped it, and collections.
	GCPause float64 `json:"gc_pause_s,omitempty"`
	GCs     int64   `json:"gcs,omitempty"`
}

// ServerStatus is what SHOW GLOBAL STATUS counted while a cell was measured, and what SHOW GLOBAL VARIABLES said before it.
type ServerStatus struct {
	Elapsed float64 `json:"elapsed_s"`
	// Counters are differences of the status variables that changed, by their names in lower case.
	Counters map[string]int64 `json:"counters,omitempty"`
	// Variables are the global variables whose values differ from those of the run's record of the target.
	Variables map[string]string `json:"variables,omitempty"`
	// SeriesFile has, for each second of the load's series, the differences of StatusSeries; nothing where the server was not asked
	// at both of its ends. Set by Writer.Append.
	SeriesFile string             `json:"series_file,omitempty"`
	SeriesCRC  string             `json:"series_crc,omitempty"` // CRC-32 of the file, in hexadecimal; set by Writer.Append
	Seconds    []map[string]int64 `json:"-"`                    // kept in series/
}

// StatusSeries are the status variables that are kept for each second, where the server has them: MariaDB has rows_read and the
// handler_… variables where MySQL has innodb_rows_….
var StatusSeries = []string{
	"questions", "com_commit", "com_rollback", "innodb_rows_read", "innodb_rows_inserted", "innodb_rows_updated", "innodb_rows_deleted",
	"rows_read", "handler_write", "handler_update", "handler_delete",
	"innodb_buffer_pool_read_requests", "innodb_buffer_pool_reads", "innodb_os_log_written", "innodb_os_log_fsyncs", "innodb_data_fsyncs",
	"innodb_row_lock_waits", "innodb_row_lock_time", "created_tmp_tables", "created_tmp_disk_tables",
}
