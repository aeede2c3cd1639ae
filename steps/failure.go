package steps

import (
	"errors"
	"fmt"
	"strings"

	"benchplan/plan"

	"github.com/hashicorp/go-multierror"
)

// StepError is a step that failed, with its place in the plan and the cell in which it did.
type StepError struct {
	At   string // file:line:col
	Step string // kind and name: http "5.1 switch off"
	Cell string // labels of the cell; empty outside of any
	Err  error
}

// Error writes the place first, as every message about a plan begins.
func (e *StepError) Error() string {
	cell := ""
	if e.Cell != "" {
		cell = " [" + e.Cell + "]"
	}
	message := e.Err.Error()
	if rest, same := strings.CutPrefix(message, e.At+": "); same {
		message = rest
	}
	return fmt.Sprintf("%s: %s%s: %s", e.At, e.Step, cell, message)
}

func (e *StepError) Unwrap() error { return e.Err }

// stepError adds place and cell, unless the error has them already from a step inside.
func stepError(s *plan.Scope, err error) error {
	if err == nil {
		return nil
	}
	var inner *StepError
	if errors.As(err, &inner) {
		return err
	}
	return &StepError{At: s.At(), Step: stepTitle(s), Cell: cellText(s), Err: err}
}

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
	var many *multierror.Error
	if errors.As(err, &many) {
		var out []error
		for _, e := range many.Errors {
			out = append(out, Errors(e)...)
		}
		return out
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// ErrInterrupted is wrapped by the error of a run that a signal ended.
var ErrInterrupted = errors.New("interrupted")
