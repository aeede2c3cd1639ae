package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/results/render"
	"benchplan/steps"
	"benchplan/workloads/guard"

	"github.com/spf13/cobra"
)

// runFlags are the flags of run.
type runFlags struct {
	planFlags
	judgeFlags
	only, skip []string
	out, root  string
	resume     string
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
keeps what it measured and runs finally; the second ends at once, and says what was
not put back. A terminal that is closed counts as the first.
With --baseline the run is compared with an earlier one when it is over.

--resume goes on with a run that was killed, interrupted or failed, in its folder and
with its seed. Give it the plan and the flags that the run was begun with: it is
refused, with what differs, where plan, --set, --target, --only, --skip or the server
are not the same. Finished cells stay as they are and are not executed again; groups
of which no cell is missing are left out with all that they hold; every other step
runs, so that the server comes into each scenario's state again. Of a run that was
finished the table is printed, and nothing is done.`,
		Example: `  benchplan run plans/quickstart.yaml
  benchplan run radon.yaml --set vars.radon=10.0.0.7 --only config
  benchplan run radon.yaml --rehearse
  benchplan run radon.yaml --resume last
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
	c.Flags().StringVar(&f.resume, "resume", "", "go on with this `run`: a folder, <plan>/<time>, the name of a plan, or last")
	completeResume(c, &f.root)
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
	if f.resume != "" && f.out != "" {
		return usage(errors.New("--resume goes on in the folder that the run has: leave --out out"))
	}
	if f.dryRun && f.resume != "" {
		return f.showMissing(t, p)
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
	print := printer{format, o, base}
	begun, err := f.begin(t, p)
	if err != nil {
		return err
	}
	if begun.finished != "" {
		r, err := openRun(begun.finished)
		if err != nil {
			return err
		}
		return conclude(t, f, print, r, nil)
	}
	writer, mask := begun.writer, begun.mask
	defer writer.Close()
	if names := p.ShortSecrets(); len(names) > 0 && !f.rehearse {
		fmt.Fprintln(t.err, plainText("warning: fewer than 6 characters are too few to be masked in messages of servers and in logs, only where they stand as a secret: "+strings.Join(names, ", ")))
	}
	progress := newProgress(t, f.quiet, f.live, mask)
	outliveWrites()
	s := interruptible(progress.interrupted, progress.abandoned)
	defer s.stop()
	progress.out.hurried = s.first.Done()
	config := steps.Config{
		Plan: p, Kinds: steps.Kinds(), Writer: writer, Run: begun.run, Observer: progress, Mask: mask, Seed: begun.seed,
		AllowShell: f.shell, Force: f.force, Rehearse: f.rehearse, Only: f.only, Skip: f.skip, Cells: begun.cells, Abandon: s.second,
	}
	if !f.yes {
		config.Confirm = func(question string) bool { return progress.ask(s.first, question) }
	}
	failed := steps.Run(s.first, config)
	progress.close()
	if refused, ok := errors.AsType[*steps.NotResumedError](failed); ok {
		return usage(notResumed(writer.Folder(), []string{refused.Error()}))
	}
	err = guard.Call(func() error {
		kept := begun.kept(&failed)
		return conclude(t, f, print, kept, failed)
	})
	if _, panicked := errors.AsType[*guard.Panic](err); panicked {
		err = &exitError{status: exitFailed, err: logged(writer, failed, err)}
	}
	return withFooter(err, byHand(writer.Masked(begun.run).NotPutBack))
}

// begun is a run that is about to be carried out.
type begun struct {
	writer *results.Writer
	mask   func(string) string
	run    *results.Run
	seed   int64
	cells  []results.Cell // of a run that is resumed: those that it has

	finished string // the folder of a run that was to be resumed and lacks nothing; only run is set then
}

// kept gives the run as it is now: what is known of it from memory, and the cells from the open journal. Where the disk is full, or the
// folder gone, its files are not what they should be.
func (b *begun) kept(failed *error) results.Recorded {
	cells, warnings, err := b.writer.Cells()
	if err != nil {
		*failed = errors.Join(*failed, err)
	}
	folder := b.writer.Folder()
	return results.Recorded{Name: results.RunName(folder), Folder: folder, Run: b.writer.Masked(b.run), Cells: cells, Warnings: warnings}
}

// begin makes the run folder and begins the record in it, or goes on with those of the run to be resumed.
func (f *runFlags) begin(t *terminal, p *plan.Plan) (begun, error) {
	mask := maskOf(p)
	if f.resume != "" {
		return f.goOn(t, p, mask)
	}
	writer, err := f.writer(p, mask)
	if err != nil {
		return begun{}, err
	}
	run, seed := f.record(p)
	return begun{writer: writer, mask: mask, run: run, seed: seed}, nil
}

// maskOf gives the function that masks secrets in what is written into the run folder and printed.
func maskOf(p *plan.Plan) func(string) string {
	values := p.SecretValues()
	if v := os.Getenv(targetPassword); v != "" {
		values = append(values, v)
	}
	return plan.Masker(values)
}

// logged writes the stack of a panic after the run into its log, and gives the error beside what had failed before.
func logged(w *results.Writer, failed, err error) error {
	if p, ok := errors.AsType[*guard.Panic](err); ok {
		w.Log().Error("a mistake in benchplan itself", "panic", fmt.Sprint(p.Value), "stack", string(p.Stack))
		err = errors.New(w.Mask(p.Error()))
	}
	return errors.Join(failed, err)
}

// byHand writes what a run should have put back and has not, for a person to do.
func byHand(list []results.NotPutBack) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nNot put back: do this by hand\n")
	for _, n := range list {
		for _, line := range n.Text() {
			b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
		}
	}
	return b.String()
}

