// Command benchplan runs a database benchmark method that is written down as a plan.
//
// Flags in, packages called, exit status out: what a plan is stands in package plan, what it does in steps, the load in
// workloads, and what came out in results.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"benchplan/workloads/guard"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// The exit statuses. They are the interface to scripts and CI.
const (
	exitDone        = 0
	exitFailed      = 1   // a step, an assertion of a step, or verify failed, or the server was lost
	exitUsage       = 2   // the plan or the command line is wrong
	exitNotHeld     = 3   // report.assert or --fail-on did not hold
	exitInterrupted = 130 // by a signal
)

// exitError is an error with the exit status that it leads to.
type exitError struct {
	status int
	err    error
	footer string // printed below the error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as one of the plan or the command line.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{status: exitUsage, err: err}
}

// withFooter has a text printed below an error.
func withFooter(err error, text string) error {
	known, ok := errors.AsType[*exitError](err)
	if !ok || text == "" {
		return err
	}
	return &exitError{known.status, known.err, text}
}

// terminal is where the program is used: its three streams.
type terminal struct {
	in       io.Reader
	out, err io.Writer
}

// execute runs the program and gives its exit status.
func execute(args []string, in io.Reader, out, errOut io.Writer) int {
	t := &terminal{in, out, errOut}
	root := rootCommand(t)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := guard.Call(func() error { return root.ExecuteContext(context.Background()) })
	if err == nil {
		return exitDone
	}
	var known *exitError
	if !errors.As(err, &known) {
		known = &exitError{status: exitUsage, err: err} // cobra's own: an unknown flag, a missing argument
	}
	if _, panicked := errors.AsType[*guard.Panic](err); panicked {
		known.status = exitFailed
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(errOut, t.paintErrors(plainText(text)))
	}
	fmt.Fprint(errOut, plainText(known.footer))
	return known.status
}

func rootCommand(t *terminal) *cobra.Command {
	root := &cobra.Command{
		Use:   "benchplan",
		Short: "Run a database benchmark method that is written down as a plan",
		Long: `benchplan runs a database benchmark method that is written down as a YAML plan:
ordered steps, matrices of workloads, scenarios. One command runs it and prints
one table that compares the scenarios; after a change the identical matrix is
run again and the two runs are compared, cell by cell.

Exit status: 0 done · 1 a step failed or the server was lost · 2 the plan or the
command line is wrong · 3 report.assert or --fail-on did not hold · 130 interrupted.`,
		Version:       toolVersion().Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(
		runCommand(t), validateCommand(t), showCommand(t), reportCommand(t), compareCommand(t), runsCommand(t),
		workloadsCommand(t), schemaCommand(t), referenceTopic(), formatsTopic(),
	)
	return root
}
