package results

import (
	"fmt"
	"math"
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
		if v, ok := m.Value(&empty); ok && v != 0 { // counts are 0 and can be asserted
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

// TestRoleLatency: the latency of a role named write or read is that of its events, since what a transaction costs is in
// its BEGIN, XA and COMMIT; the rates stay those of statements.
func TestRoleLatency(t *testing.T) {
	value := func(c Cell, name string) string {
		m, _ := MetricByName(name)
		if v, ok := m.Value(&c); ok {
			return fmt.Sprint(v)
		}
		return "–"
	}
	xa := cellAt(1)
	xa.Outcome.Roles = []Role{
		{Name: "write", Clients: 4, Events: 4000, Latency: Latency{Count: 4000, Mean: 30, P95: 70}},
		{Name: "read", Clients: 4, Events: 10000, Latency: Latency{Count: 10000, Mean: 5, P95: 9}},
	}
	stuck := cellAt(1) // no event of the role was finished, though its statements were
	stuck.Outcome.Roles = []Role{{Name: "write", Clients: 4}, {Name: "read"}}
	update := cellAt(1)
	update.Outcome.Roles = []Role{{Name: "update", Clients: 8, Latency: Latency{Count: 1, P95: 99}}}
	unnamed := cellAt(1)
	unnamed.Outcome.Roles = []Role{{Clients: 8, Latency: Latency{Count: 1, P95: 99}}}
	for name, tt := range map[string]struct {
		cell                             Cell
		writeP95, writeMean, reads, read string
	}{
		"roles":                  {xa, "70", "30", "1000", "9"},
		"no event of the role":   {stuck, "–", "–", "1000", "8"},
		"roles of other names":   {update, "12", "6", "1000", "8"},
		"a workload without any": {unnamed, "12", "6", "1000", "8"},
	} {
		got := []string{value(tt.cell, "write_p95"), value(tt.cell, "write_mean"), value(tt.cell, "reads"), value(tt.cell, "read_p95")}
		if want := []string{tt.writeP95, tt.writeMean, tt.reads, tt.read}; !slices.Equal(got, want) {
			t.Errorf("%s: write_p95, write_mean, reads and read_p95 are %v, want %v", name, got, want)
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
		"errors":            {func(c *Cell) { c.Outcome.Errors = []ErrorCount{{Code: 1105, Count: 1}} }, MarkErrors},
		"reads met nothing": {func(c *Cell) { c.Outcome.Statements[Read] = Statements{Count: 5} }, MarkNoRows},
		"no reads":          {func(c *Cell) { delete(c.Outcome.Statements, Read) }, ""},
		"interrupted":       {func(c *Cell) { c.Status = Partial }, MarkPartial},
		"many restarts":     {func(c *Cell) { c.Outcome.Restarts = []ErrorCount{{Code: 1213, Count: 6}, {Code: 1205, Count: 4}} }, MarkRestarts},
		"few restarts":      {func(c *Cell) { c.Outcome.Restarts = []ErrorCount{{Code: 1213, Count: 9}} }, ""},
		"nothing but restarts": {func(c *Cell) {
			c.Outcome.Events, c.Outcome.Restarts = 0, []ErrorCount{{Code: 1213, Count: 1}}
		}, MarkRestarts},
		"a stall at the end":                {func(c *Cell) { c.Outcome.Unfinished, c.Outcome.LongestUnfinished = 4, 6900 }, MarkUnfinished},
		"half as long was counted":          {func(c *Cell) { c.Outcome.Unfinished, c.Outcome.LongestUnfinished = 4, 799 }, ""}, // the longest took 400
		"short, though the longest":         {func(c *Cell) { c.Outcome.Latency.Max, c.Outcome.LongestUnfinished = 1, 99 }, ""},
		"hung from the beginning on":        {func(c *Cell) { c.Outcome = Outcome{Clients: 8, Elapsed: 10, Unfinished: 8, LongestUnfinished: 10_000} }, MarkUnfinished},
		"failed before anything came of it": {func(c *Cell) { c.Status, c.Outcome = Failed, Outcome{} }, MarkFailed},
	} {
		if got := codes(tt.change); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestMarksSayWhatToDo holds the texts of some marks against what a reader has to know.
func TestMarksSayWhatToDo(t *testing.T) {
	text := func(change func(*Cell)) string {
		c := cellAt(1)
		change(&c)
		var list []string
		for _, m := range Check(&c) {
			list = append(list, m.Text+" → "+m.Remedy)
		}
		return strings.Join(list, "\n")
	}
	for want, change := range map[string]func(*Cell){
		"4 events were under way at the end, the longest for 6.9 s: they are in no latency → a longer duration counts them; the series of the cell shows since when nothing came": func(c *Cell) {
			c.Outcome.Unfinished, c.Outcome.LongestUnfinished = 4, 6900
		},
		"1 event was under way at the end, for at least 30 s: it is in no latency → a longer duration counts them; the series of the cell shows since when nothing came": func(c *Cell) {
			c.Outcome.Unfinished, c.Outcome.Cut, c.Outcome.LongestUnfinished = 1, 1, 30_000
		},
		"25 restarts on 1000 events (2.5 %), their time is in the latency: 24 × error 1062 of a write, rows of an earlier run are in the way; 1 × connection lost of a write → " +
			"prepare the tables anew before the run step; the server's log says why connections were lost": func(c *Cell) {
			c.Outcome.Restarts = []ErrorCount{{Code: 1062, Class: Write, Count: 24}, {Class: Write, Count: 1}}
		},
		"20 restarts on 1000 events (2 %), their time is in the latency: 20 × error 1105 of a write: backend is down → find the cause of what on_error has begin anew": func(c *Cell) {
			c.Outcome.Restarts = []ErrorCount{{Code: 1105, Class: Write, Count: 20, Message: "backend is down"}}
		},
		"connections were opened again 6 times: clients had none for 25 % of their time, which rate and latency hold → the server's log says why they were lost, unless on_error had them dropped; the series of the cell shows when": func(c *Cell) {
			c.Outcome.Reconnects, c.Outcome.ReconnectTime = 6, 0.25*float64(c.Outcome.Clients)*c.Outcome.Elapsed
		},
		"interrupted after 10 s: only what was measured until then → run the plan again": func(c *Cell) { c.Status = Partial },
		"ended by an error: no server → put the cause right and run the plan again":      func(c *Cell) { c.Status, c.Error = Failed, "no server" },
	} {
		if got := text(change); got != want {
			t.Errorf("%s\nwant: %s", got, want)
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
		{"another distribution about the same median", []float64{1, 1, 1, 5, 5, 5, 5, 5, 5, 5, 5, 5}, []float64{5, 5, 5, 5, 5, 5, 5, 9, 9, 9, 9, 9}, Higher, true, true, "different"},
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
		} else if c.Significant {
			claim = "different"
		}
		if ok != tt.ok || c.Tested != tt.tested || claim != tt.claim || c.Significant != (claim != "") {
			t.Errorf("%s: %+v, %v", tt.name, c, ok)
		}
	}
}

// TestSmallestP: whether so many repeats can tell anything is exact, also where the sides differ, and the test agrees.
func TestSmallestP(t *testing.T) {
	for _, tt := range []struct {
		n, m int
		want bool
	}{{1, 1, false}, {1, 39, false}, {2, 2, false}, {2, 7, false}, {2, 8, true}, {3, 3, false}, {3, 4, false}, {3, 5, true}, {3, 6, true},
		{TestRepeats - 1, TestRepeats - 1, false}, {TestRepeats, TestRepeats, true}, {6, 6, true}} {
		var low, high []float64
		for i := range tt.n {
			low = append(low, float64(i+1))
		}
		for i := range tt.m {
			high = append(high, float64(i+100))
		}
		for _, sides := range [][2][]float64{{low, high}, {high, low}} {
			c, _ := ChangeOf(Summarize(sides[0]), Summarize(sides[1]), Higher)
			if c.Decidable != tt.want || c.Tested && c.Significant != tt.want {
				t.Errorf("%d and %d: %+v, want %v", tt.n, tt.m, c, tt.want)
			}
			if p := smallestP(tt.n, tt.m); c.Tested && math.Abs(p-c.P) > 1e-12 {
				t.Errorf("%d and %d: the smallest p is %v, the test gives %v", tt.n, tt.m, p, c.P)
			}
		}
	}
}

// TestRepeatsNote: the footnote about the repeats is true of the differences above it.
func TestRepeatsNote(t *testing.T) {
	for _, tt := range []struct {
		repeats []int // of each row; the first is the baseline
		want    []string
	}{
		{[]int{1, 1}, []string{MarkNoRepeats + " without repeats"}},
		{[]int{1, 6}, []string{MarkNoRepeats + " without repeats"}},
		{[]int{3, 3}, []string{MarkFewRepeats + " ?: 3+3 repeats cannot tell"}},
		{[]int{3, 2, 1}, []string{MarkFewRepeats + " ?: 2+3, 1+3 repeats cannot tell"}},
		{[]int{1, 3, 1}, []string{MarkNoRepeats + " without repeats"}},
		{[]int{6, 3}, []string{MarkFewRepeats + " too few for a 95 % interval", MarkOrder + " drift", MarkChance + " tested"}},
		{[]int{4, 4}, []string{MarkFewRepeats + " (as few as 4)", MarkOrder + " drift", MarkChance + " tested"}},
		{[]int{6, 6, 2}, []string{MarkFewRepeats + " ?: 2+6 repeats cannot tell", MarkOrder + " drift", MarkChance + " of the 1 "}},
		{[]int{6, 6}, []string{MarkOrder + " drift", MarkChance + " ~ is not significant"}},
	} {
		var cells []Cell
		for row, n := range tt.repeats {
			for repeat := range n {
				c := cellAt(len(cells)+1, Label{"config", fmt.Sprint(row)})
				c.Repeat = repeat + 1
				cells = append(cells, c)
			}
		}
		r := NewReport("x", &Run{Report: Settings{Metrics: []string{"tps"}}}, cells, nil)
		if len(r.Notes) != len(tt.want) {
			t.Errorf("%v: %+v", tt.repeats, r.Notes)
			continue
		}
		for i, want := range tt.want {
			code, text, _ := strings.Cut(want, " ")
			if n := r.Notes[i]; n.Code != code || !strings.Contains(n.Lines[0], text) {
				t.Errorf("%v: %s %s; want %s", tt.repeats, n.Code, n.Lines[0], want)
			}
		}
	}
}

// TestCutCellsAreNoClaim: what is left of cells that ended early is shown as a plain ratio, counts as no test, and does not make
// interleaved repeats look as if they had been executed one after the other.
func TestCutCellsAreNoClaim(t *testing.T) {
	for _, status := range []CellStatus{Partial, Failed} {
		for _, baseline := range []bool{false, true} {
			var cells []Cell
			for repeat := range IntervalRepeats {
				for n, config := range []string{"a", "b"} {
					c := cellAt(len(cells)+1, Label{"config", config})
					c.Repeat, c.Round = repeat+1, repeat+1
					if c.Outcome.Events = int64(1000 + 10*repeat); n == 1 {
						c.Outcome.Events /= 2
					}
					if (n == 0) == baseline {
						c.Status = status
					}
					cells = append(cells, c)
				}
			}
			r := NewReport("x", &Run{}, cells, nil)
			if c := r.Rows()[1].Changes["tps"]; c.Tested || c.Decidable || c.Significant || c.Better != nil || c.Interval != nil || c.Ratio != -0.5 {
				t.Errorf("%s, the baseline is: %v: %+v", status, baseline, c)
			}
			for _, n := range r.Notes {
				if n.Code == MarkOrder || n.Code == MarkChance || n.Code == MarkFewRepeats {
					t.Errorf("%s, the baseline is: %v: %+v", status, baseline, n)
				}
			}
			if c, err := Compare([]Recorded{{Name: "old", Run: &Run{}, Cells: cells}, {Name: "new", Run: &Run{}, Cells: cells}}); err != nil {
				t.Error(err)
			} else if c := c.Rows[0].Sides[1].Changes["tps"]; c.Decidable == baseline {
				t.Errorf("%s, the baseline is: %v: compared with another run: %+v", status, baseline, c)
			}
		}
	}
}

// TestRemediesOfOneNote: cells with different causes under one footnote get the remedies of all of them.
func TestRemediesOfOneNote(t *testing.T) {
	cells := []Cell{cellAt(1, Label{"config", "a"}), cellAt(2, Label{"config", "b"})}
	cells[0].Outcome.Restarts = []ErrorCount{{Code: 1213, Class: Write, Count: 20}}
	cells[1].Outcome.Restarts = []ErrorCount{{Code: 1062, Class: Write, Count: 20}}
	r := NewReport("x", &Run{}, cells, nil)
	i := slices.IndexFunc(r.Notes, func(n Note) bool { return n.Code == MarkRestarts })
	if i < 0 || !strings.Contains(r.Notes[i].Remedy, "fewer clients") || !strings.Contains(r.Notes[i].Remedy, "prepare") || len(r.Notes[i].Lines) != 2 {
		t.Errorf("%+v", r.Notes)
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

// TestMixedRoles: where tps adds up writing and reading clients, the differences of both stand beside it.
func TestMixedRoles(t *testing.T) {
	made := func(roles bool) []Cell {
		cells := []Cell{cellAt(1, Label{"config", "a"}), cellAt(2, Label{"config", "b"})}
		for i := range cells {
			if roles {
				l := Latency{Count: 1000, Mean: 40, P95: 80}
				cells[i].Outcome.Roles = []Role{{Name: "write", Clients: 4, Events: 1000, Latency: l}, {Name: "read", Clients: 4, Events: 1000, Latency: l}}
			}
		}
		return cells
	}
	for _, tt := range []struct {
		roles             bool
		changes, compared string
	}{
		{true, "tps writes reads write_p95 read_p95", "tps writes reads write_p95 read_p95"},
		{false, "tps p95", "tps p95"},
	} {
		cells := made(tt.roles)
		if got := strings.Join(NewReport("x", &Run{}, cells, nil).Changes, " "); got != tt.changes {
			t.Errorf("changes: %s, want %s", got, tt.changes)
		}
		c, err := Compare([]Recorded{{Run: &Run{}, Cells: cells}, {Run: &Run{}, Cells: made(tt.roles)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.Metrics, " "); got != tt.compared {
			t.Errorf("compared: %s, want %s", got, tt.compared)
		}
	}
}

// TestNoiseIsNoDifference: seeds, which are drawn for each run, are not listed; servers are called by their addresses.
func TestNoiseIsNoDifference(t *testing.T) {
	server := func(address, database, binlog string) Server {
		return Server{Endpoint: Endpoint{Address: address, Database: database}, Variables: map[string]string{"sync_binlog": binlog}}
	}
	run := func(seed string, binlog string) Recorded {
		c := cellAt(1, Label{"clients", "1"})
		c.Path, c.Options = []string{"", ""}, map[string]any{"seed": seed}
		return Recorded{Run: &Run{Seed: uint64(len(seed)), Targets: []Server{
			server("db:3306", "a", binlog), server("private server", "a", binlog), server("twice:1", "a", binlog), server("twice:1", "b", binlog),
			server("same:1", "a", "0"), server("same:1", "a", binlog)}}, Cells: []Cell{c}}
	}
	old, next := run("7", "1"), run("77", "1000")
	next.Cells = append(next.Cells, cellAt(2, Label{"clients", "4"}))
	next.Cells[1].Path = []string{"", ""}
	c, err := Compare([]Recorded{old, next})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range c.Differences {
		got = append(got, d.What)
	}
	want := []string{"db:3306 variable sync_binlog", "private server variable sync_binlog", "twice:1/a variable sync_binlog", "twice:1/b variable sync_binlog", "same:1 (target 6) variable sync_binlog"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{"clients=4"}, nil}, c.Missing); diff != "" {
		t.Errorf("missing, of steps without names (-want +got):\n%s", diff)
	}
}

// TestMachinesDiffer: by what they show and the records hold; an older record says nothing about the governor.
func TestMachinesDiffer(t *testing.T) {
	run := func(governor, disk string, server *Host) Recorded {
		return Recorded{Cells: []Cell{cellAt(1, Label{"clients", "1"})}, Run: &Run{
			Host:    Host{Name: "bench", CPUs: 8, Memory: 1 << 30, Governor: governor, Disk: disk},
			Targets: []Server{{Endpoint: Endpoint{Address: "db:3306"}, Version: "11.4", Host: server}},
		}}
	}
	for _, c := range []struct {
		old, next Recorded
		want      []Dissimilar
	}{
		{run("powersave", "sda", nil), run("performance", "nvme0n1", &Host{Name: "db"}), []Dissimilar{
			{What: "host CPU governor", Values: []string{"powersave", "performance"}}, {What: "host disk", Values: []string{"sda", "nvme0n1"}}}},
		{run("", "", nil), run("performance", "nvme0n1", nil), nil},
		{run("", "", &Host{Name: "db", CPUs: 8}), run("", "", &Host{Name: "db", CPUs: 16, Virtual: "KVM"}), []Dissimilar{{What: "server machine CPUs", Values: []string{"8", "16"}}}},
		{run("", "", &Host{Disk: "sda"}), run("", "", &Host{Disk: "sda", Virtual: "KVM"}), []Dissimilar{{What: "server machine virtualization", Values: []string{"none", "KVM"}}}},
	} {
		got, err := Compare([]Recorded{c.old, c.next})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got.Differences); diff != "" {
			t.Errorf("differences (-want +got):\n%s", diff)
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
	old.Cells[1].Attributes = map[string]string{"variable sync_binlog": "0", "order": "interleaved"}
	next.Cells[0].Attributes = map[string]string{"variable sync_binlog": "1", "order": "interleaved"}
	next.Cells[0].Outcome.Events *= 2
	c, err := Compare([]Recorded{old, next})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"config=c"}, {"config=a"}}, c.Missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	want := []Dissimilar{{What: "benchplan", Values: []string{"1", "2"}}, {What: "option range_size", Values: []string{"100", "200"}, Cells: []string{"config=b"}},
		{What: "variable sync_binlog", Values: []string{"0", "1"}, Cells: []string{"config=b"}}}
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

// TestEmptyColumns: a column that is asked for and that no cell can have does not go away without a word.
func TestEmptyColumns(t *testing.T) {
	run := Recorded{Name: "x", Run: &Run{Report: Settings{Metrics: []string{"tps", "cpu_user", "due", "reads"}}}, Cells: []Cell{cellAt(1)}, Warnings: []string{"torn"}}
	want := []string{
		"no cell has cpu_user, which takes a monitor in the target: the column is left out",
		"no cell has due, which takes a rate in the run step: the column is left out",
	}
	if diff := cmp.Diff(append([]string{"torn"}, want...), ReportOf(run, Options{}).Warnings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	run.Warnings = nil
	if c, err := Compare([]Recorded{run, run}); err != nil || cmp.Diff(want, c.Warnings) != "" {
		t.Errorf("%q, %v", c.Warnings, err)
	}
	if r := ReportOf(run, Options{Metrics: []string{"tps"}}); r.Warnings != nil {
		t.Errorf("%q", r.Warnings)
	}
	run.Cells = nil
	if r := ReportOf(run, Options{}); r.Warnings != nil {
		t.Errorf("without cells: %q", r.Warnings)
	}
}

// TestServersDiffer: what changed on a server while a run went on, or in what it is part of, is among the differences of the cells
// and the runs; what the plan set is told once, what nobody looked at is not guessed, and states are no settings.
func TestServersDiffer(t *testing.T) {
	run := func(record, changed, attributes, topology map[string]string) Recorded {
		c := cellAt(1, Label{"clients", "1"})
		c.Server, c.Attributes = &ServerStatus{Variables: changed}, attributes
		return Recorded{Cells: []Cell{c}, Run: &Run{Targets: []Server{{Endpoint: c.Target, Variables: record, Topology: topology}}}}
	}
	record := map[string]string{"a": "1", "b": "1"}
	unwatched := run(record, nil, nil, nil)
	unwatched.Cells[0].Server = nil
	for name, tt := range map[string]struct {
		old, next Recorded
		want      []Dissimilar
	}{
		"changed in one":     {run(record, nil, nil, nil), run(record, map[string]string{"a": "2", "gtid_binlog_pos": "9"}, nil, nil), []Dissimilar{{What: "variable a", Values: []string{"1", "2"}, Cells: []string{"config / run"}}}},
		"changed in both":    {run(record, map[string]string{"a": "2"}, nil, nil), run(record, map[string]string{"a": "2"}, nil, nil), nil},
		"changed to be same": {run(record, map[string]string{"a": "2"}, nil, nil), run(map[string]string{"a": "2", "b": "1"}, nil, nil, nil), []Dissimilar{{What: "server variable a", Values: []string{"1", "2"}}}},
		"set by the plan":    {run(record, nil, nil, nil), run(record, map[string]string{"a": "2"}, map[string]string{"variable a": "2"}, nil), []Dissimilar{{What: "variable a", Values: []string{"", "2"}, Cells: []string{"config / run"}}}},
		"not looked at":      {unwatched, run(record, map[string]string{"a": "2"}, nil, nil), nil},
		"replicates": {run(record, nil, nil, map[string]string{"product": "mariadb"}), run(record, nil, nil, map[string]string{"replica_of": "db1:3306", "b": "1"}),
			[]Dissimilar{{What: "server topology replica_of", Values: []string{"", "db1:3306"}}}},
	} {
		got, err := Compare([]Recorded{tt.old, tt.next})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got.Differences); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	old, next := run(record, nil, nil, nil), run(record, nil, map[string]string{"order": "shuffled"}, nil)
	got, err := Compare([]Recorded{old, next})
	want := []Dissimilar{{What: "order", Values: []string{"declared", "shuffled"}, Cells: []string{"config / run"}}}
	if err != nil || cmp.Diff(want, got.Differences) != "" {
		t.Errorf("%+v, %v", got.Differences, err)
	}
}

// TestCompareManyRuns: a cell that one of the runs does not have is still held against the others, and footnotes say of which
// run's cell they are.
func TestCompareManyRuns(t *testing.T) {
	run := func(name, size string, configs ...string) Recorded {
		r := Recorded{Name: name, Run: &Run{}}
		for i, config := range configs {
			c := cellAt(i+1, Label{"config", config})
			c.Options = map[string]any{"range_size": size}
			c.Outcome.Errors = []ErrorCount{{Code: 1105, Class: Read, Count: int64(10 + len(name))}}
			r.Cells = append(r.Cells, c)
		}
		return r
	}
	c, err := Compare([]Recorded{run("a", "100", "x", "y"), run("bb", "150", "y"), run("ccc", "200", "x", "y")})
	if err != nil {
		t.Fatal(err)
	}
	want := []Dissimilar{
		{What: "option range_size", Values: []string{"100", "", "200"}, Cells: []string{"config=x"}},
		{What: "option range_size", Values: []string{"100", "150", "200"}, Cells: []string{"config=y"}},
	}
	if diff := cmp.Diff(want, c.Differences); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	errors := slices.IndexFunc(c.Notes, func(n Note) bool { return n.Code == MarkErrors })
	if errors < 0 {
		t.Fatalf("%+v", c.Notes)
	}
	for i, want := range []string{"config=x #1, config=y #1: 11 ×", "config=x #3, config=y #3: 13 ×", "config=y #2: 12 ×"} {
		if lines := c.Notes[errors].Lines; i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Errorf("note %q; want %s in line %d", lines, want, i)
		}
	}
}
