package results

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"benchplan/plan"
)

func hasMark(marks []Mark, code string) bool {
	return slices.ContainsFunc(marks, func(m Mark) bool { return m.Code == code })
}

// pairOf is a baseline and a cell beside it, each with as many repeats, all of them free of doubts.
func pairOf(repeats int, change func(*Cell)) []Cell {
	var cells []Cell
	for repeat := range repeats {
		for _, config := range []string{"plain", "changed"} {
			c := cellAt(len(cells)+1, Label{"config", config})
			c.Repeat, c.Round = repeat+1, repeat+1
			c.RowsAtStart = 2000
			c.Server = &ServerStatus{}
			c.Outcome.Events += int64(repeat) // a measured figure is never the same
			if config == "changed" && change != nil {
				change(&c)
			}
			cells = append(cells, c)
		}
	}
	return cells
}

// openLoop makes a cell one of 100 events due per second, all of them begun in time.
func openLoop(c *Cell) {
	c.Wanted.Rate, c.Wanted.Arrivals = 100, "poisson"
	c.Outcome.Schedule = &Schedule{Due: 1000, Rate: 100, Begun: 1000, Late: 100, QueueMax: 9, QueueMean: 0.4,
		Wait: Latency{Count: 1000, Mean: 0.5, P99: 3}, Overslept: Latency{Count: 900, Mean: 0.06, P50: 0.05, P99: 0.4}}
}

// alone is the machine of a generator without the server: half of 2 CPUs idle, benchplan the only program.
func alone() Machine {
	return Machine{Role: Generator, Name: "load", Usage: Usage{Elapsed: 10, CPUs: 2, User: 0.35, System: 0.15, Idle: 0.5},
		Processes: map[string]Process{ProcessGenerator: {User: 6, System: 3, Wait: 0.5, GCPause: 0.01, GCs: 12}}}
}

// together is the machine of generator and server: 2 CPUs, all busy, a third of them with the generator.
func together() Machine {
	return Machine{Role: Generator, Server: true, Name: "laptop", Usage: Usage{Elapsed: 10, CPUs: 2, User: 0.6, System: 0.38, Idle: 0.02},
		Processes: map[string]Process{ProcessGenerator: {User: 3, System: 3.5, Wait: 30, GCPause: 0.01}, ProcessServer: {User: 8.5, System: 4}}}
}

// onLoopback is a cell of alone whose server is reached over the loopback.
func onLoopback(change func(*Machine, *Process)) func(*Cell) {
	put := on(alone(), change)
	return func(c *Cell) {
		put(c)
		c.Target.Address = "127.0.0.1:3306"
	}
}

// on puts a cell on a machine that is changed in one way.
func on(m Machine, change func(*Machine, *Process)) func(*Cell) {
	p := m.Processes[ProcessGenerator]
	change(&m, &p)
	m.Processes[ProcessGenerator] = p
	return func(c *Cell) { c.Machines = []Machine{m} }
}

func trendOf(figure string, change, p float64) func(*Cell) {
	return func(c *Cell) {
		if figure == TrendQueue {
			openLoop(c)
		}
		c.Outcome.Trend = &Trend{Figure: figure, Points: 60, Median: 100, Change: change, P: p}
	}
}

