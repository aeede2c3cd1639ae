package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps"
)

// goOn opens the run that --resume names and goes on with its record. It refuses where the command line or the plan is not that of the run.
func (f *runFlags) goOn(t *terminal, p *plan.Plan, mask func(string) string) (begun, error) {
	folder, run, cells, lost, err := f.toResume(p, mask)
	if err != nil {
		return begun{}, err
	}
	if whole(run, lost) {
		return f.nothingLeft(t, folder, run, cells), nil
	}
	writer, run, cells, lost, err := results.Resume(folder, mask)
	if err != nil {
		return begun{}, usage(err)
	}
	if whole(run, lost) { // somebody else has gone on with it meanwhile
		return f.nothingLeft(t, folder, run, cells), writer.Close()
	}
	for _, text := range lost {
		writer.Log().Warn(text)
		f.tell(t, "warning: "+text)
	}
	host := thisHost()
	changed := slices.Concat(results.ToolChanges(run.Tool, toolVersion()), results.HostChanges("host", &run.Host, &host))
	for _, text := range changed {
		f.tell(t, "since the run began this has changed: "+text)
	}
	for _, n := range run.NotPutBack {
		for i, line := range n.Text() {
			if i == 0 {
				line = "when the run ended this was not put back: " + line
			}
			f.tell(t, line)
		}
	}
	run.Resume(time.Now().UTC(), cells, changed)
	writer.Log().Info("run is resumed", "after", run.Resumed[len(run.Resumed)-1].After, "cells", len(cells), "changed", changed)
	if p.Seed == 0 {
		p.Draw(int64(run.Seed))
	}
	return begun{writer: writer, mask: mask, run: run, seed: int64(run.Seed), cells: cells}, nil
}

// toResume finds the run that --resume names, and sees that it can be gone on with. Lost says what of its journal is damaged.
func (f *runFlags) toResume(p *plan.Plan, mask func(string) string) (folder string, run *results.Run, cells []results.Cell, lost []string, err error) {
	if folder, err = results.Find(f.root, f.resume); err != nil {
		return "", nil, nil, nil, usage(err)
	}
	if run, cells, lost, err = results.Open(folder); err != nil {
		return "", nil, nil, nil, usage(err)
	}
	if unlike := f.unlike(p, run, cells, mask); len(unlike) > 0 {
		return "", nil, nil, nil, usage(notResumed(folder, unlike))
	}
	return folder, run, cells, lost, nil
}

// whole tells whether a run is done and nothing of its record is lost.
func whole(run *results.Run, lost []string) bool { return run.Status == results.Done && len(lost) == 0 }

func (f *runFlags) nothingLeft(t *terminal, folder string, run *results.Run, cells []results.Cell) begun {
	f.tell(t, fmt.Sprintf("%s is finished, with %s: there is nothing to resume", results.RunName(folder), plural(len(cells), "cell")))
	return begun{run: run, finished: folder}
}

// tell prints a line beside the result.
func (f *runFlags) tell(t *terminal, text string) {
	if !f.quiet {
		fmt.Fprintln(t.err, plainText(text))
	}
}

// notResumed says why a run is not gone on with, and what to do.
func notResumed(folder string, why []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is not resumed, since what is measured now could not be compared with what is there:\n", results.RunName(folder))
	for _, text := range why {
		b.WriteString("- " + strings.ReplaceAll(text, "\n", "\n  ") + "\n")
	}
	b.WriteString("Resume it as it was begun, or run the plan anew, without --resume")
	return errors.New(b.String())
}

// unlike says in what the plan and the command line are not those that a run was begun with.
func (f *runFlags) unlike(p *plan.Plan, run *results.Run, cells []results.Cell, mask func(string) string) []string {
	var list []string
	if run.PlanHash != p.Hash() {
		text := fmt.Sprintf("the plan has changed since (%s, of a run of %s)", p.Source.Name, run.Plan)
		if lines := results.PlanChanges(run.PlanText, string(p.Source.Text)); len(lines) > 0 {
			const most = 60
			if more := len(lines) - most; more > 1 {
				lines = append(lines[:most], fmt.Sprintf("and %d more lines", more))
			}
			text += ":\n" + strings.Join(lines, "\n")
		}
		list = append(list, text)
	}
	list = append(list, otherSettings(run.Settings, results.Masked(&results.Run{Settings: f.settings()}, mask).Settings)...)
	switch {
	case run.Rehearsal && !f.rehearse:
		list = append(list, "it was a rehearsal: give --rehearse")
	case f.rehearse && !run.Rehearsal:
		list = append(list, "it was in earnest, and no rehearsal: leave --rehearse out")
	}
	if list != nil {
		return list // what follows from these is no news
	}
	for _, text := range steps.OtherTargets(p, cells, f.rehearse) {
		list = append(list, "the target is another one: "+text)
	}
	for _, text := range steps.ResolvedChanges(run.Resolved, p) {
		list = append(list, "the plan comes to something else, by the environment that it reads or by another benchplan: "+mask(text))
	}
	return list
}

// otherSettings compares what two command lines laid over a plan.
func otherSettings(was, is map[string]string) []string {
	names := maps.Clone(was)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, is)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, had := was[name]
		now, has := is[name]
		shown := func(value string) string {
			if strings.HasPrefix(name, "--set ") {
				return name + "=" + value
			}
			return name + " " + value
		}
		switch {
		case had && !has:
			list = append(list, shown(before)+" was given then, and is not now")
		case has && !had:
			list = append(list, shown(now)+" was not given then")
		case before != now:
			list = append(list, fmt.Sprintf("%s: it was %q, and now is %q", name, before, now))
		}
	}
	return list
}

// showMissing tells what --resume would do, and touches nothing.
func (f *runFlags) showMissing(t *terminal, p *plan.Plan) error {
	folder, run, cells, lost, err := f.toResume(p, maskOf(p))
	if err != nil {
		return err
	}
	if whole(run, lost) {
		f.nothingLeft(t, folder, run, cells)
		return nil
	}
	for _, text := range lost {
		f.tell(t, "warning: "+text)
	}
	s := steps.SurveyRest(p, cells, f.only, f.skip, f.rehearse)
	text := fmt.Sprintf("%s (%s): %d of %s are there; %d would be executed", results.RunName(folder), run.Status, s.Done, plural(s.Cells, "cell"), s.Cells-s.Done)
	if s.Least > 0 {
		text += ", at least " + plan.Duration(s.Least).String()
	}
	_, err = fmt.Fprintln(t.out, plainText(text))
	return err
}
