// Package guard turns a panic into an error. A goroutine that panics ends the whole program, and with it whatever would have put
// a server's settings back: so each goroutine that a run starts, and each step, is called through it.
//
// What Go itself ends the program for (a map written by two goroutines, no memory left) cannot be caught by anybody.
package guard

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Panic is the error that a panic became.
type Panic struct {
	Value any    // what panic was given
	Where string // function and line of the code that panicked: workloads/benchyou.(*writer).next (writer.go:120)
	Stack []byte // of its goroutine, for a log
}

// Error says that the mistake is benchplan's own, what the panic was given, and where.
func (p *Panic) Error() string {
	return fmt.Sprintf("a mistake in benchplan itself: %v, at %s; please report it", p.Value, p.Where)
}

// Unwrap gives the error that panic was given, if it was one.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Call calls do and gives its error, or a *Panic where it panics.
func Call(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Recovered(v)
		}
	}()
	return do()
}

// Func is Call for later: it suits errgroup.Group.Go.
func Func(do func() error) func() error {
	return func() error { return Call(do) }
}

// Recovered makes the error of what recover gave, which must not be nil. It is called by the deferred function itself: the stack of
// the panic is still there then. A *Panic that was passed on by panic stays what it is.
func Recovered(value any) *Panic {
	if p, ok := value.(*Panic); ok {
		return p
	}
	return &Panic{Value: value, Where: where(), Stack: debug.Stack()}
}

// where finds the innermost function below the runtime's own that panicked.
func where() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for panicked := false; ; {
		frame, more := frames.Next()
		system := strings.HasPrefix(frame.Function, "runtime.")
		if panicked && !system {
			file := frame.File[strings.LastIndexByte(frame.File, '/')+1:]
			return fmt.Sprintf("%s (%s:%d)", strings.TrimPrefix(frame.Function, "benchplan/"), file, frame.Line)
		}
		panicked = panicked || frame.Function == "runtime.gopanic"
		if !more {
			return "a place that is not known"
		}
	}
}
