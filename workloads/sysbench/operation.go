package sysbench

import (
	"fmt"

	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/rows"
)

// operation is one kind of statement that a client sends.
type operation struct {
	format string // the statement; %s stands for the table's name
	class  results.Class
	fill   func(c *client, args *engine.Args)
	// inserts and deletes tell whether the rows that the statement changes are new ones, or gone.
	inserts, deletes bool
	// duplicates tells that clients can meet on a key, so that error 1062 restarts the event.
	duplicates bool
}

// The statements of sysbench 1.0 (oltp_common.lua, oltp_insert.lua).
var (
	pointSelect   = &operation{format: "SELECT c FROM %s WHERE id=?", class: results.Read, fill: fillID}
	simpleRange   = &operation{format: "SELECT c FROM %s WHERE id BETWEEN ? AND ?", class: results.Read, fill: fillRange}
	sumRange      = &operation{format: "SELECT SUM(k) FROM %s WHERE id BETWEEN ? AND ?", class: results.Read, fill: fillRange}
	orderRange    = &operation{format: "SELECT c FROM %s WHERE id BETWEEN ? AND ? ORDER BY c", class: results.Read, fill: fillRange}
	distinctRange = &operation{format: "SELECT DISTINCT c FROM %s WHERE id BETWEEN ? AND ? ORDER BY c", class: results.Read, fill: fillRange}

	indexUpdate    = &operation{format: "UPDATE %s SET k=k+1 WHERE id=?", class: results.Write, fill: fillID}
	nonIndexUpdate = &operation{format: "UPDATE %s SET c=? WHERE id=?", class: results.Write, fill: fillCAndID}
	deleteRow      = &operation{format: "DELETE FROM %s WHERE id=?", class: results.Write, fill: fillRow, deletes: true}
	insertSame     = &operation{format: "INSERT INTO %s (id, k, c, pad) VALUES (?, ?, ?, ?)", class: results.Write, fill: fillSameRow, inserts: true, duplicates: true}

	insertAtEnd = &operation{format: "INSERT INTO %s (id, k, c, pad) VALUES (?, ?, ?, ?)", class: results.Write, fill: fillZeroID, inserts: true}
	insertNew   = &operation{format: "INSERT INTO %s (id, k, c, pad) VALUES (?, ?, ?, ?)", class: results.Write, fill: fillNewID, inserts: true, duplicates: true}
)

func fillID(c *client, args *engine.Args) { args.Int(c.id()) }

func fillRange(c *client, args *engine.Args) {
	id := c.id()
	args.Int(id)
	args.Int(id + c.work.rangeSize - 1)
}

func fillCAndID(c *client, args *engine.Args) {
	rows.AddC(args, c.random)
	args.Int(c.id())
}

// fillRow draws the row that a statement to come works on too.
func fillRow(c *client, args *engine.Args) {
	c.row = c.id()
	args.Int(c.row)
}

// fillSameRow puts the row that fillRow drew back, with new values.
func fillSameRow(c *client, args *engine.Args) {
	args.Int(c.row)
	fillValues(c, args)
}

// fillZeroID leaves the id to the server.
func fillZeroID(c *client, args *engine.Args) {
	args.Int(0)
	fillValues(c, args)
}

func fillNewID(c *client, args *engine.Args) {
	args.Int(c.unused.next())
	fillValues(c, args)
}

func fillValues(c *client, args *engine.Args) {
	args.Int(c.id())
	rows.AddC(args, c.random)
	rows.AddPad(args, c.random)
}

// sql is the statement for a table.
func (o *operation) sql(table string) string { return fmt.Sprintf(o.format, table) }

// changes gives the changes that so many affected rows mean.
func (o *operation) changes(affected int64) results.Changes {
	switch {
	case o.inserts:
		return results.Changes{Inserted: affected}
	case o.deletes:
		return results.Changes{Deleted: affected}
	}
	return results.Changes{}
}
