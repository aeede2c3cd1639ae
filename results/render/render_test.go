package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"benchplan/results"
)

var update = flag.Bool("update", false, "write the golden files anew")

func report(run *results.Run, cells []results.Cell) *results.Report {
	return results.NewReport(run.Plan+"/20180523T142000Z", run, cells, nil)
}

func reports() map[string]*results.Report {
	list := map[string]*results.Report{}
	for name, make := range map[string]func() (*results.Run, []results.Cell){
		"radon": radonRun, "one": oltpRun, "partial": partialRun,
		"matrix": func() (*results.Run, []results.Cell) { return matrixRun(6, 1) },
		"few":    func() (*results.Run, []results.Cell) { return matrixRun(3, 1) },
		"mixed":  func() (*results.Run, []results.Cell) { return machineRun(1) },
		"steady": steadyRun, "survey": surveyRun, "strange": strangeRun,
		"empty": func() (*results.Run, []results.Cell) {
			run, _ := radonRun()
			run.Status = results.RunFailed
			return run, nil
		},
	} {
		list[name] = report(make())
	}
	return list
}

// TestGolden holds each format against what it is meant to look like.
func TestGolden(t *testing.T) {
	widths := map[string]int{"80": 80, "120": 120, "160": 160, "200": 200}
	for name, r := range reports() {
		for file, width := range widths {
			if name == "survey" && width != 120 {
				continue // 500 rows: one of them is enough
			}
			golden(t, name+"."+file+".txt", func(b *bytes.Buffer) error { return Table(b, r, Options{Width: width}) })
		}
		if name == "survey" {
			continue
		}
		golden(t, name+".txt", func(b *bytes.Buffer) error { return Table(b, r, Options{}) })
		if name == "few" || name == "empty" || name == "strange" {
			continue // the same in the other formats as those that are there
		}
		golden(t, name+".md", func(b *bytes.Buffer) error { return Markdown(b, r, Options{}) })
		golden(t, name+".csv", func(b *bytes.Buffer) error { return CSV(b, r, Options{}) })
		golden(t, name+".json", func(b *bytes.Buffer) error { return JSON(b, r, Options{}) })
	}
	c, err := results.Compare(twoRuns())
	if err != nil {
		t.Fatal(err)
	}
	for file, width := range widths {
		golden(t, "compare."+file+".txt", func(b *bytes.Buffer) error { return TableCompare(b, c, Options{Width: width}) })
	}
	golden(t, "compare.md", func(b *bytes.Buffer) error { return MarkdownCompare(b, c, Options{}) })
	golden(t, "compare.csv", func(b *bytes.Buffer) error { return CSVCompare(b, c, Options{}) })
	golden(t, "compare.json", func(b *bytes.Buffer) error { return JSONCompare(b, c, Options{}) })

	run, cells := matrixRun(6, 1)
	holm := results.ReportOf(results.Recorded{Name: "matrix", Run: run, Cells: cells}, results.Options{Correct: results.Holm, Metrics: []string{"tps", "p95"}})
	golden(t, "holm.120.txt", func(b *bytes.Buffer) error { return Table(b, holm, Options{Width: 120}) })

	c, err = results.Compare(twoMachines())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "compare-mixed.120.txt", func(b *bytes.Buffer) error { return TableCompare(b, c, Options{Width: 120}) })
	golden(t, "compare-mixed.md", func(b *bytes.Buffer) error { return MarkdownCompare(b, c, Options{}) })
}

// twoMachines are runs with loads of several kinds.
func twoMachines() []results.Recorded {
	run1, cells1 := machineRun(1)
	run2, cells2 := machineRun(1.2)
	return []results.Recorded{{Name: "machine/1", Run: run1, Cells: cells1}, {Name: "machine/2", Run: run2, Cells: cells2}}
}

