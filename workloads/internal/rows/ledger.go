// Package rows is what families whose clients change rows share: the account of what the server acknowledged, and the texts that
// sysbench, and benchyou after it, fill into the columns c and pad.
package rows

import "benchplan/results"

// Ledger is what a client knows of the rows that it put into each table and took out.
type Ledger struct {
	tables []results.Changes
	open   []change // not committed yet
}

// NewLedger makes an account of so many tables.
func NewLedger(tables int) Ledger { return Ledger{tables: make([]results.Changes, tables)} }

type change struct {
	table int
	results.Changes
}

// Note adds a change of the transaction that is open.
func (l *Ledger) Note(table int, c results.Changes) {
	if c != (results.Changes{}) {
		l.open = append(l.open, change{table, c})
	}
}

// Commit makes what is open count.
func (l *Ledger) Commit() {
	for _, c := range l.open {
		l.tables[c.table].Inserted += c.Inserted
		l.tables[c.table].Deleted += c.Deleted
	}
	l.Forget()
}

// Doubt says that nobody knows whether what is open was committed.
func (l *Ledger) Doubt() {
	for _, c := range l.open {
		l.tables[c.table].Unsure += c.Inserted + c.Deleted
	}
	l.Forget()
}

// Forget says that what is open was rolled back.
func (l *Ledger) Forget() { l.open = l.open[:0] }

// Report gives the sums to the engine.
func (l *Ledger) Report(name func(i int) string, report func(table string, changes results.Changes)) {
	for i, c := range l.tables {
		if c != (results.Changes{}) {
			report(name(i), c)
		}
	}
}
