package steps

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps/localserver"
	"benchplan/workloads/guard"
	"benchplan/workloads/tables"

	"github.com/hashicorp/go-multierror"
)

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
	Only, Skip []string       // names of steps
	Cells      []results.Cell // of a run that is resumed (see results.Run.Resume): those that it has
	// Abandon ends what finally is doing, where it is over: then nothing more is begun, and what was not put back is told. nil: never.
	Abandon context.Context
	// Now reads the system clock; nil: time.Now. Nothing is timed by it: see clockStep.
	Now func() time.Time
	// Confirm is asked before data is dropped on a server that is not benchplan's own: a database that was there before, or
	// a table that benchplan did not make. nil: yes.
	Confirm func(question string) bool

	patience time.Duration // of the lookout over connections, for tests; 0: target.Patience
}

// run is a plan under way.
type run struct {
	Config
	pick     pick
	targets  *targets
	machines *machines
	told     map[string]bool           // what a note was about: see tell
	met      int                       // servers and machines of servers that stand in the record: see keepServers
	stand    *standIn                  // answers HTTP in a rehearsal
	expected ledger                    // what verify holds the tables against
	balances balances                  // and their sums
	verifies bool                      // some step will
	made     map[tableKey]*tables.Made // by server and database: tables that could not be marked
	filled   map[tableKey]bool         // by server and database: where prepare has begun to make tables
	seq      int                       // of the last cell
	earlier  *earlier                  // what a run that is resumed has; nil in any other
	nth      int                       // of the planned cells: those that are there, and those begun since
	left     int                       // of what stands in the record as set: the first of them are from before the run was killed
	undo     map[*plan.Scope][]undo
	agreed   map[string]bool // what was confirmed
	halted   error           // why no step but finally is begun any more: the record cannot be kept
	untold   error           // that of a cell whose record could not be kept, until it is among the errors
	origin   time.Time       // from where the times of the record are counted
	token    uint64          // tells this run from others: see dataLock
	stepped  time.Duration   // how far the system clock has moved away from them

	rehearsed    map[string]plan.Files // the files that a rehearsal works on, by folder
	smallestFile plan.Size             // that its loads can work on
}

// undo puts back what a step has changed, at the end of its group.
type undo struct {
	scope *plan.Scope
	do    func(context.Context) error
	// byHand gives where it is to be done, and what is to be sent there; nothing where the change goes by itself.
	byHand func() (on string, send []string)
}

// Run carries out a plan: every step, the finally of every group, and the records of its cells. When ctx is cancelled the cell
// under way ends, what it measured is kept as partial, and finally runs; the error then wraps ErrInterrupted. All that
// went wrong is reported together, with secrets masked; see Errors. What should have been put back and was not stands in c.Run.NotPutBack.
// A run that cannot be resumed gives a NotResumedError, and nothing was touched.
func Run(ctx context.Context, c Config) error {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Abandon == nil {
		c.Abandon = context.Background()
	}
	r := &run{
		Config: c, pick: pick{c.Only, c.Skip, map[string]bool{}}, targets: newTargets(c), machines: newMachines(c.Plan), told: map[string]bool{}, expected: ledger{},
		balances: balances{}, verifies: holds(c.Plan.Root, "verify"), made: map[tableKey]*tables.Made{}, filled: map[tableKey]bool{},
		undo: map[*plan.Scope][]undo{}, agreed: map[string]bool{}, rehearsed: map[string]plan.Files{}, origin: time.Now(), token: rand.Uint64(),
	}
	if c.Rehearse {
		r.stand = newStandIn()
		r.smallestFile = smallestFile(c.Plan)
	}
	if r.Seed == 0 {
		r.Seed = c.Plan.Seed
	}
	r.seq, r.earlier, r.left = c.Writer.LastSeq(), newEarlier(c.Run, c.Cells), len(c.Run.Unset)
	r.targets.changed = r.changed
	summary := Survey(c.Plan, c.Only, c.Skip, c.Rehearse)
	if r.earlier != nil {
		summary = SurveyRest(c.Plan, c.Cells, c.Only, c.Skip, c.Rehearse)
	}
	r.nth = summary.Done
	if r.earlier != nil && r.earlier.killed {
		localserver.Sweep(c.Writer.Log()) // also where no other server will be started
	}
	if err := r.recognise(ctx); err != nil {
		return errors.Join(err, r.targets.close(r.Abandon))
	}
	r.Run.Status, r.Run.Planned = results.Running, summary.Cells
	if err := r.Writer.WriteRun(r.Run); err != nil {
		return err
	}
	var failures *multierror.Error
	for _, part := range []func() error{
		func() error { return r.carryOut(ctx, summary) },
		r.machines.close,
		func() error { return r.targets.close(r.Abandon) },
		r.removeRehearsed,
	} {
		for _, err := range Errors(guard.Call(part)) {
			failures = collect(failures, r.fault(nil, err))
		}
	}
	return r.end(ctx, failures)
}