// markCases has, for each mark, records that have to get it and records that are close and must not.
var markCases = map[string]struct {
	must, mustNot map[string]func() []Cell
}{
	MarkErrors: {
		cells("an error", func(c *Cell) { c.Outcome.Errors = []ErrorCount{{Code: 1105, Class: Write, Count: 1}} }),
		cells("an error that never came", func(c *Cell) { c.Outcome.Errors = []ErrorCount{{Code: 1105, Class: Write}} }),
	},
	MarkNoRows: {
		cells("no row", func(c *Cell) { c.Outcome.Statements[Read] = Statements{Count: 1000} }),
		cells("one row", func(c *Cell) { c.Outcome.Statements[Read] = Statements{Count: 1000, Rows: 1} },
			"no reads", func(c *Cell) { delete(c.Outcome.Statements, Read) }),
	},
	MarkLowRows: {
		cells("one row", func(c *Cell) { c.Outcome.Statements[Read] = Statements{Count: 1000, Rows: 1} },
			"less than every second read", func(c *Cell) { c.Outcome.Statements[Read] = Statements{Count: 1000, Rows: 499} }),
		cells("every second read", func(c *Cell) { c.Outcome.Statements[Read] = Statements{Count: 1000, Rows: 500} },
			"none: that is another mark", func(c *Cell) { c.Outcome.Statements[Read] = Statements{Count: 1000} }),
	},
	MarkLittle: {
		cells("6 % too long", func(c *Cell) { c.Outcome.Latency.Mean = 85 }),
		cells("4 % too long", func(c *Cell) { c.Outcome.Latency.Mean = 83 }, "an open loop", func(c *Cell) { openLoop(c); c.Outcome.Latency.Mean = 85 }),
	},
	MarkUnfinished: {
		cells("a stall at the end", func(c *Cell) { c.Outcome.Unfinished, c.Outcome.LongestUnfinished = 4, 6900 }),
		cells("as long as others", func(c *Cell) { c.Outcome.Unfinished, c.Outcome.LongestUnfinished = 4, 700 }),
	},
	MarkRestarts: {
		cells("1 %", func(c *Cell) { c.Outcome.Restarts = []ErrorCount{{Code: 1213, Count: 11}} }),
		cells("less", func(c *Cell) { c.Outcome.Restarts = []ErrorCount{{Code: 1213, Count: 9}} }),
	},
	MarkReconnects: {
		cells("away for 1 % of the time", func(c *Cell) {
			c.Outcome.Reconnects, c.Outcome.ReconnectTime = 1, 0.01*float64(c.Outcome.Clients)*c.Outcome.Elapsed
		}),
		cells("back at once", func(c *Cell) {
			c.Outcome.Reconnects, c.Outcome.ReconnectTime = 5, 0.009*float64(c.Outcome.Clients)*c.Outcome.Elapsed
		}),
	},
	MarkStranded: {
		cells("one client", func(c *Cell) { c.Outcome.Stranded = 1 }),
		cells("cut, and rolled back", func(c *Cell) { c.Outcome.Cut = 1 }),
	},
	MarkTrend: {
		cells("sinking", trendOf(TrendRate, -10, 0.009), "rising", trendOf(TrendRate, 10, 0.009)),
		cells("may be noise", trendOf(TrendRate, -50, 0.011), "too little to matter", trendOf(TrendRate, 9.9, 1e-9),
			"a queue", trendOf(TrendQueue, 1000, 1e-9)),
	},
	MarkOverloaded: {
		cells("a queue that grows", trendOf(TrendQueue, 51, 0.001)),
		cells("may be noise", trendOf(TrendQueue, 51, 0.02), "by half of what it always is", trendOf(TrendQueue, 49, 0.001), "it sinks", trendOf(TrendQueue, -80, 0.001),
			"by less than the clients", func(c *Cell) { trendOf(TrendQueue, 7, 0.001)(c); c.Outcome.Trend.Median = 1 },
			"a rate", trendOf(TrendRate, 90, 0.001)),
	},
	MarkRate: {
		cells("98.9 % were begun", func(c *Cell) {
			openLoop(c)
			c.Outcome.Schedule.Begun, c.Outcome.Schedule.Dropped = 989, 11
		}, "none was begun", func(c *Cell) { openLoop(c); c.Outcome.Schedule.Begun = 0 },
			"half of them waited", func(c *Cell) { openLoop(c); c.Outcome.Schedule.Late = 500 }),
		cells("99 % were begun", func(c *Cell) { openLoop(c); c.Outcome.Schedule.Begun = 990 },
			"not half of them waited", func(c *Cell) { openLoop(c); c.Outcome.Schedule.Late = 499 },
			"nothing was due", func(c *Cell) { openLoop(c); c.Outcome.Schedule = &Schedule{} }),
	},
	MarkSchedule: {
		cells("late at the median", func(c *Cell) { openLoop(c); c.Outcome.Schedule.Overslept.P50 = 8.1 },
			"late in the tail", func(c *Cell) { openLoop(c); c.Outcome.Schedule.Overslept.P99 = 24.1 }),
		cells("a tenth of the median", func(c *Cell) { openLoop(c); c.Outcome.Schedule.Overslept.P50 = 8 },
			"a tenth of the tail", func(c *Cell) { openLoop(c); c.Outcome.Schedule.Overslept.P99 = 24 },
			"as late as any timer", func(c *Cell) {
				openLoop(c)
				c.Outcome.Latency.P50, c.Outcome.Latency.P99, c.Outcome.Schedule.Overslept.P99 = 0.2, 0.3, 0.1
			},
			"too few to tell", func(c *Cell) { openLoop(c); c.Outcome.Schedule.Overslept = Latency{Count: 99, P50: 50, P99: 50} }),
	},
	MarkGenerator: {
		cells("it waited for a CPU", on(alone(), func(_ *Machine, p *Process) { p.Wait = 4.1 }),
			"it took all", on(alone(), func(m *Machine, p *Process) { p.User, p.System, m.Usage.User, m.Usage.Idle = 13, 3.1, 0.7, 0.2 }),
			"nothing was left", on(alone(), func(m *Machine, _ *Process) { m.Usage.Steal, m.Usage.Idle = 0.46, 0.04 }),
			"one thread was at its limit", func(c *Cell) { c.Outcome.LoopBusy = 0.95 }),
		cells("alone on its machine", on(alone(), func(*Machine, *Process) {}),
			"no thread was", func(c *Cell) { c.Outcome.LoopBusy = 0.949 },
			"it waited for less than 5 % of the latencies", on(alone(), func(_ *Machine, p *Process) { p.Wait = 3.9 }),
			"it took most", on(alone(), func(m *Machine, p *Process) { p.User, p.System, m.Usage.User, m.Usage.Idle = 13, 2.9, 0.7, 0.2 }),
			"waiting for a disk is leaving the CPU", on(alone(), func(m *Machine, _ *Process) { m.Usage.IOWait, m.Usage.Idle = 0.48, 0.02 }),
			"the server is there too", on(together(), func(*Machine, *Process) {}),
			"the server is reached over the loopback", onLoopback(func(m *Machine, _ *Process) { m.Usage.Steal, m.Usage.Idle = 0.46, 0.04 }),
			"its machine is not known", on(alone(), func(m *Machine, p *Process) { m.Usage, p.Wait = Usage{}, 0 }),
			"it is the load", func(c *Cell) {
				on(alone(), func(m *Machine, p *Process) { p.User, m.Usage.User, m.Usage.Idle = 17, 0.85, 0 })(c)
				c.Load = "cpu"
			}),
	},
	MarkShared: {
		cells("most of what is there", on(together(), func(_ *Machine, p *Process) { p.User, p.System = 4, 4 }),
			"of what a server on the loopback may want", onLoopback(func(m *Machine, p *Process) { p.User, p.System, m.Usage.Idle = 6, 3, 0.05 })),
		cells("a third, as always", on(together(), func(*Machine, *Process) {}),
			"there is enough", on(together(), func(m *Machine, p *Process) { p.User, p.System, m.Usage.System, m.Usage.Idle = 4, 4, 0.3, 0.10 }),
			"the server is elsewhere", on(alone(), func(m *Machine, p *Process) { p.User, m.Usage.Idle = 6, 0.06 })),
	},
	MarkGC: {
		cells("1 % of the time", on(together(), func(_ *Machine, p *Process) { p.GCPause, p.GCs = 0.1, 300 })),
		cells("less", on(together(), func(_ *Machine, p *Process) { p.GCPause, p.GCs = 0.09, 300 })),
	},
	MarkUnwatched: {
		cells("a machine was lost", on(alone(), func(m *Machine, _ *Process) { m.Usage.Elapsed = 9 }),
			"the server was started anew", func(c *Cell) { c.Server = &ServerStatus{Elapsed: 4, Counters: map[string]int64{"questions": 1}} }),
		cells("read a little late", on(alone(), func(m *Machine, _ *Process) { m.Usage.Elapsed = 9.1 }),
			"variables alone", func(c *Cell) { c.Server = &ServerStatus{Variables: map[string]string{"a": "b"}} },
			"a short cell", func(c *Cell) {
				c.Outcome.Elapsed, c.Server = 2, &ServerStatus{Elapsed: 1.1, Counters: map[string]int64{"questions": 1}}
			}),
	},
	MarkNoisy: {
		cells("steal", on(alone(), func(m *Machine, _ *Process) { m.Usage.Steal = 0.01 }),
			"another program", on(alone(), func(_ *Machine, p *Process) { p.User, p.System = 4.9, 3 }),
			"another program beside both", on(together(), func(m *Machine, p *Process) { p.User, p.System = 1.4, 3 }),
			"on the server's machine", func(c *Cell) { c.Machines = []Machine{alone(), serverAt(8, 3)} }),
		cells("hardly any steal", on(alone(), func(m *Machine, _ *Process) { m.Usage.Steal = 0.009 }),
			"a little beside it", on(alone(), func(m *Machine, p *Process) { p.User, p.System = 5.2, 3 }),
			"interrupts of its own load", on(alone(), func(m *Machine, _ *Process) { m.Usage.User, m.Usage.System, m.Usage.Idle = 0.34, 0.45, 0.21 }),
			"what a server on the loopback took is not known", onLoopback(func(_ *Machine, p *Process) { p.User, p.System = 1, 1 }),
			"what the server took is not known", on(together(), func(m *Machine, p *Process) {
				delete(m.Processes, ProcessServer)
			}),
			"the server's machine is its own", func(c *Cell) { c.Machines = []Machine{alone(), serverAt(12, 5)} }),
	},
	MarkPartial: {
		cells("interrupted", func(c *Cell) { c.Status = Partial }),
		cells("whole", func(*Cell) {}),
	},
	MarkFailed: {
		cells("no server", func(c *Cell) { c.Status, c.Error = Failed, "no server" }),
		cells("interrupted", func(c *Cell) { c.Status = Partial }),
	},
	MarkStopRule: {
		cells("events beside a duration", func(c *Cell) { c.Outcome.Stopped = ByEvents },
			"in one repeat", func(c *Cell) {
				if c.Repeat == 2 {
					c.Outcome.Stopped = ByEvents
				}
			}),
		cells("ended by the user", func(c *Cell) { c.Status, c.Outcome.Stopped = Partial, ByInterrupt }),
	},
	MarkDuration: {
		cells("a tenth longer", func(c *Cell) { c.Outcome.Elapsed, c.Outcome.Events = 11.2, 1120 }),
		cells("a little longer", func(c *Cell) { c.Outcome.Elapsed, c.Outcome.Events = 11, 1100 },
			"the same events took longer", func(c *Cell) {}),
	},
	MarkTables: {
		cells("more rows", func(c *Cell) { c.RowsAtStart = 2300 }, "more tables", func(c *Cell) { c.Tables.Count = 3 },
			"rows of another number", func(c *Cell) { c.Tables.Rows = 999 },
			"more with each repeat", func(c *Cell) { c.RowsAtStart = 1900 + 110*int64(c.Repeat) },
			"other files", func(c *Cell) { c.Files = &plan.Files{Count: 3} }),
		cells("a few more rows", func(c *Cell) { c.RowsAtStart = 2200 }, "nobody knows", func(c *Cell) { c.RowsAtStart = 0 },
			"a few more with each repeat", func(c *Cell) { c.RowsAtStart = 1900 + 50*int64(c.Repeat) }),
	},
	MarkUnlike: {
		cells("another workload", func(c *Cell) { c.Workload = "oltp_write_only" },
			"a variable of the server was changed", func(c *Cell) { c.Server = &ServerStatus{Variables: map[string]string{"sync_binlog": "1000"}} },
			"for one repeat", func(c *Cell) {
				if c.Repeat == 3 {
					c.Server = &ServerStatus{Variables: map[string]string{"sync_binlog": "1000"}}
				}
			}),
		cells("the same", func(*Cell) {}, "nobody looked", func(c *Cell) { c.Server = nil },
			"the plan changed it", func(c *Cell) {
				c.Server = &ServerStatus{Variables: map[string]string{"sync_binlog": "1000"}}
				c.Attributes = map[string]string{"variable sync_binlog": "1000"}
			},
			"a server with an option that it follows from", func(c *Cell) {
				c.Server = &ServerStatus{Variables: map[string]string{"table_open_cache": "400"}}
				c.Attributes = map[string]string{"option max-connections": "9"}
			},
			"a state", func(c *Cell) { c.Server = &ServerStatus{Variables: map[string]string{"gtid_binlog_pos": "0-1-9"}} }),
	},
	MarkZero: {
		withBaseline("nothing was done", func(c *Cell) { c.Outcome.Events = 0 }),
		cells("nothing was done", func(c *Cell) { c.Outcome.Events = 0 }),
	},
	MarkNoRepeats:  {repeated(1), repeated(2)},
	MarkFewRepeats: {repeated(3), repeated(6)},
	MarkCut: {
		cells("ended by an error", func(c *Cell) { c.Status, c.Outcome.Stopped = Failed, ByError }, "interrupted", func(c *Cell) { c.Status = Partial }),
		cells("one repeat of several failed", func(c *Cell) {
			if c.Repeat == 2 {
				c.Status = Failed
			}
		}),
	},
	MarkOrder:  {oneAfterTheOther(6), repeated(6)},
	MarkChance: {repeated(6), repeated(1)},
	MarkResumed: {
		cells("a round was cut in two", func(c *Cell) {
			if c.Repeat == 2 {
				c.Resumed = 1
			}
		}, "the machine changed", func(c *Cell) { c.Marks = []Mark{MarkOfChanges([]string{"host CPUs: 8 → 4"})} }),
		cells("nothing was resumed", func(*Cell) {}),
	},
}

