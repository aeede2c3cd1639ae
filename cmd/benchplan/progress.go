package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps"
	"benchplan/workloads/engine"
	"benchplan/workloads/host"
	"benchplan/workloads/tables"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress tells on standard error what a run does: lines of what was done, and on a terminal a last line of what is
// being done. It is a steps.Observer, whose calls come one at a time.
type progress struct {
	t     *terminal
	quiet bool
	live  bool // a line for every interval of a cell
	mask  func(string) string

	printing sync.Mutex    // guards bars and bar
	bars     *mpb.Progress // nil where lines are all
	bar      *mpb.Bar

	cell   string // "cell 3 of 54 config=plain mix=rw"
	filled time.Time

	// mu guards what the last line shows. The bar asks for it from a goroutine of its own, while we may be waiting for the bar
	// to take a line: so mu is never held while something is printed.
	mu      sync.Mutex
	status  string // what is being done
	started time.Time
	planned int
	done    int
	least   time.Duration // of all cells
	passed  time.Duration // the least time of the cells that are done
	lasts   time.Duration // the least time of the cell under way
}

// worthALine is how long a step without a name takes before it gets a line: in a matrix of short cells the lines of the cells
// are enough.
const worthALine = time.Second

// narrowest is the width below which a terminal gets lines alone.
const narrowest = 40

func newProgress(t *terminal, quiet, live bool, mask func(string) string) *progress {
	return &progress{t: t, quiet: quiet, live: live, mask: mask, started: time.Now()}
}

// line prints a line, above the last one on a terminal.
func (p *progress) line(format string, args ...any) {
	if p.quiet {
		return
	}
	text := plainText(p.mask(fmt.Sprintf(format, args...)))
	p.printing.Lock()
	defer p.printing.Unlock()
	var out io.Writer = p.t.err
	if p.bars != nil {
		out = p.bars
	}
	_, _ = io.WriteString(out, text+"\n")
}

// say sets what the last line shows.
func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = plainText(p.mask(fmt.Sprintf(format, args...)))
}

func (p *progress) Start(folder string, s plan.Summary) {
	p.mu.Lock()
	p.planned, p.least = s.Cells, s.Least
	p.mu.Unlock()
	text := plural(s.Cells, "cell")
	if s.Least > 0 {
		text += ", at least " + plan.Duration(s.Least).String()
	}
	p.line("%s, kept in %s", text, folder)
	p.open()
}

// open puts the last line there, on a terminal that is wide enough.
func (p *progress) open() {
	if p.quiet || !isTerminal(p.t.err) || width(p.t.err) < narrowest {
		return
	}
	p.printing.Lock()
	defer p.printing.Unlock()
	p.bars = mpb.New(mpb.WithOutput(p.t.err), mpb.WithWidth(16), mpb.WithAutoRefresh())
	p.bar = p.bars.AddBar(int64(max(p.planned, 1)),
		mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return p.lastLine() })),
	)
	p.bar.SetCurrent(int64(p.done))
}

// close takes the last line away.
func (p *progress) close() {
	p.printing.Lock()
	defer p.printing.Unlock()
	if p.bars == nil {
		return
	}
	p.bar.Abort(true)
	p.bars.Wait()
	p.bars, p.bar = nil, nil
}

// drawn tells whether there is a last line.
func (p *progress) drawn() bool {
	p.printing.Lock()
	defer p.printing.Unlock()
	return p.bars != nil
}

// lastLine is what stands behind the bar.
func (p *progress) lastLine() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := " " + time.Since(p.started).Round(time.Second).String()
	if left := p.left(); left > 0 {
		text += ", " + left.Round(time.Second).String() + " left"
	}
	text += "  " + p.status
	if limit := width(p.t.err) - 22; len([]rune(text)) > limit {
		text = string([]rune(text)[:max(limit-1, 0)]) + "…"
	}
	return text
}

// left estimates the time that is left: that of the cells at the least, stretched by what the ones so far took beside.
func (p *progress) left() time.Duration {
	rest := p.least - p.passed
	if rest <= 0 || p.passed <= 0 {
		return rest
	}
	return time.Duration(float64(rest) * max(1, float64(time.Since(p.started))/float64(p.passed+p.lasts)))
}

func (p *progress) Step(s *plan.Scope, try int) {
	if try > 1 {
		p.say("%s (try %d)", stepText(s), try)
		return
	}
	p.say("%s", stepText(s))
}

func stepText(s *plan.Scope) string {
	text := s.Step().Kind
	if name := s.Name(); name != "" {
		text += " " + name
	}
	if len(s.Labels()) > 0 {
		text += " " + labelText(s.Labels())
	}
	return text
}

func labelText(labels []plan.Label) string {
	parts := make([]string, len(labels))
	for i, l := range labels {
		parts[i] = l.Name + "=" + l.Value
	}
	return strings.Join(parts, " ")
}

func (p *progress) StepDone(s *plan.Scope, took time.Duration, err error) {
	switch {
	case s.Step().Group():
	case errors.Is(err, steps.ErrInterrupted):
		p.line("%s interrupted", stepText(s))
	case err != nil:
		p.line("%s failed", stepText(s))
	case !s.Step().Load() && (s.Name() != "" || took >= worthALine):
		p.line("%s  %s", stepText(s), took.Round(time.Millisecond))
	}
}

