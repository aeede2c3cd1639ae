package tables

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"benchplan/workloads/guard"
)

const (
	mostBatch     = 512 << 10 // as sysbench; MariaDB takes more time a row for batches of 1 MiB and of 4 MiB
	fallbackBatch = 1 << 20   // where the server does not tell its max_allowed_packet
	batchMargin   = 1 << 10   // for the packet's header and what a proxy adds
)

// fill loads all rows and builds the indexes.
func (p *preparation) fill(ctx context.Context) error {
	if p.spec.Rows == 0 || len(p.wanted) == 0 {
		return p.each(ctx, p.index)
	}
	if err := p.decide(ctx); err != nil {
		return err
	}
	a, err := p.agenda(ctx)
	if err != nil {
		return err
	}
	group, loading := errgroup.WithContext(ctx)
	for range p.options.Threads {
		group.Go(guard.Func(func() error { return p.work(loading, a) }))
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// work loads parts until none is left for this loader. Who loads the last of a table builds its indexes, while others go on.
func (p *preparation) work(ctx context.Context, a *agenda) error {
	var m memory
	for c, ok := a.next(); ok; c, ok = a.next() {
		if err := p.load(ctx, c, &m); err != nil {
			return err
		}
		if !a.done(c) {
			continue
		}
		if err := p.index(ctx, c.table); err != nil {
			return err
		}
	}
	return nil
}

// agenda says what is to be loaded, and how many may load one table at once.
func (p *preparation) agenda(ctx context.Context) (*agenda, error) {
	most := p.options.Threads
	if p.method == LoadData {
		alone, err := p.locksCounter(ctx)
		if err != nil {
			return nil, err
		}
		if alone {
			most = 1
		}
	}
	return newAgenda(p.wanted, int64(p.spec.Rows), most), nil
}

// decide settles the method and the size of a batch.
func (p *preparation) decide(ctx context.Context) error {
	p.method = p.options.Method
	if p.method != Insert {
		if err := p.chooseCharset(ctx); err != nil {
			return err
		}
	}
	packet := int64(fallbackBatch)
	if err := p.db.QueryRowContext(ctx, "SELECT @@max_allowed_packet").Scan(&packet); err != nil || packet <= 0 {
		packet = fallbackBatch
	}
	if p.method == LoadData && packet <= loadPacket {
		return fmt.Errorf("method load_data sends packets of %d bytes, and the server's max_allowed_packet is %d: raise it, or use method: insert", loadPacket, packet)
	}
	if err := p.db.QueryRowContext(ctx, "SELECT @@character_set_client").Scan(&p.clientCharset); err != nil {
		p.clientCharset = ""
	}
	p.batch = int(max(batchMargin, min(packet-batchMargin, mostBatch)))
	if p.options.BatchBytes > 0 {
		p.batch = min(p.batch, p.options.BatchBytes)
	}
	if p.method == Auto {
		p.method = Insert
		switch {
		case p.takesPrepared(ctx):
			p.method = Prepared
		case packet > loadPacket && p.takesLoadData(ctx):
			p.method = LoadData
		}
	}
	return ctx.Err()
}

// load loads a part, with memory that may have been used for another.
func (p *preparation) load(ctx context.Context, c part, m *memory) error {
	rows := p.source(c)
	var err error
	switch {
	case p.method == Prepared && !p.refused.Load():
		err = p.insertPrepared(ctx, c, rows, m)
		if p.options.Method == Auto && refusal(err) && p.insert(ctx, c, p.source(c)) == nil {
			p.refused.Store(true)
			return nil
		}
	case p.method == LoadData:
		err = p.loadData(ctx, c, rows)
	default:
		err = p.insert(ctx, c, rows)
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("fill table %s (%s, rows %d to %d): %w", p.names[c.table], p.method, c.first, c.last, err)
	}
	return nil
}

// source makes the rows of a part.
func (p *preparation) source(c part) *source {
	return newSource(c, p.schema.Rows(p.spec, c.table), p.options.Seed)
}

// refusal tells that the server has answered, by an error. A proxy may prepare what it then does not execute, because a transaction or a
// statement would come to several servers.
func refusal(err error) bool {
	_, ok := errors.AsType[*mysql.MySQLError](err)
	return ok
}
