package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"benchplan/results"
)

// JUnit writes a report as the JUnit XML that CI systems read. The run is a test suite, each repeat of a cell a test case: its
// class is the plan and the steps, its name the labels, its time the measured time in seconds. A cell that is not complete is an
// error, and so is, as the test case "run", a run that did not come to its end. Each expression of report.assert is a test
// case, which fails where it does not hold, and each of Options.FailOn, which fails where it does; in a rehearsal they are skipped. Doubts about the figures fail nothing: they stand,
// with the table, in the suite's output, and the medians of its columns among the properties.
//
// The cells are those of Options.Runs; without them it is an error. There is one document that both schemas in use
// accept: that of Ant's reports (windyroad's JUnit.xsd) and that of Jenkins (junit-10.xsd). Neither has properties of a test case, and the
// first no output of one.
func JUnit(w io.Writer, r *results.Report, o Options) error {
	if len(o.Runs) != 1 {
		return errors.New("junit: the cells of the run are needed to tell which of them passed")
	}
	suite, err := runSuite(r, o.Runs[0])
	if err != nil {
		return err
	}
	verdicts, err := failOnCases(r.Run, r.Rehearsed(), o.FailOn, r.FailOn)
	if err != nil {
		return err
	}
	suite.Cases = append(suite.Cases, verdicts...)
	for _, t := range r.Tables() {
		for _, row := range t.Rows() {
			suite.addMedians(row, t.Metrics)
		}
	}
	var text bytes.Buffer
	if err := Table(&text, r, Options{Width: junitWidth}); err != nil {
		return err
	}
	suite.Out.Text = xmlText(text.String())
	return writeJUnit(w, []junitSuite{suite})
}

// JUnitCompare writes a comparison: a suite for each run, as JUnit does, and one for the comparison, in which each identity is a
// test case, skipped where not all of the runs have it, and each expression of Options.FailOn.
func JUnitCompare(w io.Writer, c *results.Comparison, o Options) error {
	if len(o.Runs) != len(c.Runs) {
		return errors.New("junit: the cells of the runs are needed to tell which of them passed")
	}
	var suites []junitSuite
	for n, head := range c.Runs {
		run := o.Runs[n]
		suite, err := runSuite(results.NewReport(head.Name, run.Run, run.Cells, run.Warnings), run)
		if err != nil {
			return err
		}
		for _, t := range c.Tables() {
			for _, row := range t.Rows {
				if row.Sides[n] != nil {
					suite.addMedians(row.Sides[n], t.Metrics)
				}
			}
		}
		suites = append(suites, suite)
	}
	suite := newSuite("comparison", c.Runs[0])
	for n, head := range c.Runs {
		suite.property(fmt.Sprintf("run.%d", n+1), head.Name)
	}
	for i := range c.Rows {
		suite.Cases = append(suite.Cases, compareCase(c, &c.Rows[i]))
	}
	verdicts, err := failOnCases(c.Runs[len(c.Runs)-1], c.Rehearsed(), o.FailOn, c.FailOn)
	if err != nil {
		return err
	}
	suite.Cases = append(suite.Cases, verdicts...)
	var text bytes.Buffer
	if err := TableCompare(&text, c, Options{Width: junitWidth}); err != nil {
		return err
	}
	suite.Out.Text = xmlText(text.String())
	return writeJUnit(w, append(suites, suite))
}

// junitWidth is how many columns the table in a suite's output has.
const junitWidth = 120

