package steps

import (
	"maps"

	"benchplan/results"
)

// ledger is what each table has to hold: what prepare loaded and what the workloads were told is in it.
type ledger map[tableKey]results.Changes

type tableKey struct{ server, database, table string }

func (l ledger) prepared(conn *connection, database string, names []string, rows int64) {
	for _, name := range names {
		l[tableKey{conn.key, database, name}] = results.Changes{Inserted: rows}
	}
}

// forget strikes out tables that were dropped, or of which nobody knows what they hold.
func (l ledger) forget(conn *connection, database string, names []string) {
	for _, name := range names {
		delete(l, tableKey{conn.key, database, name})
	}
}

func (l ledger) forgetDatabase(conn *connection, database string) {
	maps.DeleteFunc(l, func(k tableKey, _ results.Changes) bool { return k.server == conn.key && k.database == database })
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

// rows sums up the rows of tables, as loaded and acknowledged; 0 where one of them is not kept account of.
func (l ledger) rows(conn *connection, database string, names []string) int64 {
	var sum int64
	for _, name := range names {
		table, ok := l[tableKey{conn.key, database, name}]
		if !ok {
			return 0
		}
		sum += table.Inserted - table.Deleted
	}
	return sum
}
