package benchyou

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"benchplan/plan"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/rows"
)

// workload is one of the three, for one cell.
type workload struct {
	options    Options
	tables     int
	rows       int64 // prepared in each table
	sequential bool
	ranges     string // how a range ends; empty: reads are of one id
	nonce      uint32 // tells the transactions of this cell from those that an earlier one may have left prepared
}

func newWorkload(o Options, tables plan.Tables, sequential bool) (*workload, error) {
	if tables.Count < 1 {
		return nil, fmt.Errorf("benchyou works on at least one table, not %d", tables.Count)
	}
	if err := o.check(tables); err != nil {
		return nil, err
	}
	return &workload{options: o, tables: tables.Count, rows: int64(tables.Rows), sequential: sequential, nonce: rand.Uint32()}, nil
}

// Templates implements engine.Workload: a role has one statement, for each table.
func (w *workload) Templates(role string) []string {
	templates := make([]string, w.tables)
	for i := range templates {
		templates[i] = w.template(role, tableName(i))
	}
	return templates
}

func (w *workload) template(role, table string) string {
	switch role {
	case roleWrite:
		columns, row := "k,c,pad,id", "(?,?,?,?)"
		if w.sequential {
			columns, row = "k,c,pad", "(?,?,?)"
		}
		return fmt.Sprintf("INSERT INTO %s(%s) VALUES %s", table, columns, strings.Repeat(row+",", w.options.RowsPerInsert-1)+row)
	case roleUpdate:
		return fmt.Sprintf("UPDATE %s SET c=? WHERE id=?", table)
	case roleDelete:
		return fmt.Sprintf("DELETE FROM %s WHERE id=?", table)
	}
	if w.ranges != "" {
		return fmt.Sprintf("SELECT * FROM %s WHERE id BETWEEN ? AND ?%s", table, w.ranges)
	}
	return fmt.Sprintf("SELECT * FROM %s WHERE id=?", table)
}

// Client implements engine.Workload.
func (w *workload) Client(role string, index, n int, random *rand.Rand) engine.Client {
	keys := w.keysOf(index, n)
	if role == roleRead {
		return &reader{workload: w, keys: keys, random: random}
	}
	return &writer{
		workload: w, role: role, keys: keys, random: random, ledger: rows.NewLedger(w.tables),
		xidStem: fmt.Sprintf("benchplan-%08x-%s-%d-", w.nonce, role, index),
	}
}

// keys are the ids of a client.
type keys struct {
	slice         // from which inserts take id and k
	drawn slice   // from which the ids of reads, updates and deletes are drawn
	up    counter // or counted
	byUp  bool
}

func (w *workload) keysOf(index, n int) keys {
	k := keys{slice: sliceOf(index, n), byUp: w.sequential}
	k.drawn = k.slice
	k.up = counter{slice: k.slice}
	if w.options.Keys == KeysExisting {
		k.drawn = slice{lo: 1, hi: w.rows + 1}
		k.up = counter{slice: shareOf(w.rows, index, n)}
	}
	// No insert is at a prepared id, nor at 0, for which the server takes the next free one.
	k.lo = max(k.lo, w.rows+1)
	k.hi = max(k.hi, k.lo+1)
	return k
}

// one gives the id of the next statement.
func (k *keys) one(random *rand.Rand) int64 {
	if k.byUp {
		return k.up.count()
	}
	return k.drawn.draw(random)
}

// between gives the two ends of a range.
func (k *keys) between(random *rand.Rand) (lower, upper int64) {
	lower = k.drawn.draw(random)
	return lower, slice{lo: lower, hi: k.drawn.hi}.draw(random)
}
