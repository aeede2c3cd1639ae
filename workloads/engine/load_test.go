package engine_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
)

func TestMain(m *testing.M) {
	// Most tests wait for a cell to end and need no processor for it; go test's -parallel goes before.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	testdb.Main(m)
}

// load is a workload for tests: every event is the same statements.
type load struct {
	templates []string
	event     func(index int, random *rand.Rand) []engine.Statement
}

func (l load) Templates(string) []string { return l.templates }

func (l load) Client(_ string, index, _ int, random *rand.Rand) engine.Client {
	return &client{event: func() []engine.Statement { return l.event(index, random) }}
}

// client counts what it is told.
type client struct {
	event     func() []engine.Statement
	current   []engine.Statement
	at        int
	open      bool // between begin and commit
	committed int64
}

func (c *client) Next(s *engine.Statement) {
	if c.at == 0 {
		c.current = c.event()
	}
	*s = c.current[c.at]
	s.Last = c.at == len(c.current)-1
}

func (c *client) Done(int64, int64) {
	switch string(c.current[c.at].Text) {
	case "BEGIN":
		c.open = true
	case "COMMIT":
		c.open = false
	}
	if c.at++; c.at == len(c.current) {
		c.at = 0
		c.committed++
	}
}

func (c *client) Undo(s *engine.Statement, lost bool) bool {
	c.at = 0
	if c.open && !lost {
		c.open = false
		*s = plain("ROLLBACK", results.Other)
		return true
	}
	c.open = false
	return false
}

func (c *client) Changes(report func(string, results.Changes)) {
	report("events", results.Changes{Inserted: c.committed})
}

func plain(text string, class results.Class) engine.Statement {
	return engine.Statement{Template: engine.Plain, Text: []byte(text), Class: class}
}

func write(template int, args ...int64) engine.Statement {
	s := engine.Statement{Template: template, Class: results.Write}
	for _, a := range args {
		s.Args.Int(a)
	}
	return s
}

// always gives a load of one and the same event.
func always(templates []string, event ...engine.Statement) load {
	return load{templates: templates, event: func(int, *rand.Rand) []engine.Statement { return event }}
}

// sleeps is a load of statements that take so long.
func sleeps(seconds string) load {
	return always(nil, plain("SELECT SLEEP("+seconds+")", results.Read))
}

func clients(n int) []engine.RoleClients { return []engine.RoleClients{{Count: n}} }