// TestRoundsOfLaterPartsAreNoDoubt: where both of each round were measured in the same part, a resume takes nothing from a comparison.
func TestRoundsOfLaterPartsAreNoDoubt(t *testing.T) {
	cells := pairOf(6, nil)
	for i := range cells {
		if cells[i].Round > 3 {
			cells[i].Resumed = 1
		}
	}
	if n, ok := noted(cells)[MarkResumed]; ok {
		t.Errorf("marked: %q", n.Lines)
	}
}

// serverAt is the machine of a server of 2 CPUs, busy for 18 CPU-seconds of 20, of which its process took so many.
func serverAt(user, system float64) Machine {
	return Machine{Role: ServerMachine, Server: true, Name: "db", Usage: Usage{Elapsed: 10, CPUs: 2, User: 0.6, System: 0.3, Idle: 0.1},
		Processes: map[string]Process{ProcessServer: {User: user, System: system}}}
}

// cells takes names and changes: each makes a pair of rows of 4 repeats, the second of them changed.
func cells(name string, change func(*Cell), more ...any) map[string]func() []Cell {
	list := map[string]func() []Cell{name: func() []Cell { return pairOf(4, change) }}
	for i := 0; i+1 < len(more); i += 2 {
		change := more[i+1].(func(*Cell))
		list[more[i].(string)] = func() []Cell { return pairOf(4, change) }
	}
	return list
}

