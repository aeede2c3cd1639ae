package results

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKey(t *testing.T) {
	a := Key([]string{"config", "mix"}, []Label{{"mix", "rw"}, {"config", "plain"}})
	if a != "config/mix{config=plain,mix=rw}" {
		t.Error(a)
	}
	if b := Key([]string{"config", "mix"}, []Label{{"config", "plain"}, {"mix", "rw"}}); a != b {
		t.Errorf("the order of the labels makes another identity: %s", b)
	}
	seen := map[string]bool{}
	for _, k := range []string{
		Key([]string{"a/b"}, nil), Key([]string{"a", "b"}, nil), Key([]string{`"a/b"`}, nil), Key([]string{""}, nil), Key(nil, nil),
		Key([]string{"a"}, []Label{{"x", "1,y=2"}}), Key([]string{"a"}, []Label{{"x", "1"}, {"y", "2"}}), Key([]string{"a{x=1}"}, nil),
	} {
		if seen[k] {
			t.Errorf("two identities have the key %s", k)
		}
		seen[k] = true
	}
}

func TestMetrics(t *testing.T) {
	c := cellAt(1)
	got := map[string]string{}
	for _, m := range Metrics() {
		if m.Title == "" || m.Doc == "" || m.Better == "" {
			t.Errorf("%s is not described", m.Name)
		}
		if _, twice := got[m.Name]; twice {
			t.Errorf("%s is there twice", m.Name)
		}
		got[m.Name] = "–"
		if v, ok := m.Value(&c); ok {
			got[m.Name] = fmt.Sprint(v)
		}
	}
	for name, want := range map[string]string{
		"tps": "100", "qps": "1400", "reads": "1000", "writes": "400", "others": "–", "events": "1000", "mean": "80", "p95": "160", "max": "400", "min": "8",
		"read_p95": "8", "write_p999": "24", "errors": "0", "restarts": "0", "reconnects": "0", "rows_per_read": "2", "elapsed": "10", "clients": "8",
	} {
		if got[name] != want {
			t.Errorf("%s is %s, want %s", name, got[name], want)
		}
	}
	var empty Cell
	for _, m := range Metrics() {
		if v, ok := m.Value(&empty); ok {
			t.Errorf("%s of a cell that measured nothing is %v", m.Name, v)
		}
	}
	failing := cellAt(1)
	failing.Outcome.Statements = nil
	failing.Outcome.Errors = []ErrorCount{{Code: 1105, Class: Write, Count: 3}}
	if m, _ := MetricByName("writes"); true {
		if v, ok := m.Value(&failing); v != 0 || !ok {
			t.Errorf("writes that all failed are %v, %v", v, ok)
		}
	}
}

