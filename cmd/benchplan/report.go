package main

import (
	"errors"
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

// reportFlags are the flags of report.
type reportFlags struct {
	judgeFlags
	root, format, cell string
	percentiles        []string
}

func reportCommand(t *terminal) *cobra.Command {
	f := &reportFlags{percentiles: []string{"95"}}
	c := &cobra.Command{
		Use:   "report RUN",
		Short: "Print the table of a run again",
		Long: `report prints the table of an earlier run from its folder alone. RUN is a folder,
<plan>/<time>, the name of a plan (its last run that is no rehearsal), or "last".
--cell picks the cells whose names or labels hold a text; --format sysbench prints
each of them as sysbench does, for eyes and parsers that know that. With --baseline
it is compared with that run, as compare does.

--fail-on takes an expression over the metrics of a cell and, for what it is
compared with, baseline.tps, change.tps (-0.05 is 5 % less), significant.tps and
p.tps. The exit status is 3 where it holds for a cell.`,
		Example: `  benchplan report last
  benchplan report radon-benchyou --format csv
  benchplan report last --baseline last --fail-on 'change.tps < -0.05 && significant.tps'
  benchplan report last --cell threads=64 --format sysbench --percentile 95,99`,
		Args:              oneRun,
		ValidArgsFunction: completeRuns(&f.root),
		RunE:              func(_ *cobra.Command, args []string) error { return reportRun(t, f, args[0]) },
	}
	c.Flags().StringVar(&f.root, "runs", defaultRuns, "the `folder` of all runs")
	c.Flags().StringVar(&f.format, "format", "table", formatHelp()+", "+sysbenchFormat)
	c.Flags().StringVar(&f.cell, "cell", "", "only the cells whose names or labels hold this `text`, such as config=plain")
	c.Flags().StringSliceVar(&f.percentiles, "percentile", f.percentiles, "the `percentiles` of --format sysbench, in percent")
	completeFormats(c, sysbenchFormat)
	f.add(c, true)
	return c
}

func reportRun(t *terminal, f *reportFlags, spec string) error {
	collectLess()
	o, err := f.options()
	if err != nil {
		return usage(err)
	}
	r, folder, err := recorded(f.root, spec)
	if err != nil {
		return usage(err)
	}
	if r.Cells = cellsWith(r.Cells, f.cell); len(r.Cells) == 0 && f.cell != "" {
		return usage(fmt.Errorf("--cell %s: no cell of %s has this in its names or labels", f.cell, r.Name))
	}
	if f.format == sysbenchFormat {
		if f.baseline != "" || len(f.failOn) > 0 {
			return usage(fmt.Errorf("--format %s prints cells one by one and compares nothing: leave --baseline and --fail-on out", sysbenchFormat))
		}
		return usage(printSysbench(t, folder, r.Cells, f.percentiles))
	}
	format, err := formatByName(f.format)
	if err != nil {
		return usage(err)
	}
	if len(r.Cells) == 0 {
		fmt.Fprintf(t.err, "%s has no cells\n", r.Name)
	}
	runs := []results.Recorded{r}
	if f.baseline != "" {
		base, err := f.comparedWith(f.root, subjectOf(r))
		if err != nil {
			return usage(err)
		}
		base.Cells = cellsWith(base.Cells, f.cell)
		runs = []results.Recorded{base, r}
	}
	shown, err := f.print(t, format, o, runs)
	if err != nil {
		return usage(err)
	}
	failed, err := f.judge(t, shown)
	return errors.Join(usage(err), notHeld(failed))
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
	r, err = openRun(folder)
	return r, folder, err
}
