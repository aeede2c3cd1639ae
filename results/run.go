package results

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// RunVersion is the version of run.json that this package writes. It reads this one and all before it; the first has no checksum.
const RunVersion = 2

// RunStatus tells how far a run came.
type RunStatus string

// The statuses of a run.
const (
	Running     RunStatus = "running"
	Done        RunStatus = "done"
	RunFailed   RunStatus = "failed"
	Interrupted RunStatus = "interrupted"
	// Killed is never written: it is what Open and List make of Running where no process holds the folder any more.
	Killed RunStatus = "killed"
)

// Run is what is known about a run as a whole: the content of run.json.
type Run struct {
	Version int `json:"v"`

	Plan        string          `json:"plan"`                  // its name
	Description string          `json:"description,omitempty"` // what it asks, in the plan's own words
	PlanFile    string          `json:"plan_file"`             // the file's name as given
	PlanText    string          `json:"plan_text"`
	PlanHash    string          `json:"plan_sha256"` // of PlanText, hexadecimal
	Resolved    json.RawMessage `json:"resolved,omitempty"`

	Tool     Tool              `json:"tool"`
	Host     Host              `json:"host"`
	Targets  []Server          `json:"targets,omitempty"`
	Seed     uint64            `json:"seed"`
	Settings map[string]string `json:"settings,omitempty"` // what the command line laid over the plan, without secrets

	Status   RunStatus `json:"status"`
	Started  time.Time `json:"started"`           // UTC
	Finished time.Time `json:"finished,omitzero"` // UTC
	Errors   []string  `json:"errors,omitempty"`
	// NotPutBack is what finally, or what puts settings back, should have done and has not: a person has to. Secrets are masked.
	NotPutBack []NotPutBack `json:"not_put_back,omitempty"`

	Resumed []Resumption `json:"resumed,omitempty"` // the times that it was gone on with, in their order; Status, Finished and Errors are of the last part
	Unset   []Unset      `json:"unset,omitempty"`   // what is not put back yet

	Rehearsal bool     `json:"rehearsal,omitempty"`
	Planned   int      `json:"cells_planned"`     // repeats counted one by one
	Records   int      `json:"records,omitempty"` // that the journal had when this was written; set by WriteRun
	Report    Settings `json:"report"`
}

// NotPutBack is one thing that a run should have put back.
type NotPutBack struct {
	At   string   `json:"at"`             // file:line:col of the step
	Step string   `json:"step"`           // its kind, and its name where it has one
	Cell string   `json:"cell,omitempty"` // the labels of its cell
	On   string   `json:"on,omitempty"`   // the target, of what is SQL
	Send []string `json:"send"`           // what was to be sent, or executed, line by line
}

// Text writes it as lines for a person to read, the first of which says which step it is of; the others are indented.
func (n NotPutBack) Text() []string {
	head := n.At + ": " + n.Step
	if n.Cell != "" {
		head += " [" + n.Cell + "]"
	}
	if n.On != "" {
		head += ", on " + n.On
	}
	lines := []string{head}
	for _, line := range n.Send {
		lines = append(lines, "    "+line)
	}
	return lines
}

// Failures lists what went wrong, a line each: the errors, and what was not put back.
func (r *Run) Failures() []string {
	list := slices.Clone(r.Errors)
	for _, n := range r.NotPutBack {
		text := n.Text()
		list = append(list, "not put back: "+text[0]+": "+strings.Join(n.Send, " "))
	}
	return list
}

// Settings is how the plan wants its results reported.
type Settings struct {
	Baseline map[string]string `json:"baseline,omitempty"` // label → the value that the others are compared with
	Pivot    string            `json:"pivot,omitempty"`    // the label whose values get a table each
	Metrics  []string          `json:"metrics,omitempty"`  // the columns; empty: those that suit the workload
	Assert   []string          `json:"assert,omitempty"`   // expressions that hold for every cell
}

// Tool is the program that made the run.
type Tool struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
}

// Host is the machine that drove the load.
type Host struct {
	Name       string `json:"name"`
	OS         string `json:"os"` // and architecture: linux/amd64
	Kernel     string `json:"kernel,omitempty"`
	CPU        string `json:"cpu,omitempty"` // the processor's name
	CPUs       int    `json:"cpus"`
	GOMAXPROCS int    `json:"gomaxprocs"`
	Memory     int64  `json:"memory_bytes,omitempty"`
	Disk       string `json:"disk,omitempty"` // device, model, kind (ssd, hdd) and file system of where benchplan was started; of a server's machine, of its data
	Governor   string `json:"cpu_governor,omitempty"`
	Virtual    string `json:"virtual,omitempty"` // the hypervisor or container that it runs in, where it shows
}

// Server is a target as it was met.
type Server struct {
	Endpoint
	Name           string            `json:"name,omitempty"`
	Version        string            `json:"version,omitempty"`
	VersionComment string            `json:"version_comment,omitempty"`
	Variables      map[string]string `json:"variables,omitempty"` // SHOW GLOBAL VARIABLES
	// Engines are the storage engines that it has, as SHOW ENGINES tells: name to DEFAULT, YES or NO.
	Engines map[string]string `json:"engines,omitempty"`
	// Topology is what it tells about what it is part of: replication, group or Galera cluster, shards.
	Topology map[string]string `json:"topology,omitempty"`
	Host     *Host             `json:"host,omitempty"` // its machine, where that is watched
	// Unknown says what could not be asked, and why.
	Unknown []string `json:"unknown,omitempty"`
}