// withBaseline is cells with the first row changed, and not the second.
func withBaseline(name string, change func(*Cell)) map[string]func() []Cell {
	return map[string]func() []Cell{name: func() []Cell {
		cells := pairOf(4, nil)
		for i := 0; i < len(cells); i += 2 {
			change(&cells[i])
		}
		return cells
	}}
}

// TestRepeatsAreHeldAgainstTheirRounds: where the first repeat of a row failed, the others are held against those of their own rounds, and one
// whose rows nobody knows does not hide that the others had different ones.
func TestRepeatsAreHeldAgainstTheirRounds(t *testing.T) {
	cells := pairOf(4, func(c *Cell) {
		if c.Repeat == 1 {
			c.Status = Failed
		}
	})
	for i := range cells { // of each round the time is another
		cells[i].Outcome.Elapsed *= float64(cells[i].Round)
		cells[i].Outcome.Events *= int64(cells[i].Round)
	}
	if n, ok := noted(cells)[MarkDuration]; ok {
		t.Errorf("held against other rounds: %q", n.Lines)
	}
	grown := pairOf(4, func(c *Cell) {
		if c.RowsAtStart = 2000 * int64(c.Repeat); c.Repeat == 2 {
			c.RowsAtStart = 0
		}
	})
	if n, ok := noted(grown)[MarkTables]; !ok || n.Lines[0] != "repeat 1 began with 2000 rows, repeat 4 with 8000" {
		t.Errorf("one repeat of which the rows are not known: %q", n.Lines)
	}
}

