package sysbench

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/tables"
)

// TransferOptions are the options of transfer.
type TransferOptions struct {
	Mode   string `key:"mode" default:"transaction" enum:"transaction|single_statement" doc:"transaction: BEGIN, an UPDATE that takes, an UPDATE that gives, COMMIT, on two tables where there are two; single_statement: one UPDATE of two rows of a table, for systems without transactions"`
	Amount int64  `key:"amount" default:"100" min:"1" max:"1000000" doc:"the most that one event moves; how much it does is drawn"`
	Distribution
}

const modeSingle = "single_statement"

func transfers() engine.Definition {
	return definition[TransferOptions]{
		name: "transfer", schema: SchemaName, mode: engine.PSAuto,
		doc: "moves amounts of k from row to row, so that verify can see whether the sum over all tables is what it was: a server that tears transactions apart is found out",
		check: func(o *TransferOptions, tables plan.Tables) error {
			if tables.Rows < 2 && (o.Mode == modeSingle || tables.Count < 2 || tables.Rows < 1) {
				return errors.New("transfer moves amounts between two rows: set rows of tables to 2 or more")
			}
			return nil
		},
		build: func(o *TransferOptions, tables plan.Tables, _ int) (engine.Workload, error) {
			return &moves{
				single: o.Mode == modeSingle, amount: o.Amount, tables: names(tables), ids: o.sampler(1, int64(tables.Rows)),
			}, nil
		},
	}.definition()
}

// moves is the workload of a cell.
type moves struct {
	single bool
	amount int64
	tables []string
	ids    sampler
}

var _ tables.Conserver = (*moves)(nil)

// Conserves implements tables.Conserver.
func (m *moves) Conserves() string { return "k" }

// Templates implements engine.Workload: what takes, on each table, then what gives.
func (m *moves) Templates(string) []string {
	formats := []string{"UPDATE %s SET k=k-? WHERE id=?", "UPDATE %s SET k=k+? WHERE id=?"}
	if m.single {
		formats = []string{"UPDATE %s SET k=CASE id WHEN ? THEN k-? ELSE k+? END WHERE id IN (?, ?)"}
	}
	var templates []string
	for _, format := range formats {
		for _, table := range m.tables {
			templates = append(templates, fmt.Sprintf(format, table))
		}
	}
	return templates
}

// Client implements engine.Workload.
func (m *moves) Client(_ string, _, _ int, random *rand.Rand) engine.Client {
	return &mover{work: m, ids: m.ids, random: random}
}

// mover is a client that moves amounts.
type mover struct {
	work   *moves
	ids    sampler
	random *rand.Rand

	at       stage
	from, to place
	amount   int64
	missed   bool // an update met no row, so what is open must not be committed
	undoing  bool
}

type place struct {
	table int
	id    int64
}

// stage is where an event of several statements is.
type stage uint8

const (
	atBegin stage = iota
	atTake
	atGive
	atCommit
)

// Next implements engine.Client.
func (m *mover) Next(s *engine.Statement) {
	if m.at == atBegin {
		m.choose()
	}
	if m.work.single {
		m.move(s)
		return
	}
	switch m.at {
	case atBegin:
		say(s, "BEGIN")
	case atTake:
		m.update(s, m.from, 0)
	case atGive:
		m.update(s, m.to, len(m.work.tables))
	case atCommit:
		s.Last = true
		if m.missed {
			say(s, "ROLLBACK")
			return
		}
		say(s, "COMMIT")
	}
}

// choose draws what the event moves, and between which two rows.
func (m *mover) choose() {
	n := len(m.work.tables)
	m.amount = 1 + m.random.Int64N(m.work.amount)
	m.missed = false
	m.from = place{m.random.IntN(n), m.ids.draw(m.random)}
	m.to = place{m.from.table, m.ids.draw(m.random)}
	switch {
	case n > 1 && !m.work.single:
		m.to.table = (m.from.table + 1 + m.random.IntN(n-1)) % n
	case m.to.id == m.from.id:
		m.to.id = m.from.id%m.ids.n + 1
	}
}

// update fills in the statement that changes one of the two rows.
func (m *mover) update(s *engine.Statement, at place, first int) {
	s.Template, s.Class = first+at.table, results.Write
	s.Args.Int(m.amount)
	s.Args.Int(at.id)
}

// move fills in the statement that changes both.
func (m *mover) move(s *engine.Statement) {
	s.Template, s.Class, s.Last = m.from.table, results.Write, true
	s.Args.Int(m.from.id)
	s.Args.Int(m.amount)
	s.Args.Int(m.amount)
	s.Args.Int(m.from.id)
	s.Args.Int(m.to.id)
}

// Done implements engine.Client.
func (m *mover) Done(_, affected int64) {
	switch {
	case m.work.single:
	case m.at == atCommit:
		m.at = atBegin
	case m.at != atBegin && affected == 0:
		m.missed = true
		m.at = atCommit
	default:
		m.at++
	}
}

// Undo implements engine.Client.
func (m *mover) Undo(s *engine.Statement, lost bool) bool {
	begun := m.at != atBegin
	if begun && !lost && !m.undoing {
		m.undoing = true
		say(s, "ROLLBACK")
		return true
	}
	m.at, m.undoing = atBegin, false
	return false
}
