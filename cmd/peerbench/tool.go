//go:build unix

package main

import (
	"context"
	"fmt"
	"time"
)

// load is what both tools are given.
type load struct {
	Workload  string    `json:"workload"`
	Transport Transport `json:"transport"`
	Clients   int       `json:"clients"`
	Seconds   int       `json:"seconds,omitempty"` // 0: as many events as clients, to see what starting and ending take
	Seed      uint64    `json:"seed"`
}

// outcome is what a tool says of its run, with what the run took.
type outcome struct {
	Tool    string  `json:"tool"`
	Load    load    `json:"load"`
	Events  int64   `json:"events"`
	Queries int64   `json:"queries"`
	Seconds float64 `json:"seconds"` // that the tool measured for
	Ignored int64   `json:"ignored"` // events that the tool began anew after an error
	Server  int64   `json:"server"`  // statements that the server has executed meanwhile
	effort
}

// perSecond gives events per second.
func (o outcome) perSecond() float64 { return float64(o.Events) / o.Seconds }

// cpuPerQuery gives the processor time of the whole process for each query, in microseconds.
func (o outcome) cpuPerQuery() float64 { return o.CPU.Seconds() * 1e6 / float64(o.Queries) }

// tool is one of the two.
type tool interface {
	name() string
	// load runs one load on tables that are there, and reads the tool's report.
	load(ctx context.Context, l load) (outcome, error)
	// prepare makes the tables in an empty database by so many threads, indexes included.
	prepare(ctx context.Context, threads int, t tables) (effort, error)
}

// tables are the tables of both tools.
type tables struct {
	Count int   `json:"count"`
	Rows  int64 `json:"rows"` // of each
}

// measure runs a load, and refuses a run of which tool and server give different accounts.
func measure(ctx context.Context, s *server, t tool, l load) (outcome, error) {
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
	return o, o.check()
}

const (
	tolerance    = 0.01 // of the statements
	ownQueries   = 100  // that a tool may send beside the load: to look at the server, and to select a database
	eventQueries = 20   // the most that a client may have sent of an event that was not over at the end
)

// check holds the tool's account against the server's counters and against the clock.
func (o outcome) check() error {
	if o.Events == 0 || o.Queries == 0 || o.Seconds <= 0 {
		return fmt.Errorf("%s reports %d events and %d queries in %.3f s", o.Tool, o.Events, o.Queries, o.Seconds)
	}
	slack := tolerance*float64(o.Queries) + ownQueries + float64(o.Load.Clients)*2 + float64(o.Ignored)*eventQueries
	if o.Load.Workload != "oltp_point_select" {
		slack += float64(o.Load.Clients) * eventQueries
	}
	if d := float64(o.Server - o.Queries); d < -slack || d > slack {
		return fmt.Errorf("%s reports %d queries where the server counted %d: the run is not used", o.Tool, o.Queries, o.Server)
	}
	if took := o.Elapsed.Seconds(); o.Seconds > took {
		return fmt.Errorf("%s says that it measured for %.3f s, but its process took %s: the run is not used", o.Tool, o.Seconds, o.Elapsed.Round(time.Millisecond))
	}
	return nil
}