// TestMarksHaveNoExponents: a latency of seconds is written as people write it.
func TestMarksHaveNoExponents(t *testing.T) {
	c := cellAt(1)
	openLoop(&c)
	c.Outcome.Latency.P99, c.Outcome.Schedule.Overslept.P99 = 2398.1, 1398.6
	m, doubtful := checkOverslept(&c)
	if want := "1 % of them by 1399 ms and more, where p99 is 2398 ms"; !doubtful || !strings.HasSuffix(m.Text, want) {
		t.Errorf("%q, want %q", m.Text, want)
	}
}

func repeated(n int) map[string]func() []Cell {
	return map[string]func() []Cell{strconv.Itoa(n) + " repeats": func() []Cell { return pairOf(n, nil) }}
}

// oneAfterTheOther makes the pair with the repeats of the baseline before those of the other.
func oneAfterTheOther(n int) map[string]func() []Cell {
	return map[string]func() []Cell{"one after the other": func() []Cell {
		cells := pairOf(n, nil)
		slices.SortStableFunc(cells, func(a, b Cell) int { return strings.Compare(b.Labels[0].Value, a.Labels[0].Value) })
		for i := range cells {
			cells[i].Seq = i + 1
		}
		return cells
	}}
}

// noted gives the codes of the footnotes of a report on cells.
func noted(cells []Cell) map[string]Note {
	if cells[1].Files != nil { // files are held against files
		for i := 0; i < len(cells); i += 2 {
			cells[i].Files = &plan.Files{Count: 2}
		}
	}
	codes := map[string]Note{}
	for _, n := range NewReport("x", &Run{}, cells, nil).Notes {
		codes[n.Code] = n
	}
	return codes
}

