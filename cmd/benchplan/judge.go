package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"benchplan/results"
	"benchplan/results/render"

	"github.com/spf13/cobra"
)

// judgeFlags say how results are compared and judged.
type judgeFlags struct {
	baseline string
	labels   map[string]string
	pivot    string
	metrics  []string
	correct  string
	failOn   []string
}

// add adds the flags; a comparison of runs has no baseline among its labels.
func (f *judgeFlags) add(c *cobra.Command, labels bool) {
	flags := c.Flags()
	flags.StringVar(&f.baseline, "baseline", "", `compare with this earlier run: a name given by "runs pin", "last" for the one of the same plan before it, or a `+"`run`")
	if labels {
		flags.StringToStringVar(&f.labels, "baseline-labels", nil, "the `label=value` that scenarios are compared with, in place of report.baseline")
	}
	flags.StringVar(&f.pivot, "pivot", "", "the `label` by whose values the table is divided, in place of report.pivot")
	flags.StringSliceVar(&f.metrics, "metrics", nil, "the `metrics` to show, in this order, in place of report.metrics")
	flags.StringVar(&f.correct, "correct", "none", "what to do about many differences being tested at once: `holm` or none")
	flags.StringArrayVar(&f.failOn, "fail-on", nil, "exit with 3 where this `expression` holds for a cell: 'change.tps < -0.05 && significant.tps'; may be given several times")
	_ = c.RegisterFlagCompletionFunc("correct", cobra.FixedCompletions([]string{"holm", "none"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("metrics", cobra.FixedCompletions(metricNames(), cobra.ShellCompDirectiveNoFileComp)) // both fail for a flag that is not there
}

func metricNames() []string {
	var names []string
	for _, m := range results.Metrics() {
		names = append(names, m.Name)
	}
	return names
}

// options checks what can be checked without a run.
func (f *judgeFlags) options() (results.Options, error) {
	o := results.Options{Metrics: f.metrics, Baseline: f.labels, Pivot: f.pivot, Judged: results.JudgedMetrics(f.failOn)}
	var err error
	if o.Correct, err = results.ParseCorrection(f.correct); err != nil {
		return o, fmt.Errorf("--correct: %w", err)
	}
	if err := (results.Options{Metrics: f.metrics}).Check(); err != nil {
		return o, fmt.Errorf("--metrics: %w", err)
	}
	for _, source := range f.failOn {
		if err := results.CheckAssert(source); err != nil {
			return o, fmt.Errorf("--fail-on: %w", err)
		}
	}
	return o, nil
}

// checkLabels says which of the labels that flags name the cells of the runs do not have.
func checkLabels(o results.Options, runs ...results.Recorded) error {
	if err := (results.Options{Pivot: o.Pivot}).Check(runs...); err != nil {
		return fmt.Errorf("--pivot: %w", err)
	}
	if err := (results.Options{Baseline: o.Baseline}).Check(runs...); err != nil {
		return fmt.Errorf("--baseline-labels: %w", err)
	}
	return nil
}

// comparedWith gives the run that --baseline means for another one.
func (f *judgeFlags) comparedWith(root string, of results.Subject) (results.Recorded, error) {
	folder, err := results.FindBaseline(root, of, f.baseline)
	if err != nil {
		return results.Recorded{}, fmt.Errorf("--baseline: %w", err)
	}
	return openRun(folder)
}

// judged is a report or a comparison, printed and then held against --fail-on.
type judged interface {
	FailOn(sources []string) (failures []results.AssertFailure, silent []string, err error)
	Rehearsed() bool
}

// print prints runs: one as a report, several as a comparison.
func (f *judgeFlags) print(t *terminal, format render.Format, o results.Options, runs []results.Recorded) (judged, error) {
	if err := checkLabels(o, runs...); err != nil {
		return nil, err
	}
	if len(runs) == 1 {
		report := results.ReportOf(runs[0], o)
		return report, format.Report(t.out, report, f.renderOptions(t, runs))
	}
	comparison, err := results.CompareOf(runs, o)
	if err != nil {
		return nil, err
	}
	return comparison, format.Compare(t.out, comparison, f.renderOptions(t, runs))
}

// judge holds what was printed against --fail-on. It gives the sentences why it failed, and warns where an expression had no
// answer for some of the cells. Figures of a rehearsal are judged by nothing.
func (f *judgeFlags) judge(t *terminal, what judged) ([]string, error) {
	if what.Rehearsed() {
		if len(f.failOn) > 0 {
			fmt.Fprintln(t.err, "warning: figures of a rehearsal say nothing about the real target: --fail-on was not heeded")
		}
		return nil, nil
	}
	failures, silent, err := what.FailOn(f.failOn)
	if err != nil {
		return nil, err
	}
	for _, text := range silent {
		fmt.Fprintln(t.err, plainText("warning: --fail-on: "+text))
	}
	return sentences("--fail-on", failures), nil
}

func sentences(from string, failures []results.AssertFailure) []string {
	var list []string
	for _, f := range failures {
		list = append(list, from+": "+f.String())
	}
	return list
}

// notHeld is the error with exit status 3 of what did not hold; nil for nothing.
func notHeld(sentences []string) error {
	if len(sentences) == 0 {
		return nil
	}
	return &exitError{status: exitNotHeld, err: errors.New(strings.Join(sentences, "\n"))}
}

// collectLess lets the garbage collector wait longer in a command that reads, prints and ends: it is a fifth of the time that
// thousands of cells take. GOGC goes before it.
func collectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// openRun opens a run folder.
func openRun(folder string) (results.Recorded, error) {
	run, cells, warnings, err := results.Open(folder)
	return results.Recorded{Name: results.RunName(folder), Folder: folder, Run: run, Cells: cells, Warnings: warnings}, err
}

// subjectOf is a run for which a baseline is looked for.
func subjectOf(r results.Recorded) results.Subject {
	return results.Subject{Plan: r.Run.Plan, Folder: r.Folder, Started: r.Run.Started}
}

// renderOptions tells a format where it prints, and by what the results are judged.
func (f *judgeFlags) renderOptions(t *terminal, runs []results.Recorded) render.Options {
	o := t.options(runs...)
	o.FailOn = f.failOn
	return o
}
