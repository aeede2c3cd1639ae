package main

import (
	"benchplan/results"

	"github.com/spf13/cobra"
)

func compareCommand(t *terminal) *cobra.Command {
	var root, format string
	c := &cobra.Command{
		Use:   "compare RUN RUN…",
		Short: "Compare runs cell by cell",
		Long: `compare joins the cells of two or more runs by their identity (the names of the
steps around them and their labels) and shows the values of each run and the
difference to the first. It lists cells without a partner, and what else differed
between the runs.`,
		Example:           "  benchplan compare radon-benchyou/20240501T120000Z radon-benchyou/20240502T120000Z",
		Args:              atLeast(2, "two or more runs"),
		ValidArgsFunction: completeRuns(&root),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := formatByName(format)
			if err != nil {
				return usage(err)
			}
			runs := make([]results.Recorded, len(args))
			for i, arg := range args {
				if runs[i], _, err = recorded(root, arg); err != nil {
					return usage(err)
				}
			}
			comparison, err := results.Compare(runs)
			if err != nil {
				return usage(err)
			}
			return f.Compare(t.out, comparison, t.options(runs...))
		},
	}
	c.Flags().StringVar(&root, "runs", defaultRuns, "the `folder` of all runs")
	c.Flags().StringVar(&format, "format", "table", formatHelp())
	completeFormats(c)
	return c
}