// TestMarks: each mark is a footnote where it has to be, and is none where things are nearly so but well.
func TestMarks(t *testing.T) {
	for code, tt := range markCases {
		for name, make := range tt.must {
			n, ok := noted(make())[code]
			if !ok {
				t.Errorf("%s: %s is not marked", code, name)
			} else if code != MarkChance && n.Remedy == "" {
				t.Errorf("%s: %s has no remedy: %+v", code, name, n)
			}
		}
		for name, make := range tt.mustNot {
			if n, ok := noted(make())[code]; ok {
				t.Errorf("%s: %s is marked: %q", code, name, n.Lines)
			}
		}
	}
}

// TestEveryMarkIsTried: a mark that marks.go defines has records on both sides.
func TestEveryMarkIsTried(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "marks.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Mark") {
			return true
		}
		found++
		code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if c := markCases[code]; len(c.must) == 0 || len(c.mustNot) == 0 {
			t.Errorf("%s has no record that must get it, or none that must not", spec.Names[0].Name)
		}
		return true
	})
	if found < 20 || found != len(markCases) {
		t.Errorf("%d marks are defined and %d tried", found, len(markCases))
	}
}

// TestMarkedMetricsExist: what a mark doubts is a metric, or the difference of one.
func TestMarkedMetricsExist(t *testing.T) {
	for code, tt := range markCases {
		for name, make := range tt.must {
			for _, row := range NewReport("x", &Run{}, make(), nil).Rows() {
				for _, ref := range row.Notes {
					metric := strings.TrimPrefix(ref.Column, "change.")
					if _, ok := MetricByName(metric); metric != "" && !ok {
						t.Errorf("%s: %s doubts %q, which is no metric", code, name, ref.Column)
					}
				}
			}
		}
	}
}

// TestQuickTrialIsClean: a private server beside the load, cells of a second and six repeats: no mark but what chance does.
func TestQuickTrialIsClean(t *testing.T) {
	trial := pairOf(6, nil)
	for i := range trial {
		c := &trial[i]
		m := together()
		m.Usage.Elapsed = 0.98
		for name, p := range m.Processes {
			p.User, p.System, p.Wait, p.GCPause = p.User*0.098, p.System*0.098, p.Wait*0.098, p.GCPause*0.098
			m.Processes[name] = p
		}
		c.Machines = []Machine{m}
		c.Outcome.Elapsed, c.Outcome.Events = 1, 100
		c.Outcome.Series = seriesOf(1, func(int) Second { return Second{Events: 100} })
		c.Outcome.Trend = c.trend()
	}
	for code, n := range noted(trial) {
		if code != MarkChance {
			t.Errorf("%s: %q", code, n.Lines)
		}
	}
}

