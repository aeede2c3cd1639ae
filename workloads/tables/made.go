package tables

import (
	"regexp"
	"sync"
)

// Made remembers the tables of one database that Prepare made by a plan's own CREATE TABLE, on a server that takes no comment
// for them. Whoever holds it can prepare them again and clean them up; for all others they are tables that benchplan did not
// make. A table is known by its name together with its definition, as the server gave it when the table was made: one that
// somebody put in its place is not taken for it, unless it is the same. The zero value knows none, nor does nil.
type Made struct {
	mu     sync.Mutex
	tables map[string]string // definitions by name
}

// counter is the one part of a definition that changes by itself.
var counter = regexp.MustCompile(`(?i) AUTO_INCREMENT=[0-9]+`)

func withoutCounter(ddl string) string { return counter.ReplaceAllString(ddl, "") }

func (m *Made) note(table, ddl string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tables == nil {
		m.tables = map[string]string{}
	}
	m.tables[table] = withoutCounter(ddl)
}

func (m *Made) forget(table string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.tables, table)
}

func (m *Made) knows(table, ddl string) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.tables[table]
	return ok && known == withoutCounter(ddl)
}
