package main

import (
	"fmt"
	"strings"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps"

	"github.com/spf13/cobra"
)

// referenceTopic is the help topic of the language: written from the structs that decode it, so that it is true.
func referenceTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "language",
		Short: "The reference of the plan language: every key, with its default",
		Long:  reference(),
	}
}

// reference writes every key of the language.
func reference() string {
	var b strings.Builder
	b.WriteString(`A plan is a YAML file. It is the outermost group of steps.

PLAN
  name          names the folder of its runs; the file's name where it is left out
  description   a text for people; it stands above the table
  seed          decides all random choices; left out, each run draws one and records it (what prepare fills in is then the same always)
  steps         what runs, one after another
  report, rehearse    see below
  and what any group may have: vars, target, tables, files, finally

STEP
  exactly one kind: ` + strings.Join(kindNames(), " ") + `, or steps for a group
  name                names it; the names around a run and its own are part of its identity
  id                  what it yields can be read as steps.<id> by later steps
  labels              columns of the table, as axes are: {config: plain}
  if                  an expression; false leaves the step out
  matrix              axes, each a list of values or of mappings with an id; exclude, include
  repeat              how often each cell runs
  order               declared, interleaved (in rounds), or shuffled (in rounds, from seed)
  timeout             how long the step may take, tries included
  retry               {attempts: 3, interval: 1s}: until it and its assert hold
  assert              expressions over what it yields
  continue_on_error   go on when it fails

GROUP
  vars                variables; later ones may use earlier ones
  target, tables, files   laid over the outer ones, field by field
  finally             steps that run after each of its cells, come what may

EXPRESSIONS stand in ${{ }}; if and assert are expressions as they are. They read
  vars env secrets matrix labels steps
and what the step yields. The language is expr-lang's: https://expr-lang.org
`)
	section(&b, "target", "where SQL goes; left out: a private local server", plan.Describe(&plan.Target{}))
	section(&b, "tables", "the data under test; their schemas have options of their own: benchplan workloads", plan.Describe(&plan.Tables{}))
	section(&b, "files", "the files under test", plan.Describe(&plan.Files{}))
	kinds := steps.Kinds()
	for _, name := range kindNames() {
		kind := kinds[name]
		doc := kind.Doc
		if len(kind.Yields) > 0 && name != "run" {
			doc += "; it yields " + strings.Join(kind.Yields, " ")
		}
		if name == "run" {
			doc += "; it yields its metrics; workloads have options of their own: benchplan workloads"
		}
		section(&b, name, doc, plan.Describe(kind.Spec()))
	}
	section(&b, "report", "how the cells are compared", plan.Describe(&plan.Report{}))
	section(&b, "rehearse", "how the plan is tried without its servers: run --rehearse", plan.Describe(&plan.Rehearse{}))
	b.WriteString("\nMETRICS, for report.metrics, report.assert and steps.<id> of a run\n")
	for _, group := range results.MetricGroups() {
		if group.Title != "" {
			fmt.Fprintf(&b, "  %s:\n", group.Title)
		}
		for _, m := range group.Metrics {
			fmt.Fprintf(&b, "  %-20s %s\n", m.Name, m.Doc)
		}
	}
	return b.String()
}

func kindNames() []string { return sortedNames(steps.Kinds()) }

// section writes the options of one thing.
func section(b *strings.Builder, name, doc string, options []plan.Option) {
	fmt.Fprintf(b, "\n%s: %s\n", name, doc)
	writeOptions(b, options, "  ")
}

func writeOptions(b *strings.Builder, options []plan.Option, indent string) {
	for _, o := range options {
		key := o.Key
		if key == "*" {
			key = "NAME"
		}
		fmt.Fprintf(b, "%s%-*s %s\n", indent, 22-len(indent), key, o.Doc+describeOption(o).bounds())
		inner := o.Fields
		if o.Element != nil {
			inner = o.Element.Fields
		}
		writeOptions(b, inner, indent+"  ")
	}
}