// TestTrapsOfTheMethod: what the tables of the radon method hide is marked in the same tables here. Its five cells are written down
// as its text prints them: clients, rates, the average latencies, the rule by which each was stopped, and what was in the tables.
func TestTrapsOfTheMethod(t *testing.T) {
	var loaded int64
	cell := func(seq int, config, mix string, stopped Stop, elapsed float64, total int64, writers, readers int, write, read float64) Cell {
		c := Cell{
			Path: []string{"5." + strconv.Itoa(seq)}, Labels: []Label{{"config", config}, {"mix", mix}}, Repeat: 1, Round: 1, Seq: seq, Workload: "benchyou_random",
			Tables: plan.Tables{Schema: "benchyou", Count: 32}, RowsAtStart: loaded, Clients: map[string]int{"write": writers, "read": readers}, Status: Complete,
			Started: start, Finished: start, Wanted: Wanted{Events: 10_000_000, Duration: plan.Duration(3600e9)},
		}
		writes := int64(float64(total) * float64(write) / (write + read))
		mean := func(clients int) float64 { // as benchyou prints it: divided by the seconds once too often
			if clients == 0 {
				return 0
			}
			return 0.01
		}
		role := func(name string, clients int, events int64) Role {
			return Role{Name: name, Clients: clients, Events: events, Latency: Latency{Count: events, Mean: mean(clients)}}
		}
		c.Outcome = Outcome{
			Clients: writers + readers, Elapsed: elapsed, Stopped: stopped, Events: total, Latency: Latency{Count: total, Mean: 0.01},
			Roles:      []Role{role("write", writers, writes), role("read", readers, total-writes)},
			Statements: map[Class]Statements{},
		}
		if writes > 0 {
			c.Outcome.Statements[Write] = Statements{Count: writes, Affected: writes}
		}
		if total > writes {
			c.Outcome.Statements[Read] = Statements{Count: total - writes} // of 2^63 ids none was there
		}
		loaded += writes
		return c
	}
	cells := []Cell{
		cell(1, "plain", "write", ByDuration, 3602, 6_818_994, 64, 0, 1893, 0),
		cell(2, "plain", "read", ByEvents, 2934, 10_000_138, 0, 128, 0, 3408),
		cell(3, "plain", "rw", ByDuration, 3604, 6_269_848, 64, 64, 508, 1230),
		cell(4, "twopc", "rw", ByEvents, 3526, 10_001_004, 64, 64, 967, 1869),
		cell(5, "twopc+audit", "rw", ByDuration, 3602, 9_693_881, 64, 64, 920, 1770),
	}
	r := NewReport("radon", &Run{Report: Settings{Baseline: map[string]string{"config": "plain"}}}, cells, nil)
	marks := map[string][]string{} // by step
	columns := map[string]bool{}
	for _, n := range r.Notes {
		if n.Column != "" {
			columns[n.Code] = true
		}
		for _, row := range r.Rows() {
			if slices.ContainsFunc(row.Notes, func(ref NoteRef) bool { return ref.Number == n.Number }) {
				marks[row.Path[0]] = append(marks[row.Path[0]], n.Code)
			}
		}
	}
	for step, want := range map[string][]string{
		"5.1": {MarkLittle},                                       // 0.01 ms, 64 clients, 1893/s
		"5.2": {MarkLittle, MarkNoRows},                           // reads that met no row
		"5.3": {MarkLittle, MarkNoRows},                           // the baseline of the next two
		"5.4": {MarkLittle, MarkNoRows, MarkStopRule, MarkTables}, // stopped by count beside time, on tables that had grown
		"5.5": {MarkLittle, MarkNoRows, MarkTables},
	} {
		got := slices.Sorted(slices.Values(marks[step]))
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("%s is marked with %q, want %q", step, got, want)
		}
	}
	// 63 % faster with two-phase commit than without: from one run each.
	for _, row := range r.Rows() {
		if row.Path[0] != "5.4" {
			continue
		}
		change := row.Changes["tps"]
		if change.Ratio < 0.6 || change.Ratio > 0.66 || change.Tested || change.Significant || change.Better != nil || !columns[MarkNoRepeats] {
			t.Errorf("63 %% faster from one run each: %+v, marked %v", change, columns)
		}
	}
}
