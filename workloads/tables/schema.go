// Package tables makes, fills, counts and drops the tables that workloads run on.
//
// It knows no family of tables: a Schema says what a table looks like and what stands in its rows. Tables that it made
// carry a comment by which it knows them again, also through a proxy, and it drops no others unless forced to.
package tables

import (
	"math/rand/v2"
	"strings"

	"benchplan/plan"
	"benchplan/workloads/engine"
)

// Schema is the tables of a family: their names, their columns and how their rows are made.
type Schema interface {
	// Doc is one sentence about the tables.
	Doc() string
	// Options gives a new options struct (a pointer) for what only this schema has; nil where it has none. It arrives in
	// spec.More.
	Options() any
	// Check says what is wrong with the tables wanted; nil is fine.
	Check(spec plan.Tables) error
	// Table names table i, counted from 0.
	Table(spec plan.Tables, i int) string
	// Body is what stands in the parentheses of CREATE TABLE: columns and keys.
	Body(spec plan.Tables, i int) string
	// Indexes lists the secondary indexes of table i that are made after it was filled.
	Indexes(spec plan.Tables, i int) []Index
	// Columns names the columns that a row gives values for.
	Columns(spec plan.Tables) []string
	// Rows gives what makes the rows of table i. It is called once for many rows, and what it gives is used by one goroutine.
	Rows(spec plan.Tables, i int) Row
}

// Row appends the values of row n (from 1) to an empty row, in the order of Schema.Columns. What is random comes from random
// alone. Texts are ASCII, which is the same in every character set that a connection can have. Texts that need escaping are not
// for servers whose sql_mode has NO_BACKSLASH_ESCAPES.
type Row func(row *engine.Args, n int64, random *rand.Rand)

// Optioned is a Schema whose tables have options of their own, beside those of the plan.
type Optioned interface {
	// TableOptions is what stands behind the engine in CREATE TABLE of table i; empty for nothing.
	TableOptions(spec plan.Tables, i int) string
}

// Custom is a Schema that can take the whole of CREATE TABLE from the plan.
type Custom interface {
	// CreateTable is the statement that makes table i; empty where the plan has none, so that Body, the engine and the options
	// make it. Prepare puts its comment on the table afterwards.
	CreateTable(spec plan.Tables, i int) string
}

// Portable is a Schema of which a plan can ask what only one product knows.
type Portable interface {
	// Portable is the spec without that, so that any server takes it.
	Portable(spec plan.Tables) plan.Tables
}

// Index is a secondary index that is made after loading.
type Index struct {
	Name    string
	Columns []string
}

// Names lists the names of all tables of the spec.
func Names(schema Schema, spec plan.Tables) []string {
	names := make([]string, spec.Count)
	for i := range names {
		names[i] = schema.Table(spec, i)
	}
	return names
}

// Quote writes an identifier in backticks.
func Quote(identifier string) string {
	return "`" + strings.ReplaceAll(identifier, "`", "``") + "`"
}

// quoteAll writes a list of identifiers.
func quoteAll(identifiers []string) string {
	quoted := make([]string, len(identifiers))
	for i, name := range identifiers {
		quoted[i] = Quote(name)
	}
	return strings.Join(quoted, ", ")
}
