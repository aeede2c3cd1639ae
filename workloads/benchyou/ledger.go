package benchyou

import "benchplan/results"

// ledger is what a client knows of its changes to each table.
type ledger struct {
	tables []results.Changes
	open   []change // not committed yet
}

type change struct {
	table int
	results.Changes
}

// note adds a change of the transaction that is open.
func (l *ledger) note(table int, c results.Changes) {
	if c != (results.Changes{}) {
		l.open = append(l.open, change{table, c})
	}
}

// commit makes what is open count.
func (l *ledger) commit() {
	for _, c := range l.open {
		l.tables[c.table].Inserted += c.Inserted
		l.tables[c.table].Deleted += c.Deleted
	}
	l.forget()
}

// doubt says that nobody knows whether what is open was committed.
func (l *ledger) doubt() {
	for _, c := range l.open {
		l.tables[c.table].Unsure += c.Inserted + c.Deleted
	}
	l.forget()
}

// forget says that what is open was rolled back.
func (l *ledger) forget() { l.open = l.open[:0] }
