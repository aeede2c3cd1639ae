package render

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"benchplan/results"
)

// About tells in a few lines what a format is for and what of it a program may rely on; empty for a name that is no format's.
func About(name string) string { return strings.TrimSpace(abouts[name]) }

var abouts = map[string]string{
	"table": `
For eyes: it is fitted to the terminal (COLUMNS goes before that), and what finds no
room is named below it. Its look may change with any version; programs read csv or json.`,
	"markdown": `
The table for an issue or a wiki (GitHub flavoured), with all its columns. Its look may
change with any version.`,
	"html": `
One file that works offline, for a browser, a phone or paper. Its look may change with any
version.`,
	"csv": `
A line for each row (in a comparison for each row of each run), with all metrics: NAME is
the median of the repeats, NAME_lo and NAME_hi its 95 % interval, NAME_change the
difference as a fraction (0.12 is 12 % more), NAME_change_lo and _change_hi its 95 %
interval, NAME_p the test's p, NAME_p_adjusted that after Holm over the differences that
the table shows. Labels are label.NAME; a text that a spreadsheet would take for a
formula has ' before it. What does not apply is empty. Columns are found by their names: new ones
may come with any version, those that are there stay. Latencies are milliseconds,
elapsed and fsync_end seconds, rates per second.`,
	"json": `
All there is, with the samples of the repeats. v is the version of the document: it
changes when a field changes its meaning or goes away; new fields may come. Times of
day are RFC 3339, latencies milliseconds, ratios fractions. The fields are listed below.`,
	"benchfmt": `
The Go benchmark format (https://golang.org/design/14313-benchmark-format), for benchstat
(go install golang.org/x/perf/cmd/benchstat@latest). A line is a repeat of a cell:

  BenchmarkPlan/step/label=value 48000 1893.2 tps 0.0338 p95-sec

with its events and the columns of the table (report.metrics chooses them) but those
that are 0 everywhere, times in seconds. A character that ends a name is %XX.

  benchplan report last --format benchfmt | benchstat -col /config -
  benchplan compare OLD NEW --format benchfmt | benchstat -col run -

benchstat compares by the Mann-Whitney U test. Where benchplan compares the rounds of
interleaved repeats pair by pair, it finds smaller differences than benchstat does.
Names, units and the keys plan, tool, host, server, rehearsal, run, load and status stay;
lines that begin with # are for people.`,
	"junit": `
JUnit XML for CI, valid by both schemas in use (Ant's and Jenkins'). A suite is a run. Its
test cases are: "run", an error where the run did not come to its end; each repeat of
each cell, an error where it is not complete; each expression of report.assert, which
fails where it does not hold, and of --fail-on, which fails where it does. Classes are
plan.steps, names are labels. In a comparison a suite for each run is followed by
one of what they have in common. Doubts about figures fail nothing: they stand in the
output, the medians among the properties. Names and classes stay, texts may change.`,
}

// JSONType is a kind of object in the documents of --format json.
type JSONType struct {
	Name   string
	Fields []JSONField
}

// JSONField is a field of an object.
type JSONField struct {
	Name string
	Type string // string, number, boolean, time, the name of a JSONType; "list of …", "map of …"
	Doc  string
	Some bool // it is not always there
}

// JSONTypes lists the objects of a report and of a comparison, each once, these two first. The further tables of a report have fields of the report.
func JSONTypes() []JSONType {
	var list []JSONType
	queue := []reflect.Type{reflect.TypeFor[results.Report](), reflect.TypeFor[results.Comparison]()}
	for i := 0; i < len(queue); i++ {
		name := jsonName(queue[i])
		t := JSONType{Name: name}
		for _, f := range reflect.VisibleFields(queue[i]) {
			tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous || !f.IsExported() || tag == "-" {
				continue
			}
			text, inner := jsonType(f.Type)
			t.Fields = append(t.Fields, JSONField{Name: tag, Type: text, Doc: jsonDocs[name+"."+tag], Some: strings.HasPrefix(options, "omit")})
			if inner != nil && inner != reflect.TypeFor[results.Table]() && !slices.Contains(queue, inner) {
				queue = append(queue, inner)
			}
		}
		list = append(list, t)
	}
	return list
}

