package sysbench

import (
	"benchplan/plan"
	"benchplan/workloads/engine"
)

// ReadWriteOptions are the options of oltp_read_write.
type ReadWriteOptions struct {
	Reads
	Writes
	Transaction
	Distribution
}

// ReadOnlyOptions are the options of oltp_read_only.
type ReadOnlyOptions struct {
	Reads
	Transaction
	Distribution
}

// WriteOnlyOptions are the options of oltp_write_only.
type WriteOnlyOptions struct {
	Writes
	Transaction
	Distribution
}

// UpdateIndexOptions are the options of oltp_update_index.
type UpdateIndexOptions struct {
	IndexUpdates int `key:"index_updates" default:"1" min:"1" max:"10000" unit:"statements" doc:"updates of the indexed column k in an event"`
	Distribution
}

// UpdateNonIndexOptions are the options of oltp_update_non_index.
type UpdateNonIndexOptions struct {
	NonIndexUpdates int `key:"non_index_updates" default:"1" min:"1" max:"10000" unit:"statements" doc:"updates of the column c in an event"`
	Distribution
}

// DrawOptions are the options of workloads that have nothing to choose but how they draw.
type DrawOptions struct{ Distribution }

// plainEvent is a workload of sysbench 1.0 by what an event of it is.
type plainEvent[T any] struct {
	name, doc    string
	mode         engine.PSMode // empty: prepared statements
	rowless      bool          // works on empty tables too
	event        func(o *T, tables plan.Tables) event
	distribution func(o *T) *Distribution
	skipTrx      func(o *T) bool // nil: there never is a transaction
	rangeSize    func(o *T) int64
}

func (p plainEvent[T]) definition() engine.Definition {
	if p.mode == "" {
		p.mode = engine.PSAuto
	}
	return definition[T]{
		name: p.name, doc: p.doc, schema: SchemaName, mode: p.mode,
		check: func(o *T, tables plan.Tables) error {
			if len(p.event(o, tables)) == 0 {
				return errNothing
			}
			if p.rowless {
				return nil
			}
			return needRows(tables)
		},
		build: func(o *T, tables plan.Tables, _ int) (engine.Workload, error) {
			w := newWorkload(names(tables), p.distribution(o).sampler(1, int64(tables.Rows)))
			w.newIDs = newIDSpace(int64(tables.Rows), true)
			if p.rangeSize != nil {
				w.rangeSize = p.rangeSize(o)
			}
			e := p.event(o, tables)
			if p.skipTrx != nil && !p.skipTrx(o) {
				e = w.inTransaction(e, tables)
			}
			return w.doing(e), nil
		},
	}.definition()
}

func readWrite() engine.Definition {
	return plainEvent[ReadWriteOptions]{
		name: "oltp_read_write", doc: "sysbench oltp_read_write: a transaction of selects by id, ranges, updates, and a delete and insert",
		event:        func(o *ReadWriteOptions, _ plan.Tables) event { return o.Writes.appendTo(o.Reads.event()) },
		distribution: func(o *ReadWriteOptions) *Distribution { return &o.Distribution },
		skipTrx:      func(o *ReadWriteOptions) bool { return o.SkipTrx },
		rangeSize:    func(o *ReadWriteOptions) int64 { return o.RangeSize },
	}.definition()
}

func readOnly() engine.Definition {
	return plainEvent[ReadOnlyOptions]{
		name: "oltp_read_only", doc: "sysbench oltp_read_only: a transaction of selects by id and ranges",
		event:        func(o *ReadOnlyOptions, _ plan.Tables) event { return o.Reads.event() },
		distribution: func(o *ReadOnlyOptions) *Distribution { return &o.Distribution },
		skipTrx:      func(o *ReadOnlyOptions) bool { return o.SkipTrx },
		rangeSize:    func(o *ReadOnlyOptions) int64 { return o.RangeSize },
	}.definition()
}

func writeOnly() engine.Definition {
	return plainEvent[WriteOnlyOptions]{
		name: "oltp_write_only", doc: "sysbench oltp_write_only: a transaction of updates, and a delete and insert",
		event:        func(o *WriteOnlyOptions, _ plan.Tables) event { return o.Writes.appendTo(nil) },
		distribution: func(o *WriteOnlyOptions) *Distribution { return &o.Distribution },
		skipTrx:      func(o *WriteOnlyOptions) bool { return o.SkipTrx },
	}.definition()
}

func pointSelects() engine.Definition {
	return plainEvent[DrawOptions]{
		name: "oltp_point_select", doc: "sysbench oltp_point_select: one select by id",
		event:        func(*DrawOptions, plan.Tables) event { return event{}.group(1, pointSelect) },
		distribution: func(o *DrawOptions) *Distribution { return &o.Distribution },
	}.definition()
}

func updateIndex() engine.Definition {
	return plainEvent[UpdateIndexOptions]{
		name: "oltp_update_index", doc: "sysbench oltp_update_index: an update of the indexed column k, by id",
		event:        func(o *UpdateIndexOptions, _ plan.Tables) event { return event{}.group(o.IndexUpdates, indexUpdate) },
		distribution: func(o *UpdateIndexOptions) *Distribution { return &o.Distribution },
	}.definition()
}

func updateNonIndex() engine.Definition {
	return plainEvent[UpdateNonIndexOptions]{
		name: "oltp_update_non_index", doc: "sysbench oltp_update_non_index: an update of the column c, by id",
		event: func(o *UpdateNonIndexOptions, _ plan.Tables) event {
			return event{}.group(o.NonIndexUpdates, nonIndexUpdate)
		},
		distribution: func(o *UpdateNonIndexOptions) *Distribution { return &o.Distribution },
	}.definition()
}

func inserts() engine.Definition {
	return plainEvent[DrawOptions]{
		name: "oltp_insert", doc: "sysbench oltp_insert: an insert of one row, whose id the server gives, or with auto_inc: off of tables the client; sent as text, as sysbench does",
		mode: engine.PSDisable, rowless: true,
		event: func(_ *DrawOptions, tables plan.Tables) event {
			if sbtestOptions(tables).AutoInc {
				return event{}.group(1, insertAtEnd)
			}
			return event{}.group(1, insertNew)
		},
		distribution: func(o *DrawOptions) *Distribution { return &o.Distribution },
	}.definition()
}

func deletes() engine.Definition {
	return plainEvent[DrawOptions]{
		name: "oltp_delete", doc: "sysbench oltp_delete: a delete by id, which meets ever fewer rows",
		event:        func(*DrawOptions, plan.Tables) event { return event{}.group(1, deleteRow) },
		distribution: func(o *DrawOptions) *Distribution { return &o.Distribution },
	}.definition()
}
