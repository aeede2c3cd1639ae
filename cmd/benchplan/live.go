package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"benchplan/plan"
	"benchplan/workloads/engine"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// live is what a terminal shows below the lines of what was done: the steps around what is being done, one below the other,
// what the load does, and how far the run is.
//
//	engine engine=innodb                                         1 of 2, 31s
//	  config flush=2                                              2 of 4, 8s
//	    mix mix=read                                         2 of 2, 2s of 4s
//	      15905 tps, p95 0.26 ms
//	[==>-------------] cell 4 of 16, 14s, about 1m8s left
//
// The steps and figures are set by the run, the lines are asked for by the goroutine that draws.
type live struct {
	mu     sync.Mutex
	levels []level
	detail string // of the innermost step: the figures of its load, the rows that are filled in
	clock  clock
	errors int64 // of the cells that are done
	now    int64 // errors of the cell under way
	broken bool  // something went wrong: what is left is finally

	widths  []int // of the lines that are on the screen
	columns int   // that the screen had then
}

// level is a step, in one of its cells, within the cell of the group that holds it.
type level struct {
	scope *plan.Scope
	cells []plan.Cell // of the step, in their order
	index int         // of this one among them
	text  string
	began time.Time
}

// Sizes of what is drawn.
const (
	mostLevels  = 6 // lines of steps; of a deeper tree the innermost
	linesBeside = 5 // the detail, the last line, the cursor's, and two of what was done
	leastRows   = 5 // of a terminal: with fewer it gets lines alone
	barWidth    = 18
)

// enter notes that a step begins in a cell. It is called by the goroutine that runs the plan, which the scope belongs to.
func (l *live) enter(s *plan.Scope, text func(*plan.Scope) string, now time.Time) {
	var chain []*plan.Scope
	for at := s; at.Outer() != nil; at = at.Outer() {
		chain = append(chain, at)
	}
	slices.Reverse(chain)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, scope := range chain {
		if i < len(l.levels) && l.levels[i].scope == scope {
			continue
		}
		next := level{scope: scope, text: text(scope), began: now}
		if i < len(l.levels) && l.levels[i].scope.Outer() == scope.Outer() && l.levels[i].scope.Step() == scope.Step() {
			next.cells, next.index = l.levels[i].cells, l.levels[i].index+1
		} else {
			next.cells, _ = scope.Outer().Cells(scope.Step()) // the run has worked them out already, or it would not be here
		}
		next.index = indexOf(next.cells, next.index, scope)
		l.levels = append(l.levels[:i], next)
	}
	l.levels = l.levels[:len(chain)]
	l.detail = ""
}

// indexOf finds a cell from where it has to be at the least on: those that the plan or the command line leaves out are passed over.
func indexOf(cells []plan.Cell, from int, s *plan.Scope) int {
	own := s.Labels()[len(outerLabels(s)):]
	for i := from; i < len(cells); i++ {
		c := cells[i]
		if len(c.Labels) <= len(own) && slices.Equal(c.Labels, own[:len(c.Labels)]) && (s.Repeat()-1)%max(c.Repeats, 1) == max(c.Repeat, 1)-1 {
			return i
		}
	}
	return from
}

// levelText names a step by what it adds to the group around it.
func levelText(s *plan.Scope) string {
	var parts []string
	if name := s.Name(); name != "" {
		parts = append(parts, name)
	} else if !s.Step().Group() {
		parts = append(parts, s.Step().Kind)
	}
	if own := s.Labels()[len(outerLabels(s)):]; len(own) > 0 {
		parts = append(parts, labelText(own))
	}
	if outer := s.Outer(); outer != nil && s.Repeat() > 1 && s.Repeat() != outer.Repeat() {
		parts = append(parts, fmt.Sprintf("#%d", s.Repeat()))
	}
	if parts == nil {
		return "group"
	}
	return strings.Join(parts, " ")
}

// say sets what is told of the innermost step.
func (l *live) say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.detail = text
}

// load sets what the load of the cell under way does.
func (l *live) load(s engine.Snapshot) {
	text := loadText(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.detail, l.now = text, s.Errors
}

// loadText is what the load of a cell did in the last interval.
func loadText(s engine.Snapshot) string {
	rate := "tps"
	if s.QPS == 0 && s.TPS > 0 {
		rate = "events/s" // a load on this machine sends no statements
	}
	text := fmt.Sprintf("%.0f %s, p95 %s", s.TPS, rate, millis(s.P95))
	if s.Errors > 0 {
		text += ", " + plural(int(s.Errors), "error")
	}
	if s.Warmup {
		text += ", warm-up"
	}
	return text
}

// layout makes the lines above the last one for a screen of that size. There is one at the least.
func (l *live) layout(columns, rows int, now time.Time) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := max(1, min(mostLevels, rows-linesBeside))
	levels := l.levels
	first := 0
	if len(levels) > most {
		first = len(levels) - most
	}
	var lines []string
	for i, at := range levels[first:] {
		indent := strings.Repeat("  ", i)
		if i == 0 && first > 0 {
			indent = "… "
		}
		took := shortTime(now.Sub(at.began))
		if first+i == len(levels)-1 && l.clock.lasts > 0 {
			took += " of " + shortTime(l.clock.lasts)
		}
		if len(at.cells) > 1 {
			took = fmt.Sprintf("%d of %d, %s", at.index+1, len(at.cells), took)
		}
		lines = append(lines, bothSides(indent+at.text, took, columns))
	}
	if l.detail != "" && (rows > leastRows || lines == nil) {
		lines = append(lines, fit(strings.Repeat("  ", len(lines))+l.detail, columns-1))
	}
	if lines == nil {
		return []string{""}
	}
	return lines
}

