// Package engine drives the clients of a workload against a server and measures what they do.
//
// A workload yields statements and is told what came back; it never touches a connection. The engine alone connects,
// executes, times, counts, restarts and stops. Within the engine a session decides what one client does next and knows
// no socket; a runner carries that out over a driver.Conn, or, where that can be, an event loop does for many over sockets
// of the engine's own. In an open loop a schedule says when events are due and a queue hands them to the sessions, and
// neither knows how waiting is done; a pacer waits, or the event loop.
package engine

import (
	"math/rand/v2"

	"benchplan/plan"
	"benchplan/results"
)

// Definition is a workload as the registry knows it: its name in a plan, its options and how it is made.
type Definition struct {
	Name   string
	Doc    string // one sentence
	Schema string // the table schema that it works on; empty for a host workload
	Roles  []Role // empty: all its clients do the same
	// PSMode is how its statements are sent where the plan does not say.
	PSMode PSMode
	// Options gives a new options struct (a pointer) whose tags carry key, unit, default and doc.
	Options func() any
	// Check says what is wrong with options that are each right by themselves, or with the tables they meet; nil is fine.
	Check func(options any, tables plan.Tables) error
	// New makes the workload for one cell; clients says how many of each role there will be.
	New func(options any, tables plan.Tables, clients map[string]int) (Workload, error)
	// Host is what a workload that loads this machine has in place of Schema, PSMode, Check and New; nil: it loads a server.
	Host *Host
}

// Role is a kind of client within a workload, for example the clients that write.
type Role struct {
	Name    string
	Clients int // how many, where the plan does not say
	Doc     string
}

// Workload yields statements and never touches a connection.
type Workload interface {
	// Templates lists the statements with placeholders that clients of the role use, in the order that Statement.Template counts.
	Templates(role string) []string
	// Client makes the state of client index (from 0) of the role's n clients.
	Client(role string, index, n int, random *rand.Rand) Client
}

// Client is the state of one client. The engine calls it from one goroutine at a time.
//
// The engine asks Next and tells Done until a statement was the Last of its event. When a statement fails and the cell
// goes on, the engine asks Undo instead of telling Done; after that Next begins an event anew.
type Client interface {
	// Next fills in the next statement, which comes empty.
	Next(s *Statement)
	// Done tells what came back for the statement that Next filled in last: rows returned, or rows changed.
	Done(rows, affected int64)
	// Undo is asked after the statement that Next filled in last had failed. While something of a transaction is left to
	// roll back it fills in a statement (which comes empty) and returns true, and is asked again once that was executed;
	// false says that the client's state is as before the event (of a transaction that spans events: before the first).
	// With lost the connection was lost and is a new one: the server has rolled back what was not committed or prepared,
	// and whether it executed the failed statement is unknown. That can also happen between two calls.
	Undo(s *Statement, lost bool) bool
}

// Closer is a Client that may have a transaction open between two events.
type Closer interface {
	// Close is asked once the client's last event is over. While something is left to be done it fills in a statement
	// (which comes empty) and returns true, and is asked again once that was executed. These statements are not counted.
	// It is not asked of a client whose own error ended the cell.
	Close(s *Statement) bool
}

// Ledger is a Client that keeps account of what the server acknowledged, so that the tables can be verified.
type Ledger interface {
	// Changes reports the sum of all the client's changes to each table. It is called once, after the client's last
	// statement, and counts what was open then as unsure.
	Changes(report func(table string, changes results.Changes))
}

// Statement is what a client wants executed next.
type Statement struct {
	Template int    // index into Templates, or Plain for Text
	Text     []byte // the whole statement, when Template is Plain: sent as text whatever the PSMode
	Args     Args   // the template's arguments
	Class    results.Class
	Last     bool // the event ends with this statement
	// RestartDuplicate lets a duplicate key (error 1062) restart the event: for workloads in which clients meet on keys.
	RestartDuplicate bool
	// Tolerant makes an error of the server count as success: for undoing what the server may have undone already. It
	// is heeded for statements of Undo and Close only.
	Tolerant bool
}

// Plain is the Template of a statement that stands in Text.
const Plain = -1

// reset empties the statement and keeps its memory.
func (s *Statement) reset() {
	*s = Statement{Text: s.Text[:0], Args: s.Args[:0]}
}

// Arg is an argument without boxing.
type Arg struct {
	Kind  ArgKind
	Int   int64  // for Int; the bits of the number for Uint
	Bytes []byte // for Bytes
}

// ArgKind tells which field of an Arg counts.
type ArgKind uint8

// The kinds.
const (
	Int ArgKind = iota
	Uint
	Bytes
)

// Args is a list of arguments whose memory is used again once it was emptied by args[:0].
type Args []Arg

// Int appends a signed integer.
func (a *Args) Int(v int64) { *a.add(Int) = Arg{Kind: Int, Int: v, Bytes: a.last().Bytes} }

// Uint appends an unsigned integer.
func (a *Args) Uint(v uint64) { *a.add(Uint) = Arg{Kind: Uint, Int: int64(v), Bytes: a.last().Bytes} }

// Text appends a string of bytes, which is made by appending to what fill is given.
func (a *Args) Text(fill func(dst []byte) []byte) {
	arg := a.add(Bytes)
	arg.Bytes = fill(arg.Bytes[:0])
}

// add makes room for one more argument, with the memory of the one that stood there before.
func (a *Args) add(kind ArgKind) *Arg {
	if n := len(*a); n < cap(*a) {
		*a = (*a)[:n+1]
	} else {
		*a = append(*a, Arg{})
	}
	arg := a.last()
	arg.Kind = kind
	return arg
}

func (a *Args) last() *Arg { return &(*a)[len(*a)-1] }
