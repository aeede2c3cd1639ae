package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/procfs"
)

// pair is what both tools came to, one directly after the other.
type pair struct{ theirs, ours outcome }

// loads compares throughput and processor time under every workload, over every transport, by every number of clients.
func (b *bench) loads(ctx context.Context) error {
	var errs []error
	for _, workload := range b.workloads {
		for _, transport := range b.transports {
			for i, clients := range b.clients {
				l := load{Workload: workload, Transport: transport, Clients: clients, Seconds: b.seconds, Seed: b.seed}
				pairs, err := b.cell(ctx, l, b.long || i == 0)
				if err != nil {
					errs = append(errs, fmt.Errorf("%s, %s, %d clients: %w", workload, transport, clients, err))
				}
				if ctx.Err() != nil {
					return errors.Join(errs...)
				}
				if err == nil {
					b.report.load(l, pairs)
				}
			}
		}
	}
	return errors.Join(append(errs, b.server.checkRows(ctx, b.tables))...)
}

const (
	warmupSeconds = 1
	mostRefused   = 3 // pairs of a cell, before it is given up
)

// cell runs both tools in turn; to warm up, once uncounted for a second before. A pair of which a run is refused is done again.
func (b *bench) cell(ctx context.Context, l load, warm bool) (pairs []pair, err error) {
	if warm {
		first := l
		first.Seconds = warmupSeconds
		if _, err := b.pair(ctx, first, false); err != nil {
			return nil, err
		}
	}
	for refused := 0; len(pairs) < b.runs; l.Seed++ {
		p, err := b.pair(ctx, l, len(pairs)%2 == 1)
		if err != nil {
			return nil, err
		}
		if reason := p.refused(); reason != "" {
			b.say("refused: %s", reason)
			if refused++; refused == mostRefused {
				return nil, fmt.Errorf("%d pairs had to be refused; the last: %s", refused, reason)
			}
			b.report.keep(p.theirs, p.ours)
			continue
		}
		p.theirs.Counted, p.ours.Counted = true, true
		b.report.keep(p.theirs, p.ours)
		pairs = append(pairs, p)
		b.say("%s, %s, %s, %d of %d: events/s %s and %s, CPU µs/query %.1f and %.1f", l.Workload, l.Transport, counted(l.Clients, "client"), len(pairs), b.runs,
			number(p.theirs.perSecond(), 0), number(p.ours.perSecond(), 0), p.theirs.cpuPerQuery(), p.ours.cpuPerQuery())
	}
	return pairs, nil
}

// pair runs both tools, sysbench first unless reversed.
func (b *bench) pair(ctx context.Context, l load, reversed bool) (p pair, err error) {
	err = both(
		func() (err error) { p.theirs, err = loaded(ctx, b.server, b.theirs, l); return err },
		func() (err error) { p.ours, err = loaded(ctx, b.server, b.ours, l); return err },
		reversed)
	return p, err
}

// refused tells why a run of the pair cannot be used; empty: both can.
func (p pair) refused() string {
	for _, o := range []outcome{p.theirs, p.ours} {
		if o.Refused != "" {
			return o.Tool + ": " + o.Refused
		}
	}
	return ""
}

// start tells what processor time is in that of a load beside the load: the program's start, the connections, the report.
func (b *bench) start(ctx context.Context) error {
	for _, clients := range b.clients {
		var c comparison
		for i := range b.runs {
			p, err := b.pair(ctx, load{Workload: pointSelect, Transport: Socket, Clients: clients, Seed: b.seed}, i%2 == 1)
			if err != nil {
				return err
			}
			c.add(p.theirs.CPU.Seconds()*1000, p.ours.CPU.Seconds()*1000)
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
	pairs, err := b.cell(ctx, load{Workload: pointSelect, Transport: Socket, Clients: memoryClients, Seconds: b.seconds, Seed: b.seed}, true)
	if err != nil {
		return err
	}
	own, err := peakOfThisProcess()
	if err != nil {
		return err
	}
	var c comparison
	for _, p := range pairs {
		// The kernel counts what the parent had resident when it started the child as the child's.
		if least := min(p.theirs.Memory, p.ours.Memory); least <= own {
			return fmt.Errorf("a tool took %d bytes at most; that may be what this program had itself (%d)", least, own)
		}
		c.add(mebibytes(p.theirs.Memory), mebibytes(p.ours.Memory))
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
