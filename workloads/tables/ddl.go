package tables

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"benchplan/plan"
)

// mark begins the comment of every table that benchplan made; a fingerprint follows it.
const mark = "benchplan"

// markedTable finds the mark in SHOW CREATE TABLE: a table's comment has an equals sign, a column's has none, and a quote
// inside of a string is doubled.
var markedTable = regexp.MustCompile(`(?:^|[^'])COMMENT='` + mark + `(?: ([0-9a-f]+))?'`)

// commentOption finds a COMMENT among the options of a plan.
var commentOption = regexp.MustCompile(`(?i)\bcomment\s*=?\s*['"]`)

// createStatement is the DDL of table i. The comment follows the engine and the plan's options come last, since a clause
// that partitions or distributes has to.
func createStatement(schema Schema, spec plan.Tables, i int, seed uint64) string {
	engine := ""
	if spec.Engine != "" {
		engine = " ENGINE=" + spec.Engine
	}
	if o, ok := schema.(Optioned); ok {
		if own := o.TableOptions(spec, i); own != "" {
			engine += " " + own
		}
	}
	options := ""
	if spec.Options != "" {
		options = " " + spec.Options
	}
	return fmt.Sprintf("CREATE TABLE %s (%s)%s COMMENT='%s %s'%s", Quote(schema.Table(spec, i)), schema.Body(spec, i), engine,
		mark, fingerprint(schema, spec, i, seed), options)
}

// customStatement is the plan's own DDL of table i; empty where it has none.
func customStatement(schema Schema, spec plan.Tables, i int) string {
	if c, ok := schema.(Custom); ok {
		return c.CreateTable(spec, i)
	}
	return ""
}

// markStatement puts the comment on a table that was made by the plan's own DDL, in which nobody can tell where it would stand.
func markStatement(schema Schema, spec plan.Tables, i int, seed uint64) string {
	return fmt.Sprintf("ALTER TABLE %s COMMENT='%s %s'", Quote(schema.Table(spec, i)), mark, fingerprint(schema, spec, i, seed))
}

// fingerprint stands for all that decides what a table is and what was loaded into it, so that it can be known again
// whatever way the server spells its DDL.
func fingerprint(schema Schema, spec plan.Tables, i int, seed uint64) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q %v %d %d", schema.Table(spec, i), schema.Body(spec, i), strings.ToLower(spec.Engine), spec.Options,
		schema.Indexes(spec, i), seed, spec.Rows)
	if own := plan.Settings(spec.More); own != nil {
		fmt.Fprintf(h, " %v", own)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// indexStatement makes one secondary index. Proxies know CREATE INDEX where they don't know ALTER TABLE.
func indexStatement(table string, index Index) string {
	return fmt.Sprintf("CREATE INDEX %s ON %s (%s)", Quote(index.Name), Quote(table), quoteAll(index.Columns))
}
