package sysbench

import (
	"math/rand/v2"

	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/rows"
)

// client is one client: where it is in its event, and what it knows of its changes.
type client struct {
	work    *workload
	ids     sampler
	random  *rand.Rand
	ledger  rows.Ledger
	unused  idWalk
	counted walk

	at      int  // index into the event
	asked   bool // the statement at was given out, and neither answered nor undone
	undoing bool
	table   int   // drawn last
	row     int64 // likewise, for the statements of a group that work on one row
}

func (c *client) id() int64 { return c.ids.draw(c.random) }

// Next implements engine.Client.
func (c *client) Next(s *engine.Statement) {
	at := &c.work.event[c.at]
	c.asked = true
	s.Last = c.at == len(c.work.event)-1
	if at.op == nil {
		say(s, at.text)
		return
	}
	if at.draws {
		c.table = c.random.IntN(len(c.work.tables))
	}
	s.Template = at.template + c.table
	s.Class = at.op.class
	s.RestartDuplicate = at.op.duplicates
	at.op.fill(c, &s.Args)
}

// say fills in a statement that stands around.
func say(s *engine.Statement, text string) {
	s.Template = engine.Plain
	s.Class = results.Other
	s.Text = append(s.Text, text...)
}

// Done implements engine.Client.
func (c *client) Done(_, affected int64) {
	c.asked = false
	if op := c.work.event[c.at].op; op != nil {
		c.ledger.Note(c.table, op.changes(affected))
		if !c.work.transaction {
			c.ledger.Commit()
		}
	}
	if c.at++; c.at == len(c.work.event) {
		c.at = 0
		c.ledger.Commit()
	}
}

// Undo implements engine.Client. After a deadlock the server has rolled back by itself, after a lock wait timeout it has
// not; the statement is right for both.
func (c *client) Undo(s *engine.Statement, lost bool) bool {
	begun := c.work.undo != "" && c.at > 0
	c.settle(lost)
	if begun && !lost && !c.undoing {
		c.undoing = true
		say(s, c.work.undo)
		return true
	}
	c.at, c.undoing = 0, false
	return false
}

// settle closes the account of the event under way: when the connection was lost and the statement asked last would have made
// changes lasting, nobody knows.
func (c *client) settle(lost bool) {
	if lost && c.asked {
		switch op := c.work.event[c.at].op; {
		case op != nil && !c.work.transaction:
			c.ledger.Note(c.table, op.changes(1))
			c.ledger.Doubt()
		case op == nil && c.at > 0:
			c.ledger.Doubt()
		}
	}
	c.asked = false
	c.ledger.Forget()
}

// Changes implements engine.Ledger.
func (c *client) Changes(report func(table string, changes results.Changes)) {
	c.settle(true)
	c.ledger.Report(func(i int) string { return c.work.tables[i] }, report)
}
