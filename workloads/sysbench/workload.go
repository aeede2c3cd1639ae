package sysbench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"benchplan/plan"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/rows"
)

// workload is one whose events are the same statements over and over, for one cell.
type workload struct {
	event  event
	ops    []*operation
	tables []string
	ids    sampler // draws ids, and values of k
	// part gives client i of n what it draws ids from, where each has another part; nil: ids.
	part      func(i, n int) sampler
	rangeSize int64
	// transaction tells that what an event changes counts when it commits, and is gone when it is rolled back. Else every
	// statement counts by itself.
	transaction bool
	// resizes tells that the number of rows changes.
	resizes bool
	// undo ends what the event has begun, when a statement failed; empty where it begins nothing.
	undo    string
	newIDs  idSpace
	counted int64 // rows that the deletes of oltp_0_4 count through
}

// newWorkload makes a workload of these tables, which does nothing yet.
func newWorkload(names []string, ids sampler) *workload {
	return &workload{tables: names, ids: ids}
}

// doing gives the workload its event.
func (w *workload) doing(e event) *workload {
	w.event, w.ops = e, e.number(len(w.tables))
	w.resizes = slices.ContainsFunc(w.ops, func(op *operation) bool { return op.inserts || op.deletes })
	return w
}

var (
	errNoRows  = errors.New("the ids are drawn from those that prepare filled in: set rows of tables above 0")
	errNothing = errors.New("with these options an event has no statement")
)

// needRows is the check of the workloads that draw ids of rows.
func needRows(tables plan.Tables) error {
	if tables.Rows == 0 {
		return errNoRows
	}
	return nil
}

// engineIsTransactional tells whether a storage engine has transactions, by its name.
func engineIsTransactional(engine string) bool {
	switch strings.ToLower(engine) {
	case "myisam", "isam", "aria", "maria", "memory", "heap", "csv", "archive", "merge", "mrg_myisam":
		return false
	}
	return true
}

// inTransaction puts BEGIN and COMMIT around an event.
func (w *workload) inTransaction(e event, tables plan.Tables) event {
	w.undo, w.transaction = "ROLLBACK", engineIsTransactional(tables.Engine)
	return e.within("BEGIN", "COMMIT")
}

// underLock puts LOCK TABLES and UNLOCK TABLES around an event.
func (w *workload) underLock(e event, locks string) event {
	w.undo = "UNLOCK TABLES"
	return e.within("LOCK TABLES "+locks, w.undo)
}

// Templates implements engine.Workload: all tables of the first operation, all of the second, …
func (w *workload) Templates(string) []string {
	var templates []string
	for _, op := range w.ops {
		for _, table := range w.tables {
			templates = append(templates, op.sql(table))
		}
	}
	return templates
}

// Client implements engine.Workload.
func (w *workload) Client(_ string, index, n int, random *rand.Rand) engine.Client {
	ids := w.ids
	if w.part != nil {
		ids = w.part(index, n)
	}
	c := &client{
		work: w, ids: ids, random: random,
		unused: w.newIDs.of(index, n), counted: walk{rows: w.counted, next: int64(index), stride: int64(n)},
	}
	if w.resizes {
		c.ledger = rows.NewLedger(len(w.tables))
	}
	return c
}

// names lists sbtest1, sbtest2, …
func names(tables plan.Tables) []string {
	list := make([]string, tables.Count)
	for i := range list {
		list[i] = tableName(i)
	}
	return list
}

func tableName(i int) string { return fmt.Sprintf("sbtest%d", i+1) }
