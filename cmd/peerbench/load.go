//go:build unix

package main

import (
	"context"
	"fmt"
)

// loadCell is a cell of the matrix in which both tools load the server.
type loadCell struct {
	load
	pairs []pair
}

// runLoads runs every workload over every transport by every number of clients: both tools once uncounted, then in turn.
func (b *bench) runLoads(ctx context.Context) error {
	for _, workload := range b.workloads {
		for _, transport := range b.transports {
			for _, clients := range b.clients {
				c := loadCell{load: load{Workload: workload, Transport: transport, Clients: clients, Seconds: b.seconds}}
				if err := b.runCell(ctx, &c); err != nil {
					return fmt.Errorf("%s, %s, %d clients: %w", workload, transport, clients, err)
				}
				b.cells = append(b.cells, c)
			}
		}
	}
	return nil
}

func (b *bench) runCell(ctx context.Context, c *loadCell) error {
	var p pair
	l := c.load
	by := func(t tool, o *outcome) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			*o, err = measure(ctx, b.server, t, l)
			return err
		}
	}
	theirs, ours := by(b.theirs, &p.Theirs), by(b.ours, &p.Ours)
	l.Seconds = warmupSeconds
	if err := inTurn(ctx, 1, theirs, ours, func(int) error { return nil }); err != nil {
		return err
	}
	l.Seconds = c.Seconds
	return inTurn(ctx, b.runs, theirs, ours, func(i int) error {
		b.say("%s %s %d clients, pair %d of %d: %.0f and %.0f events/s, %.1f and %.1f µs/query", l.Workload, l.Transport, l.Clients, i+1, b.runs,
			p.Theirs.perSecond(), p.Ours.perSecond(), p.Theirs.cpuPerQuery(), p.Ours.cpuPerQuery())
		c.pairs = append(c.pairs, p)
		l.Seed++
		return nil
	})
}

// warmupSeconds is how long the uncounted runs of a cell take.
const warmupSeconds = 1

// figure compares what both tools came to by one figure of an outcome.
func (c loadCell) figure(of func(outcome) float64) comparison {
	theirs, ours := make([]float64, len(c.pairs)), make([]float64, len(c.pairs))
	for i, p := range c.pairs {
		theirs[i], ours[i] = of(p.Theirs), of(p.Ours)
	}
	return compare(theirs, ours)
}
