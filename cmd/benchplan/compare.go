package main

import (
	"errors"

	"benchplan/results"

	"github.com/spf13/cobra"
)

func compareCommand(t *terminal) *cobra.Command {
	var root, format string
	f := &judgeFlags{}
	c := &cobra.Command{
		Use:   "compare RUN RUN…",
		Short: "Compare runs cell by cell",
		Long: `compare joins the cells of two or more runs by their identity (the names of the
steps around them and their labels) and shows the values of each run and the
difference to the first. It lists cells without a partner, and what else differed
between the runs: the text of the plan, the server's variables, the machine.
With --baseline that run is the first, and one RUN is enough.

--fail-on takes an expression over the metrics of a cell and, for what it is
compared with, baseline.tps, change.tps (-0.05 is 5 % less), significant.tps and
p.tps. The exit status is 3 where it holds for a cell.`,
		Example: `  benchplan compare radon-benchyou/20240501T120000Z radon-benchyou/20240502T120000Z
  benchplan compare last --baseline release-1.2 --fail-on 'change.tps < -0.05 && significant.tps'`,
		Args:              atLeast(1, "two or more runs, or one and --baseline"),
		ValidArgsFunction: completeRuns(&root),
		RunE: func(c *cobra.Command, args []string) error {
			collectLess()
			if f.baseline == "" {
				if err := atLeast(2, "two or more runs, or one and --baseline")(c, args); err != nil {
					return err
				}
			}
			return compareRuns(t, f, root, format, args)
		},
	}
	c.Flags().StringVar(&root, "runs", defaultRuns, "the `folder` of all runs")
	c.Flags().StringVar(&format, "format", "table", formatHelp())
	completeFormats(c)
	f.add(c, false)
	return c
}

func compareRuns(t *terminal, f *judgeFlags, root, format string, args []string) error {
	shown, err := formatByName(format)
	if err != nil {
		return usage(err)
	}
	o, err := f.options()
	if err != nil {
		return usage(err)
	}
	runs := make([]results.Recorded, len(args))
	for i, arg := range args {
		if runs[i], _, err = recorded(root, arg); err != nil {
			return usage(err)
		}
	}
	if f.baseline != "" {
		base, err := f.comparedWith(root, subjectOf(runs[0]))
		if err != nil {
			return usage(err)
		}
		runs = append([]results.Recorded{base}, runs...)
	}
	comparison, err := f.print(t, shown, o, runs)
	if err != nil {
		return usage(err)
	}
	failed, err := f.judge(t, comparison)
	return errors.Join(usage(err), notHeld(failed))
}
