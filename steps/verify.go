package steps

import (
	"context"
	"fmt"
	"strings"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads"
	"benchplan/workloads/tables"
)

type verifySpec struct{}

func verifyKind() Kind {
	return checked(define("checks that the tables hold the rows that were loaded, and those that the server acknowledged", doVerify), func(_ *verifySpec, in plan.Place) []plan.Problem {
		return checkTables(in)
	})
}

// ledger is what each table has to hold: what prepare loaded and what the workloads were told is in it.
type ledger map[tableKey]results.Changes

type tableKey struct{ server, database, table string }

func (l ledger) prepared(conn *connection, database string, names []string, rows int64) {
	for _, name := range names {
		l[tableKey{conn.key, database, name}] = results.Changes{Inserted: rows}
	}
}

func (l ledger) dropped(conn *connection, database string, names []string) {
	for _, name := range names {
		delete(l, tableKey{conn.key, database, name})
	}
}

// changed adds what a load has changed. A table that was not prepared in this run is not kept account of.
func (l ledger) changed(conn *connection, database string, changes map[string]results.Changes) {
	for table, by := range changes {
		key := tableKey{conn.key, database, table}
		if sum, ok := l[key]; ok {
			sum.Inserted += by.Inserted
			sum.Deleted += by.Deleted
			sum.Unsure += by.Unsure
			l[key] = sum
		}
	}
}

func doVerify(ctx context.Context, c *Call, _ *verifySpec) (map[string]any, error) {
	conn, t, wanted, err := c.data(ctx)
	if err != nil {
		return nil, err
	}
	connector, err := conn.connector(t.Database)
	if err != nil {
		return nil, err
	}
	counted, err := tables.Count(ctx, connector, workloads.Schemas()[wanted.Schema], *wanted)
	if err != nil {
		return nil, conn.advise(err)
	}
	var wrong []string
	for _, table := range counted {
		sum, known := c.run.expected[tableKey{conn.key, t.Database, table.Table}]
		if !known {
			return nil, fmt.Errorf("table %s was not prepared in this run, so there is nothing to hold it against; put a prepare step before", table.Table)
		}
		rows := sum.Inserted - sum.Deleted
		if diff := table.Rows - rows; diff > sum.Unsure || -diff > sum.Unsure {
			text := fmt.Sprintf("table %s has %d rows, expected %d (%d inserted, %d deleted", table.Table, table.Rows, rows, sum.Inserted, sum.Deleted)
			if sum.Unsure > 0 {
				text += fmt.Sprintf(", give or take %d whose answer was lost", sum.Unsure)
			}
			wrong = append(wrong, text+")")
		}
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return nil, nil
}