// TestKindsOfLoadStandApart: each kind of load has a table of its own, with its own columns and baseline; that of one kind alone
// has no heading.
func TestKindsOfLoadStandApart(t *testing.T) {
	run, cells := machineRun(1)
	r := report(run, cells)
	var kinds []string
	for _, table := range r.Tables() {
		kinds = append(kinds, table.Load)
		for _, row := range table.Rows() {
			if row.Load != table.Load {
				t.Errorf("%s stands in the table of %q", row.Name, table.Load)
			}
			if n, _ := row.Label("threads"); n == "8" && !strings.HasPrefix(row.Baseline, table.Load) {
				t.Errorf("%s is compared with %s", row.Key, row.Baseline)
			}
		}
	}
	if got := strings.Join(kinds, " "); got != " cpu memory fileio" || len(r.Rows()) != 8 {
		t.Errorf("kinds %q, %d rows", got, len(r.Rows()))
	}
	one := report(run, []results.Cell{cells[1], cells[5]})
	if len(one.More) != 0 || one.Load != "cpu" || len(one.Rows()) != 2 {
		t.Errorf("%+v", one)
	}
	var b bytes.Buffer
	if err := Table(&b, one, Options{Width: 120}); err != nil || strings.Contains(b.String(), "\ncpu") || !strings.Contains(b.String(), "events/s") {
		t.Errorf("%v\n%s", err, b.String())
	}

	// A plan's own columns: each table has those that its rows have.
	run.Report.Metrics = []string{"qps", "mib_written", "p95"}
	var chosen []string
	for _, table := range report(run, cells).Tables() {
		chosen = append(chosen, strings.Join(table.Metrics, "+"))
	}
	if got := strings.Join(chosen, " "); got != "qps+p95 p95 p95 mib_written+p95" {
		t.Errorf("columns %s", got)
	}
}

func golden(t *testing.T, file string, write func(*bytes.Buffer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", file, diff)
	}
}

