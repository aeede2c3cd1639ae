package main

import (
	"fmt"
	"slices"
	"strconv"
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

// sysbenchFormat prints cells one by one, in sysbench's words; the formats of render print tables.
const sysbenchFormat = "sysbench"

func reportCommand(t *terminal) *cobra.Command {
	var root, format, cell string
	percentiles := []string{"95"}
	c := &cobra.Command{
		Use:   "report RUN",
		Short: "Print the table of a run again",
		Long: `report prints the table of an earlier run from its folder alone. RUN is a folder,
<plan>/<time>, the name of a plan (its last run that is no rehearsal), or "last".
--cell picks the cells whose names or labels hold a text; --format sysbench prints
each of them as sysbench does, for eyes and parsers that know that.`,
		Example: `  benchplan report last
  benchplan report radon-benchyou --format csv
  benchplan report last --cell threads=64 --format sysbench --percentile 95,99`,
		Args:              oneRun,
		ValidArgsFunction: completeRuns(&root),
		RunE: func(_ *cobra.Command, args []string) error {
			r, folder, err := recorded(root, args[0])
			if err != nil {
				return usage(err)
			}
			if r.Cells = cellsWith(r.Cells, cell); len(r.Cells) == 0 && cell != "" {
				return usage(fmt.Errorf("--cell %s: no cell of %s has this in its names or labels", cell, r.Name))
			}
			if format == sysbenchFormat {
				return usage(printSysbench(t, folder, r.Cells, percentiles))
			}
			f, err := formatByName(format)
			if err != nil {
				return usage(err)
			}
			if len(r.Cells) == 0 {
				fmt.Fprintf(t.err, "%s has no cells\n", r.Name)
			}
			return f.Report(t.out, results.NewReport(r.Name, r.Run, r.Cells, r.Warnings), t.options(r))
		},
	}
	c.Flags().StringVar(&root, "runs", defaultRuns, "the `folder` of all runs")
	c.Flags().StringVar(&format, "format", "table", formatHelp()+", "+sysbenchFormat)
	c.Flags().StringVar(&cell, "cell", "", "only the cells whose names or labels hold this `text`, such as config=plain")
	c.Flags().StringSliceVar(&percentiles, "percentile", percentiles, "the `percentiles` of --format sysbench, in percent")
	completeFormats(c, sysbenchFormat)
	return c
}

// cellsWith gives the cells whose key holds a text.
func cellsWith(cells []results.Cell, text string) []results.Cell {
	return slices.DeleteFunc(cells, func(c results.Cell) bool { return !strings.Contains(c.Key(), text) })
}

// printSysbench prints cells in sysbench's words, each under its name where there are several.
func printSysbench(t *terminal, folder string, cells []results.Cell, percentiles []string) error {
	var wanted []float64
	for _, p := range percentiles {
		v, err := strconv.ParseFloat(p, 64)
		if err != nil || v <= 0 || v > 100 {
			return fmt.Errorf("--percentile %s: a percentile is a number above 0, at most 100", p)
		}
		wanted = append(wanted, v)
	}
	for i := range cells {
		c := &cells[i]
		if len(cells) > 1 {
			fmt.Fprintf(t.out, "== %s #%d\n", c.Key(), c.Repeat)
		}
		histograms, err := results.ReadHistograms(folder, c)
		if err != nil {
			return err
		}
		if err := render.Sysbench(t.out, c, histograms["events"], wanted); err != nil {
			return err
		}
		fmt.Fprintln(t.out)
	}
	return nil
}

// recorded opens the run that an argument means, and gives its folder.
func recorded(root, spec string) (r results.Recorded, folder string, err error) {
	if folder, err = results.Find(root, spec); err != nil {
		return r, "", err
	}
	run, cells, warnings, err := results.Open(folder)
	return results.Recorded{Name: results.RunName(folder), Folder: folder, Run: run, Cells: cells, Warnings: warnings}, folder, err
}
