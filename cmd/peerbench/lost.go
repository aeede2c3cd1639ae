package main

import (
	"context"
	"fmt"
)

const (
	lostClients = 64
	lostCells   = 10
)

// lost measures what time lies between the loads of a matrix's cells: the end of one, its record, the connections of the next.
func (b *bench) lost(ctx context.Context) error {
	plan, err := b.program.plan(Socket, b.seed, b.tables,
		fmt.Sprintf("- matrix: { cell: [%s] }", sequence(lostCells)),
		"  steps:",
		"  - run: { "+b.program.options(pointSelect, fmt.Sprint(lostClients))+", duration: 1s }")
	if err != nil {
		return err
	}
	cells, _, err := b.program.runPlan(ctx, plan)
	if err != nil {
		return err
	}
	if len(cells) != lostCells {
		return fmt.Errorf("benchplan recorded %d cells of %d", len(cells), lostCells)
	}
	var lost []float64
	for i, c := range cells[1:] {
		lost = append(lost, (c.Finished.Sub(cells[i].Finished).Seconds()-c.Outcome.Elapsed)*1000)
	}
	b.say("lost between two cells: %.1f ms", median(lost))
	b.report.add(alone(tableOther, fmt.Sprintf("time lost between two cells, %d clients", lostClients), "ms", 1, lost, atMost(200)))
	return nil
}
