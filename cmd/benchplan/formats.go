package main

import (
	"fmt"
	"strings"

	"benchplan/results/render"

	"github.com/spf13/cobra"
)

// formatsTopic is the help topic of what report and compare print, and of the expressions that judge it: the fields of the JSON
// documents are read off the structs that are encoded.
func formatsTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "formats",
		Short: "What --format gives, and the names in --fail-on",
		Long:  formatsReference(),
	}
}

const sysbenchAbout = `Each cell in sysbench's words, for eyes and parsers that know these. report alone has it.`

const expressionsAbout = `An expression of --fail-on or report.assert is true or false. Its names are
  METRIC              of each execution of a cell; beside one of the following, its median
  baseline.METRIC     the median of what the cell is compared with
  change.METRIC       the difference: -0.05 is 5 % less
  significant.METRIC  whether the difference is; without enough repeats for a test there is no answer
  p.METRIC            the p of its test
  labels              labels.config == "plain"
The metrics are listed by benchplan help language. An expression that has an answer for
no cell at all fails; where it has none for some of the cells, a warning says so.`

func formatsReference() string {
	var b strings.Builder
	b.WriteString("What --format of run, report and compare gives, from the run folder alone.\n")
	for _, name := range formatNames() {
		about(&b, strings.ToUpper(name), render.About(name))
	}
	about(&b, strings.ToUpper(sysbenchFormat), sysbenchAbout)
	about(&b, "EXPRESSIONS", expressionsAbout)
	b.WriteString("\nThe fields of JSON; ? marks those that are not always there.\n")
	for _, t := range render.JSONTypes() {
		fmt.Fprintf(&b, "  %s\n", t.Name)
		for _, f := range t.Fields {
			name := f.Name
			if f.Some {
				name += "?"
			}
			fmt.Fprintf(&b, "    %-24s %-22s %s\n", name, f.Type, f.Doc)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// about writes a paragraph under its name.
func about(b *strings.Builder, name, text string) {
	fmt.Fprintf(b, "\n%s: %s\n", name, strings.ReplaceAll(strings.ReplaceAll(text, "\n", "\n  "), "\n  \n", "\n\n"))
}