// carryOut does what the plan says.
func (r *run) carryOut(ctx context.Context, summary plan.Summary) error {
	r.Observer.Start(r.Writer.Folder(), summary)
	r.Writer.Log().Info("run begins", "plan", r.Plan.Name, "cells", summary.Cells, "there", summary.Done)
	scope, err := r.Plan.Scope()
	if err != nil {
		return err
	}
	if err := r.preflight(ctx); err != nil {
		return err
	}
	if err := r.restoreAll(ctx); err != nil {
		return err
	}
	return r.outermost(ctx, scope)
}

// end writes down how the run ended.
func (r *run) end(ctx context.Context, failures *multierror.Error) error {
	r.Run.Status, r.Run.Finished = results.Done, r.now()
	failures = collect(failures, r.Writer.LogError())
	names := r.pick.unmet()
	if r.earlier != nil {
		names = nil // they may be of what is left out since its cells are there
	}
	switch {
	case ctx.Err() != nil:
		r.Run.Status = results.Interrupted
		if !errors.Is(failures.ErrorOrNil(), ErrInterrupted) {
			failures = collect(failures, ErrInterrupted)
		}
	case failures == nil && len(names) > 0:
		failures = collect(failures, fmt.Errorf("--only, --skip: no step that was met is called %s", strings.Join(names, ", ")))
		fallthrough
	case failures != nil:
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
func (r *run) group(ctx context.Context, s *plan.Scope, finally bool) (goOn bool, err error) {
	var failures *multierror.Error
	goOn = true
	for i, step := range s.Step().Steps {
		goOn, err = r.step(ctx, step, s, finally)
		failures = collect(failures, err)
		if !goOn {
			if finally {
				r.leaveAll(s.Step().Steps[i+1:], s)
			}
			break
		}
	}
	if o := ownOverrun(ctx, s); o != nil && !goOn && !errors.Is(failures.ErrorOrNil(), o) {
		failures = collect(failures, r.fault(s, o)) // its time was over between two steps
	}
	cause := failures.ErrorOrNil()
	if cause == nil && ctx.Err() != nil {
		cause = ended(ctx, s, nil)
	}
	if err := r.putBack(ctx, s, cause); err != nil {
		failures, goOn = collect(failures, err), false
	}
	return goOn, failures.ErrorOrNil()
}

// step carries out all cells of a step, in their order.
func (r *run) step(ctx context.Context, step *plan.Step, s *plan.Scope, finally bool) (goOn bool, err error) {
	var cells []plan.Cell
	if ctx.Err() == nil { // else whoever has ended it reports that, once
		err = guard.Call(func() (err error) { cells, err = s.Cells(step); return err })
	}
	if err != nil || ctx.Err() != nil {
		if finally {
			r.leave(step, s)
		}
		return false, r.fault(nil, err)
	}
	var failures *multierror.Error
	goOn = true
	for i, cell := range cells {
		if goOn && ctx.Err() == nil {
			goOn, err = r.cell(ctx, step, s, cell, finally)
			failures = collect(failures, err)
			continue
		}
		goOn = false
		if finally {
			r.leaveCells(step, s, cells[i:])
		}
		break
	}
	return goOn, failures.ErrorOrNil()
}

// cell carries out one cell of a step: a group's steps, or the tries of a single step. What finally holds runs whatever was
// picked.
func (r *run) cell(ctx context.Context, step *plan.Step, outer *plan.Scope, cell plan.Cell, finally bool) (goOn bool, err error) {
	var s *plan.Scope
	entered := false // a group whose steps tell themselves what they leave undone
	defer func() {
		if v := recover(); v != nil { // of what no step does itself: of the plan, or of an observer
			goOn, err = false, collect(collect(nil, err), r.fault(s, guard.Recovered(v)))
		}
		if finally && err != nil && !entered {
			r.leaveCell(step, s, err)
		}
	}()
	s, err = outer.Enter(step, cell)
	if err != nil {
		return false, r.fault(nil, err)
	}
	wanted := finally || r.pick.takes(s)
	if wanted {
		wanted, err = s.If()
	}
	if err != nil {
		return false, r.fault(s, r.place(err))
	}
	if !wanted {
		outer.Result(step.ID, nil)
		return true, nil
	}
	if had, err := r.had(ctx, outer, s); had {
		return err == nil, err
	}
	frame, err := s.Frame()
	if err != nil {
		return false, r.fault(s, err)
	}
	limited, cancel := withTimeout(ctx, s, frame.Timeout)
	defer cancel()
	begin := time.Now()
	if step.Group() {
		entered = true
		goOn, err = r.group(limited, s, finally)
	} else {
		err = r.single(limited, outer, s, frame)
		goOn = err == nil
	}
	r.Observer.StepDone(s, time.Since(begin), err)
	return goOn || frame.ContinueOnError && ctx.Err() == nil && (finally || r.halted == nil), err
}

// single carries out a step that is no group, and logs what came of it.
func (r *run) single(ctx context.Context, outer, s *plan.Scope, frame plan.Frame) error {
	begin := time.Now()
	err := r.tries(ctx, outer, s, frame)
	if err != nil && ctx.Err() != nil {
		err = ended(ctx, s, err)
	}
	err = r.fault(s, err)
	if r.untold != nil {
		err, r.untold = collect(collect(nil, err), r.untold).ErrorOrNil(), nil
	}
	attributes := []any{"at", s.At(), "kind", s.Step().Kind, "cell", s.Identity(), "ms", time.Since(begin).Milliseconds()}
	if err != nil {
		r.Writer.Log().Error("step failed", append(attributes, "error", err.Error())...)
		return err
	}
	r.Writer.Log().Info("step done", attributes...)
	return nil
}

// tries carries out a single step until it and its assert hold, as often as retry allows. What it yielded is kept for later
// steps, beside an error too.
func (r *run) tries(ctx context.Context, outer, s *plan.Scope, frame plan.Frame) error {
	attempts, pause := 1, time.Duration(0)
	if frame.Retry != nil {
		attempts, pause = frame.Retry.Attempts, frame.Retry.Interval.D()
	}
	r.Observer.Step(s, 1)
	spec, err := r.spec(s)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		if try > 1 {
			r.Observer.Step(s, try)
		}
		yields, err := r.try(ctx, s, spec)
		if err == nil && yields == nil {
			yields = map[string]any{}
		}
		outer.Result(s.Step().ID, yields)
		if _, last := errors.AsType[final](err); err == nil || last || ctx.Err() != nil || r.halted != nil {
			return err
		}
		if try == attempts {
			if attempts > 1 {
				err = fmt.Errorf("after %d tries: %w", attempts, err)
			}
			return err
		}
		r.Writer.Log().Info("step is tried again", "at", s.At(), "try", try, "error", err.Error())
		if sleep(ctx, pause) != nil {
			return err
		}
	}
}

// spec works out what the step is to do, and holds it against its place once more: a value of an earlier step was not known
// when the plan was read.
func (r *run) spec(s *plan.Scope) (any, error) {
	spec, err := s.Spec()
	check := r.Kinds[s.Step().Kind].Check
	if err != nil || check == nil {
		return spec, err
	}
	place := plan.Place{}
	if place.Target, err = s.Target(); err != nil {
		return nil, err
	}
	if place.Tables, err = s.Tables(); err != nil {
		return nil, err
	}
	if place.Files, err = s.Files(); err != nil {
		return nil, err
	}
	var wrong []string
	for _, p := range check(spec, place) {
		if p.Path != "" {
			p.Message = p.Path + ": " + p.Message
		}
		wrong = append(wrong, p.Message)
	}
	if len(wrong) > 0 {
		return nil, errors.New(strings.Join(wrong, "; "))
	}
	return spec, nil
}

// try carries out a step once and holds its assert against what it yielded.
func (r *run) try(ctx context.Context, s *plan.Scope, spec any) (map[string]any, error) {
	c := &Call{Scope: s, Log: r.Writer.Log().With("at", s.At(), "step", stepTitle(s)), run: r}
	var yields map[string]any
	err := guard.Call(func() (err error) { yields, err = r.Kinds[s.Step().Kind].Do(ctx, c, spec); return err })
	if _, panicked := errors.AsType[*guard.Panic](err); panicked {
		return yields, final{err}
	}
	if err != nil {
		return yields, err
	}
	if c.unchecked {
		c.Log.Info("rehearsal: assert is not checked, since the answer is invented")
		return yields, nil
	}
	return yields, r.place(s.Assert(yields))
}
