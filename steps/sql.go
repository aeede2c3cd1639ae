package steps

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"benchplan/plan"
)

// maxKeptRows bounds the answer that a sql step keeps: it is there for asserts, not for data.
const maxKeptRows = 10_000

// sqlSpec is statements on the target.
type sqlSpec struct {
	Statements []plan.Text `key:"statements" short:"true" single:"true" doc:"one statement or a list; several may stand in one text with ; between"`
	File       plan.Text   `key:"file" doc:"file of statements with ; behind each, its path from the plan's folder"`
	Database   *string     `key:"database" doc:"the database to select in place of the target's; \"\" selects none"`
}

func sqlKind() Kind {
	k := define("executes SQL statements on the target, on one connection; the rows of the last that gives any are kept", doSQL)
	k.Yields = []string{"rows"}
	return checked(k, func(spec *sqlSpec, _ plan.Place) []plan.Problem {
		if (len(spec.Statements) > 0) == (spec.File.Reveal() != "") {
			return []plan.Problem{problem("", "sql takes a statement, a list of statements, or {file: …}")}
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
		if err != nil {
			return map[string]any{"rows": kept}, fmt.Errorf("statement %d of %d, %s: %w", i+1, len(statements), shortStatement(statement), hide(conn.advise(err), statement))
		}
		if rows != nil {
			kept = rows
		}
		c.Log.Info("sql", "statement", shortStatement(statement), "rows", len(rows))
	}
	return map[string]any{"rows": kept}, nil
}

// query executes one statement. The rows are nil where it gives none, as an INSERT does.
func query(ctx context.Context, session *sql.Conn, statement string) ([]any, error) {
	rows, err := session.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil || len(columns) == 0 {
		return nil, errors.Join(err, rows.Err())
	}
	out := []any{}
	for rows.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		if len(out) == maxKeptRows {
			return nil, fmt.Errorf("it gives more than %d rows, which is more than a step keeps; add a LIMIT", maxKeptRows)
		}
		row := make(map[string]any, len(columns))
		for i, name := range columns {
			row[name] = plainValue(values[i])
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// plainValue gives what the driver scanned as an expression sees it.
func plainValue(v any) any {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case nil, bool, int64, float64, string:
		return v
	case float32:
		return float64(v)
	}
	return fmt.Sprint(v)
}

// statements gives the statements one by one.
func (c *Call) statements(spec *sqlSpec) ([]plan.Text, error) {
	if file := spec.File.Reveal(); file != "" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(c.run.Plan.Source.Name), file)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("file: %w", err)
		}
		spec.Statements = []plan.Text{plan.PlainText(string(text))}
	}
	var out []plan.Text
	for _, text := range spec.Statements {
		if text.Secret() {
			out = append(out, text) // cutting it up would take the secret out of its place
			continue
		}
		for _, statement := range splitStatements(text.Reveal()) {
			out = append(out, plan.PlainText(statement))
		}
	}
	if len(out) == 0 {
		return nil, errors.New("there is no statement in it")
	}
	return out, nil
}

// splitStatements cuts a script at the semicolons that stand outside of quotes and comments. What holds only comments is left out.
func splitStatements(script string) []string {
	var out []string
	start, content := 0, false
	end := func(i int) {
		if content {
			out = append(out, strings.TrimSpace(script[start:i]))
		}
		start, content = i+1, false
	}
	for i := 0; i < len(script); {
		rest := script[i:]
		switch c := script[i]; {
		case c == '\'' || c == '"' || c == '`':
			content = true
			i += quotedLength(rest)
		case c == '#' || strings.HasPrefix(rest, "-- ") || strings.HasPrefix(rest, "--\n") || rest == "--":
			i += lengthUntil(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			content = content || strings.HasPrefix(rest, "/*!") || strings.HasPrefix(rest, "/*M!") // executed by the server
			i += lengthUntil(rest, "*/")
		case c == ';':
			end(i)
			i++
		default:
			content = content || !strings.ContainsRune(" \t\r\n", rune(c))
			i++
		}
	}
	end(len(script))
	return out
}

// quotedLength is the length of the quoted text that s begins with; a doubled quote inside begins the next one, which is as good.
func quotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] != '`':
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return len(s)
}

func lengthUntil(s, mark string) int {
	if i := strings.Index(s, mark); i >= 0 {
		return i + len(mark)
	}
	return len(s)
}

func shortStatement(statement plan.Text) string {
	s := strings.Join(strings.Fields(statement.String()), " ")
	if len(s) > 120 {
		s = strings.ToValidUTF8(s[:120], "") + "…"
	}
	return "`" + s + "`"
}
