package steps

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"benchplan/plan"
)

// maxKeptRows bounds the answer that a sql step keeps: it is there for asserts, not for data.
const maxKeptRows = 10_000

// sqlSpec is statements on the target.
type sqlSpec struct {
	Statements []plan.Text `key:"statements" short:"true" single:"true" doc:"one statement or a list; several may stand in one text with ; between"`
	File       plan.Text   `key:"file" doc:"file of statements with ; between, its path from the plan's folder"`
	Database   *string     `key:"database" doc:"the database to select in place of the target's; \"\" selects none"`
}

func sqlKind() Kind {
	k := define("executes SQL statements on the target, on one connection; the rows of the last that gives any are kept", doSQL)
	k.Yields = []string{"rows"}
	return checked(k, func(spec *sqlSpec, _ plan.Place) []plan.Problem {
		if (len(spec.Statements) > 0) == (spec.File.Reveal() != "") {
			return []plan.Problem{problem("", "sql takes a statement, a list of statements, or {file: …}")}
		}
		if _, err := separate(spec.Statements); err != nil {
			return []plan.Problem{problem("statements", err.Error())}
		}
		return nil
	})
}

func doSQL(ctx context.Context, c *Call, spec *sqlSpec) (map[string]any, error) {
	statements, err := c.statements(spec)
	if err != nil {
		return nil, err
	}
	conn, t, err := c.target(ctx)
	if err != nil {
		return nil, err
	}
	database := t.Database
	if spec.Database != nil {
		database = *spec.Database
	}
	db, err := conn.db(ctx, database)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	session, err := db.Conn(ctx)
	if err != nil {
		return nil, conn.advise(err)
	}
	defer session.Close()
	kept := []any{}
	for i, statement := range statements {
		rows, err := query(ctx, session, statement.Reveal())
		if c.otherProduct(t, err) {
			c.unchecked = true
			c.note("rehearsal: the private server does not know %s: %v", shortStatement(statement), hide(err, statement))
			continue
		}
		if err != nil {
			return map[string]any{"rows": kept}, fmt.Errorf("statement %d of %d, %s: %w", i+1, len(statements), shortStatement(statement), conn.advise(hide(err, statement)))
		}
		if rows != nil {
			kept = rows
		}
		c.Log.Info("sql", "statement", shortStatement(statement), "rows", len(rows))
	}
	return map[string]any{"rows": kept}, nil
}

// query executes one statement and gives the rows of the last of its results that has any: a CALL may have several. They are nil
// where there are none, as of an INSERT.
func query(ctx context.Context, session *sql.Conn, statement string) ([]any, error) {
	rows, err := session.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var kept []any
	for more := true; more; more = rows.NextResultSet() {
		columns, err := rows.ColumnTypes()
		if err != nil {
			return nil, errors.Join(err, rows.Err())
		}
		if len(columns) == 0 {
			continue
		}
		if kept, err = readRows(rows, columns); err != nil {
			return nil, err
		}
	}
	return kept, rows.Err()
}

// readRows reads one result: a mapping from column to value for each row.
func readRows(rows *sql.Rows, columns []*sql.ColumnType) ([]any, error) {
	out := []any{}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		if len(out) == maxKeptRows {
			return nil, fmt.Errorf("it gives more than %d rows, which is more than a step keeps; add a LIMIT", maxKeptRows)
		}
		row := make(map[string]any, len(columns))
		for i, column := range columns {
			row[column.Name()] = plainValue(values[i], column.DatabaseTypeName())
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// plainValue gives what the driver scanned as an expression sees it: numbers as numbers, dates and all else as text, NULL as nil.
func plainValue(v any, columnType string) any {
	switch v := v.(type) {
	case []byte:
		if columnType == "DECIMAL" {
			return decimal(string(v))
		}
		return string(v)
	case float32: // not float64(v), which makes 0.10000000149011612 of 0.1
		f, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
		return f
	case nil, bool, int64, uint64, float64, string:
		return v
	}
	return fmt.Sprint(v)
}

// decimal gives a DECIMAL, as SUM and AVG return it, as a number; as text where a number would lose digits.
func decimal(s string) any {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	digits := s
	if strings.Contains(s, ".") {
		digits = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || strconv.FormatFloat(f, 'f', -1, 64) != digits {
		return s
	}
	return f
}

// statements gives the statements one by one.
func (c *Call) statements(spec *sqlSpec) ([]plan.Text, error) {
	texts, from := spec.Statements, ""
	if spec.File.Reveal() != "" {
		script, err := readScript(c.path(spec.File.Reveal()))
		if err != nil {
			return nil, fmt.Errorf("file: %w", hide(err, spec.File))
		}
		texts = []plan.Text{plan.PlainText(strings.TrimPrefix(string(script), "\uFEFF"))}
		from = "file " + spec.File.String() + ": "
	}
	out, err := separate(texts)
	if err == nil && len(out) == 0 {
		err = errors.New("there is no statement in it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s%w", from, err)
	}
	return out, nil
}

// maxScript bounds a file of statements: what is larger is for the server's own client.
const maxScript = 64 << 20

// readScript reads a file of statements. It may be a device or a pipe, which has no end.
func readScript(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	script, err := io.ReadAll(io.LimitReader(f, maxScript+1))
	if err == nil && len(script) > maxScript {
		err = fmt.Errorf("%s has more than %d MiB", path, maxScript>>20)
	}
	return script, err
}

// separate cuts texts into their statements.
func separate(texts []plan.Text) ([]plan.Text, error) {
	var out []plan.Text
	for _, text := range texts {
		statements, err := splitScript(text.Reveal())
		if err != nil {
			return nil, err
		}
		if text.Secret() {
			if len(statements) > 1 {
				return nil, errors.New("a text with a secret in it is one statement; write the statements as a list")
			}
			out = append(out, text)
			continue
		}
		for _, statement := range statements {
			out = append(out, plan.PlainText(statement))
		}
	}
	return out, nil
}

// shortStatement is as much of a statement as a message needs, on one line.
func shortStatement(statement plan.Text) string {
	s := strings.Join(strings.Fields(statement.String()), " ")
	if len(s) > 120 {
		s = strings.ToValidUTF8(s[:120], "") + "…"
	}
	return "`" + s + "`"
}
