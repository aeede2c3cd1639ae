package results

import (
	"slices"
	"strings"
	"testing"
)

// TestAssert: what is asserted of each execution of a cell.
func TestAssert(t *testing.T) {
	a, b := cellAt(1, Label{"mix", "rw"}), cellAt(2, Label{"mix", "write"})
	delete(b.Outcome.Statements, Read)
	b.Outcome.Errors = []ErrorCount{{Code: 1105, Class: Write, Count: 12}}
	for source, want := range map[string]string{
		"errors == 0":                    "errors == 0 does not hold for config/run{mix=write}: errors = 12",
		"errors <= 12 and tps >= 100":    "",
		"tps > 100":                      "tps > 100 does not hold for config/run{mix=rw}: tps = 100\ntps > 100 does not hold for config/run{mix=write}: tps = 100",
		"read_p95 < 9":                   "", // says nothing about the cell without reads
		"rows_per_read == 2":             "",
		"others > 1":                     "others > 1: it applies to no cell: none has others",
		"cpu_user < 90":                  "cpu_user < 90: it applies to no cell: none has cpu_user, which takes a monitor in the target",
		"due > 90":                       "due > 90: it applies to no cell: none has due, which takes a rate in the run step",
		`labels.mix == "rw" || writes>1`: "",
		`labels.mix == "rw" ? reads > 5000 : writes > 100`: `labels.mix == "rw" ? reads > 5000 : writes > 100 does not hold for config/run{mix=rw}: reads = 1000, writes = 400`,
		`labels.none == nil || tps > 0`:                    "",
		"let limit = tps * 2; qps > limit":                 "",
		"let p = 1; tps > p":                               "",
		"int(tps) in 99..101":                              "",
	} {
		failures, err := Assert([]Cell{a, b}, []string{source})
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got := failureTexts(failures); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
	nameless := cellAt(1)
	nameless.Path, nameless.Outcome.Latency.P95, nameless.Outcome.Latency.Mean = []string{"", ""}, 0.123456789, 12345.678901
	unlabelled := nameless
	unlabelled.Path = []string{"config", "", "run"}
	pathless := nameless
	pathless.Labels = []Label{{"mix", "rw"}}
	bare := nameless
	bare.Workload = ""
	for _, tt := range []struct {
		cell Cell
		want string
	}{
		{nameless, "oltp_read_write"}, {bare, "the cell"}, {unlabelled, "config/run"}, {pathless, "mix=rw"},
	} {
		failures, err := Assert([]Cell{tt.cell}, []string{"p95 + mean + events < 0"})
		want := "p95 + mean + events < 0 does not hold for " + tt.want + ": p95 = 0.123457, mean = 12345.7, events = 1000"
		if err != nil || len(failures) != 1 || failures[0].String() != want {
			t.Errorf("%v, %v; want %s", failures, err, want)
		}
	}
	same := []Cell{b, b}
	same[1].Repeat = 2
	failures, _ := Assert(same, []string{"errors == 0"})
	if len(failures) != 2 || !strings.HasSuffix(failures[1].Cell, "repeat 2") {
		t.Errorf("repeats are not told apart: %v", failures)
	}
}

func TestCheckAssert(t *testing.T) {
	for source, want := range map[string]string{
		"erors == 0": `did you mean "errors"`, "tps": "not an assertion", "tps >": "not an assertion", "tps > 'x'": "not an assertion",
		"zzzzzzzzzz > 1": "clients, ", "": "not an assertion", "tps.x > 1": "not an assertion", "read_p59 < 1": `did you mean "read_p`,
		"tsp > 1": `"tps"`, "change.tsp > 0": `did you mean "tps"`, "change > 0": "change is of a metric: write change.tps", "chnge.tps > 0": `did you mean "change"`,
		"significant.tps > 0": "not an assertion", "change.tps": "not an assertion", "p.tps < 0.05 && q.tps": "there is no metric", `change["tps"].x > 1`: "not an assertion",
	} {
		if err := CheckAssert(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", source, err, want)
		}
	}
	for _, source := range []string{
		"change.tps > -0.05 || !significant.tps", "baseline.p95 < 10 and p.p95 >= 0.05", `labels.config == "twopc" ? change["tps"] > -0.1 : true`, "abs(change.tps) < 0.1 && change.p95 < 0.2",
	} {
		if err := CheckAssert(source); err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// scenarioCells are scenarios with so many repeats each, in rounds; each has so many times the events of the first, and the
// repeats differ a little.
func scenarioCells(repeats int, times ...float64) []Cell {
	var cells []Cell
	for repeat := range repeats {
		for i, factor := range times {
			c := cellAt(len(cells)+1, Label{"config", string(rune('a' + i))})
			c.Repeat, c.Round = repeat+1, repeat+1
			c.Outcome.Events = int64(factor * float64(1000+3*repeat+2*((repeat+i)%2)))
			cells = append(cells, c)
		}
	}
	return cells
}

// TestAssertDifferences: what is asserted of each cell that is compared.
func TestAssertDifferences(t *testing.T) {
	report := func(repeats int, times ...float64) *Report {
		return NewReport("x", &Run{}, scenarioCells(repeats, times...), nil)
	}
	for _, tt := range []struct {
		report       *Report
		source, want string
	}{
		{report(6, 1, 0.9), "change.tps > -0.05 || !significant.tps", "change.tps > -0.05 || !significant.tps does not hold for config/run{config=b}: change.tps = -10.18 %, significant.tps = true"},
		{report(6, 1, 0.99), "change.tps > -0.05 || !significant.tps", ""},
		{report(6, 1, 0.9), "baseline.tps > 100 && tps < baseline.tps && p.tps < 0.01", ""},
		{report(6, 1, 0.9, 0.8), `labels.config == "c" || change.tps > -0.05`, `labels.config == "c" || change.tps > -0.05 does not hold for config/run{config=b}: change.tps = -10.14 %`},
		{report(6, 1), "change.tps > 0", "change.tps > 0: it applies to no cell: none is compared with another"},
		{report(1, 1, 0.9), "!significant.tps", "!significant.tps: it applies to no cell: none has significant.tps, which takes 4 complete repeats on both sides"},
		{report(6, 1, 1), "change.others == 0", "change.others == 0: it applies to no cell: none has change.others"},
	} {
		failures, err := tt.report.Assert([]string{tt.source})
		if got := failureTexts(failures); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.source, got, err, tt.want)
		}
	}
}

// TestFailOn: what holds is a failure; what has no answer is said.
func TestFailOn(t *testing.T) {
	cells := scenarioCells(6, 1, 0.9, 1)
	r := NewReport("x", &Run{}, cells, nil)
	for source, want := range map[string]string{
		"change.tps < -0.05 && significant.tps": "change.tps < -0.05 && significant.tps holds for config/run{config=b}: change.tps = -10.14 %, significant.tps = true",
		"change.tps < -0.2":                     "",
		"errors > 0":                            "",
		"others > 0":                            "others > 0: it applies to no cell: none has others",
	} {
		failures, silent, err := r.FailOn([]string{source})
		if got := failureTexts(failures); err != nil || got != want || silent != nil {
			t.Errorf("%s: %q, %v, %v; want %q", source, got, silent, err, want)
		}
	}
	if _, _, err := r.FailOn([]string{"chang.tps < 0"}); err == nil {
		t.Error("an unknown name is taken")
	}

	// Between runs: the first run is not judged, and each of the others is.
	slower := func(times float64, repeats int) Recorded {
		return Recorded{Name: "slower", Run: &Run{}, Cells: scenarioCells(repeats, times, times)}
	}
	same := Recorded{Name: "same", Run: &Run{}, Cells: scenarioCells(6, 1, 1)}
	const source = "change.tps < -0.05 && significant.tps"
	two, err := Compare([]Recorded{same, slower(0.5, 6)})
	if err != nil {
		t.Fatal(err)
	}
	if failures, _, _ := two.FailOn([]string{source, "tps < 80"}); len(failures) != 2+12 || failures[0].Cell != "config/run{config=a}" {
		t.Errorf("%v", failures)
	}
	three, err := Compare([]Recorded{same, same, slower(0.5, 1)})
	if err != nil {
		t.Fatal(err)
	}
	failures, silent, err := three.FailOn([]string{source})
	if err != nil || len(failures) != 0 || len(silent) != 1 || !strings.Contains(silent[0], "no answer for 2 of 4 cells: none has significant.tps, which takes 4 complete repeats") {
		t.Errorf("%v, %v, %v", failures, silent, err)
	}
	if failures, _, _ := three.FailOn([]string{"change.tps < -0.05"}); len(failures) != 2 || !strings.HasSuffix(failures[0].Cell, " in slower") {
		t.Errorf("%v", failures)
	}
	apart, err := Compare([]Recorded{same, {Name: "x", Run: &Run{}, Cells: []Cell{cellAt(1, Label{"x", "y"})}}})
	if err != nil {
		t.Fatal(err)
	}
	if failures, _, _ := apart.FailOn([]string{source}); len(failures) != 1 || !strings.Contains(failures[0].String(), "none is compared") {
		t.Errorf("nothing in common: %v", failures)
	}
}

// TestJudgedMetricsAreCorrectedFor: a metric whose significance an expression asks for is one of those that a correction counts, though
// it is no column, and the footnote says so. One is not judged by its own p while the columns are corrected.
func TestJudgedMetricsAreCorrectedFor(t *testing.T) {
	const source = "significant.p999 && change.p999 > 0.01 || p.max < 0.05 && change.mean > 0"
	if got := JudgedMetrics([]string{source, "significant.p999", "no such("}); !slices.Equal(got, []string{"p999", "max"}) {
		t.Errorf("%q are judged", got)
	}
	cells := scenarioCells(6, 1, 1, 1, 1)
	for i := range cells { // 4 % of difference beside 2 % of noise
		c, n := &cells[i], cells[i].Repeat
		noise := []float64{0, 0.02, -0.02, 0.01, -0.01, 0}[(i+n)%6]
		c.Outcome.Latency.P999 = 320 * (1 + noise)
		if v, _ := c.Label("config"); v == "b" {
			c.Outcome.Latency.P999 *= 1.04
		}
	}
	of := func(by Correction, judged ...string) (*Report, Change) {
		r := ReportOf(Recorded{Run: &Run{}, Cells: cells}, Options{Correct: by, Judged: judged})
		return r, r.Rows()[1].Changes["p999"]
	}
	if r, c := of(Uncorrected); slices.Contains(r.Changes, "p999") || !c.Significant || c.Adjusted != 0 {
		t.Fatalf("the test wants a difference of a metric that is no column, and significant by itself: %+v", c)
	}
	r, corrected := of(Holm, "p999")
	if corrected.Adjusted <= corrected.P || corrected.Significant != (corrected.Adjusted < alpha) {
		t.Errorf("judged, and not corrected: %+v", corrected)
	}
	i := slices.IndexFunc(r.Notes, func(n Note) bool { return n.Code == MarkChance })
	if i < 0 || !strings.Contains(r.Notes[i].Lines[0], " tested, 3 of them in what is judged and no column, chance alone") {
		t.Errorf("%+v", r.Notes)
	}
	asserted := ReportOf(Recorded{Run: &Run{Report: Settings{Assert: []string{"!significant.p999"}}}, Cells: cells}, Options{Correct: Holm})
	if c := asserted.Rows()[1].Changes["p999"]; c.Adjusted != corrected.Adjusted {
		t.Errorf("asserted by the plan, and not corrected: %+v", c)
	}
	runs := []Recorded{{Name: "a", Run: &Run{}, Cells: cells}, {Name: "b", Run: &Run{}, Cells: scenarioCells(6, 1.1, 1, 1, 1)}}
	two, err := CompareOf(runs, Options{Correct: Holm, Judged: []string{"p999"}})
	if err != nil {
		t.Fatal(err)
	}
	if c := two.Rows[0].Sides[1].Changes["p999"]; c.Adjusted == 0 {
		t.Errorf("judged between runs, and not corrected: %+v", c)
	}
}

// TestRehearsed: a rehearsal on any side is told, since nothing is to be judged by it.
func TestRehearsed(t *testing.T) {
	run := func(rehearsal bool) Recorded {
		return Recorded{Run: &Run{Rehearsal: rehearsal}, Cells: scenarioCells(1, 1)}
	}
	for _, first := range []bool{false, true} {
		if got := ReportOf(run(first), Options{}).Rehearsed(); got != first {
			t.Errorf("a report of a rehearsal (%v): %v", first, got)
		}
		for _, second := range []bool{false, true} {
			c, err := Compare([]Recorded{run(first), run(second)})
			if err != nil || c.Rehearsed() != (first || second) {
				t.Errorf("%v, %v: %v, %v", first, second, c.Rehearsed(), err)
			}
		}
	}
}

func failureTexts(failures []AssertFailure) string {
	var list []string
	for _, f := range failures {
		list = append(list, f.String())
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}