func TestCheck(t *testing.T) {
	codes := func(change func(*Cell)) string {
		c := cellAt(1)
		change(&c)
		var list []string
		for _, m := range Check(&c) {
			list = append(list, m.Code)
		}
		return strings.Join(list, " ")
	}
	for name, tt := range map[string]struct {
		change func(*Cell)
		want   string
	}{
		"all is well":         {func(*Cell) {}, ""},
		"clients slept":       {func(c *Cell) { c.Outcome.Latency.Mean = 75 }, MarkLittle},
		"latency is too long": {func(c *Cell) { c.Outcome.Latency.Mean = 85 }, MarkLittle},
		"within 5 %":          {func(c *Cell) { c.Outcome.Latency.Mean = 83 }, ""},
		"long events were cut off": {func(c *Cell) {
			c.Outcome.Elapsed, c.Outcome.Events, c.Outcome.Latency.Mean = 1, 104, 70
			c.Outcome.Roles = []Role{{Clients: 8, Events: 104, Latency: Latency{Mean: 70}, Uncounted: 0.7}}
		}, ""},
		"open loop":         {func(c *Cell) { c.Wanted.Rate, c.Outcome.Latency.Mean = 100, 1 }, ""},
		"too short to tell": {func(c *Cell) { c.Outcome.Elapsed, c.Outcome.Latency.Mean = 0.9, 1 }, ""},
		"too few to tell":   {func(c *Cell) { c.Outcome.Events = 99 }, ""},
		"one role of two": {func(c *Cell) {
			c.Outcome.Roles = []Role{{Name: "read", Clients: 4, Events: 1000, Latency: Latency{Mean: 40}}, {Name: "write", Clients: 4, Events: 1000, Latency: Latency{Mean: 50}}}
		}, MarkLittle},
		"errors":                            {func(c *Cell) { c.Outcome.Errors = []ErrorCount{{Code: 1105, Count: 1}} }, MarkErrors},
		"reads met nothing":                 {func(c *Cell) { c.Outcome.Statements[Read] = Statements{Count: 5} }, MarkNoRows},
		"no reads":                          {func(c *Cell) { delete(c.Outcome.Statements, Read) }, ""},
		"interrupted":                       {func(c *Cell) { c.Status = Partial }, MarkPartial},
		"failed before anything came of it": {func(c *Cell) { c.Status, c.Outcome = Failed, Outcome{} }, MarkFailed},
	} {
		if got := codes(tt.change); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestSummarize(t *testing.T) {
	for _, tt := range []struct {
		samples []float64
		center  float64
		lo, hi  float64
	}{
		{[]float64{5}, 5, 0, 0},
		{[]float64{3, 1, 2}, 2, 0, 0},
		{[]float64{5, 4, 3, 2, 1}, 3, 0, 0},
		{[]float64{6, 5, 4, 3, 2, 1}, 3.5, 1, 6},
	} {
		v := Summarize(tt.samples)
		var got Interval
		if v.Interval != nil {
			got = *v.Interval
		}
		if v.Center != tt.center || got != (Interval{tt.lo, tt.hi}) {
			t.Errorf("%v: %v %v", tt.samples, v.Center, got)
		}
	}
	samples := []float64{3, 1, 2}
	if v := Summarize(samples); !slices.Equal(v.Samples, []float64{3, 1, 2}) {
		t.Errorf("the repeats are out of order: %v", v.Samples)
	}
}

func TestChange(t *testing.T) {
	low, high := []float64{1, 2, 3, 4, 5, 6}, []float64{11, 12, 13, 14, 15, 16}
	tests := []struct {
		name       string
		old, new   []float64
		better     Direction
		ok, tested bool
		claim      string
	}{
		{"clearly more", low, high, Higher, true, true, "better"},
		{"clearly slower", low, high, Lower, true, true, "worse"},
		{"the same", low, low, Higher, true, true, ""},
		{"all equal", []float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}, Higher, true, true, ""},
		{"three repeats never suffice", low[:3], high[:3], Higher, true, true, ""},
		{"four do", low[:4], high[:4], Higher, true, true, "better"},
		{"no repeats", low[:1], high[:1], Higher, true, false, ""},
		{"repeats on one side", low, high[:1], Higher, true, false, ""},
		{"from nothing", []float64{0}, high[:1], Lower, false, false, ""},
	}
	for _, tt := range tests {
		c, ok := ChangeOf(Summarize(tt.old), Summarize(tt.new), tt.better)
		claim := ""
		if c.Better != nil {
			if claim = "worse"; *c.Better {
				claim = "better"
			}
		}
		if ok != tt.ok || c.Tested != tt.tested || claim != tt.claim || c.Significant != (claim != "") {
			t.Errorf("%s: %+v, %v", tt.name, c, ok)
		}
	}
}

// TestBaseline: a difference is shown only between cells that are equal in all labels but the baseline's.
func TestBaseline(t *testing.T) {
	type cell struct {
		path   string
		labels []Label
	}
	on := func(path string, pairs ...string) cell {
		c := cell{path: path}
		for i := 0; i < len(pairs); i += 2 {
			c.labels = append(c.labels, Label{pairs[i], pairs[i+1]})
		}
		return c
	}
	for name, tt := range map[string]struct {
		cells    []cell
		baseline map[string]string
		want     string // index of each cell's baseline
	}{
		"a matrix": {[]cell{on("r", "config", "plain", "mix", "r"), on("r", "config", "plain", "mix", "w"), on("r", "config", "xa", "mix", "r"), on("r", "config", "xa", "mix", "w")},
			map[string]string{"config": "plain"}, "- - 0 1"},
		"the plan says nothing: the first value of the first label": {[]cell{on("r", "config", "plain", "mix", "r"), on("r", "config", "xa", "mix", "r"), on("r", "config", "xa", "mix", "w")}, nil, "- 0 -"},
		"a page of steps": {[]cell{on("5.1", "config", "plain", "mix", "w"), on("5.3", "config", "plain", "mix", "rw"), on("5.4", "config", "xa", "mix", "rw")}, map[string]string{"config": "plain"}, "- - 1"},
		"a page of steps, two of which could be it": {[]cell{on("5.1", "config", "plain"), on("5.3", "config", "plain"), on("5.4", "config", "xa")}, map[string]string{"config": "plain"}, "- - -"},
		"the same path comes first":                 {[]cell{on("a", "config", "plain"), on("b", "config", "plain"), on("b", "config", "xa")}, map[string]string{"config": "plain"}, "- - 1"},
		"one has a label more":                      {[]cell{on("r", "config", "plain"), on("r", "config", "xa", "mix", "w")}, map[string]string{"config": "plain"}, "- -"},
		"no labels":                                 {[]cell{on("a"), on("b")}, nil, "- -"},
		"a baseline of two labels":                  {[]cell{on("r", "a", "1", "b", "1"), on("r", "a", "2", "b", "1"), on("r", "a", "2", "b", "2")}, map[string]string{"a": "1", "b": "1"}, "- 0 0"},
		"a baseline that was not run":               {[]cell{on("r", "config", "xa"), on("r", "config", "xb")}, map[string]string{"config": "plain"}, "- -"},
	} {
		var cells []Cell
		for i, c := range tt.cells {
			made := cellAt(i+1, c.labels...)
			made.Path = []string{"all", c.path}
			cells = append(cells, made)
		}
		var got []string
		rows := NewReport("x", &Run{Report: Settings{Baseline: tt.baseline}}, cells, nil).Rows()
		for _, r := range rows {
			base := "-"
			for i, b := range rows {
				if r.Baseline == b.Key {
					base = fmt.Sprint(i)
				}
			}
			got = append(got, base)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", name, got, tt.want)
		}
	}
}

// TestUnlike: what is compared although it was not run alike carries a footnote, on the cell and for each of its kinds once.
func TestUnlike(t *testing.T) {
	cells := []Cell{cellAt(1, Label{"config", "plain"}), cellAt(2, Label{"config", "xa"}), cellAt(3, Label{"config", "audit"}), cellAt(4, Label{"config", "part"})}
	cells[1].Outcome.Stopped = ByEvents
	cells[2].Outcome.Elapsed, cells[2].RowsAtStart, cells[0].RowsAtStart = 20, 900, 500
	cells[2].Outcome.Events *= 2
	cells[3].Status, cells[3].Outcome.Stopped = Partial, ByInterrupt
	r := NewReport("x", &Run{}, cells, nil)
	got := map[string][]string{}
	for _, n := range r.Notes {
		for _, row := range r.Rows() {
			for _, ref := range row.Notes {
				if ref.Number == n.Number {
					got[row.Name] = append(got[row.Name], n.Code)
				}
			}
		}
	}
	want := map[string][]string{"config=xa": {MarkStopRule}, "config=audit": {MarkDuration, MarkTables}, "config=part": {MarkPartial}}
	for _, list := range got {
		slices.Sort(list)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, n := range r.Notes {
		if n.Number != i+1 || len(n.Lines) == 0 {
			t.Errorf("note %d: %+v", i+1, n)
		}
	}
}

func TestCompareRuns(t *testing.T) {
	if _, err := Compare([]Recorded{{}}); err == nil {
		t.Error("one run was compared with nothing")
	}
	old := Recorded{Name: "old", Run: &Run{Tool: Tool{Version: "1"}}, Cells: []Cell{cellAt(1, Label{"config", "a"}), cellAt(2, Label{"config", "b"})}}
	next := Recorded{Name: "new", Run: &Run{Tool: Tool{Version: "2"}}, Cells: []Cell{cellAt(1, Label{"config", "b"}), cellAt(2, Label{"config", "c"})}}
	next.Cells[0].Options = map[string]any{"range_size": "200"}
	next.Cells[0].Outcome.Events *= 2
	c, err := Compare([]Recorded{old, next})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"config=c"}, {"config=a"}}, c.Missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	want := []Dissimilar{{What: "benchplan", Values: []string{"1", "2"}}, {What: "option range_size", Values: []string{"100", "200"}, Cells: []string{"config=b"}}}
	if diff := cmp.Diff(want, c.Differences); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if got := c.Rows[1].Sides[1].Changes["tps"].Ratio; got != 1 {
		t.Errorf("twice as fast is %v", got)
	}
	other := Recorded{Name: "other", Run: &Run{}, Cells: []Cell{cellAt(1, Label{"x", "y"})}}
	if c, err = Compare([]Recorded{old, other}); err != nil || len(c.Warnings) != 1 {
		t.Errorf("nothing in common: %v, %v", c.Warnings, err)
	}
}

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
		"others > 1":                     "others > 1 does not hold: it applies to no cell: none has others",
		`labels.mix == "rw" || writes>1`: "",
		`labels.mix == "rw" ? reads > 5000 : writes > 100`: `labels.mix == "rw" ? reads > 5000 : writes > 100 does not hold for config/run{mix=rw}: reads = 1000, writes = 400`,
		`labels.none == nil || tps > 0`:                    "",
		"let limit = tps * 2; qps > limit":                 "",
		"int(tps) in 99..101":                              "",
	} {
		failures, err := Assert([]Cell{a, b}, []string{source})
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		var texts []string
		for _, f := range failures {
			texts = append(texts, f.String())
		}
		if got := strings.Join(texts, "\n"); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
	for source, want := range map[string]string{
		"erors == 0": `did you mean "errors"`, "tps": "not an assertion", "tps >": "not an assertion", "tps > 'x'": "not an assertion",
		"zzzzzzzzzz > 1": "there are clients, elapsed", "": "not an assertion", "tps.x > 1": "not an assertion", "read_p59 < 1": `did you mean "read_p`,
	} {
		if err := CheckAssert(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", source, err, want)
		}
	}
	same := []Cell{b, b}
	same[1].Repeat = 2
	failures, _ := Assert(same, []string{"errors == 0"})
	if len(failures) != 2 || !strings.HasSuffix(failures[1].Cell, "repeat 2") {
		t.Errorf("repeats are not told apart: %v", failures)
	}
	if err := CheckMetric("tsp"); err == nil || !strings.Contains(err.Error(), `"tps"`) {
		t.Error(err)
	}
}
