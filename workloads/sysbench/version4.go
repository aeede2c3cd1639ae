package sysbench

import (
	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
)

// Version4Options are the options of oltp_0_4, under the names of sysbench 0.4.
type Version4Options struct {
	TestMode        string `key:"oltp_test_mode" default:"complex" enum:"complex|simple|nontrx" doc:"complex: a transaction of selects, ranges and writes; simple: a select by id; nontrx: the one statement that oltp_nontrx_mode says"`
	NontrxMode      string `key:"oltp_nontrx_mode" default:"select" enum:"select|update_key|update_nokey|insert|delete" doc:"the statement of oltp_test_mode: nontrx"`
	ReadOnly        bool   `key:"oltp_read_only" default:"off" doc:"complex: leave out what writes"`
	SkipTrx         bool   `key:"oltp_skip_trx" default:"off" doc:"complex: leave BEGIN and COMMIT out, so that each statement is committed by itself"`
	RangeSize       int64  `key:"oltp_range_size" default:"100" min:"1" max:"1000000000" unit:"ids" doc:"complex: ids that a range covers"`
	PointSelects    int    `key:"oltp_point_selects" default:"10" min:"0" max:"10000" unit:"statements" doc:"complex: selects of one row by its id in an event"`
	SimpleRanges    int    `key:"oltp_simple_ranges" default:"1" min:"0" max:"10000" unit:"statements" doc:"complex: selects of a range of ids in an event"`
	SumRanges       int    `key:"oltp_sum_ranges" default:"1" min:"0" max:"10000" unit:"statements" doc:"complex: selects of SUM(k) over a range of ids in an event"`
	OrderRanges     int    `key:"oltp_order_ranges" default:"1" min:"0" max:"10000" unit:"statements" doc:"complex: selects of a range of ids with ORDER BY in an event"`
	DistinctRanges  int    `key:"oltp_distinct_ranges" default:"1" min:"0" max:"10000" unit:"statements" doc:"complex: selects of a range of ids with DISTINCT and ORDER BY in an event"`
	IndexUpdates    int    `key:"oltp_index_updates" default:"1" min:"0" max:"10000" unit:"statements" doc:"complex: updates of the indexed column k in an event, beside the one of the row that is deleted and put back"`
	NonIndexUpdates int    `key:"oltp_non_index_updates" default:"1" min:"0" max:"10000" unit:"statements" doc:"complex: updates of the column c in an event"`
	EngineTrx
	DistType string `key:"oltp_dist_type" default:"uniform" enum:"uniform|gaussian|special" doc:"how ids are drawn; sysbench 0.4 drew by special where nothing was said, which leaves three of four draws to a hundredth of the rows"`
	DistIter int    `key:"oltp_dist_iter" default:"12" min:"1" max:"1000" unit:"numbers" doc:"gaussian and special: uniform numbers of which one draw is the mean"`
	DistPct  int    `key:"oltp_dist_pct" default:"1" min:"1" max:"100" unit:"percent" doc:"special: the part of the rows, in their middle, that is hot"`
	DistRes  int    `key:"oltp_dist_res" default:"75" min:"0" max:"99" unit:"percent" doc:"special: draws that go to the hot part; the others are gaussian"`
}

// The modes.
const (
	modeSimple = "simple"
	modeNontrx = "nontrx"
)

// The statements of sysbench 0.4, complex and simple.
var (
	pointSelect4   = &operation{format: "SELECT c from %s where id=?", class: results.Read, fill: fillID}
	simpleRange4   = &operation{format: "SELECT c from %s where id between ? and ?", class: results.Read, fill: fillRangeWithin}
	sumRange4      = &operation{format: "SELECT SUM(K) from %s where id between ? and ?", class: results.Read, fill: fillRangeWithin}
	orderRange4    = &operation{format: "SELECT c from %s where id between ? and ? order by c", class: results.Read, fill: fillRangeWithin}
	distinctRange4 = &operation{format: "SELECT DISTINCT c from %s where id between ? and ? order by c", class: results.Read, fill: fillWiderRangeWithin}

	indexUpdate4    = &operation{format: "UPDATE %s set k=k+1 where id=?", class: results.Write, fill: fillID}
	nonIndexUpdate4 = &operation{format: "UPDATE %s set c=? where id=?", class: results.Write, fill: fillNumbersAndID}

	// The row that is deleted and put back is updated before.
	updateRow4  = &operation{format: "UPDATE %s set k=k+1 where id=?", class: results.Write, fill: fillRow}
	deleteRow4  = &operation{format: "DELETE from %s where id=?", class: results.Write, fill: fillSameID, deletes: true}
	insertSame4 = &operation{format: "INSERT INTO %s values(?,0,' ','aaaaaaaaaaffffffffffrrrrrrrrrreeeeeeeeeeyyyyyyyyyy')", class: results.Write, fill: fillSameID, inserts: true, duplicates: true}
)

