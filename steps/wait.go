package steps

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"benchplan/plan"
)

// waitSpec is a pause, or something to wait for.
type waitSpec struct {
	Duration plan.Duration `key:"duration" short:"true" doc:"how long"`
	Until    *until        `key:"until" doc:"what to wait for: one of http, sql, tcp and expression, or an expression over what http or sql gives"`
	Interval plan.Duration `key:"interval" default:"1s" min:"1ms" doc:"pause between two looks"`
	Timeout  plan.Duration `key:"timeout" default:"60s" min:"1ms" doc:"how long to wait at the most"`
}

type until struct {
	HTTP       plan.Text `key:"http" doc:"a URL that answers a GET with a 2xx status"`
	SQL        plan.Text `key:"sql" doc:"a statement that succeeds on the target"`
	TCP        string    `key:"tcp" doc:"host:port that takes connections"`
	Expression string    `key:"expression" doc:"what has to be true; it can read status json body headers of http, or rows of sql"`
}

func waitKind() Kind {
	k := define("waits for a time, or until something holds", doWait)
	return lasting(checked(k, checkWait), func(spec *waitSpec) time.Duration { return spec.Duration.D() })
}

func checkWait(spec *waitSpec, _ plan.Place) []plan.Problem {
	u := spec.Until
	if u == nil {
		if spec.Duration == 0 {
			return []plan.Problem{problem("", "wait takes a duration such as 10s, or {until: …}")}
		}
		return nil
	}
	var found []plan.Problem
	if spec.Duration > 0 {
		found = append(found, problem("duration", "wait has either a duration or until; the limit of until is timeout"))
	}
	if n := len(u.ways()); n > 1 || n == 0 && u.Expression == "" {
		found = append(found, problem("until", "until takes one of http, sql and tcp, with an expression over what http or sql gives where success is not enough; or an expression alone"))
	}
	if u.Expression != "" {
		if u.TCP != "" {
			found = append(found, problem("until.expression", "tcp gives nothing that an expression could read"))
		} else if err := plan.CheckExpression(u.Expression); err != nil {
			found = append(found, problem("until.expression", err.Error()))
		}
	}
	return found
}

func (u *until) ways() []string {
	var out []string
	if u.HTTP.Reveal() != "" {
		out = append(out, "http")
	}
	if u.SQL.Reveal() != "" {
		out = append(out, "sql")
	}
	if u.TCP != "" {
		out = append(out, "tcp")
	}
	return out
}

func doWait(ctx context.Context, c *Call, spec *waitSpec) (map[string]any, error) {
	if spec.Until == nil {
		d := spec.Duration
		if c.run.Rehearse {
			d = rehearsedDuration(d)
		}
		return nil, sleep(ctx, d.D())
	}
	if !c.run.Rehearse {
		return nil, spec.wait(ctx, c)
	}
	if spec.Until.TCP != "" {
		c.note("rehearsal: did not wait for %s", spec.Until.what())
		return nil, nil
	}
	short := *spec
	short.Timeout = rehearsedDuration(short.Timeout)
	if err := short.wait(ctx, c); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		c.note("rehearsal: %v; went on all the same", err)
	}
	return nil, nil
}

// wait looks until it holds, or the time is over.
func (w *waitSpec) wait(ctx context.Context, c *Call) error {
	limited, cancel := context.WithTimeout(ctx, w.Timeout.D())
	defer cancel()
	var last error
	for {
		err := w.Until.look(limited, c)
		if err == nil {
			return nil
		}
		if last == nil || !brokenOff(limited, err) {
			last = err
		}
		if sleep(limited, w.Interval.D()) != nil {
			break
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("waited %s for %s: %w", w.Timeout, w.Until.what(), last)
}

// brokenOff tells whether the limit ended a look, which then tells less than the one before. A connection's deadline passes a moment
// before the context says so.
func brokenOff(limited context.Context, err error) bool {
	var network net.Error
	return limited.Err() != nil || errors.As(err, &network) && network.Timeout()
}

func (u *until) what() string {
	switch {
	case u.HTTP.Reveal() != "":
		return shownURL(u.HTTP)
	case u.TCP != "":
		return u.TCP
	case u.SQL.Reveal() != "":
		return shortStatement(u.SQL)
	}
	return u.Expression
}

// look tells whether it holds now; the error says why not.
func (u *until) look(ctx context.Context, c *Call) error {
	var yields map[string]any
	var err error
	switch {
	case u.TCP != "":
		var conn net.Conn
		if conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", u.TCP); err == nil {
			_ = conn.Close()
		}
	case u.HTTP.Reveal() != "":
		yields, err = doHTTP(ctx, c, &httpSpec{Get: u.HTTP, Timeout: plan.Duration(30 * time.Second)})
	case u.SQL.Reveal() != "":
		yields, err = doSQL(ctx, c, &sqlSpec{Statements: []plan.Text{u.SQL}})
	}
	if err != nil || u.Expression == "" || c.unchecked {
		return err
	}
	holds, err := c.Scope.Holds(strings.TrimSpace(u.Expression), yields)
	if err == nil && !holds {
		err = errors.New("it does not hold: " + u.Expression)
	}
	return err
}
