package target

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"benchplan/results"
)

const (
	questionTime = 3 * time.Second // for one question
	mostSilences = 2               // after so many questions without an answer no more are asked
)

// Identify asks a server who it is, which engines it has, and what it is part of. No single question is waited for longer than three
// seconds. What the server could not be asked stands in Unknown, with the reason; a product that does not know a question is fine.
func Identify(ctx context.Context, db *sql.DB) results.Server {
	i := &interview{ctx: ctx, db: db}
	i.version()
	i.server.Variables = i.variables()
	i.engines()
	i.topology()
	return i.server
}

// Variables gives what SHOW GLOBAL VARIABLES tells, by names in lower case.
func Variables(ctx context.Context, db *sql.DB) (map[string]string, error) {
	out := map[string]string{}
	if err := each(ctx, db, showVariables, variablesInto(out)); err != nil {
		return nil, err
	}
	return out, nil
}

const showVariables = "SHOW GLOBAL VARIABLES"

func variablesInto(out map[string]string) func(row map[string]string) {
	return func(row map[string]string) { out[strings.ToLower(row["variable_name"])] = row["value"] }
}

// each asks one question and gives the rows of the answer, as texts by their columns in lower case; NULL is empty.
func each(ctx context.Context, db *sql.DB, query string, take func(row map[string]string)) error {
	limited, cancel := context.WithTimeout(ctx, questionTime)
	defer cancel()
	err := eachRow(limited, db, query, take)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w within %s", errSilent, questionTime)
	}
	return err
}

var errSilent = errors.New("no answer")

func eachRow(ctx context.Context, db *sql.DB, query string, take func(row map[string]string)) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		row := make(map[string]string, len(columns))
		for i, name := range columns {
			row[strings.ToLower(name)] = values[i].String
		}
		take(row)
	}
	return rows.Err()
}

// interview asks a server one question after the other.
type interview struct {
	ctx      context.Context
	db       *sql.DB
	server   results.Server
	silences int
}

// ask asks a question in one of its forms: the next is tried where the server does not understand the one before. What cannot be
// had is noted; what was taken of it until then is not the whole.
func (i *interview) ask(take func(row map[string]string), forms ...string) (known bool) {
	var err error
	for _, query := range forms {
		if i.silences >= mostSilences || i.ctx.Err() != nil {
			i.unknown(query, errors.New("not asked, since the server had not answered before"))
			return false
		}
		if err = each(i.ctx, i.db, query, take); errors.Is(err, errSilent) {
			i.silences++
		}
		if serverError(err) != codeSyntax {
			break
		}
	}
	if err != nil {
		i.unknown(forms[0], err)
	}
	return err == nil
}

func (i *interview) unknown(query string, err error) {
	i.server.Unknown = append(i.server.Unknown, query+": "+err.Error())
}

func (i *interview) version() {
	i.ask(func(row map[string]string) { i.server.Version = row["v"] }, "SELECT VERSION() AS v")
	i.ask(func(row map[string]string) { i.server.VersionComment = row["c"] }, "SELECT @@version_comment AS c")
}

func (i *interview) variables() map[string]string {
	out := map[string]string{}
	if !i.ask(variablesInto(out), showVariables) || len(out) == 0 {
		return nil // half a list would have the rest of it taken for changed
	}
	return out
}

func (i *interview) engines() {
	out := map[string]string{}
	i.ask(func(row map[string]string) { out[row["engine"]] = strings.ToUpper(row["support"]) }, "SHOW ENGINES")
	if len(out) > 0 {
		i.server.Engines = out
	}
}
