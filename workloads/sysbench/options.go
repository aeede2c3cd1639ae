package sysbench

// Reads are the options for what an event reads.
type Reads struct {
	PointSelects   int   `key:"point_selects" default:"10" min:"0" max:"10000" unit:"statements" doc:"selects of one row by its id in an event"`
	RangeSelects   bool  `key:"range_selects" default:"on" doc:"whether an event has ranges at all"`
	SimpleRanges   int   `key:"simple_ranges" default:"1" min:"0" max:"10000" unit:"statements" doc:"selects of a range of ids in an event"`
	SumRanges      int   `key:"sum_ranges" default:"1" min:"0" max:"10000" unit:"statements" doc:"selects of SUM(k) over a range of ids in an event"`
	OrderRanges    int   `key:"order_ranges" default:"1" min:"0" max:"10000" unit:"statements" doc:"selects of a range of ids with ORDER BY in an event"`
	DistinctRanges int   `key:"distinct_ranges" default:"1" min:"0" max:"10000" unit:"statements" doc:"selects of a range of ids with DISTINCT and ORDER BY in an event"`
	RangeSize      int64 `key:"range_size" default:"100" min:"1" max:"1000000000" unit:"ids" doc:"ids that a range covers"`
}

// Writes are the options for what an event writes.
type Writes struct {
	IndexUpdates    int `key:"index_updates" default:"1" min:"0" max:"10000" unit:"statements" doc:"updates of the indexed column k in an event"`
	NonIndexUpdates int `key:"non_index_updates" default:"1" min:"0" max:"10000" unit:"statements" doc:"updates of the column c in an event"`
	DeleteInserts   int `key:"delete_inserts" default:"1" min:"0" max:"10000" unit:"pairs" doc:"pairs of a delete and an insert of the same id in an event"`
}

// Transaction is the option for what stands around an event.
type Transaction struct {
	SkipTrx bool `key:"skip_trx" default:"off" doc:"leave BEGIN and COMMIT out, so that each statement is committed by itself"`
}

// EngineTrx is the option of sysbench 0.4 and 0.5 for tables without transactions (mysql-engine-trx).
type EngineTrx struct {
	EngineTrx string `key:"engine_trx" default:"auto" enum:"auto|on|off|yes|no" doc:"whether the tables have transactions; where they have none, LOCK TABLES and UNLOCK TABLES stand in place of BEGIN and COMMIT; auto tells by the engine of tables"`
}

// transactional tells whether events are transactions on tables of the engine.
func (o EngineTrx) transactional(engine string) bool {
	switch o.EngineTrx {
	case "on", "yes":
		return true
	case "off", "no":
		return false
	}
	return engineIsTransactional(engine)
}

// event gives the reading part of an event.
func (o *Reads) event() event {
	e := event{}.group(o.PointSelects, pointSelect)
	if o.RangeSelects {
		e = e.group(o.SimpleRanges, simpleRange).group(o.SumRanges, sumRange)
		e = e.group(o.OrderRanges, orderRange).group(o.DistinctRanges, distinctRange)
	}
	return e
}

// appendTo gives the event with its writing part.
func (o *Writes) appendTo(e event) event {
	return e.group(o.IndexUpdates, indexUpdate).group(o.NonIndexUpdates, nonIndexUpdate).group(o.DeleteInserts, deleteRow, insertSame)
}