// allowed refuses, before anything is touched, a run that lacks a secret, a file, or the permission for shell.
func allowed(p *plan.Plan, f *runFlags) error {
	if err := p.MissingSecrets(); err != nil {
		return err
	}
	return steps.Preflight(p, f.shell || f.rehearse)
}

// writer makes the run folder. One that cannot be taken is a mistake of the command line where --out names it.
func (f *runFlags) writer(p *plan.Plan, mask func(string) string) (*results.Writer, error) {
	if f.out != "" {
		w, err := results.CreateAt(f.out, mask)
		return w, usage(err)
	}
	w, err := results.Create(f.root, p.Name, time.Now(), mask)
	if err != nil {
		err = &exitError{status: exitFailed, err: err}
	}
	return w, err
}

// record begins run.json.
func (f *runFlags) record(p *plan.Plan) (*results.Run, int64) {
	seed := p.Seed
	if seed == 0 {
		seed = rand.Int64()
		p.Draw(seed)
	}
	return &results.Run{
		Plan: p.Name, Description: p.Description, PlanFile: filepath.Base(p.Source.Name), PlanText: string(p.Source.Text), PlanHash: p.Hash(), Resolved: steps.Resolve(p),
		Tool: toolVersion(), Host: thisHost(), Seed: uint64(seed), Settings: f.settings(), Started: time.Now().UTC(),
		Rehearsal: f.rehearse, Report: results.Settings(p.Report),
	}, seed
}

// settings are what the command line lays over the plan.
func (f *runFlags) settings() map[string]string {
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
	return settings
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

// conclude prints the table of what there is, and gives the error with its exit status.
func conclude(t *terminal, f *runFlags, p printer, r results.Recorded, failed error) error {
	if f.format == "table" {
		shown := *r.Run
		shown.Errors, shown.NotPutBack = nil, nil // they follow on standard error
		r.Run = &shown
	}
	var err error
	var printed judged
	if len(r.Cells) > 0 {
		if err := checkLabels(p.options, r); err != nil {
			// Only the cells tell what labels there are; what was measured is shown nevertheless.
			fmt.Fprintln(t.err, plainText("warning: shown as the plan has it: "+err.Error()))
			p.options.Baseline, p.options.Pivot = nil, ""
		}
		if printed, err = f.print(t, p.format, p.options, append(p.base, r)); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	if len(r.Cells) == 0 && f.format != "table" {
		// Whoever reads the output with a program waits for a document, and finds in it why there is no cell.
		if _, err = f.print(t, p.format, p.options, append(p.base, r)); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	if !f.quiet {
		fmt.Fprintf(t.err, "kept in %s\n", r.Folder)
	}
	switch {
	case errors.Is(failed, steps.ErrInterrupted):
		return &exitError{status: exitInterrupted, err: failed}
	case failed != nil:
		return &exitError{status: exitFailed, err: failed}
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
