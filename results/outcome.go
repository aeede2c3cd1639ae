package results

import (
	"github.com/HdrHistogram/hdrhistogram-go"
)

// Class sorts statements by what they do to data.
type Class string

// The classes: a SELECT is a read; INSERT, UPDATE, DELETE, REPLACE are writes; BEGIN, COMMIT, XA and all else is other.
const (
	Read  Class = "read"
	Write Class = "write"
	Other Class = "other"
)

// Classes lists them in the order in which they are printed.
var Classes = []Class{Read, Write, Other}

// Latency sums up a distribution of latencies. All times are milliseconds; with Count 0 the rest is 0 and means nothing.
type Latency struct {
	Count int64   `json:"count"`
	Min   float64 `json:"min_ms"`
	Mean  float64 `json:"mean_ms"`
	P50   float64 `json:"p50_ms"`
	P95   float64 `json:"p95_ms"`
	P99   float64 `json:"p99_ms"`
	P999  float64 `json:"p999_ms"`
	Max   float64 `json:"max_ms"`
}

// Role is what the clients of one role did: for a workload without roles there is one, with an empty name.
type Role struct {
	Name    string `json:"name"`
	Clients int    `json:"clients"`
	Events  int64  `json:"events"`
	// Uncounted is how many client-seconds of the measured time are in no event's latency: those before a client was first woken, of events that failed or were under way at the
	// end, and of clients for which no event was left, less what the latencies hold from before. With it Little's law is exact.
	Uncounted float64 `json:"uncounted_s,omitempty"`
	Latency   Latency `json:"latency"` // of events: from the first statement (or, with a rate, from when it was due) to the end of the last
}

// Statements is what the statements of one class did.
type Statements struct {
	Count    int64   `json:"count"`    // statements that the server answered without an error
	Rows     int64   `json:"rows"`     // rows returned
	Affected int64   `json:"affected"` // rows changed, as the server counts them
	Latency  Latency `json:"latency"`  // of statements
}

// The names of counters of loads that have no statements.
const (
	CountFileReads    = "file_reads"
	CountFileWrites   = "file_writes"
	CountFsyncs       = "fsyncs"
	CountBytesRead    = "bytes_read"
	CountBytesWritten = "bytes_written"
	CountMemoryBytes  = "memory_bytes"
	CountFsyncEnd     = "fsync_end_us" // microseconds that it took, after the load, to have all on the disk
)

// ErrorCount is how often one error was met.
type ErrorCount struct {
	Code    int    `json:"code"` // the server's error number, or the operating system's; 0 for a connection that was lost
	Class   Class  `json:"class"`
	Count   int64  `json:"count"`
	Message string `json:"message"` // the first one's text, with secrets masked
}

// Stop says why a cell's load ended.
type Stop string

// The stops.
const (
	ByDuration  Stop = "duration"
	ByEvents    Stop = "events"
	ByError     Stop = "error"
	ByInterrupt Stop = "interrupt"
)

// Second is one second of a cell's load, warm-up not counted. The last may be shorter.
type Second struct {
	At      float64 `json:"at_s"`   // its start, in seconds after the clock started
	Length  float64 `json:"length"` // seconds; 1 but for the last
	Events  int64   `json:"events"`
	Queries int64   `json:"queries"`
	P50     float64 `json:"p50_ms"` // of events that ended in it; with none of them the latencies mean nothing
	P95     float64 `json:"p95_ms"`
	P99     float64 `json:"p99_ms"`
	Max     float64 `json:"max_ms"`
	Errors  int64   `json:"errors"`

	Restarts   int64 `json:"restarts"`
	Reconnects int64 `json:"reconnects"`
	Clients    int   `json:"clients"` // that had a connection at its end
	// Due and Queue are of an open loop: events that were due in it, and at its end how many were due and not begun.
	Due   int64 `json:"due"`
	Queue int64 `json:"queue"`
}

