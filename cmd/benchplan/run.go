package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/results/render"
	"benchplan/steps"

	"github.com/spf13/cobra"
)

// runFlags are the flags of run.
type runFlags struct {
	planFlags
	judgeFlags
	only, skip []string
	out, root  string
	format     string
	yes, force bool
	shell      bool
	dryRun     bool
	quiet      bool
	live       bool
}

func runCommand(t *terminal) *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run PLAN",
		Short: "Run a plan and print the table that compares its scenarios",
		Long: `run carries out the steps of a plan one after another and prints the table that
compares its scenarios. What it measures is kept in runs/<plan>/<UTC time>; each
cell is on disk before the next begins. The first Ctrl-C ends the cell under way,
keeps what it measured and runs finally; the second ends at once.
With --baseline the run is compared with an earlier one when it is over.`,
		Example: `  benchplan run plans/quickstart.yaml
  benchplan run radon.yaml --set vars.radon=10.0.0.7 --only config
  benchplan run radon.yaml --rehearse
  benchplan run radon.yaml --baseline release-1.2 --fail-on 'change.tps < -0.05 && significant.tps'`,
		Args:              onePlan,
		ValidArgsFunction: completePlans,
		RunE:              func(_ *cobra.Command, args []string) error { return runPlan(t, f, args[0]) },
	}
	f.planFlags.add(c)
	f.judgeFlags.add(c, true)
	c.Flags().BoolVar(&f.rehearse, "rehearse", false, "try the plan on a private local server: no secrets, a second a cell, HTTP answered by a stand-in")
	addPicks(c, &f.only, &f.skip)
	c.Flags().StringVar(&f.out, "out", "", "the run `folder`, in place of runs/<plan>/<UTC time>")
	c.Flags().StringVar(&f.root, "runs", defaultRuns, "the `folder` of all runs")
	c.Flags().StringVar(&f.format, "format", "table", formatHelp())
	completeFormats(c)
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask before data is dropped")
	c.Flags().BoolVar(&f.force, "force", false, "drop tables that are in the way even if benchplan did not make them")
	c.Flags().BoolVar(&f.shell, "allow-shell", false, "let shell steps execute commands on this machine")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "check the plan, say what would run, touch nothing")
	c.Flags().BoolVar(&f.live, "live", false, "a line for every interval of a cell, as sysbench's report-interval gives it")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress: nothing but the result and the errors")
	return c
}

// defaultRuns is the folder that runs are kept in.
const defaultRuns = "runs"

func runPlan(t *terminal, f *runFlags, file string) error {
	format, err := formatByName(f.format)
	if err != nil {
		return usage(err)
	}
	o, err := f.options()
	if err != nil {
		return usage(err)
	}
	p, err := f.read(t, file)
	if err != nil {
		return err
	}
	if err := checkPicks(p, f.only, f.skip); err != nil {
		return err
	}
	if f.dryRun {
		return showPlan(t, p, &planView{only: f.only, skip: f.skip, rehearse: f.rehearse})
	}
	if err := allowed(p, f); err != nil {
		return usage(err)
	}
	base, err := f.before(p)
	if err != nil {
		return usage(err)
	}
	writer, mask, err := f.writer(p)
	if err != nil {
		return err
	}
	defer writer.Close()
	if names := p.ShortSecrets(); len(names) > 0 && !f.rehearse {
		fmt.Fprintln(t.err, plainText("warning: fewer than 6 characters are too few to be masked in messages of servers and in logs, only where they stand as a secret: "+strings.Join(names, ", ")))
	}
	run, seed := f.record(p)
	progress := newProgress(t, f.quiet, f.live, mask)
	ctx, stop := interruptible(progress.interrupted, progress.close)
	defer stop()
	config := steps.Config{
		Plan: p, Kinds: steps.Kinds(), Writer: writer, Run: run, Observer: progress, Mask: mask, Seed: seed,
		AllowShell: f.shell, Force: f.force, Rehearse: f.rehearse, Only: f.only, Skip: f.skip,
	}
	if !f.yes {
		config.Confirm = progress.ask
	}
	failed := steps.Run(ctx, config)
	progress.close()
	return conclude(t, f, printer{format, o, base}, writer.Masked(run), writer.Folder(), failed)
}

// allowed refuses, before anything is touched, a run that lacks a secret, a file, or the permission for shell.
func allowed(p *plan.Plan, f *runFlags) error {
	if err := p.MissingSecrets(); err != nil {
		return err
	}
	return steps.Preflight(p, f.shell || f.rehearse)
}

// writer makes the run folder, and the function that masks secrets in what is written there and printed. A folder that cannot be
// taken is a mistake of the command line where --out names it.
func (f *runFlags) writer(p *plan.Plan) (*results.Writer, func(string) string, error) {
	values := p.SecretValues()
	if v := os.Getenv(targetPassword); v != "" {
		values = append(values, v)
	}
	mask := plan.Masker(values)
	if f.out != "" {
		w, err := results.CreateAt(f.out, mask)
		return w, mask, usage(err)
	}
	w, err := results.Create(f.root, p.Name, time.Now(), mask)
	if err != nil {
		err = &exitError{exitFailed, err}
	}
	return w, mask, err
}

