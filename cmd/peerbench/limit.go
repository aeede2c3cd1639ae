package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// bareCommand is the argument by which this program becomes the bare client.
const bareCommand = "bare"

// The parts by which tools are given loads: both programs, and the bare client, which only the long form has unless it is picked.
const (
	loadPart  = "load"
	limitPart = "limit"
)

// bare drives the bare client: this program once more, as a process of its own like the tools. It does nothing but send one statement
// of the workload after the other and receive the answers, from one thread: no latencies, no clock but for the end. What it comes to
// over sysbench is the most that any client can come to that waits for all its connections at once. It uses the tables of the others.
type bare struct {
	program string
	server  *server
	tables  tables
}

// bareCan tells whether the bare client is for a load: not for a single client, which waits for its own connection.
func bareCan(l load) bool { return l.Clients > 1 }

// errands are what the bare client is told, as JSON in its second argument.
type errands struct {
	Network string `json:"network"`
	Address string `json:"address"`
	User    string `json:"user"`
	Load    load   `json:"load"`
	Tables  tables `json:"tables"`
}

// bareReport is what it prints.
type bareReport struct {
	Events  int64 `json:"events"`
	Queries int64 `json:"queries"`
	// Restarts are events that were begun anew after an error.
	Restarts int64   `json:"restarts"`
	Seconds  float64 `json:"seconds"`
}

func (bare) name() string { return "bare client" }

func (b bare) load(ctx context.Context, l load) (outcome, error) {
	e := errands{Network: "unix", Address: b.server.Socket(), User: b.server.User(), Load: l, Tables: b.tables}
	if l.Transport == TCP {
		e.Network, e.Address = "tcp", b.server.Address()
	}
	argument, err := json.Marshal(e)
	if err != nil {
		return outcome{}, err
	}
	text, took, err := run(ctx, []string{passwordVariable + "=" + b.server.Password()}, b.program, bareCommand, string(argument))
	if err != nil {
		return outcome{}, err
	}
	var r bareReport
	if err := json.Unmarshal(text, &r); err != nil {
		return outcome{}, fmt.Errorf("the bare client's report: %w", err)
	}
	return outcome{effort: took, Events: r.Events, Queries: r.Queries, Restarts: r.Restarts, Measured: r.Seconds}, nil
}

// limit has the bare client measured by itself. Where loads are measured too, it has its turn among them.
func (b *bench) limit(ctx context.Context) error {
	if slices.Contains(b.parts, loadPart) {
		return nil
	}
	return b.loads(ctx)
}
