package benchyou

import (
	"math/rand/v2"
	"strconv"

	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/rows"
)

// stage is what one statement of a writing client is for.
type stage uint8

const (
	write stage = iota
	begin
	commit
	rollback
	xaStart
	xaEnd
	xaPrepare
	xaCommit
	xaRollback
)

// The stages of an event: one statement that writes, and what stands around it.
var (
	alone       = []stage{write}
	firstOfMany = []stage{begin, write}
	lastOfMany  = []stage{write, commit}
	twoPhase    = []stage{xaStart, write, xaEnd, xaPrepare, xaCommit}
)

// verbs are the statements of the stages; those of XA are followed by the transaction's name.
var verbs = [...]string{
	begin: "begin", commit: "commit", rollback: "rollback",
	xaStart: "xa start ", xaEnd: "xa end ", xaPrepare: "xa prepare ", xaCommit: "xa commit ", xaRollback: "xa rollback ",
}

// writer is a client that inserts, updates or deletes.
type writer struct {
	workload *workload
	role     string
	keys     keys
	random   *rand.Rand
	ledger   rows.Ledger

	event    []stage // of the event under way
	at       int     // index into event
	asked    bool    // the statement at was given out, and neither answered nor undone
	table    int     // that it writes to
	batched  int     // statements written in the transaction that is open
	closing  bool    // the transaction that is open was told to commit, after the last event
	undoing  bool
	undo     []stage  // what is left to roll back
	xidStem  string   // the first part of the names of the client's XA transactions
	xidCount uint64   // the second
	doubtful []uint64 // those of transactions that may have stayed prepared when their connection was lost
}

// Next implements engine.Client.
func (w *writer) Next(s *engine.Statement) {
	if w.at == 0 {
		w.event = w.stages()
		w.xidCount++
	}
	w.asked = true
	s.Last = w.at == len(w.event)-1
	if w.event[w.at] == write {
		w.write(s)
		return
	}
	w.say(s, w.event[w.at], w.xidCount)
}

// stages gives the stages of the next event.
func (w *writer) stages() []stage {
	o := w.workload.options
	switch {
	case o.XA:
		return twoPhase
	case o.BatchPerCommit > 1 && w.batched == 0:
		return firstOfMany
	case o.BatchPerCommit > 1 && w.batched == o.BatchPerCommit-1:
		return lastOfMany
	}
	return alone
}

// write fills in the statement that writes.
func (w *writer) write(s *engine.Statement) {
	w.table = w.random.IntN(w.workload.tables)
	s.Template = w.table
	s.Class = results.Write
	switch w.role {
	case roleWrite:
		for range w.workload.options.RowsPerInsert {
			s.Args.Int(w.keys.draw(w.random))
			rows.AddC(&s.Args, w.random)
			rows.AddPad(&s.Args, w.random)
			if !w.workload.sequential {
				s.Args.Int(w.keys.draw(w.random))
			}
		}
		// Two random numbers of 63 bits hardly ever meet, but when they do it is nobody's fault.
		s.RestartDuplicate = !w.workload.sequential
	case roleUpdate:
		rows.AddC(&s.Args, w.random)
		s.Args.Int(w.keys.one(w.random))
	case roleDelete:
		s.Args.Int(w.keys.one(w.random))
	}
}

// say fills in a statement that stands around; xid tells which transaction it is about, where it is one of XA.
func (w *writer) say(s *engine.Statement, st stage, xid uint64) {
	s.Template = engine.Plain
	s.Class = results.Other
	s.Text = append(s.Text, verbs[st]...)
	if st >= xaStart {
		s.Text = append(append(s.Text, '\''), w.xidStem...)
		s.Text = append(strconv.AppendUint(s.Text, xid, 10), '\'')
	}
}

// Done implements engine.Client.
func (w *writer) Done(_, affected int64) {
	w.asked = false
	switch w.event[w.at] {
	case write:
		w.wrote(affected)
	case commit, xaCommit:
		w.batched = 0
		w.ledger.Commit()
	}
	if w.at++; w.at == len(w.event) {
		w.at = 0
	}
}

// wrote notes what the statement that writes did.
func (w *writer) wrote(affected int64) {
	w.ledger.Note(w.table, w.changes(affected))
	o := w.workload.options
	switch {
	case o.BatchPerCommit > 1:
		w.batched++
	case !o.XA:
		w.ledger.Commit()
	}
}

// changes gives the changes that so many affected rows mean.
func (w *writer) changes(affected int64) results.Changes {
	switch w.role {
	case roleWrite:
		return results.Changes{Inserted: affected}
	case roleDelete:
		return results.Changes{Deleted: affected}
	}
	return results.Changes{}
}

// Undo implements engine.Client.
func (w *writer) Undo(s *engine.Statement, lost bool) bool {
	if lost || !w.undoing {
		w.settle(lost)
		w.undo = w.leftOver(lost)
		w.undoing = true
	}
	if len(w.undo) == 0 {
		w.undoing, w.at, w.batched = false, 0, 0
		return false
	}
	w.say(s, w.undo[0], w.xidCount)
	// The server may have rolled back by itself, and then knows the transaction no more.
	s.Tolerant = w.undo[0] == xaEnd || w.undo[0] == xaRollback
	w.undo = w.undo[1:]
	return true
}

// leftOver lists what has to be rolled back after the statement under way failed.
func (w *writer) leftOver(lost bool) []stage {
	failed := w.event[w.at]
	if w.workload.options.XA {
		switch {
		case failed >= xaPrepare:
			// A prepared transaction outlives its connection, and keeps its locks. But the server may not know yet that
			// the connection is gone, and then refuses: so it is told again in the end.
			if lost {
				w.doubtful = append(w.doubtful, w.xidCount)
			}
			return []stage{xaRollback}
		case lost || failed == xaStart:
			return nil
		}
		return []stage{xaEnd, xaRollback}
	}
	if !lost && failed != begin && (w.batched > 0 || len(w.event) > 1) {
		return []stage{rollback}
	}
	return nil
}

// settle closes the account of the statement under way, which failed: when its connection was lost and it would have
// committed, nobody knows.
func (w *writer) settle(lost bool) {
	if lost && w.asked {
		switch st := w.event[w.at]; {
		case st == write && len(w.event) == 1 && w.workload.options.BatchPerCommit <= 1:
			w.ledger.Note(w.table, w.changes(w.most()))
			w.ledger.Doubt()
		case st == commit || st == xaCommit:
			w.ledger.Doubt()
		}
	}
	w.asked = false
	w.ledger.Forget()
}

// most is how many rows the statement under way changes at most.
func (w *writer) most() int64 {
	if w.role == roleWrite {
		return int64(w.workload.options.RowsPerInsert)
	}
	return 1
}

// Close implements engine.Closer: what was written since the last commit is kept, what may be left prepared is rolled back.
func (w *writer) Close(s *engine.Statement) bool {
	if w.closing {
		w.closing = false
		w.ledger.Commit()
	}
	switch {
	case w.batched > 0:
		w.batched, w.closing = 0, true
		w.say(s, commit, 0)
	case len(w.doubtful) > 0:
		w.say(s, xaRollback, w.doubtful[0])
		s.Tolerant = true
		w.doubtful = w.doubtful[1:]
	default:
		return false
	}
	return true
}

// Changes implements engine.Ledger.
func (w *writer) Changes(report func(table string, changes results.Changes)) {
	if w.closing {
		w.ledger.Doubt()
	}
	w.settle(true)
	w.ledger.Report(tableName, report)
}