// Schedule is how well an open loop kept to its rate. Events are those that were due in the measured part.
type Schedule struct {
	Due     int64   `json:"due"`      // events that were due: Begun + Dropped
	Rate    float64 `json:"due_rate"` // of them per second; where a number of events was ordered, of the time in which these were due
	Begun   int64   `json:"begun"`    // of these, how many a client began
	Late    int64   `json:"late"`     // of these, how many were due when all clients of their role were busy, or reconnected
	Dropped int64   `json:"dropped"`  // were still in the queue at the end: they are in no latency
	// QueueMean and QueueMax are of the queue: events due and not begun, as each that was begun leaves it behind. QueueMax also
	// heeds the ends of seconds and of the measured part. Roles have queues of their own: QueueMax is the sum of theirs.
	QueueMean float64 `json:"queue_mean"`
	QueueMax  int64   `json:"queue_max"`
	// Wait is, of the events begun, from when they were due until they were begun: by it an event's latency is longer than its statements.
	Wait Latency `json:"wait"`
	// Overslept is, of the events for which a client was free when they were due (Begun - Late of them), how late this machine began
	// them nevertheless: a fault of the generator.
	Overslept Latency `json:"overslept"`
}

// Changes are rows of one table that a workload put in and took out, counted when the transaction was acknowledged.
type Changes struct {
	Inserted int64 `json:"inserted,omitempty"`
	Deleted  int64 `json:"deleted,omitempty"`
	Unsure   int64 `json:"unsure,omitempty"` // rows whose fate is unknown: the connection was lost before the answer came
}

// Fairness is the mean and the standard deviation (of the population), over the clients, of the events that each did and of the
// time that these took, as sysbench calls it.
type Fairness struct {
	EventsMean   float64 `json:"events_mean"`
	EventsStddev float64 `json:"events_stddev"`
	BusyMean     float64 `json:"busy_mean_s"`
	BusyStddev   float64 `json:"busy_stddev_s"`
}

// Outcome is what the load of one cell came to: plain values, so that the outcomes of several generators can be merged.
type Outcome struct {
	Clients    int                  `json:"clients"`
	Elapsed    float64              `json:"elapsed_s"` // measured time without warm-up, seconds
	Warmup     float64              `json:"warmup_s"`
	Stopped    Stop                 `json:"stopped_by"`
	Events     int64                `json:"events"`
	Latency    Latency              `json:"latency"` // of events, over all roles
	Roles      []Role               `json:"roles,omitempty"`
	Statements map[Class]Statements `json:"statements,omitempty"` // none where the events are no statements
	// Counters is what the events of a load without statements added up, by name; see the Count… constants.
	Counters   map[string]int64 `json:"counters,omitempty"`
	Errors     []ErrorCount     `json:"errors,omitempty"`   // what was not restarted
	Restarts   []ErrorCount     `json:"restarts,omitempty"` // rolled back, and the event began anew
	Reconnects int64            `json:"reconnects,omitempty"`
	// ReconnectTime is the sum, over all clients, of the seconds from losing a connection to having a prepared one again.
	ReconnectTime float64 `json:"reconnect_s,omitempty"`
	// Unfinished counts events under way when the time was up: they are in no other figure but the next.
	Unfinished int64 `json:"unfinished,omitempty"`
	// LongestUnfinished is how long the longest of them took from its start until it ended, was cut or was given up, in
	// milliseconds: a stall at the end of a cell shows here and in no latency.
	LongestUnfinished float64 `json:"longest_unfinished_ms,omitempty"`
	// Cut counts connections closed by force, because their statement had no answer within the grace period.
	Cut int64 `json:"cut,omitempty"`
	// IO is how statements were sent: "loop" (a thread over many sockets) or "driver" (a goroutine for each client). Empty where the
	// events are no statements.
	IO string `json:"io,omitempty"`
	// LoopBusy is the share of the measured time, from 0 to 1, in which the busiest loop had a processor. A loop is one thread: at 1
	// it can do no more.
	LoopBusy float64 `json:"loop_busy,omitempty"`
	// Fairness tells how evenly the work fell to the clients.
	Fairness Fairness `json:"fairness,omitzero"`
	// Stranded counts clients that could not put an end to what they had open on the server: their connection was lost at the
	// end of the cell, and there was no other. A prepared XA transaction outlives that, and keeps its locks.
	Stranded int64 `json:"stranded,omitempty"`
	// Trend is how the rate or, of an open loop, the queue ran; set by Writer.Append. Nil: there are too few points.
	Trend *Trend `json:"trend,omitempty"`
	// Schedule is of an open loop; nil: the loop was closed.
	Schedule *Schedule `json:"schedule,omitempty"`
	// Ledger says, by table, what the server acknowledged to the clients, warm-up and unfinished events included.
	Ledger map[string]Changes `json:"ledger,omitempty"`

	Series     []Second                           `json:"-"` // kept in series/
	Histograms map[string]*hdrhistogram.Histogram `json:"-"` // kept in histograms/: "events", "read", "write", "other", "role.<name>"; nanoseconds, resolved to 64
}
