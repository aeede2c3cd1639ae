package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-multierror"

	"benchplan/plan"
	"benchplan/workloads/guard"
)

const (
	// finallyLimit bounds what the finally of one group may take, and what its undos may: putting things back must not hang for ever.
	finallyLimit = 10 * time.Minute
	// finallyLeast is what each step of it has even where those before have used up that time: one that hangs keeps none from being tried.
	finallyLeast = 30 * time.Second
)

// errAbandoned is the cause with which finally ends where a second signal wants it so.
var errAbandoned = fmt.Errorf("%w: finally was broken off", ErrInterrupted)

// putBack runs finally, then the undos from the last to the first. Nothing stops it: no interrupt but the second, no timeout, and none
// of its own failures.
func (r *run) putBack(ctx context.Context, s *plan.Scope, cause error) error {
	steps := s.Step().Finally
	if len(steps) == 0 && len(r.undo[s]) == 0 {
		return nil
	}
	var failures *multierror.Error
	if cause != nil {
		failures = collect(failures, r.fault(s, guard.Call(func() error { r.Observer.Finally(cause); return nil })))
	}
	begin := time.Now()
	for _, step := range steps {
		failures = collect(failures, r.within(ctx, s, begin, func(limited context.Context) error {
			_, err := r.step(limited, step, s, true)
			return err
		}))
	}
	begin = time.Now()
	for i := len(r.undo[s]) - 1; i >= 0; i-- {
		u := r.undo[s][i]
		failures = collect(failures, r.within(ctx, s, begin, func(limited context.Context) error { return r.undoOne(limited, u) }))
	}
	delete(r.undo, s)
	return failures.ErrorOrNil()
}

// within gives a part of finally what is left of its time, whatever has ended what was before. Where that is over without the part's
// saying so, this does.
func (r *run) within(ctx context.Context, s *plan.Scope, begin time.Time, do func(context.Context) error) error {
	text := fmt.Sprintf("finally took longer than the %s that it has at the most, and was broken off", plan.Duration(finallyLimit))
	left := max(finallyLimit-time.Since(begin), finallyLeast)
	base, abandon := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abandon(nil)
	defer context.AfterFunc(r.Abandon, func() { abandon(errAbandoned) })()
	limited, cancel := context.WithTimeoutCause(base, left, &overrun{s, text})
	defer cancel()
	err := do(limited)
	if o := ownOverrun(limited, s); o != nil && !errors.Is(err, o) {
		err = collect(collect(nil, err), r.fault(s, o)).ErrorOrNil()
	}
	return err
}

// undoOne carries out an undo, or notes what a person has to do.
func (r *run) undoOne(ctx context.Context, u undo) error {
	err := guard.Call(func() error { return u.do(ctx) })
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = ended(ctx, u.scope, err)
	}
	if on, send := u.byHand(); len(send) > 0 {
		r.leaveBehind(u.scope, on, send)
	}
	return r.fault(u.scope, fmt.Errorf("putting back what was set: %w", err))
}
