package main

import (
	"context"
	"fmt"
	"time"
)

// tables are the tables of both tools.
type tables struct {
	Count int   `json:"count"`
	Rows  int64 `json:"rows"` // of each
}

// load is what both tools are given to do.
type load struct {
	Workload  string    `json:"workload"`
	Transport Transport `json:"transport"`
	Clients   int       `json:"clients"`
	Seconds   int       `json:"seconds"` // 0: as many events as there are clients, to see what the start and the report take
	Seed      uint64    `json:"seed"`
}

// outcome is what a tool says of its run, with what the run took.
type outcome struct {
	Tool     string  `json:"tool"`
	Load     load    `json:"load"`
	Counted  bool    `json:"counted"` // in a figure
	Refused  string  `json:"refused,omitempty"`
	Events   int64   `json:"events"`
	Queries  int64   `json:"queries"`
	Measured float64 `json:"measured_s"` // the time that the tool says its figures are of
	Restarts int64   `json:"restarts"`   // events that the tool began anew after an error
	Server   int64   `json:"server"`     // statements that the server has executed meanwhile
	effort
}

// perSecond gives events per second.
func (o outcome) perSecond() float64 { return float64(o.Events) / o.Measured }

// cpuPerQuery gives the processor time of the whole process for each query, in microseconds.
func (o outcome) cpuPerQuery() float64 { return o.CPU.Seconds() * 1e6 / float64(o.Queries) }

// tool is what is given a load: one of the two, or the bare client.
type tool interface {
	name() string
	// load runs a load on tables that are there, and reads the tool's own report.
	load(ctx context.Context, l load) (outcome, error)
}

// maker is a tool that makes its tables itself.
type maker interface {
	// prepare makes the tables in an empty database by so many threads, indexes included.
	prepare(ctx context.Context, threads int, t tables) (effort, error)
}

// spare is how long a tool may take beside the time of its load before it is taken to hang.
const spare = time.Minute

// loaded runs a load, and tells in Refused where the tool's account differs from those of the server and the clock.
func loaded(ctx context.Context, s *server, t tool, l load) (outcome, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(l.Seconds)*time.Second+spare, fmt.Errorf("it did not end within %s after its time", spare))
	defer cancel()
	before, err := s.executed(ctx)
	if err != nil {
		return outcome{}, err
	}
	o, err := t.load(ctx, l)
	if err != nil {
		return outcome{}, err
	}
	after, err := s.executed(ctx)
	if err != nil {
		return outcome{}, err
	}
	o.Tool, o.Load, o.Server = t.name(), l, after-before
	o.Refused = o.contradiction()
	return o, nil
}

const (
	tolerance    = 0.01 // of the statements
	ownQueries   = 50   // that a tool may send beside the load, to look at the server
	connecting   = 2    // likewise, for each client
	eventQueries = 20   // of the longest event: what a client may have sent of one that was not over at the end, or was begun anew
)

// contradiction tells what cannot be in the tool's account, beside the server's counters and the clock; empty: nothing.
func (o outcome) contradiction() string {
	if o.Events <= 0 || o.Queries <= 0 || o.Measured <= 0 {
		return fmt.Sprintf("it reports %d events and %d queries in %.3f s", o.Events, o.Queries, o.Measured)
	}
	perEvent := float64(eventQueries)
	if o.Load.Workload == pointSelect {
		perEvent = 1
	}
	slack := tolerance*float64(o.Queries) + ownQueries + float64(o.Load.Clients)*(connecting+perEvent) + float64(o.Restarts)*perEvent
	if d := float64(o.Server - o.Queries); d < -slack || d > slack {
		return fmt.Sprintf("it reports %d queries where the server counted %d", o.Queries, o.Server)
	}
	if took := o.Elapsed.Seconds(); o.Measured > took || o.Measured < float64(o.Load.Seconds)*(1-tolerance) {
		return fmt.Sprintf("it reports %.3f s of %d that were asked for, and its process lived %.3f s", o.Measured, o.Load.Seconds, took)
	}
	return ""
}
