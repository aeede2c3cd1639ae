package main

import (
	"context"
	"fmt"
	"time"
)

// prepareThreads is by how many threads both make their tables.
const prepareThreads = 4

// prepare compares how fast tables are made and filled.
func (b *bench) prepare(ctx context.Context) error {
	rows := float64(b.prepared.Count) * float64(b.prepared.Rows)
	var c comparison
	for i := range b.runs {
		makers, rates := []maker{b.theirs, b.program}, []*[]float64{&c.theirs, &c.ours}
		err := inTurn(len(makers), i%2 == 1, func(j int) error { return b.fill(ctx, makers[j], rows, rates[j]) })
		if err != nil {
			return err
		}
		b.say("prepare, %d of %d: rows/s %s and %s", i+1, b.runs, number(c.theirs[i], 0), number(c.ours[i], 0))
	}
	name := fmt.Sprintf("prepare, %d × %s rows, %d threads", b.prepared.Count, number(float64(b.prepared.Rows), 0), prepareThreads)
	b.report.add(compared(tableOther, name, "rows/s", 0, c, atLeast(1.5)))
	return nil
}

// fill has a tool make the tables in an empty database, and adds the rows per second.
func (b *bench) fill(ctx context.Context, t maker, rows float64, rates *[]float64) error {
	const patience = 10 * time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it did not end within %s", patience))
	defer cancel()
	if err := b.server.recreate(ctx); err != nil {
		return err
	}
	e, err := t.prepare(ctx, prepareThreads, b.prepared)
	if err != nil {
		return err
	}
	*rates = append(*rates, rows/e.Elapsed.Seconds())
	return b.server.checkRows(ctx, b.prepared)
}
