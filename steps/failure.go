package steps

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"benchplan/plan"
	"benchplan/workloads/guard"

	"github.com/hashicorp/go-multierror"
)

// ErrInterrupted is wrapped by the error of a run that a signal ended.
var ErrInterrupted = errors.New("interrupted")

// StepError is a step that failed, with its place in the plan and the cell in which it did.
type StepError struct {
	At   string // file:line:col of the assert or the value that failed where that is known, else of the step; empty for no place in the plan
	Step string // kind and name: http "5.1 switch off"; empty where a mistake kept the step from being worked out
	Cell string // labels of the cell; empty outside of any
	Err  error
}

// Error writes the place first, as every message about a plan begins.
func (e *StepError) Error() string {
	var b strings.Builder
	if e.At != "" {
		b.WriteString(e.At + ": ")
	}
	if e.Step != "" {
		b.WriteString(e.Step)
		if e.Cell != "" {
			b.WriteString(" [" + e.Cell + "]")
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap gives what went wrong, without the place.
func (e *StepError) Unwrap() error { return e.Err }

// fault gives an error its place in the plan and masks it, unless a step inside has done so. Of several mistakes in the plan's
// text each becomes an error of its own. s is nil where there is no cell yet.
func (r *run) fault(s *plan.Scope, err error) error {
	if err == nil {
		return nil
	}
	if _, placed := errors.AsType[*StepError](err); placed {
		return err
	}
	fail := StepError{}
	if s != nil {
		fail = StepError{At: s.At(), Step: stepTitle(s), Cell: cellText(s)}
	}
	if mistakes, ok := errors.AsType[plan.Diagnostics](err); ok {
		var all *multierror.Error
		for _, m := range mistakes {
			one := fail
			one.At, one.Err = plan.Source{Name: m.File}.At(m.Pos), r.masked(errors.New(withSnippet(m)))
			all = collect(all, &one)
		}
		return all.ErrorOrNil()
	}
	if p, ok := errors.AsType[*placed](err); ok {
		fail.At = p.at
	}
	if p, ok := errors.AsType[*guard.Panic](err); ok {
		r.Writer.Log().Error("a mistake in benchplan itself", "at", fail.At, "panic", fmt.Sprint(p.Value), "stack", string(p.Stack))
	}
	fail.Err = r.masked(err)
	return &fail
}

func withSnippet(m plan.Diagnostic) string {
	if snippet := m.Snippet(); snippet != "" {
		return m.Message + "\n" + snippet
	}
	return m.Message
}

// placed is an error that knows its own place in the plan; its text goes without.
type placed struct {
	at, text string
	err      error
}

func (p *placed) Error() string { return p.text }
func (p *placed) Unwrap() error { return p.err }

var linesAndColumn = regexp.MustCompile(`^(:\d+:\d+): `)

// place takes the place off an error of package plan that begins with it: of an if or an assert.
func (r *run) place(err error) error {
	if err == nil {
		return nil
	}
	rest, found := strings.CutPrefix(err.Error(), r.Plan.Source.Name)
	m := linesAndColumn.FindStringSubmatch(rest)
	if !found || m == nil {
		return err
	}
	return &placed{r.Plan.Source.Name + m[1], rest[len(m[0]):], err}
}

// overrun is the cause with which a step's context ends when its time is over.
type overrun struct {
	scope *plan.Scope // whose limit it was
	text  string
}

func (o *overrun) Error() string { return o.text }

// withTimeout limits a step by its own timeout; 0 is none.
func withTimeout(ctx context.Context, s *plan.Scope, limit plan.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit.D(), &overrun{s, fmt.Sprintf("it took longer than its timeout of %s", limit)})
}

// ownOverrun gives the overrun of this very scope, where that is what ended the context.
func ownOverrun(ctx context.Context, s *plan.Scope) *overrun {
	if o, ok := errors.AsType[*overrun](context.Cause(ctx)); ok && o.scope == s {
		return o
	}
	return nil
}

// ended tells why a step could not come to its end: its own time was over, or that of a group around, or the run was
// interrupted. What the step says of it is kept, unless it is the same in other words.
func ended(ctx context.Context, s *plan.Scope, err error) error {
	why := ErrInterrupted
	o, over := errors.AsType[*overrun](context.Cause(ctx))
	switch {
	case over && o.scope == s:
		why = o
	case over:
		why = fmt.Errorf("the group at %s: %w", o.scope.At(), o)
	case errors.Is(context.Cause(ctx), errAbandoned):
		why = errAbandoned
	}
	same := err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrInterrupted) || over && errors.Is(err, o)
	if same {
		return why
	}
	return fmt.Errorf("%w: %w", why, err)
}

// final is an error that another try cannot mend.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// cellText writes the labels of a cell, and which of its repeats it is.
func cellText(s *plan.Scope) string {
	var parts []string
	for _, l := range s.Labels() {
		parts = append(parts, l.Name+"="+l.Value)
	}
	if s.Repeat() > 1 {
		parts = append(parts, fmt.Sprintf("#%d", s.Repeat()))
	}
	return strings.Join(parts, " ")
}

// stepTitle names a step as messages do: its kind, and its name where it has one.
func stepTitle(s *plan.Scope) string {
	if name := s.Name(); name != "" {
		return fmt.Sprintf("%s %q", s.Step().Kind, name)
	}
	return s.Step().Kind
}

// collect adds an error to those that are reported together.
func collect(all *multierror.Error, err error) *multierror.Error {
	if err == nil {
		return all
	}
	all = multierror.Append(all, err)
	all.ErrorFormat = errorList
	return all
}

// errorList writes one error a line, and nothing around a single one.
func errorList(errs []error) string {
	lines := make([]string, len(errs))
	for i, err := range errs {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Errors lists the errors of a run, one for each thing that went wrong.
func Errors(err error) []error {
	if err == nil {
		return nil
	}
	many, ok := errors.AsType[*multierror.Error](err)
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range many.Errors {
		out = append(out, Errors(e)...)
	}
	return out
}