// Those of nontrx.
var (
	selectPad4   = &operation{format: "SELECT pad from %s where id=?", class: results.Read, fill: fillID}
	deleteEach4  = &operation{format: "DELETE from %s where id=?", class: results.Write, fill: fillCountedID, deletes: true}
	insertAtEnd4 = &operation{format: "INSERT INTO %s values(NULL,?,?,?)", class: results.Write, fill: fillNumbers, inserts: true}
	insertNew4   = &operation{format: "INSERT INTO %s values(?,?,?,?)", class: results.Write, fill: fillNewIDAndNumbers, inserts: true, duplicates: true}
)

func fillRangeWithin(c *client, args *engine.Args) {
	from := c.rangeWithin()
	args.Int(from)
	args.Int(from + c.work.rangeSize - 1)
}

// fillWiderRangeWithin is of the range with DISTINCT, which in 0.4 is one id wider.
func fillWiderRangeWithin(c *client, args *engine.Args) {
	from := c.rangeWithin()
	args.Int(from)
	args.Int(from + c.work.rangeSize)
}

// rangeWithin draws where a range begins so that it does not reach beyond the last row.
func (c *client) rangeWithin() int64 { return max(1, min(c.id(), c.ids.n-c.work.rangeSize)) }

func fillNumbersAndID(c *client, args *engine.Args) {
	addNumbers(args, c.random, numbersOfC)
	args.Int(c.id())
}

func fillSameID(c *client, args *engine.Args) { args.Int(c.row) }

func fillCountedID(c *client, args *engine.Args) { args.Int(c.counted.id()) }

func fillNumbers(c *client, args *engine.Args) {
	args.Int(c.id())
	addNumbers(args, c.random, numbersOfC)
	addNumbers(args, c.random, numbersOfPad)
}

func fillNewIDAndNumbers(c *client, args *engine.Args) {
	args.Int(c.unused.next())
	fillNumbers(c, args)
}

func version4() engine.Definition {
	return definition[Version4Options]{
		name: "oltp_0_4", schema: SchemaVersion4, mode: engine.PSAuto,
		doc: "sysbench 0.4 oltp: a transaction of 14 selects, 5 writes, BEGIN and COMMIT on the one table sbtest, or one of its simpler modes",
		check: func(o *Version4Options, tables plan.Tables) error {
			if len(o.event(tables)) == 0 {
				return errNothing
			}
			return needRows(tables)
		},
		build: func(o *Version4Options, tables plan.Tables, _ int) (engine.Workload, error) {
			rows := int64(tables.Rows)
			w := newWorkload([]string{tableVersion4}, o.sampler(rows))
			w.rangeSize, w.counted, w.newIDs = o.RangeSize, rows, newIDSpace(rows, false)
			e := o.event(tables)
			switch {
			case o.SkipTrx || o.TestMode == modeSimple || o.TestMode == modeNontrx:
			case o.transactional(tables.Engine):
				e = w.inTransaction(e, tables)
			case o.ReadOnly:
				e = w.underLock(e, tableVersion4+" READ")
			default:
				e = w.underLock(e, tableVersion4+" WRITE")
			}
			return w.doing(e), nil
		},
	}.definition()
}

// event gives the statements of the mode.
func (o *Version4Options) event(tables plan.Tables) event {
	switch o.TestMode {
	case modeSimple:
		return event{}.group(1, pointSelect4)
	case modeNontrx:
		return event{}.group(1, o.nontrx(tables))
	}
	e := event{}.group(o.PointSelects, pointSelect4).group(o.SimpleRanges, simpleRange4).group(o.SumRanges, sumRange4)
	e = e.group(o.OrderRanges, orderRange4).group(o.DistinctRanges, distinctRange4)
	if !o.ReadOnly {
		e = e.group(o.IndexUpdates, indexUpdate4).group(o.NonIndexUpdates, nonIndexUpdate4).group(1, updateRow4, deleteRow4, insertSame4)
	}
	return e
}

func (o *Version4Options) nontrx(tables plan.Tables) *operation {
	switch o.NontrxMode {
	case "update_key":
		return indexUpdate4
	case "update_nokey":
		return nonIndexUpdate4
	case "delete":
		return deleteEach4
	case "insert":
		if version4Options(tables).AutoInc {
			return insertAtEnd4
		}
		return insertNew4
	}
	return selectPad4
}

// sampler draws ids as sysbench 0.4 does: its special differs from that of 1.0 in the hot part, which is a full pct hundredths
// of the rows from N/2 − N·pct/200 on, in whole numbers.
func (o *Version4Options) sampler(rows int64) sampler {
	d := Distribution{RandType: o.DistType, RandSpecIter: o.DistIter, RandSpecPct: o.DistPct, RandSpecRes: o.DistRes}
	s := d.sampler(1, rows)
	pct := int64(o.DistPct)
	s.hot = hotZone{width: float64(max(1, rows*pct/100)), offset: float64(rows/2 - rows*pct/200 - s.a)}
	return s
}
