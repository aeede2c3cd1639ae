package tables

import (
	"context"
	"fmt"

	"benchplan/workloads/engine"
)

// insert loads a part by INSERT statements of many rows.
func (p *preparation) insert(ctx context.Context, c part, rows *source) error {
	head := fmt.Sprintf("INSERT INTO %s (%s) VALUES ", Quote(p.names[c.table]), quoteAll(p.schema.Columns(p.spec)))
	b := batch{head: len(head), text: append(make([]byte, 0, p.batch+p.batch/8), head...)}
	for row := rows.read(); row != nil; row = rows.read() {
		end := len(b.text)
		b.add(row)
		if len(b.text) <= p.batch || b.rows == 1 {
			continue
		}
		// One row too many: it begins the next batch.
		if err := p.send(ctx, b.text[:end], b.rows-1); err != nil {
			return err
		}
		b.text = append(b.text[:b.head], b.text[end+len(comma):]...)
		b.rows = 1
	}
	return p.send(ctx, b.text, b.rows)
}

// send executes one INSERT of so many rows.
func (p *preparation) send(ctx context.Context, text []byte, rows int64) error {
	result, err := p.db.ExecContext(ctx, string(text))
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err == nil && n != rows {
		return fmt.Errorf("the server took %d of %d rows", n, rows)
	}
	p.bytes.Add(int64(len(text)))
	p.loaded(rows)
	return nil
}

// batch is an INSERT that is being written.
type batch struct {
	text []byte
	head int // bytes of it before the first row
	rows int64
}

const comma = ","

// add writes one more row: (1,'a','b').
func (b *batch) add(row engine.Args) {
	if b.rows > 0 {
		b.text = append(b.text, comma...)
	}
	b.text = appendTuple(b.text, row)
	b.rows++
}
