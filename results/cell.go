package results

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"benchplan/plan"
)

// CellVersion is the version of the record that this package writes. It reads this one and all before it.
const CellVersion = 1

// Label is one coordinate of a cell: an axis of a matrix or an entry of labels, with its value as printed.
type Label struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// CellStatus tells how much of a cell was executed.
type CellStatus string

// The statuses of a cell.
const (
	Complete CellStatus = "complete"
	Partial  CellStatus = "partial" // interrupted: what it measured until then is kept
	Failed   CellStatus = "failed"  // stopped by an error
)

// Endpoint says where SQL went. It never holds a user's password.
type Endpoint struct {
	Address  string `json:"address"` // host:port, or the path of a socket
	Database string `json:"database,omitempty"`
}

// Wanted is the load that the plan asked for; a zero field was not asked for.
type Wanted struct {
	Duration plan.Duration `json:"duration,omitzero"`
	Events   int64         `json:"events,omitzero"`
	Warmup   plan.Duration `json:"warmup,omitzero"`
	Rate     float64       `json:"rate,omitzero"`      // events per second that were due, over all clients; 0 is a closed loop
	RateTo   float64       `json:"rate_to,omitzero"`   // of a ramp: the rate at its end, Rate being that at its begin
	Arrivals string        `json:"arrivals,omitempty"` // of an open loop: constant or poisson
}

// Mark is a doubt about a figure: what may be wrong with it and what to do about it.
type Mark struct {
	Code   string `json:"code"`             // one word, the same for all marks of a kind
	Metric string `json:"metric,omitempty"` // the name of the metric in doubt; empty: all of the cell
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// Cell is the record of one execution of a run step. It describes itself: whoever reads the line alone knows what was
// run, where, when, and what came out.
type Cell struct {
	Version int `json:"v"`

	// Path and Labels are the identity, and nothing else is. Path names the steps around it, outermost first, the run
	// step's own name last.
	Path   []string `json:"path"`
	Labels []Label  `json:"labels"`

	Repeat int `json:"repeat"` // from 1
	Round  int `json:"round"`  // from 1: the pass over all cells of the matrix to which it belongs
	Seq    int `json:"seq"`    // from 1: the order in which the run's cells were executed; names its files

	// Resumed is how often the run had been resumed before the cell was executed: it tells the parts of a run apart.
	Resumed int `json:"resumed,omitempty"`

	Position      string         `json:"position,omitempty"` // file:line of the step
	Workload      string         `json:"workload"`
	Load          string         `json:"load,omitempty"` // what kind of load: empty for statements on a server, else the workload on this machine. Cells of different kinds are not set beside each other
	Options       map[string]any `json:"options,omitempty"`
	Tables        plan.Tables    `json:"tables,omitzero"`
	Files         *plan.Files    `json:"files,omitempty"`
	RowsAtStart   int64          `json:"rows_at_start,omitempty"` // rows in all tables when the cell began, as loaded and acknowledged; 0: unknown
	Clients       map[string]int `json:"clients"`                 // by role; a workload without roles has one, with an empty name
	Target        Endpoint       `json:"target,omitzero"`         // none for a load on this machine
	ServerVersion string         `json:"server_version,omitempty"`
	Wanted        Wanted         `json:"wanted"`

	Started    time.Time         `json:"started"`  // UTC
	Finished   time.Time         `json:"finished"` // UTC
	Status     CellStatus        `json:"status"`
	Error      string            `json:"error,omitempty"`
	Unmet      string            `json:"unmet,omitempty"` // the step's own assert that did not hold of what was measured, with the values
	Attributes map[string]string `json:"attributes,omitempty"`
	Marks      []Mark            `json:"marks,omitempty"`
	Outcome    Outcome           `json:"outcome"`
	Machines   []Machine         `json:"machines,omitempty"` // the generator's first
	Server     *ServerStatus     `json:"server_status,omitempty"`

	HistogramFile string `json:"histogram_file,omitempty"` // within the run folder; set by Writer.Append
	SeriesFile    string `json:"series_file,omitempty"`    // within the run folder; set by Writer.Append
	HistogramCRC  string `json:"histogram_crc,omitempty"`  // CRC-32 of the file, in hexadecimal; set by Writer.Append
	SeriesCRC     string `json:"series_crc,omitempty"`     // likewise
}

// open tells whether the cell's load was an open loop, in which events are due by a schedule.
func (c *Cell) open() bool { return c.Wanted.Rate > 0 || c.Outcome.Schedule != nil }

// Key is the identity as one text: the same for the repeats of a cell and for the cell of another run with the same
// names and labels, in whatever order the labels were written.
func (c *Cell) Key() string { return Key(c.Path, c.Labels) }

// Key writes an identity as one text, for example config/mix{config=plain,mix=rw}. Different identities have different
// keys: a part that holds a character of the notation itself is quoted.
func Key(path []string, labels []Label) string {
	parts := make([]string, len(path))
	for i, name := range path {
		parts[i] = keyPart(name)
	}
	sorted := slices.Clone(labels)
	slices.SortStableFunc(sorted, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
	pairs := make([]string, len(sorted))
	for i, l := range sorted {
		pairs[i] = keyPart(l.Name) + "=" + keyPart(l.Value)
	}
	return strings.Join(parts, "/") + "{" + strings.Join(pairs, ",") + "}"
}

func keyPart(s string) string {
	if s == "" || strings.ContainsAny(s, "/{},=\"\\\n\r\t") {
		return strconv.Quote(s)
	}
	return s
}

// Label gives the value of the label of that name and whether there is one.
func (c *Cell) Label(name string) (string, bool) { return labelValue(c.Labels, name) }

func labelValue(labels []Label, name string) (string, bool) {
	for _, l := range labels {
		if l.Name == name {
			return l.Value, true
		}
	}
	return "", false
}
