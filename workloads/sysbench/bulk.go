package sysbench

import (
	"math/rand/v2"
	"strconv"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/rows"
)

// BulkInsertOptions are the options of bulk_insert.
type BulkInsertOptions struct {
	StatementSize plan.Size `key:"statement_size" default:"512k" min:"64" max:"1G" unit:"bytes" doc:"length of one insert; it has to stay below the server's max_allowed_packet"`
}

func bulkInsert() engine.Definition {
	return definition[BulkInsertOptions]{
		name: "bulk_insert", schema: SchemaBulk, mode: engine.PSDisable,
		doc:   "sysbench bulk_insert: inserts of many rows with ids that count up, each client into a table of its own as far as there are tables; an event is a statement",
		check: func(*BulkInsertOptions, plan.Tables) error { return nil },
		build: func(o *BulkInsertOptions, tables plan.Tables, _ int) (engine.Workload, error) {
			return bulkLoad{size: int(o.StatementSize), tables: tables.Count, rows: int64(tables.Rows)}, nil
		},
	}.definition()
}

// bulkLoad is the workload of a cell.
type bulkLoad struct {
	size   int // of a statement, bytes
	tables int
	rows   int64 // prepared in each table
}

// Templates implements engine.Workload: there are none, statements are made as text.
func (bulkLoad) Templates(string) []string { return nil }

// Client implements engine.Workload. Clients that share a table count up in turn.
func (b bulkLoad) Client(_ string, index, n int, _ *rand.Rand) engine.Client {
	table := index % b.tables
	sharers := (n - table + b.tables - 1) / b.tables
	return &loader{
		size: b.size, table: table, head: "INSERT INTO " + tableName(table) + " VALUES",
		next: b.rows + 1 + int64(index/b.tables), stride: int64(sharers),
		ledger: rows.NewLedger(b.tables),
	}
}

// loader is a client that inserts many rows at once.
type loader struct {
	size   int
	table  int
	head   string
	next   int64 // id of the first row that is not in
	stride int64 // from one id to the next
	rows   int64 // of the statement under way
	asked  bool  // it is under way
	ledger rows.Ledger
}

// Next implements engine.Client.
func (l *loader) Next(s *engine.Statement) {
	s.Template, s.Class, s.Last = engine.Plain, results.Write, true
	const signs = len(",(,)") // of a row, with the comma before it
	s.Text = append(s.Text, l.head...)
	l.rows = 0
	for id := l.next; l.rows == 0 || len(s.Text)+signs+2*digits(id) <= l.size; id += l.stride {
		if l.rows > 0 {
			s.Text = append(s.Text, ',')
		}
		s.Text = append(s.Text, '(')
		s.Text = strconv.AppendInt(s.Text, id, 10)
		s.Text = append(s.Text, ',')
		s.Text = strconv.AppendInt(s.Text, id, 10)
		s.Text = append(s.Text, ')')
		l.rows++
	}
	l.asked = true
}

// digits is how many an id has.
func digits(id int64) int {
	n := 1
	for ; id >= 10; id /= 10 {
		n++
	}
	return n
}

// Done implements engine.Client.
func (l *loader) Done(_, affected int64) {
	l.asked = false
	l.ledger.Note(l.table, results.Changes{Inserted: affected})
	l.ledger.Commit()
	l.next += l.rows * l.stride
}

// Undo implements engine.Client: the rows are tried again, unless they may be in already.
func (l *loader) Undo(_ *engine.Statement, lost bool) bool {
	l.settle(lost)
	return false
}

func (l *loader) settle(lost bool) {
	if lost && l.asked {
		l.ledger.Note(l.table, results.Changes{Inserted: l.rows})
		l.ledger.Doubt()
		l.next += l.rows * l.stride
	}
	l.asked = false
}

// Changes implements engine.Ledger.
func (l *loader) Changes(report func(table string, changes results.Changes)) {
	l.settle(true)
	l.ledger.Report(tableName, report)
}
