package sysbench

import "slices"

// step is a statement of an event.
type step struct {
	op *operation // nil for a statement that stands around: text
	// draws tells that the statement draws a table; the others stay with the one drawn last.
	draws    bool
	text     string
	template int // of op's first table
}

// event is the statements that a client sends again and again.
type event []step

// group appends an operation n times, all on one table, which is drawn anew unless the event has one table.
func (e event) group(n int, ops ...*operation) event {
	e = slices.Grow(e, n*len(ops))
	for i := range n {
		for j, op := range ops {
			e = append(e, step{op: op, draws: i == 0 && j == 0})
		}
	}
	return e
}

// onOneTable has the whole event on one table.
func (e event) onOneTable() event {
	drawn := false
	for i := range e {
		e[i].draws = e[i].op != nil && !drawn
		drawn = drawn || e[i].draws
	}
	return e
}

// within puts statements around the event.
func (e event) within(begin, commit string) event {
	return append(append(event{{text: begin}}, e...), step{text: commit})
}

// number gives every operation a place among the templates, one for each table, and lists the operations in that order; those
// whose statement is the same share it.
func (e event) number(tables int) []*operation {
	var ops []*operation
	for i, s := range e {
		if s.op == nil {
			continue
		}
		at := 0
		for at < len(ops) && ops[at].format != s.op.format {
			at++
		}
		if at == len(ops) {
			ops = append(ops, s.op)
		}
		e[i].template = at * tables
	}
	return ops
}