// TestTableFits: no line of a table is wider than the terminal, at any sensible width, and figures are never cut.
func TestTableFits(t *testing.T) {
	c, err := results.Compare(twoRuns())
	if err != nil {
		t.Fatal(err)
	}
	run, cells := matrixRun(2, 1.1)
	mixed, err := results.Compare(twoMachines())
	if err != nil {
		t.Fatal(err)
	}
	three, err := results.Compare(append(twoRuns(), results.Recorded{Name: "third", Run: run, Cells: cells}))
	if err != nil {
		t.Fatal(err)
	}
	for width := 60; width <= 240; width += 7 {
		for name, r := range reports() {
			var b bytes.Buffer
			if err := Table(&b, r, Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			checkWidth(t, name, b.String(), width)
		}
		for name, c := range map[string]*results.Comparison{"compare": c, "three": three, "mixed": mixed} {
			var b bytes.Buffer
			if err := TableCompare(&b, c, Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			checkWidth(t, name, b.String(), width)
		}
	}
}

func checkWidth(t *testing.T, name, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		if got := twwidth.Width(strings.TrimRight(line, "\n")); got > width {
			t.Errorf("%s at %d columns: a line of %d:\n%s", name, width, got, line)
		}
	}
}

// TestLongLabelsGiveWay: a label of 60 characters does not push the differences out of a terminal of 80 columns: it is cut.
func TestLongLabelsGiveWay(t *testing.T) {
	run, cells := matrixRun(6, 1)
	const long = "a configuration whose name takes more room than it is worth, "
	run.Report.Baseline = map[string]string{"config": long + "plain"}
	for i := range cells {
		cells[i].Labels[0].Value = long + cells[i].Labels[0].Value
	}
	var b bytes.Buffer
	if err := Table(&b, report(run, cells), Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	checkWidth(t, "long labels", b.String(), 80)
	if !strings.Contains(b.String(), "Δ tps") || strings.Contains(b.String(), "Δ tps,") || !strings.Contains(b.String(), "a configuration…") && !strings.Contains(b.String(), "a configuration ") {
		t.Error(b.String())
	}
}

// TestOwnColumns: a plan that names its metrics gets these, with differences of all that are better one way.
func TestOwnColumns(t *testing.T) {
	run, cells := matrixRun(6, 1)
	run.Report.Metrics = []string{"write_p99", "tps", "events"}
	var b bytes.Buffer
	if err := Markdown(&b, report(run, cells), Options{}); err != nil {
		t.Fatal(err)
	}
	const head = "| mix | config | clients | n | write p99 ms | ± | Δ write p99\\[1\\] | tps | ± | Δ tps | events |\n"
	if !strings.Contains(b.String(), head) {
		t.Errorf("no head %q in\n%s", head, b.String())
	}
}

// TestDescription: what a plan says about itself stands under its name, on one line and harmless.
func TestDescription(t *testing.T) {
	run, cells := oltpRun()
	run.Description = "Does\n  it *cost* anything? \x1b[31m " + strings.Repeat("word ", 30)
	r := report(run, cells)
	var table, markdown, document bytes.Buffer
	for _, err := range []error{Table(&table, r, Options{Width: 80}), Markdown(&markdown, r, Options{}), JSON(&document, r, Options{})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	checkWidth(t, "description", table.String(), 80)
	lines := strings.Split(table.String(), "\n")
	if !strings.HasPrefix(lines[1], `Does it *cost* anything? \x1b[31m word`) || !strings.HasPrefix(lines[2], "  word") {
		t.Errorf("%q", lines[:4])
	}
	if want := "\n\nDoes it \\*cost\\* anything? "; !strings.Contains(markdown.String(), want) {
		t.Errorf("no %q in %s", want, markdown.String())
	}
	var back results.Report
	if err := json.Unmarshal(document.Bytes(), &back); err != nil || back.Run.Description != run.Description {
		t.Errorf("%q, %v", back.Run.Description, err)
	}
}

// TestSpreadIsExplained wherever it is shown, and nowhere else.
func TestSpreadIsExplained(t *testing.T) {
	for name, r := range reports() {
		text := "± is the larger half of the 95 % interval"
		if name == "steady" {
			text = "± is half of the 95 % interval of the mean rate within the one execution"
		}
		for _, width := range []int{80, 120, 200, 0} {
			var b bytes.Buffer
			if err := Table(&b, r, Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			table, _, _ := strings.Cut(b.String(), "Left out")
			if shown, explained := strings.Contains(table, "±0") || strings.Contains(table, "±1"), strings.Contains(b.String(), text); shown != explained {
				t.Errorf("%s at %d columns: shown %v, explained %v", name, width, shown, explained)
			}
		}
	}
}

// TestColor: a significant difference is coloured by what is better, one without a claim is not, and colours do not
// move anything.
func TestColor(t *testing.T) {
	var plain, colored bytes.Buffer
	r := reports()["matrix"]
	if err := Table(&plain, r, Options{Width: 200}); err != nil {
		t.Fatal(err)
	}
	if err := Table(&colored, r, Options{Width: 200, Color: true}); err != nil {
		t.Fatal(err)
	}
	text := colored.String()
	for _, want := range []string{"\x1b[31m-", "\x1b[31m+"} { // less throughput, more latency
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	strip := strings.NewReplacer("\x1b[31m", "", "\x1b[32m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[0m", "")
	if diff := cmp.Diff(plain.String(), strip.Replace(text)); diff != "" {
		t.Errorf("colours move the text:\n%s", diff)
	}
	var single bytes.Buffer
	if err := Table(&single, reports()["radon"], Options{Width: 200, Color: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(single.String(), "\x1b[31m") {
		t.Error("a difference without repeats is coloured as if it were one")
	}
}

// TestLabelsStayText: what a user wrote into a label breaks no format.
func TestLabelsStayText(t *testing.T) {
	r := reports()["partial"]
	var table, markdown, sheet, document bytes.Buffer
	for _, err := range []error{
		Table(&table, r, Options{Width: 120}), Markdown(&markdown, r, Options{}), CSV(&sheet, r, Options{}), JSON(&document, r, Options{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if strings.ContainsRune(table.String(), 0x1b) {
		t.Error("a label coloured the terminal")
	}
	if strings.Contains(markdown.String(), "<script>") {
		t.Error("a label reached Markdown as HTML")
	}
	columns := 0
	for line := range strings.Lines(markdown.String()) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns != 0 && n != columns {
			t.Errorf("a row of %d columns in a table of %d: %s", n-1, columns-1, line)
		}
		columns = n
	}
	records, err := csv.NewReader(&sheet).ReadAll()
	if err != nil || len(records) != 5 {
		t.Errorf("%d lines of CSV, %v", len(records), err)
	}
	var back results.Report
	if err := json.Unmarshal(document.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if got, _ := back.Rows()[1].Label("config"); got != "a|b\nc\x1b[31m" {
		t.Errorf("the label came back as %q", got)
	}
}

func TestNumbers(t *testing.T) {
	ms, _ := results.MetricByName("p95")
	tps, _ := results.MetricByName("tps")
	rows, _ := results.MetricByName("rows_per_read")
	for _, tt := range []struct {
		metric results.Metric
		values []float64
		want   string
	}{
		{tps, []float64{508.25, 999.04}, "508.2 999.0"},
		{tps, []float64{508.25, 1893}, "508 1,893"},
		{tps, []float64{0.05, 0}, "0.05 0.0"},
		{tps, []float64{1234567.8}, "1,234.6"},
		{tps, []float64{1234567.8, 99_999, 0}, "1,234,568 99,999 0"},
		{tps, []float64{123456, 1234567.8}, "123.5 1,234.6"},
		{tps, []float64{123456789, 1234567890}, "123.5 1,234.6"},
		{ms, []float64{0.9994, 0.0004}, "999.4 0.4"},
		{ms, []float64{0.9994, 1}, "0.999 1.000"},
		{ms, []float64{0.6646, 1.058, 18.68}, "0.665 1.058 18.680"},
		{ms, []float64{9.9994, 33.808, 120.44, 1385.86, 15.2}, "10.00 33.81 120.44 1,385.86 15.20"},
		{ms, []float64{71.44, 265.6, 294.1}, "71.4 265.6 294.1"},
		{ms, []float64{0.9, 1385.86, 6936.7}, "0.9 1,385.9 6,936.7"},
		{ms, []float64{0.0451, 0.0512}, "45.1 51.2"},
		{ms, []float64{0, 1385.86}, "0 1,386"},
		{ms, []float64{0}, "0"},
		{ms, []float64{12345, 60000}, "12.35 60.00"},
		{rows, []float64{0, 1, 30.714285, 0.5}, "0 1 30.71 0.5"},
	} {
		s := scaleFor(tt.metric, tt.values)
		var got []string
		for _, v := range tt.values {
			got = append(got, s.format(v))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%v: %s, want %s", tt.values, strings.Join(got, " "), tt.want)
		}
	}
	for ratio, want := range map[float64]string{4.96: "5.96 ×", 1: "2.00 ×", 0.994: "+99.4 %", -0.5: "0.50 ×", -0.49: "-49.0 %", -0.96: "0.04 ×", -1: "-100 %", 2999: "3,000 ×", 0: "0.0 %"} {
		if got := differenceText(ratio); got != want {
			t.Errorf("%v: %s, want %s", ratio, got, want)
		}
	}
	for ratio, want := range map[float64]string{0.123: "+12.3 %", -0.0801: "-8.0 %", 0.0001: "0.0 %", -0.0001: "0.0 %", 0.9994: "+99.9 %", 0.9996: "+100 %", 1.5: "+150 %", 25: "+2,500 %"} {
		if got := percent(ratio); got != want {
			t.Errorf("%v: %s, want %s", ratio, got, want)
		}
	}
}

// TestLongTables: a table of 500 cells says its head and its labels again and again, so that none is out of sight for long, and
// folds only what the row above has.
func TestLongTables(t *testing.T) {
	var b bytes.Buffer
	if err := Table(&b, reports()["survey"], Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(b.String(), "p50 ms") // the first of the two
	heads, since, empty := 0, 0, 0
	for line := range strings.Lines(table) {
		if since++; since > 70 {
			t.Fatalf("no head for 70 lines before %q", line)
		}
		switch {
		case strings.HasPrefix(line, " engine"):
			heads, since = heads+1, 0
		case strings.TrimSpace(line) == "":
			empty++
		}
	}
	if heads < 8 || empty < 19 {
		t.Errorf("%d heads, %d empty lines", heads, empty)
	}
	if n := strings.Count(table, " rocksdb "); n < 10 || n > 30 {
		t.Errorf("rocksdb is said %d times for 250 rows", n)
	}
}

// TestStrangeLabels: what a label says is shown, in its place, and no more of it than fits; a sheet does not calculate with it.
func TestStrangeLabels(t *testing.T) {
	r := reports()["strange"]
	for _, width := range []int{0, 80} {
		var b bytes.Buffer
		if err := Table(&b, r, Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		if b.Len() > 10_000 || strings.ContainsRune(b.String(), '\u202e') {
			t.Errorf("%d bytes at %d columns:\n%.2000s", b.Len(), width, b.String())
		}
		at := 0
		for line := range strings.Lines(b.String()) {
			if before, _, ok := strings.Cut(line, "800.0"); ok {
				if column := twwidth.Width(before); at != 0 && column != at {
					t.Errorf("a figure at column %d, the others at %d: %s", column, at, line)
				} else {
					at = column
				}
			}
		}
	}
	var sheet bytes.Buffer
	if err := CSV(&sheet, r, Options{}); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&sheet).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, record := range records[1:7] {
		labels = append(labels, record[2])
	}
	want := []string{"plain", `'=HYPERLINK("http://x")`, "-1", "'@SUM(A1)", `\u202egnp.exe`, "二相コミット 👍 e\u0301te\u0301"}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

// TestPlanDiff: how the plans differ is shown as lines, which no text in them can turn into something else.
func TestPlanDiff(t *testing.T) {
	runs := twoRuns()
	runs[0].Run.PlanText, runs[1].Run.PlanText = "name: a\nduration: 5m\n", "name: a\nduration: 10m # ```\x1b[31m\n"+strings.Repeat("- x\n", 100)
	c, err := results.Compare(runs)
	if err != nil {
		t.Fatal(err)
	}
	var table, markdown bytes.Buffer
	if err := TableCompare(&table, c, Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	if err := MarkdownCompare(&markdown, c, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The plan's text, #1 → #2:\n  @@ -1,2 +1,102 @@\n   name: a\n  -duration: 5m\n  +duration: 10m # ```\\x1b[31m\n", "  and 44 more lines"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in\n%s", want, table.String())
		}
	}
	if want := "\n    -duration: 5m\n    +duration: 10m # ```\\x1b[31m\n"; !strings.Contains(markdown.String(), want) {
		t.Errorf("no %q in\n%s", want, markdown.String())
	}
}

// TestResumedText: how often a run was resumed, when, and after what; of many times the last ones.
func TestResumedText(t *testing.T) {
	at := time.Date(2026, 5, 1, 22, 0, 0, 0, time.UTC)
	var h results.Head
	for i, want := range []string{
		"",
		"resumed once, at 2026-05-01 22:00 UTC after it was killed",
		"resumed 2 times, at 2026-05-01 22:00 UTC after it was killed, 2026-05-01 23:00 UTC after it had failed",
		"resumed 3 times, at 2026-05-01 22:00 UTC after it was killed, 2026-05-01 23:00 UTC after it had failed, 2026-05-02 00:00 UTC after it was interrupted",
	} {
		if got := resumedText(h); got != want {
			t.Errorf("%d times:\n got %s\nwant %s", i, got, want)
		}
		h.Resumed = append(h.Resumed, results.Resumption{At: at.Add(time.Duration(i) * time.Hour), After: []results.RunStatus{results.Killed, results.RunFailed, results.Interrupted, results.Done}[i]})
	}
	for range 6 {
		h.Resumed = append(h.Resumed, h.Resumed[0])
	}
	if got := resumedText(h); !strings.HasPrefix(got, "resumed 10 times, at …, 2026-05-01 22:00 UTC") || strings.Count(got, "UTC") != 5 {
		t.Errorf("10 times: %s", got)
	}
}