// record begins run.json.
func (f *runFlags) record(p *plan.Plan) (*results.Run, int64) {
	seed := p.Seed
	if seed == 0 {
		seed = rand.Int64()
		p.Draw(seed)
	}
	settings := map[string]string{}
	for _, s := range f.set {
		name, value, _ := strings.Cut(s, "=")
		settings["--set "+name] = value
	}
	for name, value := range map[string]string{"--target": f.target, "--only": strings.Join(f.only, ","), "--skip": strings.Join(f.skip, ",")} {
		if value != "" {
			settings[name] = value
		}
	}
	return &results.Run{
		Plan: p.Name, Description: p.Description, PlanFile: filepath.Base(p.Source.Name), PlanText: string(p.Source.Text), PlanHash: p.Hash(), Resolved: steps.Resolve(p),
		Tool: toolVersion(), Host: thisHost(), Seed: uint64(seed), Settings: settings, Started: time.Now().UTC(),
		Rehearsal: f.rehearse, Report: results.Settings(p.Report),
	}, seed
}

// interruptible gives a context that the first SIGINT, SIGTERM or SIGHUP ends; the second ends the program at once. Of the
// first interrupted is told, of the second abandoned.
func interruptible(interrupted, abandoned func()) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-signals:
				if n > 0 {
					briefly(abandoned)
					os.Exit(exitInterrupted)
				}
				briefly(interrupted)
				cancel()
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}

// briefly tells something, and waits for that a second at the most: a terminal that was stopped, or who reads a pipe, may take no text, and
// a signal is heeded nevertheless.
func briefly(tell func()) {
	told := make(chan struct{})
	go func() {
		defer close(told)
		tell()
	}()
	select {
	case <-told:
	case <-time.After(time.Second):
	}
}

// before finds, before anything is touched, the run that this one will be compared with; none without --baseline, and in a
// rehearsal, whose figures are compared with nothing.
func (f *runFlags) before(p *plan.Plan) ([]results.Recorded, error) {
	if f.baseline == "" || f.rehearse {
		return nil, nil
	}
	base, err := f.comparedWith(f.root, results.Subject{Plan: p.Name})
	return []results.Recorded{base}, err
}

// printer is how a run is printed when it is over.
type printer struct {
	format  render.Format
	options results.Options
	base    []results.Recorded // the run that it is compared with, if any
}

// conclude prints the table of what there is, and gives the error with its exit status. What is known of the run comes from memory, masked:
// where the disk is full its file is not what it should be.
func conclude(t *terminal, f *runFlags, p printer, run *results.Run, folder string, failed error) error {
	_, cells, warnings, err := results.Open(folder)
	if err != nil {
		failed = errors.Join(failed, err)
	}
	shown := *run
	if f.format == "table" {
		shown.Errors = nil // they follow on standard error
	}
	r := results.Recorded{Name: results.RunName(folder), Folder: folder, Run: &shown, Cells: cells, Warnings: warnings}
	var printed judged
	if len(cells) > 0 {
		if err := checkLabels(p.options, r); err != nil {
			// Only the cells tell what labels there are; what was measured is shown nevertheless.
			fmt.Fprintln(t.err, plainText("warning: shown as the plan has it: "+err.Error()))
			p.options.Baseline, p.options.Pivot = nil, ""
		}
		if printed, err = f.print(t, p.format, p.options, append(p.base, r)); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	if len(cells) == 0 && f.format != "table" {
		// Whoever reads the output with a program waits for a document, and finds in it why there is no cell.
		if _, err = f.print(t, p.format, p.options, append(p.base, r)); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	if !f.quiet {
		fmt.Fprintf(t.err, "kept in %s\n", folder)
	}
	switch {
	case errors.Is(failed, steps.ErrInterrupted):
		return &exitError{exitInterrupted, failed}
	case failed != nil:
		return &exitError{exitFailed, failed}
	case f.rehearse:
		if f.baseline != "" || len(f.failOn) > 0 {
			fmt.Fprintln(t.err, "warning: figures of a rehearsal are compared with nothing: --baseline and --fail-on were not heeded")
		}
		return nil
	}
	return f.held(t, r, p.options, printed)
}

// held holds the run against report.assert, and what was printed of it against --fail-on.
func (f *runFlags) held(t *terminal, r results.Recorded, o results.Options, printed judged) error {
	if printed == nil {
		if len(r.Run.Report.Assert)+len(f.failOn) > 0 {
			return notHeld([]string{"no cell was measured, so nothing holds of what report.assert and --fail-on guard"})
		}
		return nil
	}
	failures, err := results.ReportOf(r, o).Assert(r.Run.Report.Assert)
	if err != nil {
		return usage(err)
	}
	failed, err := f.judge(t, printed)
	if err != nil {
		return usage(err)
	}
	return notHeld(append(sentences("report.assert", failures), failed...))
}
