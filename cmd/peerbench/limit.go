package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
)

// bareCommand is the argument by which this program becomes the bare client.
const bareCommand = "bare"

// limitPart is the part that only the long form has unless it is picked.
const limitPart = "limit"

// bare drives the bare client: this program once more, as a process of its own like the tools. It does nothing but send one statement of
// point_select after the other and receive the answers, from one thread: no workload, no latencies, no clock but for the end. What it comes
// to over sysbench is the most that any client can come to that waits for all its connections at once. It uses the tables of the others.
type bare struct {
	program string
	server  *server
	tables  tables
}

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
	Events  int64   `json:"events"`
	Seconds float64 `json:"seconds"`
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
	return outcome{effort: took, Events: r.Events, Queries: r.Events, Measured: r.Seconds}, nil
}

// limit compares sysbench with the bare client, one client alone left out: it waits for its own connection.
func (b *bench) limit(ctx context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("this program: %w", err)
	}
	with := *b
	with.ours = bare{program, b.server, b.tables}
	for _, transport := range b.transports {
		for _, clients := range b.clients {
			if clients == 1 {
				continue
			}
			l := load{Workload: pointSelect, Transport: transport, Clients: clients, Seconds: b.seconds, Seed: b.seed}
			pairs, err := with.cell(ctx, l, true)
			if err != nil {
				return fmt.Errorf("%s: %w", l.cell(), err)
			}
			b.report.limit(l, pairs)
		}
	}
	return nil
}
