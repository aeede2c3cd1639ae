// Package render prints results: one file a format. It computes nothing that is not in a results.Report or a
// results.Comparison; it decides only how these look.
package render

import (
	"io"

	"benchplan/results"
)

// Options is what a renderer knows about where it prints.
type Options struct {
	Width int  // columns of the terminal; 0: as wide as it takes
	Color bool // ANSI colours may be used
	// Runs are the records that the report or the comparison was made of, for what stands in neither: the plan's text, series, histograms.
	Runs []results.Recorded
	// FailOn are the expressions that the results are judged by; a format that tells verdicts says whether they hold.
	FailOn []string
}

// Format is one way to print.
type Format struct {
	Doc     string // one sentence
	Report  func(io.Writer, *results.Report, Options) error
	Compare func(io.Writer, *results.Comparison, Options) error
}

// Formats gives all of them by the name that --format takes.
func Formats() map[string]Format {
	return map[string]Format{
		"table":    {"a table for the terminal, fitted to its width, with footnotes", Table, TableCompare},
		"markdown": {"a GitHub table with footnotes", Markdown, MarkdownCompare},
		"csv":      {"all metrics of all rows, for a spreadsheet", CSV, CSVCompare},
		"html":     {"a page with charts: one file that needs no network", HTML, HTMLCompare},
		"json":     {"all there is, with the samples of the repeats", JSON, JSONCompare},
		"benchfmt": {"the Go benchmark format, a line a repeat, for benchstat", Benchfmt, BenchfmtCompare},
		"junit":    {"JUnit XML for CI: a test case for each cell and each expression of report.assert", JUnit, JUnitCompare},
	}
}
