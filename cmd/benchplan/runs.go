package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"benchplan/results"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
	"github.com/spf13/cobra"
)

func runsCommand(t *terminal) *cobra.Command {
	var root string
	c := &cobra.Command{
		Use:   "runs",
		Short: "List the runs that are kept",
		Long: `runs lists the runs that are kept. A run can be given a name, by which --baseline
of run, report and compare finds it: the names stand in baselines.json beside the
runs of a plan.`,
		Example: `  benchplan runs
  benchplan runs pin radon-benchyou release-1.2
  benchplan run radon.yaml --baseline release-1.2`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			entries, err := results.List(root)
			if err != nil {
				return usage(err)
			}
			if len(entries) == 0 {
				fmt.Fprintf(t.err, "%s holds no runs; benchplan run PLAN makes one\n", root)
				return nil
			}
			return listRuns(t, entries)
		},
	}
	c.PersistentFlags().StringVar(&root, "runs", defaultRuns, "the `folder` of all runs")
	c.AddCommand(pinCommand(&root, "pin", "Give a run a name by which --baseline finds it", results.Pin, false),
		pinCommand(&root, "unpin", "Take such a name from a run", results.Unpin, true))
	return c
}

// pinCommand gives a run a name, or takes it away: also from a run that is gone, since its name stays where the names are kept.
func pinCommand(root *string, name, short string, change func(folder, name string) error, gone bool) *cobra.Command {
	return &cobra.Command{
		Use:               name + " RUN NAME",
		Short:             short,
		Args:              func(c *cobra.Command, args []string) error { return exactly(c, args, 2, "a run and a name") },
		ValidArgsFunction: completeRuns(root),
		RunE: func(_ *cobra.Command, args []string) error {
			folder, err := results.Find(*root, args[0])
			if err != nil && gone && change(filepath.Join(*root, args[0]), args[1]) == nil {
				return nil
			}
			if err != nil {
				return usage(err)
			}
			return usage(change(folder, args[1]))
		},
	}
}

func listRuns(t *terminal, entries []results.Entry) error {
	table := plainTable(t)
	table.Header([]string{"run", "status", "cells", "took", "size", "pinned as"})
	for _, e := range entries {
		status := string(e.Status)
		if e.Rehearsal {
			status += ", rehearsal"
		}
		if e.Resumed > 0 {
			status += fmt.Sprintf(", resumed %d×", e.Resumed)
		}
		row := []string{e.Name, status, fmt.Sprintf("%d/%d", e.Complete, e.Planned), e.Elapsed.Round(time.Second).String(), sizeText(e.Size), strings.Join(e.Pinned, ", ")}
		if e.Err != nil {
			row = []string{e.Name, "unreadable: " + e.Err.Error(), "", "", sizeText(e.Size), strings.Join(e.Pinned, ", ")}
		}
		for i := range row {
			row[i] = plainText(row[i])
		}
		if err := table.Append(row); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	told := ""
	for _, e := range entries {
		if e.PinsErr != nil && e.PinsErr.Error() != told {
			told = e.PinsErr.Error()
			fmt.Fprintln(t.err, plainText("warning: "+told))
		}
	}
	return nil
}

// plainTable is a table without borders.
func plainTable(t *terminal) *tablewriter.Table {
	return tablewriter.NewTable(t.out,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Symbols:  tw.NewSymbols(tw.StyleNone),
			Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAlignment(tw.AlignLeft),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithPadding(tw.Padding{Left: "", Right: "  ", Overwrite: true}),
	)
}

func sizeText(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}
