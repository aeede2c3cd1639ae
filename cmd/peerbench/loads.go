package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// cell is a load that tools are given in turn.
type cell struct {
	load    load
	tools   []tool // sysbench first
	warm    bool   // an uncounted turn of a second comes first
	turns   []turn
	refused int   // how many turns were
	err     error // why it was given up
}

// turn is what the tools of a cell came to, one directly after the other.
type turn []outcome

// loads compares throughput and processor time under every workload, over every transport, by every number of clients: each cell once,
// then each again, so that minutes in which the machine does otherwise are in all of them and decide none.
func (b *bench) loads(ctx context.Context) error {
	var cells []*cell
	for _, workload := range b.workloads {
		for _, transport := range b.transports {
			for i, clients := range b.clients {
				l := load{Workload: workload, Transport: transport, Clients: clients, Seconds: b.seconds, Seed: b.seed}
				if tools := b.tools(l); len(tools) > 1 {
					cells = append(cells, &cell{load: l, tools: tools, warm: b.long || i == 0})
				}
			}
		}
	}
	b.rounds(ctx, cells)
	var errs []error
	for _, c := range cells {
		switch {
		case c.err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", c.load.cell(), c.err))
		case len(c.turns) == b.runs:
			b.report.load(c)
		}
	}
	if ctx.Err() != nil {
		return errors.Join(errs...)
	}
	return errors.Join(append(errs, b.server.checkRows(ctx, b.tables))...)
}

// tools are those that are given a load, by the parts that were picked.
func (b *bench) tools(l load) []tool {
	list := []tool{b.theirs}
	if slices.Contains(b.parts, loadPart) {
		list = append(list, b.program)
	}
	if slices.Contains(b.parts, limitPart) && bareCan(l) {
		list = append(list, b.bare)
	}
	return list
}

const (
	warmupSeconds = 1
	mostRefused   = 3 // turns of a cell, before it is given up
)

// rounds gives all cells a turn, then all again, unless they fail.
func (b *bench) rounds(ctx context.Context, cells []*cell) {
	for range b.runs {
		for _, c := range cells {
			if c.err == nil {
				c.err = b.next(ctx, c)
			}
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// next gives a cell its next turn. One of which a run is refused is done again.
func (b *bench) next(ctx context.Context, c *cell) error {
	n := len(c.turns)
	if n == 0 && c.warm {
		first := c.load
		first.Seconds = warmupSeconds
		if _, err := b.turn(ctx, first, c.tools, false); err != nil {
			return err
		}
	}
	for {
		l := c.load
		l.Seed += uint64(n + c.refused)
		t, err := b.turn(ctx, l, c.tools, n%2 == 1)
		if err != nil {
			return err
		}
		reason := t.refused()
		for i := range t {
			t[i].Counted = reason == ""
		}
		b.report.keep(t...)
		if reason == "" {
			c.turns = append(c.turns, t)
			b.say("%s, %d of %d: %s", l.cell(), n+1, b.runs, t)
			return nil
		}
		b.say("refused: %s", reason)
		if c.refused++; c.refused == mostRefused {
			return fmt.Errorf("%d turns had to be refused; the last: %s", c.refused, reason)
		}
	}
}

// turn runs the tools, sysbench first unless reversed.
func (b *bench) turn(ctx context.Context, l load, tools []tool, reversed bool) (turn, error) {
	t := make(turn, len(tools))
	err := inTurn(len(tools), reversed, func(i int) (err error) {
		t[i], err = loaded(ctx, b.server, tools[i], l)
		return err
	})
	return t, err
}

// refused tells why a run of the turn cannot be used; empty: all can.
func (t turn) refused() string {
	for _, o := range t {
		if o.Refused != "" {
			return o.Tool + ": " + o.Refused
		}
	}
	return ""
}

// String tells what the tools came to, in their order.
func (t turn) String() string {
	throughput, cpu := make([]string, len(t)), make([]string, len(t))
	for i, o := range t {
		throughput[i], cpu[i] = number(o.perSecond(), 0), number(o.cpuPerQuery(), 1)
	}
	return fmt.Sprintf("events/s %s, CPU µs/query %s", strings.Join(throughput, " and "), strings.Join(cpu, " and "))
}

// start tells what processor time is in that of a load beside the load: the program's start, the connections, the report.
func (b *bench) start(ctx context.Context) error {
	for _, clients := range b.clients {
		var c comparison
		for i := range b.runs {
			l := load{Workload: pointSelect, Transport: Socket, Clients: clients, Seed: b.seed}
			t, err := b.turn(ctx, l, []tool{b.theirs, b.program}, i%2 == 1)
			if err != nil {
				return err
			}
			c.add(t[0].CPU.Seconds()*1000, t[1].CPU.Seconds()*1000)
		}
		name := counted(clients, "client")
		b.say("start and report, %s: CPU ms %.1f and %.1f", name, median(c.theirs), median(c.ours))
		b.report.add(compared(tableStart, name, "ms", 1, c, target{}))
	}
	return nil
}

// memoryClients is by how many clients memory is compared.
const memoryClients = 1000

// memory compares the most memory that many clients take.
func (b *bench) memory(ctx context.Context) error {
	m := &cell{
		load:  load{Workload: pointSelect, Transport: Socket, Clients: memoryClients, Seconds: b.seconds, Seed: b.seed},
		tools: []tool{b.theirs, b.program},
		warm:  true,
	}
	b.rounds(ctx, []*cell{m})
	switch {
	case m.err != nil:
		return m.err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	own, err := peakOfThisProcess()
	if err != nil {
		return err
	}
	var c comparison
	for _, t := range m.turns {
		theirs, ours := t[0].Memory, t[1].Memory
		// The kernel counts what the parent had resident when it started the child as the child's.
		if least := min(theirs, ours); least <= own {
			return fmt.Errorf("a tool took %d bytes at most; that may be what this program had itself (%d)", least, own)
		}
		c.add(mebibytes(theirs), mebibytes(ours))
	}
	b.report.add(compared(tableOther, fmt.Sprintf("peak memory, %s clients", number(memoryClients, 0)), "MiB", 1, c, atMost(0.5)))
	return nil
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// peakOfThisProcess gives the most bytes that this program has had resident since it was started.
func peakOfThisProcess() (int64, error) {
	self, err := procfs.Self()
	if err != nil {
		return 0, fmt.Errorf("memory of this process: %w", err)
	}
	status, err := self.NewStatus()
	if err != nil {
		return 0, fmt.Errorf("memory of this process: %w", err)
	}
	return int64(status.VmHWM), nil
}