// The elements of the document; the order of the fields is that which the schemas demand.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Package    string          `xml:"package,attr"`
		ID         int             `xml:"id,attr"`
		Timestamp  string          `xml:"timestamp,attr"` // UTC, without a zone
		Host       string          `xml:"hostname,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Out        junitText       `xml:"system-out"`
		Err        junitText       `xml:"system-err"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name  string `xml:"name,attr"`
		Class string `xml:"classname,attr"`
		Time  string `xml:"time,attr"`

		// At most one of these: the first that is there.
		Error   *junitProblem `xml:"error"`
		Failure *junitProblem `xml:"failure"`
		Skipped *junitSkipped `xml:"skipped"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",cdata"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
	junitText struct {
		Text string `xml:",cdata"`
	}
)

// writeJUnit counts and numbers, and writes the document.
func writeJUnit(w io.Writer, suites []junitSuite) error {
	for i := range suites {
		s := &suites[i]
		s.ID, s.Tests = i, len(s.Cases)
		for _, c := range s.Cases {
			switch {
			case c.Error != nil:
				s.Errors++
			case c.Failure != nil:
				s.Failures++
			case c.Skipped != nil:
				s.Skipped++
			}
		}
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", "  ")
	if err := e.Encode(junitSuites{Suites: suites}); err != nil {
		return fmt.Errorf("junit: %w", err)
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

func newSuite(name string, h results.Head) junitSuite {
	s := junitSuite{
		Name: nameOr(name, "run"), Package: nameOr(h.Plan, "plan"), Host: nameOr(h.Host, "localhost"),
		Timestamp: h.Started.UTC().Format("2006-01-02T15:04:05"), Time: junitTime(h.Elapsed),
	}
	for _, key := range headKeys {
		s.property(key.name, key.value(h))
	}
	s.property("plan_sha256", h.PlanHash)
	s.property("commit", h.Tool.Commit)
	s.property("go", h.Tool.Go)
	return s
}

func (s *junitSuite) property(name, value string) {
	if value != "" {
		s.Properties = append(s.Properties, junitProperty{oneLine(name), oneLine(value)})
	}
}

// addMedians puts the figures of a row among the properties.
func (s *junitSuite) addMedians(row *results.Row, metrics []string) {
	for _, name := range metrics {
		if v, ok := row.Values[name]; ok {
			s.property(row.Key+" "+name, exact(v.Center))
		}
	}
}

// runSuite makes the suite of a run: the run as a whole, its cells, and what its plan asserts.
func runSuite(r *results.Report, run results.Recorded) (junitSuite, error) {
	h := r.Run
	s := newSuite(h.Name, h)
	s.property("status", string(h.Status))
	s.property("resumed", resumedText(h))
	s.Cases = append(s.Cases, wholeCase(h))
	again := repeated(run.Cells)
	for i := range run.Cells {
		s.Cases = append(s.Cases, cellCase(h, &run.Cells[i], again))
	}
	asserts, err := assertCases(r, run)
	if err != nil {
		return s, err
	}
	s.Cases = append(s.Cases, asserts...)
	for _, e := range h.Errors {
		s.Err.Text += xmlText(e) + "\n"
	}
	return s, nil
}

// wholeCase tells whether the run came to its end: a cell that never began is no other test case.
func wholeCase(h results.Head) junitCase {
	c := junitCase{Name: "run", Class: className(h.Plan, nil), Time: junitTime(h.Elapsed)}
	if h.Status == results.Done && h.CellsComplete >= h.CellsPlanned {
		return c
	}
	status := h.Status
	if status == results.Done {
		status = "partial"
	}
	c.Error = &junitProblem{Type: string(status), Message: fmt.Sprintf("%s: %d of %d cells are complete", status, h.CellsComplete, h.CellsPlanned)}
	for _, e := range h.Errors {
		c.Error.Text += xmlText(e) + "\n"
	}
	return c
}

func cellCase(h results.Head, cell *results.Cell, again map[string]bool) junitCase {
	c := junitCase{Name: labelNames(cell.Labels, cell.Workload), Class: className(h.Plan, cell.Path), Time: junitTime(cell.Outcome.Elapsed)}
	if again[cell.Key()] {
		c.Name += fmt.Sprintf(" #%d", cell.Repeat)
	}
	if cell.Status == results.Complete {
		return c
	}
	c.Error = &junitProblem{Type: string(cell.Status), Message: oneLine(strings.TrimSuffix(string(cell.Status)+": "+cell.Error, ": "))}
	for _, m := range cell.Marks {
		c.Error.Text += xmlText(m.Text) + "\n"
	}
	return c
}

// repeated gives the keys of the cells that were executed more than once.
func repeated(cells []results.Cell) map[string]bool {
	again := map[string]bool{}
	for i := range cells {
		if cells[i].Repeat > 1 {
			again[cells[i].Key()] = true
		}
	}
	return again
}

// assertCases makes a test case of each expression of report.assert.
func assertCases(r *results.Report, run results.Recorded) ([]junitCase, error) {
	var cases []junitCase
	for _, source := range run.Run.Report.Assert {
		failures, err := r.Assert([]string{source})
		if err != nil {
			return nil, fmt.Errorf("junit: report.assert of %s: %w", r.Run.Name, err)
		}
		c := verdictCase(r.Run, r.Rehearsed(), "report.assert", source, failures)
		if len(run.Cells) == 0 && c.Skipped == nil {
			c.Failure = &junitProblem{Type: "report.assert", Message: "no cell was measured, so nothing holds"}
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// failOnCases makes a test case of each expression that results are judged by.
func failOnCases(h results.Head, rehearsed bool, sources []string, failOn func([]string) ([]results.AssertFailure, []string, error)) ([]junitCase, error) {
	var cases []junitCase
	for _, source := range sources {
		failures, _, err := failOn([]string{source})
		if err != nil {
			return nil, fmt.Errorf("junit: --fail-on: %w", err)
		}
		cases = append(cases, verdictCase(h, rehearsed, "fail-on", source, failures))
	}
	return cases, nil
}

// verdictCase is the test case of an expression, with the sentences why it failed.
func verdictCase(h results.Head, rehearsed bool, from, source string, failures []results.AssertFailure) junitCase {
	c := junitCase{Name: oneLine(source), Class: className(h.Plan, []string{from}), Time: junitTime(0)}
	switch {
	case rehearsed:
		c.Skipped = &junitSkipped{"a rehearsal: its figures say nothing about the real target"}
	case len(failures) > 0:
		c.Failure = &junitProblem{Type: from, Message: oneLine(failures[0].String())}
		if len(failures) > 1 {
			c.Failure.Message += fmt.Sprintf(", and %d more", len(failures)-1)
		}
		sentences := make([]string, len(failures))
		for i, f := range failures {
			sentences[i] = f.String()
		}
		c.Failure.Text = xmlText(strings.Join(sentences, "\n")) + "\n"
	}
	return c
}

// compareCase is an identity in all of the runs.
func compareCase(c *results.Comparison, row *results.CompareRow) junitCase {
	test := junitCase{Class: className("comparison", nil), Name: nameOr(row.Name, "cell"), Time: junitTime(0)}
	var without []string
	for n, side := range row.Sides {
		if side == nil {
			without = append(without, fmt.Sprintf("#%d %s", n+1, c.Runs[n].Name))
			continue
		}
		test.Class = className("comparison", side.Path)
	}
	if without != nil {
		test.Skipped = &junitSkipped{oneLine("there is no such cell in " + strings.Join(without, ", "))}
	}
	return test
}

// className joins the plan and the steps. Readers take what stands before the last dot for a package: so that is the plan, and
// there are no other dots.
func className(plan string, path []string) string {
	steps := slices.DeleteFunc(slices.Clone(path), func(name string) bool { return name == "" })
	name := nameOr(strings.ReplaceAll(plan, ".", "_"), "plan")
	if len(steps) > 0 {
		name += "." + strings.ReplaceAll(strings.Join(steps, "/"), ".", "_")
	}
	return oneLine(name)
}

func labelNames(labels []results.Label, otherwise string) string {
	var parts []string
	for _, l := range labels {
		parts = append(parts, l.Name+"="+l.Value)
	}
	return nameOr(strings.Join(parts, " "), nameOr(otherwise, "cell"))
}

// nameOr writes a name on one line; the schemas want some.
func nameOr(name, otherwise string) string {
	if name = oneLine(name); name == "" {
		return otherwise
	}
	return name
}

// xmlText leaves lines as they are, shows what does not print, and replaces what XML cannot hold.
func xmlText(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = printable(strings.ToValidUTF8(line, "\uFFFD"))
	}
	return strings.NewReplacer("\uFFFE", "\uFFFD", "\uFFFF", "\uFFFD").Replace(strings.Join(lines, "\n"))
}

func junitTime(seconds float64) string { return fmt.Sprintf("%.3f", seconds) }
