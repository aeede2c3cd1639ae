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
	Schema string // the table schema that it works on
	Roles  []Role // empty: all its clients do the same
	// Options gives a new options struct (a pointer) whose tags carry key, unit, default and doc.
	Options func() any
	// Check says what is wrong with options that are each right by themselves, or with the tables they meet; nil is fine.
	Check func(options any, tables plan.Tables) error
	// New makes the workload for one cell.
	New func(options any, tables plan.Tables, clients map[string]int) (Workload, error)
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
type Client interface {
	// Next fills in the next statement; the previous one's Args may be reused.
	Next(s *Statement)
	// Done tells what came back for the statement that Next filled in last. An error that ends the event or lets it begin anew is told by Restart or Abandon instead.
	Done(rows, affected int64)
	// Restart says that the transaction was rolled back (or the connection lost) and the event begins anew with the next Next.
	Restart()
}

// Statement is what a client wants executed next.
type Statement struct {
	Template int // index into Templates, or -1 for Text
	Text     []byte
	Args     []Arg
	Class    results.Class
	Last     bool // the event ends with this statement
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
