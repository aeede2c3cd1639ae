package steps

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"benchplan/plan"
	"benchplan/results"

	"github.com/hashicorp/go-multierror"
)

// finallyLimit bounds what the finally of one group may take: putting things back must not hang for ever.
const finallyLimit = 10 * time.Minute

// Config is what a run needs beside the plan.
type Config struct {
	Plan       *plan.Plan
	Kinds      map[string]Kind
	Writer     *results.Writer // where the run is kept
	Run        *results.Run    // what is known of it; the executor adds targets, errors and the status
	Observer   Observer
	Mask       func(string) string // masks secrets in free text
	Seed       int64               // 0: the plan's
	AllowShell bool
	Force      bool // drop tables that benchplan did not make
	Rehearse   bool
	Only, Skip []string // names of steps
	// Confirm is asked before data is dropped that benchplan did not make in this run; nil: yes.
	Confirm func(question string) bool
}

// run is a plan under way.
type run struct {
	Config
	targets  *targets
	stand    *standIn // answers HTTP in a rehearsal
	expected ledger   // what verify holds the tables against
	seq      int      // cells so far
	undo     map[*plan.Scope][]undo
	settings map[string]string // server variables that steps have set, for the cells' attributes
	agreed   map[string]bool   // what was confirmed
	made     map[string]bool   // tables and databases that this run made
}

// undo puts back what a step has changed, at the end of its group.
type undo struct {
	scope *plan.Scope
	do    func(context.Context) error
}

// Call is one try of one step: what a kind's Do works with.
type Call struct {
	Scope *plan.Scope
	Log   *slog.Logger
	run   *run

	unchecked bool // the answer is a rehearsal's invention: asserts on it mean nothing
}

// Run carries out a plan: every step, the finally of every group, and the records of its cells. When ctx is cancelled the cell
// under way ends, what it measured is kept as partial, and finally runs; the error then wraps ErrInterrupted. All that
// went wrong is reported together; see Errors.
func Run(ctx context.Context, c Config) error {
	r := &run{
		Config: c, targets: newTargets(c), expected: ledger{},
		undo: map[*plan.Scope][]undo{}, settings: map[string]string{}, agreed: map[string]bool{}, made: map[string]bool{},
	}
	if c.Rehearse {
		r.stand = newStandIn()
	}
	if r.Seed == 0 {
		r.Seed = c.Plan.Seed
	}
	r.Run.Status = results.Running
	if err := r.Writer.WriteRun(r.Run); err != nil {
		return err
	}
	r.Observer.Start(r.Writer.Folder(), c.Plan.Summary)
	r.Writer.Log().Info("run begins", "plan", c.Plan.Name, "cells", c.Plan.Summary.Cells)

	var failures *multierror.Error
	scope, err := c.Plan.Scope()
	if err != nil {
		failures = collect(failures, err)
	} else {
		err, _ = r.group(ctx, scope)
		failures = collect(failures, err)
	}
	failures = collect(failures, r.targets.close())
	return r.end(ctx, failures)
}

// end writes down how the run ended.
func (r *run) end(ctx context.Context, failures *multierror.Error) error {
	r.Run.Status, r.Run.Finished = results.Done, time.Now().UTC()
	if ctx.Err() != nil {
		r.Run.Status = results.Interrupted
		failures = collect(failures, ErrInterrupted)
	} else if failures != nil {
		r.Run.Status = results.RunFailed
	}
	for _, err := range Errors(failures.ErrorOrNil()) {
		r.Run.Errors = append(r.Run.Errors, r.Mask(err.Error()))
	}
	r.Run.Targets = r.targets.servers()
	if err := r.Writer.WriteRun(r.Run); err != nil {
		failures = collect(failures, err)
	}
	r.Writer.Log().Info("run ends", "status", r.Run.Status, "errors", r.Run.Errors)
	return failures.ErrorOrNil()
}

// group carries out the steps of one cell of a group, then its finally, then puts back what its steps have set. goOn tells
// whether the steps after the group are to run: all that failed had continue_on_error.
func (r *run) group(ctx context.Context, s *plan.Scope) (err error, goOn bool) {
	var failures *multierror.Error
	goOn = true
	for _, step := range s.Step().Steps {
		err, goOn = r.step(ctx, step, s, false)
		failures = collect(failures, err)
		if !goOn {
			break
		}
	}
	if err := r.putBack(ctx, s, failures.ErrorOrNil()); err != nil {
		failures, goOn = collect(failures, err), false
	}
	return failures.ErrorOrNil(), goOn
}

// putBack runs finally and the undos. Neither an interrupt nor a failing step in it stops it.
func (r *run) putBack(ctx context.Context, s *plan.Scope, cause error) error {
	if len(s.Step().Finally) == 0 && len(r.undo[s]) == 0 {
		return nil
	}
	if cause != nil {
		r.Observer.Finally(cause)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finallyLimit)
	defer cancel()
	var failures *multierror.Error
	for _, step := range s.Step().Finally {
		err, _ := r.step(ctx, step, s, true) // one that fails does not stop the rest
		failures = collect(failures, err)
	}
	undos := r.undo[s]
	delete(r.undo, s)
	for _, u := range slices.Backward(undos) {
		if err := u.do(ctx); err != nil {
			failures = collect(failures, stepError(u.scope, fmt.Errorf("putting back what was set: %w", err)))
		}
	}
	return failures.ErrorOrNil()
}

// step carries out all cells of a step, in their order.
func (r *run) step(ctx context.Context, step *plan.Step, s *plan.Scope, finally bool) (err error, goOn bool) {
	cells, err := s.Cells(step)
	if err != nil {
		return err, false
	}
	var failures *multierror.Error
	goOn = true
	for _, cell := range cells {
		if ctx.Err() != nil {
			return failures.ErrorOrNil(), false // the cause is reported once, at the end
		}
		err, goOn = r.cell(ctx, step, s, cell, finally)
		failures = collect(failures, err)
		if !goOn {
			break
		}
	}
	return failures.ErrorOrNil(), goOn
}

