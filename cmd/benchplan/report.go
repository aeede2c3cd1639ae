package main

import (
	"fmt"
	"strings"

	"benchplan/results"
	"benchplan/results/render"

	"github.com/spf13/cobra"
)

// formatByName gives a format by the name that --format takes.
func formatByName(name string) (render.Format, error) {
	f, ok := render.Formats()[name]
	if !ok {
		return f, fmt.Errorf("--format %s: there is no such format; there are: %s", name, strings.Join(formatNames(), ", "))
	}
	return f, nil
}

func formatNames() []string { return sortedNames(render.Formats()) }

func formatHelp() string { return "`format`: " + strings.Join(formatNames(), ", ") }

func reportCommand(t *terminal) *cobra.Command {
	var root, format string
	c := &cobra.Command{
		Use:   "report RUN",
		Short: "Print the table of a run again",
		Long: `report prints the table of an earlier run from its folder alone. RUN is a folder,
<plan>/<time>, the name of a plan (its last run that is no rehearsal), or "last".`,
		Example:           "  benchplan report last\n  benchplan report radon-benchyou --format csv",
		Args:              oneRun,
		ValidArgsFunction: completeRuns(&root),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := formatByName(format)
			if err != nil {
				return usage(err)
			}
			r, err := recorded(root, args[0])
			if err != nil {
				return usage(err)
			}
			if len(r.Cells) == 0 {
				fmt.Fprintf(t.err, "%s has no cells\n", r.Name)
			}
			return f.Report(t.out, results.NewReport(r.Name, r.Run, r.Cells, r.Warnings), t.options())
		},
	}
	c.Flags().StringVar(&root, "runs", defaultRuns, "the `folder` of all runs")
	c.Flags().StringVar(&format, "format", "table", formatHelp())
	completeFormats(c)
	return c
}

// recorded opens the run that an argument means.
func recorded(root, spec string) (results.Recorded, error) {
	folder, err := results.Find(root, spec)
	if err != nil {
		return results.Recorded{}, err
	}
	run, cells, warnings, err := results.Open(folder)
	return results.Recorded{Name: results.RunName(folder), Run: run, Cells: cells, Warnings: warnings}, err
}
