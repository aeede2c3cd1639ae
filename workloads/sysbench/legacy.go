package sysbench

import (
	"errors"
	"strings"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
)

// LegacyOptions are the options of oltp_legacy.
type LegacyOptions struct {
	ReadOnly  bool `key:"read_only" default:"off" doc:"leave out what writes"`
	WriteOnly bool `key:"write_only" default:"off" doc:"leave out what reads"`
	Reads
	Writes
	Transaction
	EngineTrx
	Distribution
}

// legacySumRange is spelt as the legacy script spells it.
var legacySumRange = &operation{format: "SELECT SUM(K) FROM %s WHERE id BETWEEN ? AND ?", class: results.Read, fill: fillRange}

func legacy() engine.Definition {
	return definition[LegacyOptions]{
		name: "oltp_legacy", schema: SchemaLegacy, mode: engine.PSDisable,
		doc: "sysbench 0.5 oltp, in 1.0 oltp_legacy: oltp_read_write sent as text, with each transaction on one table",
		check: func(o *LegacyOptions, tables plan.Tables) error {
			switch {
			case o.ReadOnly && o.WriteOnly:
				return errors.New("read_only and write_only exclude each other")
			case len(o.event()) == 0:
				return errNothing
			}
			return needRows(tables)
		},
		build: func(o *LegacyOptions, tables plan.Tables, _ int) (engine.Workload, error) {
			w := newWorkload(names(tables), o.sampler(1, int64(tables.Rows)))
			w.rangeSize = o.RangeSize
			e := o.event().onOneTable()
			switch {
			case o.SkipTrx:
			case o.transactional(tables.Engine):
				e = w.inTransaction(e, tables)
			default:
				e = w.underLock(e, strings.Join(w.tables, " WRITE ,")+" WRITE")
			}
			return w.doing(e), nil
		},
	}.definition()
}

func (o *LegacyOptions) event() event {
	var e event
	if !o.WriteOnly {
		e = o.Reads.event()
	}
	for i := range e {
		if e[i].op == sumRange {
			e[i].op = legacySumRange
		}
	}
	if !o.ReadOnly {
		e = o.Writes.appendTo(e)
	}
	return e
}