func (p *progress) Cell(s *plan.Scope, seq, planned int, least time.Duration) {
	p.cell = fmt.Sprintf("cell %d of %d", seq, planned)
	if name := s.Identity(); name != "" {
		p.cell += " " + name
	}
	if s.Repeat() > 1 {
		p.cell += fmt.Sprintf(" #%d", s.Repeat())
	}
	p.mu.Lock()
	p.lasts = least
	p.mu.Unlock()
	p.say("%s", p.cell)
}

// Load puts the figures first: what a narrow terminal cuts off is the name of the cell.
func (p *progress) Load(s engine.Snapshot) {
	rate := "tps"
	if s.QPS == 0 && s.TPS > 0 {
		rate = "events/s" // a load on this machine sends no statements
	}
	text := fmt.Sprintf("%.0f %s, p95 %s", s.TPS, rate, millis(s.P95))
	if s.Errors > 0 {
		text += fmt.Sprintf(", %d errors", s.Errors)
	}
	if s.Warmup {
		text += ", warm-up"
	}
	p.say("%s  %s", text, p.cell)
	if p.live {
		p.line("[ %.0fs ] thds: %d tps: %.2f qps: %.2f lat (ms,95%%): %.2f err: %d restarts: %d reconn: %d", s.Elapsed.Seconds(), s.Clients, s.TPS, s.QPS, s.P95, s.Errors, s.Restarts, s.Reconnects)
	}
}

func millis(ms float64) string {
	switch {
	case ms >= 1000:
		return fmt.Sprintf("%.2f s", ms/1000)
	case ms >= 10:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.2f ms", ms)
}

func (p *progress) CellDone(c *results.Cell) {
	p.mu.Lock()
	p.done++
	p.passed += p.lasts
	p.lasts = 0
	p.mu.Unlock()
	o := &c.Outcome
	rate := "tps"
	if c.Load != "" {
		rate = "events/s"
	}
	text := fmt.Sprintf("%s  %.0f %s, p95 %s", p.cell, ratio(float64(o.Events), o.Elapsed), rate, millis(o.Latency.P95))
	var failed int64
	for _, e := range o.Errors {
		failed += e.Count
	}
	if failed > 0 {
		text += ", " + plural(int(failed), "error")
	}
	if c.Status != results.Complete {
		text += ", " + string(c.Status)
	}
	p.line("%s", text)
	p.printing.Lock()
	defer p.printing.Unlock()
	if p.bar != nil {
		p.bar.SetCurrent(int64(min(p.done, p.planned-1))) // the last cell is not the end: finally follows
	}
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func (p *progress) Filling(done, total int64) {
	p.preparing(fmt.Sprintf("prepare  %d of %d rows", done, total), done == total)
}

func (p *progress) Writing(done, total int64) {
	p.preparing(fmt.Sprintf("prepare  %s of %s", host.SizeText(done), host.SizeText(total)), done == total)
}

// preparing says how far a preparation is, where there is no last line now and then.
func (p *progress) preparing(text string, done bool) {
	p.say("%s", text)
	switch {
	case p.drawn() || done:
		p.filled = time.Time{}
	case p.filled.IsZero():
		p.filled = time.Now()
	case time.Since(p.filled) > 10*time.Second:
		p.line("%s", text)
		p.filled = time.Now()
	}
}

func (p *progress) Prepared(r tables.Report) {
	if r.Elapsed >= worthALine {
		p.line("%s", preparedText(r))
	}
}

func (p *progress) Written(r host.FilesReport) {
	if r.Elapsed < worthALine {
		return
	}
	text := "prepared " + plural(r.Files, "file")
	if r.Reused > 0 {
		text += fmt.Sprintf(" (%d reused)", r.Reused)
	}
	if r.Bytes > 0 {
		text += fmt.Sprintf(", %s in %s (%s/s)", host.SizeText(r.Bytes), r.Elapsed.Round(time.Millisecond), host.SizeText(int64(float64(r.Bytes)/r.Elapsed.Seconds())))
	}
	p.line("%s", text)
}

// preparedText sums up a preparation in one line.
func preparedText(r tables.Report) string {
	text := fmt.Sprintf("prepared %s", plural(r.Tables, "table"))
	if r.Reused > 0 {
		text += fmt.Sprintf(" (%d reused)", r.Reused)
	}
	if r.Rows > 0 {
		text += fmt.Sprintf(" with %d rows in %s", r.Rows, r.Elapsed.Round(time.Millisecond))
		if s := r.Elapsed.Seconds(); s > 0 {
			text += fmt.Sprintf(" (%s, %.0f rows/s)", r.Method, float64(r.Rows)/s)
		}
	}
	return text
}

func (p *progress) Note(text string) { p.line("%s", text) }

func (p *progress) Finally(error) {
	p.line("finally")
	p.say("finally")
}

// interrupted tells what the signal does. It may come at any moment.
func (p *progress) interrupted() {
	p.line("interrupted: what was measured is kept and finally runs; once more ends at once, without finally")
}

// ask puts a question; the last line makes room for it.
func (p *progress) ask(question string) bool {
	p.close()
	defer p.open()
	return p.t.confirm(question)
}