// last is what stands behind the bar.
func (l *live) last(columns int, now time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &l.clock
	cell := min(c.had+c.done+1, c.planned)
	text := fmt.Sprintf("cell %d of %d, ", cell, c.planned)
	switch {
	case l.broken:
		text = "finally, "
	case c.planned == 0:
		text = ""
	case columns < 60:
		text = fmt.Sprintf("%d/%d, ", cell, c.planned)
	}
	text += shortTime(now.Sub(c.started))
	left, sure := c.left(now)
	switch {
	case left < time.Second || l.broken:
	case columns < 60:
		text += ", ~" + shortTime(left) + " left"
	case sure:
		text += ", about " + shortTime(left) + " left"
	default:
		text += ", at least " + shortTime(left) + " left"
	}
	if n := l.errors + l.now; n > 0 {
		text += ", " + plural(int(n), "error")
	}
	return fit(text, columns-barWidth-3)
}

// linesCounted is how many lines of a frame the bars go back over by themselves: the last one, and one for all that are above it.
const linesCounted = 2

// rewound gives what takes the cursor from where the bars took it back to the begin of the last frame. A terminal that has become
// narrower since has broken its lines, so that this is further up than who drew them knows.
func (l *live) rewound(columns int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	up := max(0, len(l.widths)-linesCounted)
	if columns > 0 && columns < l.columns {
		for _, w := range l.widths {
			up += max(0, w-1) / columns
		}
	}
	l.columns, l.widths = columns, nil
	if up == 0 {
		return "\r\x1b[J" // the terminal may have echoed a ^C
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", up)
}

// draw writes the lines above the last one in place of those that are on the screen.
func (l *live) draw(w io.Writer, columns, rows int) error {
	text := l.rewound(columns)
	for _, line := range l.layout(columns, rows, time.Now()) {
		l.shown(line)
		text += line + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// shown notes how wide a line is that is now on the screen.
func (l *live) shown(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.widths = append(l.widths, runewidth.StringWidth(line))
}

// bothSides writes one text at the left and one at the right of a line; the left one gives way.
func bothSides(left, right string, columns int) string {
	room := columns - 1 - runewidth.StringWidth(right) - 1
	left = fit(left, room)
	return left + strings.Repeat(" ", max(1, min(room, 78)-runewidth.StringWidth(left)+1)) + right
}

// fit cuts a text to so many columns.
func fit(text string, columns int) string {
	return runewidth.Truncate(text, max(columns, 0), "…")
}

// shortTime rounds a time to what matters while one looks on: 0s, 59s, 12m5s, 3h5m.
func shortTime(d time.Duration) string {
	switch {
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
}

// screen gives the size of a terminal; COLUMNS goes before its columns.
func screen(stream io.Writer) (columns, rows int) {
	columns = width(stream)
	if f, ok := stream.(*os.File); ok {
		if _, n, err := term.GetSize(int(f.Fd())); err == nil {
			rows = n
		}
	}
	return columns, rows
}

// clock estimates how long a run still takes.
type clock struct {
	started       time.Time
	planned, done int           // cells
	had           int           // of the planned, those that were there before: a run was resumed
	least, passed time.Duration // the least time of all steps, and of those that are over

	first    time.Time     // when the first cell began
	measured time.Duration // what the cells that are done took
	expected time.Duration // what they take at the least

	running bool          // a cell is under way
	begun   time.Time     // when it began
	lasts   time.Duration // what it takes at the least
}

// begin notes that a cell begins.
func (c *clock) begin(least time.Duration, now time.Time) {
	if c.first.IsZero() {
		c.first = now
	}
	c.running, c.begun, c.lasts = true, now, least
}

// end notes that it is over.
func (c *clock) end(now time.Time) {
	c.done++
	c.passed += c.lasts
	c.expected += c.lasts
	c.measured += now.Sub(c.begun)
	c.running, c.lasts = false, 0
}

// left is the least time of what is left, in proportion to what the cells so far really took (those with a number of events
// end sooner), and for each cell what they took beside: to prepare, to switch, to restart. Before a cell is done it is the least time,
// and not sure.
func (c *clock) left(now time.Time) (left time.Duration, sure bool) {
	rest := max(0, c.least-c.passed-c.lasts)
	var spent time.Duration
	cells := c.planned - c.had - c.done
	if c.running {
		spent = now.Sub(c.begun)
		cells--
	}
	if c.done == 0 {
		return rest + max(0, c.lasts-spent), false
	}
	current, each := c.lasts, time.Duration(0)
	if c.expected > 0 {
		pace := float64(c.measured) / float64(c.expected)
		rest, current = time.Duration(float64(rest)*pace), time.Duration(float64(current)*pace)
	} else { // the cells have a number of events alone: they take what the others took
		each = c.measured / time.Duration(c.done)
		current = each
	}
	if !c.running {
		current = 0
	}
	beside := max(0, now.Sub(c.first)-c.measured-spent)
	each += beside / time.Duration(c.done)
	return rest + max(0, current-spent) + each*time.Duration(max(0, cells)), true
}