// cell carries out one cell of a step: a group's steps, or the tries of a single step.
func (r *run) cell(ctx context.Context, step *plan.Step, outer *plan.Scope, cell plan.Cell, finally bool) (err error, goOn bool) {
	s, err := outer.Enter(step, cell)
	if err != nil {
		return err, false
	}
	wanted, err := r.wanted(s, finally)
	if err != nil {
		return stepError(s, err), false
	}
	if !wanted {
		outer.Result(step.ID, nil)
		return nil, true
	}
	frame, err := s.Frame()
	if err != nil {
		return err, false
	}
	limited, cancel := withLimit(ctx, frame.Timeout.D())
	defer cancel()
	begin := time.Now()
	if step.Group() {
		err, goOn = r.group(limited, s)
	} else {
		err = r.tries(limited, outer, s, frame)
		goOn = err == nil
	}
	took := time.Since(begin)
	if limited.Err() != nil && ctx.Err() == nil {
		err = stepError(s, fmt.Errorf("it took longer than its timeout of %s%s", frame.Timeout, because(err)))
		goOn = false
	}
	if !step.Group() {
		err = stepError(s, err)
		r.log(s, took, err)
	}
	r.Observer.StepDone(s, took, err)
	return err, goOn || frame.ContinueOnError && ctx.Err() == nil
}

func because(err error) string {
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		return ""
	}
	return ": " + err.Error()
}

func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// wanted tells whether a cell is to run: by its if, and by what the command line picked.
func (r *run) wanted(s *plan.Scope, finally bool) (bool, error) {
	if !finally && !r.picked(s) {
		return false, nil
	}
	return s.If()
}

// picked holds the names of the steps around a cell, its own and those that it holds against --only and --skip.
func (r *run) picked(s *plan.Scope) bool {
	path := s.Path()
	for _, name := range r.Skip {
		if slices.Contains(path, name) {
			return false
		}
	}
	if len(r.Only) == 0 {
		return true
	}
	for _, name := range r.Only {
		if slices.Contains(path, name) || s.Step().Holds(name) {
			return true
		}
	}
	return false
}

// tries carries out a single step until it and its assert hold, as often as retry allows.
func (r *run) tries(ctx context.Context, outer, s *plan.Scope, frame plan.Frame) error {
	kind := r.Kinds[s.Step().Kind]
	attempts, pause := 1, time.Duration(0)
	if frame.Retry != nil {
		attempts, pause = frame.Retry.Attempts, frame.Retry.Interval.D()
	}
	var err error
	for try := 1; try <= attempts; try++ {
		r.Observer.Step(s, try)
		var yields map[string]any
		yields, err = r.try(ctx, kind, s)
		if err == nil {
			outer.Result(s.Step().ID, orEmpty(yields))
			return nil
		}
		if ctx.Err() != nil || try == attempts || errors.Is(err, errNoRetry) {
			break
		}
		r.Writer.Log().Info("step is tried again", "at", s.At(), "try", try, "error", err.Error())
		if sleep(ctx, pause) != nil {
			break
		}
	}
	if attempts > 1 && ctx.Err() == nil {
		return fmt.Errorf("after %d tries: %w", attempts, err)
	}
	return err
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// errNoRetry is wrapped by errors that another try cannot mend.
var errNoRetry = errors.New("not to be tried again")

// try carries out a step once and holds its assert against what it yielded.
func (r *run) try(ctx context.Context, kind Kind, s *plan.Scope) (map[string]any, error) {
	spec, err := s.Spec()
	if err != nil {
		return nil, err
	}
	c := &Call{Scope: s, Log: r.Writer.Log().With("at", s.At(), "step", stepTitle(s)), run: r}
	yields, err := kind.Do(ctx, c, spec)
	if err != nil {
		return yields, err
	}
	if c.unchecked {
		r.Writer.Log().Info("rehearsal: assert is not checked, since the answer is the stand-in's own", "at", s.At())
		return yields, nil
	}
	return yields, s.Assert(yields)
}

// log keeps what a step did.
func (r *run) log(s *plan.Scope, took time.Duration, err error) {
	attributes := []any{"at", s.At(), "kind", s.Step().Kind, "cell", s.Identity(), "ms", took.Milliseconds()}
	if err != nil {
		r.Writer.Log().Error("step failed", append(attributes, "error", err.Error())...)
		return
	}
	r.Writer.Log().Info("step done", attributes...)
}

// later puts an undo to the end of the group that holds the step.
func (c *Call) later(do func(context.Context) error) {
	group := c.Scope.Outer()
	c.run.undo[group] = append(c.run.undo[group], undo{c.Scope, do})
}

// note tells the observer and the log.
func (c *Call) note(format string, args ...any) {
	text := c.run.Mask(fmt.Sprintf(format, args...))
	c.Log.Info(text)
	c.run.Observer.Note(text)
}

// confirm asks once for each question.
func (c *Call) confirm(question string) error {
	if c.run.Confirm == nil || c.run.agreed[question] {
		return nil
	}
	if !c.run.Confirm(question) {
		return fmt.Errorf("%s No was the answer, so nothing was dropped: %w", question, errNoRetry)
	}
	c.run.agreed[question] = true
	return nil
}

// attributes are what a cell's record tells beside its identity.
func (r *run) attributes(s *plan.Scope) map[string]string {
	out := maps.Clone(r.settings)
	if order := s.Order(); order != plan.Declared {
		out["order"] = string(order)
	}
	return out
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
