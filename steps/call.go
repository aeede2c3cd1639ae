package steps

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"benchplan/plan"
)

// Call is one try of one step: what a kind's Do works with.
type Call struct {
	Scope *plan.Scope
	Log   *slog.Logger
	run   *run

	unchecked bool // the answer is a rehearsal's invention: asserts on it mean nothing
}

// target gives the connection of the step's target.
func (c *Call) target(ctx context.Context) (*connection, *plan.Target, error) {
	t, err := c.Scope.Target()
	if err != nil {
		return nil, nil, err
	}
	conn, err := c.run.targets.reach(ctx, t)
	if err == nil {
		err = c.run.restore(ctx, conn)
	}
	return conn, t, err
}

// data gives what a step that works on the tables needs, once no other run works on them.
func (c *Call) data(ctx context.Context) (conn *connection, t *plan.Target, spec *plan.Tables, err error) {
	spec, err = c.Scope.Tables()
	if err == nil && spec == nil {
		err = errNoTables
	}
	if err != nil {
		return nil, nil, nil, err
	}
	conn, t, err = c.target(ctx)
	if err == nil && systemDatabase(t.Database) { // an earlier step has told the name
		err = final{errors.New(notTouched(t.Database))}
	}
	if err == nil {
		err = c.run.hold(ctx, conn, t.Database)
	}
	if err == nil && c.run.Rehearse {
		spec.Rows = rehearsedCount(spec.Rows)
	}
	return conn, t, spec, err
}

var errNoTables = errors.New("no tables are said here; add `tables: {schema: …, count: …, rows: …}` to the plan or to a group around this step")

// path gives the place of a file that the plan names: from the plan's folder.
func (c *Call) path(name string) string { return fromFolder(planFolder(c.run.Plan), name) }

func planFolder(p *plan.Plan) string { return filepath.Dir(p.Source.Name) }

func fromFolder(folder, name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(folder, name)
}

// later puts an undo to the end of the group that holds the step.
func (c *Call) later(do func(context.Context) error, byHand func() (on string, send []string)) {
	group := c.Scope.Outer()
	c.run.undo[group] = append(c.run.undo[group], undo{c.Scope, do, byHand})
}

// note tells the observer and the log.
func (c *Call) note(format string, args ...any) {
	text := c.run.Mask(fmt.Sprintf(format, args...))
	c.Log.Info(text)
	c.run.Observer.Note(text)
}

// confirm asks before data is dropped; each question once.
func (c *Call) confirm(format string, args ...any) error {
	question := fmt.Sprintf(format, args...)
	if c.run.Confirm == nil || c.run.agreed[question] {
		return nil
	}
	if !c.run.Confirm(question) {
		return final{fmt.Errorf("%s The answer was no, so nothing was dropped; --yes answers yes", question)}
	}
	c.run.agreed[question] = true
	return nil
}

// otherProduct tells, in a rehearsal, an error that only says that the private server is no server of the plan's kind: what a
// proxy or another product knows and it does not cannot be tried on it.
func (c *Call) otherProduct(t *plan.Target, err error) bool {
	return c.run.Rehearse && !t.Private() && unknownToServer(err)
}

// sleep pauses, or ends early with the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
