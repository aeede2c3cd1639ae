package main

import (
	"fmt"
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
		Args:  cobra.NoArgs,
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
	c.Flags().StringVar(&root, "runs", defaultRuns, "the `folder` of all runs")
	return c
}

func listRuns(t *terminal, entries []results.Entry) error {
	table := plainTable(t)
	table.Header([]string{"run", "status", "cells", "took", "size"})
	for _, e := range entries {
		status := string(e.Status)
		if e.Rehearsal {
			status += ", rehearsal"
		}
		row := []string{e.Name, status, fmt.Sprintf("%d/%d", e.Complete, e.Planned), e.Elapsed.Round(time.Second).String(), sizeText(e.Size)}
		if e.Err != nil {
			row = []string{e.Name, "unreadable: " + e.Err.Error(), "", "", sizeText(e.Size)}
		}
		for i := range row {
			row[i] = plainText(row[i])
		}
		if err := table.Append(row); err != nil {
			return err
		}
	}
	return table.Render()
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
