package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"benchplan/plan"
	"benchplan/workloads/engine"

	"github.com/mattn/go-runewidth"
)

// nestedPlan has groups, matrices and repeats within each other.
const nestedPlan = `
steps:
  - name: engine
    matrix: { engine: [innodb, aria] }
    steps:
      - prepare:
      - name: config
        matrix: { flush: [1, 2], sync: [0] }
        repeat: 2
        order: interleaved
        steps:
          - name: mix
            matrix: { mix: [write, read, rw], exclude: [ { mix: rw, flush: 1 } ] }
            run: { workload: benchyou_random, duration: 4s }
`

// scopesOf gives the cells of a plan's loads in the order in which they run.
func scopesOf(t *testing.T, text string) []*plan.Scope {
	t.Helper()
	p, err := (&planFlags{}).read(&terminal{}, planFile(t, "p.yaml", "tables: { schema: benchyou }\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	root, err := p.Scope()
	if err != nil {
		t.Fatal(err)
	}
	var list []*plan.Scope
	var walk func(*plan.Scope)
	walk = func(s *plan.Scope) {
		for _, step := range s.Step().Steps {
			cells, err := s.Cells(step)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cells {
				in, err := s.Enter(step, c)
				if err != nil {
					t.Fatal(err)
				}
				if step.Load() {
					list = append(list, in)
				}
				walk(in)
			}
		}
	}
	walk(root)
	return list
}

// TestLiveTree: one sees in which cell of which group a run is, each counted within the group around it.
func TestLiveTree(t *testing.T) {
	at := time.Date(2026, 9, 10, 14, 0, 0, 0, time.UTC)
	l := &live{clock: clock{started: at, planned: 20, least: 80 * time.Second}}
	var got []string
	for i, s := range scopesOf(t, nestedPlan) {
		now := at.Add(time.Duration(i) * 5 * time.Second)
		l.enter(s, levelText, now)
		l.clock.begin(4*time.Second, now)
		l.load(engine.Snapshot{TPS: 1234.5, QPS: 10, P95: 0.26, Errors: int64(i / 9), Warmup: i == 0})
		lines := append(l.layout(60, 24, now.Add(2*time.Second)), l.last(80, now.Add(2*time.Second)))
		if i == 0 || i == 9 {
			got = append(got, lines...)
		}
		l.clock.end(now.Add(4 * time.Second))
	}
	want := []string{
		"engine engine=innodb                             1 of 2, 2s",
		"  config flush=1 sync=0                          1 of 4, 2s",
		"    mix mix=write                          1 of 2, 2s of 4s",
		"      1234 tps, p95 0.26 ms, warm-up",
		"cell 1 of 20, 2s, at least 1m18s left",
		"engine engine=innodb                            1 of 2, 47s",
		"  config flush=2 sync=0 #2                      4 of 4, 12s",
		"    mix mix=rw                             3 of 3, 2s of 4s",
		"      1234 tps, p95 0.26 ms, 1 error",
		"cell 10 of 20, 47s, about 52s left, 1 error",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLiveFits: no line is broken by a terminal of any sensible size, and there are never more than it has.
func TestLiveFits(t *testing.T) {
	scopes := scopesOf(t, strings.ReplaceAll(nestedPlan, "name: config", "name: 二相コミットの設定 with a name that is far too long for a line"))
	l := &live{clock: clock{started: time.Now(), planned: 20}, detail: strings.Repeat("figures ", 40)}
	l.enter(scopes[3], levelText, time.Now())
	l.say(strings.Repeat("figures ", 40))
	for columns := narrowest; columns <= 200; columns += 3 {
		for rows := leastRows; rows < 30; rows += 4 {
			lines := l.layout(columns, rows, time.Now())
			if len(lines) == 0 || len(lines) > max(2, rows-3) {
				t.Errorf("%d lines of a terminal of %d", len(lines), rows)
			}
			for _, line := range lines {
				if w := runewidth.StringWidth(line); w >= columns {
					t.Errorf("%d of %d columns: %s", w, columns, line)
				}
			}
			if w := barWidth + 1 + runewidth.StringWidth(l.last(columns, time.Now())); w >= columns {
				t.Errorf("the last line has %d of %d columns", w, columns)
			}
		}
	}
	if lines := new(live).layout(80, 24, time.Now()); len(lines) != 1 {
		t.Errorf("before the first step there are %q", lines)
	}
}

// TestTimeLeft: it is the least time of what is left, in proportion to what the cells really took, and what is done beside them.
func TestTimeLeft(t *testing.T) {
	at := time.Date(2026, 9, 10, 14, 0, 0, 0, time.UTC)
	s := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	for _, tt := range []struct {
		name        string
		least       time.Duration // of the plan
		cell        time.Duration // the least time of one of its 10 cells
		took, pause time.Duration // what a cell takes, and what passes before the next
		done        int
		into        time.Duration // of the cell under way; negative: there is none
		want        time.Duration
		sure        bool
	}{
		{"nothing is done yet", s(100), s(10), s(10), 0, 0, s(4), s(96), false},
		{"as planned", s(100), s(10), s(10), 0, 4, s(4), s(56), true},
		{"between two cells", s(100), s(10), s(10), s(2), 4, -1, s(72), true},
		{"with preparation before each", s(100), s(10), s(10), s(5), 4, s(4), s(56 + 5*5), true},
		{"they end by their events in half of the time", s(100), s(10), s(5), 0, 4, s(1), s(4 + 25), true},
		{"there is no duration", 0, 0, s(6), s(1), 4, s(2), s(4 + 5*7), true},
		{"the last one hangs", s(100), s(10), s(10), 0, 9, s(60), 0, true},
	} {
		c := clock{started: at, planned: 10, least: tt.least}
		now := at.Add(time.Second)
		for range tt.done {
			c.begin(tt.cell, now)
			now = now.Add(tt.took)
			c.end(now)
			now = now.Add(tt.pause)
		}
		if tt.into >= 0 {
			c.begin(tt.cell, now)
			now = now.Add(tt.into)
		}
		if got, sure := c.left(now); got != tt.want || sure != tt.sure {
			t.Errorf("%s: %s (%v), want %s", tt.name, got, sure, tt.want)
		}
	}
}

// TestLiveRewinds: what was drawn is gone over, also when the terminal has become narrower and broken its lines.
func TestLiveRewinds(t *testing.T) {
	drawn := func() *live {
		l := &live{columns: 80}
		for _, n := range []int{70, 70, 30, 60} { // three lines and the last one
			l.shown(strings.Repeat("x", n))
		}
		return l
	}
	for columns, up := range map[int]int{80: 2, 200: 2, 69: 2 + 2, 40: 2 + 3, 30: 2 + 2 + 2 + 0 + 1, 0: 2} {
		l := drawn()
		if got, want := l.rewound(columns), fmt.Sprintf("\x1b[%dA\r\x1b[J", up); got != want {
			t.Errorf("at %d columns: %q, want %q", columns, got, want)
		}
		if got := l.rewound(columns); got != "\r\x1b[J" {
			t.Errorf("the second time: %q", got)
		}
	}
}

// TestCellLines: on a terminal the line of a cell that is done stays one line as long as its labels tell it from others.
func TestCellLines(t *testing.T) {
	p := newProgress(&terminal{}, false, false, func(s string) string { return s })
	p.cell, p.name = "cell 5 of 16", "engine / config / mix engine=innodb flush=1 mix=write #2"
	const figures = "1554 tps, p95 3.58 ms, 4.1s"
	for columns, want := range map[int]string{
		0:   "cell 5 of 16 engine / config / mix engine=innodb flush=1 mix=write #2  1554 tps, p95 3.58 ms, 4.1s",
		120: "cell 5 of 16 engine / config / mix engine=innodb flush=1 mix=write #2  1554 tps, p95 3.58 ms, 4.1s",
		80:  "cell 5 of 16 … engine=innodb flush=1 mix=write #2  1554 tps, p95 3.58 ms, 4.1s",
		60:  "cell 5 of 16 … mix=write #2  1554 tps, p95 3.58 ms, 4.1s",
		40:  "cell 5 of 16 engine / config / mix eng…\n  1554 tps, p95 3.58 ms, 4.1s",
	} {
		got := p.cellLine(figures, columns)
		if want == "" || got != want {
			t.Errorf("%d columns:\n%s, want\n%s", columns, got, want)
		}
		for line := range strings.SplitSeq(got, "\n") {
			if columns > 0 && runewidth.StringWidth(line) > columns {
				t.Errorf("%d columns: %q", columns, line)
			}
		}
	}
}

// TestPlainLines: without a terminal there are whole lines and nothing that moves a cursor.
func TestPlainLines(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&terminal{err: &b}, false, false, func(s string) string { return strings.ReplaceAll(s, "hunter22", "***") })
	p.Start("runs/x", plan.Summary{Cells: 2, Least: time.Minute})
	p.Note("a note with hunter22 and \x1b[31m")
	p.interrupted()
	p.Finally(nil)
	p.Finally(nil)
	p.close()
	lines := slices.Collect(strings.Lines(b.String()))
	if len(lines) != 4 || strings.Contains(b.String(), "\x1b") || strings.Contains(b.String(), "hunter22") {
		t.Errorf("%q", lines)
	}
}