// jsonType names a type as JSON has it, and gives the struct in it, if there is one.
func jsonType(t reflect.Type) (string, reflect.Type) {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "time", nil
	case t.Kind() == reflect.Pointer:
		return jsonType(t.Elem())
	case t.Kind() == reflect.Slice:
		text, inner := jsonType(t.Elem())
		return "list of " + text, inner
	case t.Kind() == reflect.Map:
		text, inner := jsonType(t.Elem())
		return "map of " + text, inner
	case t.Kind() == reflect.Struct:
		return jsonName(t), t
	case t.Kind() == reflect.String:
		return "string", nil
	case t.Kind() == reflect.Bool:
		return "boolean", nil
	}
	return "number", nil
}

// jsonName is how a type is called in the documentation.
func jsonName(t reflect.Type) string {
	names := map[string]string{
		"Head": "run", "CompareRow": "compared row", "RoleClients": "clients", "GeoMean": "mean", "MeanRatio": "mean ratio",
		"NoteRef": "note reference", "PlanDiff": "plan difference", "Dissimilar": "difference",
	}
	return cmp.Or(names[t.Name()], strings.ToLower(t.Name()))
}

// jsonDocs says what each field is: a type's name, a dot, the field's.
var jsonDocs = map[string]string{
	"report.v":               "the version of the document: 1",
	"report.kind":            `"report"`,
	"report.run":             "what was run",
	"report.load":            "the kind of load of the rows: empty for statements on a server, else the workload",
	"report.baseline":        "the labels of the rows that others are compared with",
	"report.pivot":           "the label by whose values the sections are",
	"report.axes":            "the labels that vary, with their values",
	"report.labels":          "the labels that all rows have alike",
	"report.metrics":         "the columns of the table; the rows have all metrics",
	"report.changes":         "the metrics whose differences the table shows",
	"report.correct":         "what is done about many differences being tested: holm, or nothing",
	"report.sections":        "the rows, by the values of the pivot; without one a single section",
	"report.geometric_means": "of the differences of each scenario over its rows",
	"report.notes":           "the footnotes",
	"report.more":            "where there are loads of several kinds: the tables of the others, with the fields from load to notes",
	"report.warnings":        "about the record itself",

	"comparison.v":               "the version of the document: 1",
	"comparison.kind":            `"comparison"`,
	"comparison.runs":            "what was run; all differences are to the first",
	"comparison.axes":            "the labels that vary, with their values",
	"comparison.labels":          "the labels that all rows have alike",
	"comparison.metrics":         "the columns of the table; the rows have all metrics",
	"comparison.pivot":           "the label by whose values a table is divided",
	"comparison.correct":         "what is done about many differences being tested: holm, or nothing",
	"comparison.rows":            "an identity each",
	"comparison.geometric_means": "for each kind of load, of the differences of each later run",
	"comparison.missing":         "for each run the names of the cells that only others have",
	"comparison.differences":     "in what the runs differ besides their figures",
	"comparison.plan_diffs":      "of the plans' texts to the first",
	"comparison.notes":           "the footnotes",
	"comparison.warnings":        "about the records themselves",

	"run.name":           "<plan>/<time>, or the folder",
	"run.plan":           "the plan's name",
	"run.description":    "the plan's",
	"run.plan_sha256":    "of the plan's text",
	"run.tool":           "the benchplan that made it",
	"run.host":           "the machine that drove the load",
	"run.status":         "running, done, failed, interrupted or killed",
	"run.rehearsal":      "its figures say nothing about the real target",
	"run.started":        "UTC",
	"run.elapsed_s":      "seconds, of all of the run, without the pauses before it was resumed",
	"run.targets":        "where SQL went: address, database, version",
	"run.cells_complete": "cells that are complete, repeats counted one by one",
	"run.cells_planned":  "cells that the plan has",
	"run.errors":         "what went wrong; in a run that was resumed, since then",
	"run.resumed":        "the times that it was resumed",

	"resumption.at":           "UTC",
	"resumption.ended":        "when the part before it had ended, UTC; of one that was killed, its last cell",
	"resumption.after":        "how that part had ended: failed, interrupted or killed",
	"resumption.errors":       "what had gone wrong in it",
	"resumption.not_put_back": "what that part should have put back and had not",
	"resumption.changed":      "in what things were not as when the run began",

	"notputback.at":   "the place of the step, file:line:col",
	"notputback.step": "its kind, and its name where it has one",
	"notputback.cell": "the labels of its cell",
	"notputback.on":   "the target, of what is SQL",
	"notputback.send": "what was to be sent, or executed, line by line; secrets are masked",

	"tool.version": "of benchplan",
	"tool.commit":  "that it was built from",
	"tool.go":      "the version of Go that it was built with",

	"axis.name":   "of the label",
	"axis.values": "in the order in which they came",
	"label.name":  "an axis of a matrix, or an entry of labels",
	"label.value": "as printed",

	"section.value": "of the pivot",
	"section.rows":  "an identity each",

	"row.key":         "the identity as one text: the same in every run",
	"row.name":        "what tells it from the other rows, for texts",
	"row.step":        "what tells its steps from those of the other rows",
	"row.load":        "as in a report",
	"row.path":        "the names of the steps around it and its own",
	"row.labels":      "with the path, its identity",
	"row.clients":     "how many clients each role had",
	"row.status":      "complete, partial or failed: of the repeats that the values are from",
	"row.repeats":     "that the values are from",
	"row.values":      "by metric; one that does not apply is missing",
	"row.baseline":    "the key of the row that it is compared with",
	"row.is_baseline": "others are compared with it",
	"row.changes":     "by metric: the difference to its baseline, in a comparison to the first run",
	"row.notes":       "footnotes that hang on it",

	"clients.role":    "empty for a workload without roles",
	"clients.clients": "how many",

	"value.center":      "the median of the samples",
	"value.interval":    "95 %",
	"value.interval_by": "of the interval: repeats, or batches of the seconds of a single repeat",
	"value.samples":     "one a repeat, in their order",
	"interval.lo":       "its lower end",
	"interval.hi":       "its upper end",

	"change.method":                 "how it was compared: pairs of rounds, the repeats, or batches of seconds",
	"change.ratio":                  "(value - baseline) / baseline: 0.12 is 12 % more",
	"change.interval":               "95 %, of the ratio",
	"change.pairs":                  "rounds that were paired",
	"change.tested":                 "there were repeats on both sides",
	"change.decidable":              "there were enough of them, in cells carried out to their end, for a test to find any difference significant",
	"change.p":                      "of the test",
	"change.p_adjusted":             "after Holm's correction",
	"change.significant":            "p (with the correction p_adjusted) < 0.05",
	"change.better":                 "of a significant difference: whether it is for the better",
	"change.against":                "the baseline's median",
	"change.repeats_to_find_10_pct": "of one that is not significant: the repeats that it would take to find 10 %",

	"mean.name":        "of the scenario, or of the run",
	"mean.labels":      "the scenario's",
	"mean.metrics":     "by metric",
	"mean ratio.ratio": "of the geometric means, as that of a change",
	"mean ratio.cells": "that it is over",

	"note.number": "in the table",
	"note.code":   "the kind of doubt",
	"note.column": "whose head carries it; empty: the rows do",
	"note.lines":  "what is to be doubted",
	"note.remedy": "what to do about it",

	"note reference.number": "of a note",
	"note reference.column": "a metric, or change.<metric>; empty: the row as a whole",

	"compared row.key":    "the identity",
	"compared row.load":   "as in a report",
	"compared row.name":   "what tells it from the other rows",
	"compared row.step":   "what tells its steps from those of the other rows",
	"compared row.labels": "of the identity",
	"compared row.runs":   "one a run, null where it has no such cell",

	"difference.what":   "in what they differ",
	"difference.values": "one a run",
	"difference.cells":  "of which it is true; empty: of the run as a whole",

	"plan difference.run":   "the run's place in the comparison, from 2",
	"plan difference.lines": "of a unified diff to the first run's plan",
}
