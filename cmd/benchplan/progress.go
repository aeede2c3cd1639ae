package main

import (
	"context"
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
	"benchplan/workloads/guard"
	"benchplan/workloads/host"
	"benchplan/workloads/tables"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress tells on standard error what a run does: lines of what was done, and on a terminal, below them, what is
// being done. It is a steps.Observer, whose calls come one at a time.
type progress struct {
	t     *terminal
	quiet bool
	every bool // a line for every interval of a cell
	mask  func(string) string
	out   patientWriter // standard error, for lines

	printing sync.Mutex    // guards bars and bar
	bars     *mpb.Progress // nil where lines are all
	bar      *mpb.Bar

	// live is what the bars show. They ask for it from a goroutine of their own, while we may be waiting for them to take a line:
	// so its mutex is never held while something is printed.
	live live

	cell    string // "cell 3 of 54"
	name    string // "config=plain mix=rw"
	filled  time.Time
	started int // cells that were done when the outermost group under way began
}

// worthALine is how long a step without a name takes before it gets a line: in a matrix of short cells the lines of the cells
// are enough.
const worthALine = time.Second

// narrowest is the width below which a terminal gets lines alone.
const narrowest = 40

// refresh is how often what is being done is drawn anew.
const refresh = 250 * time.Millisecond

func newProgress(t *terminal, quiet, every bool, mask func(string) string) *progress {
	return &progress{t: t, quiet: quiet, every: every, mask: mask, out: patientWriter{to: t.err}, live: live{clock: clock{started: time.Now()}}}
}

// line prints a line, on a terminal above what is being done.
func (p *progress) line(format string, args ...any) {
	p.write(func(int) string { return fmt.Sprintf(format, args...) })
}

// write prints a line that is made for the columns of the terminal; 0: it may have any width.
func (p *progress) write(text func(columns int) string) {
	if p.quiet {
		return
	}
	p.printing.Lock()
	defer p.printing.Unlock()
	if p.bars == nil {
		_, _ = io.WriteString(&p.out, plainText(p.mask(text(0)))+"\n")
		return
	}
	columns, _ := screen(p.t.err)
	_, _ = io.WriteString(p.bars, p.live.rewound(columns)+plainText(p.mask(text(columns)))+"\n")
}

// say sets what is told of the step under way.
func (p *progress) say(format string, args ...any) {
	p.live.say(plainText(p.mask(fmt.Sprintf(format, args...))))
}

func (p *progress) Start(folder string, s plan.Summary) {
	p.live.mu.Lock()
	p.live.clock.planned, p.live.clock.had, p.live.clock.least = s.Cells, s.Done, s.Least
	p.live.mu.Unlock()
	text := plural(s.Cells, "cell")
	if s.Done > 0 {
		text = fmt.Sprintf("%s, %d of them there already", text, s.Done)
	}
	if s.Least > 0 {
		text += ", at least " + plan.Duration(s.Least).String()
	}
	p.line("%s, kept in %s", text, folder)
	p.open()
}

// open draws what is being done, on a terminal that is large enough.
func (p *progress) open() {
	columns, rows := screen(p.t.err)
	if p.quiet || !isTerminal(p.t.err) || columns < narrowest || rows < leastRows {
		return
	}
	p.printing.Lock()
	defer p.printing.Unlock()
	// A panic in the goroutine that draws would end the program before finally: what cannot be drawn is not drawn.
	above := func(w io.Writer, _ decor.Statistics) error {
		return guard.Call(func() error {
			columns, rows := screen(p.t.err)
			return p.live.draw(w, columns, rows)
		})
	}
	last := func(decor.Statistics) (text string) {
		_ = guard.Call(func() error {
			columns, _ := screen(p.t.err)
			text = p.live.last(columns, time.Now())
			p.live.shown(strings.Repeat("=", barWidth) + text)
			return nil
		})
		return text
	}
	p.bars = mpb.New(mpb.WithOutput(p.t.err), mpb.WithWidth(barWidth), mpb.WithAutoRefresh(), mpb.WithRefreshRate(refresh))
	p.bar = p.bars.AddBar(int64(max(p.live.clock.planned, 1)), mpb.BarRemoveOnComplete(),
		mpb.BarTopExtender(mpb.BarFillerFunc(above)), mpb.AppendDecorators(decor.Any(last)))
	p.bar.SetCurrent(int64(p.live.clock.had + p.live.clock.done))
}

// close takes away what is being done.
func (p *progress) close() {
	p.printing.Lock()
	defer p.printing.Unlock()
	if p.bars == nil {
		return
	}
	p.bar.Abort(true)
	p.bars.Wait()
	p.bars, p.bar = nil, nil
	columns, _ := screen(p.t.err)
	_, _ = io.WriteString(p.t.err, p.live.rewound(columns))
}

// drawn tells whether what is being done is drawn.
func (p *progress) drawn() bool {
	p.printing.Lock()
	defer p.printing.Unlock()
	return p.bars != nil
}

func (p *progress) Step(s *plan.Scope, try int) {
	if try > 1 {
		p.say("try %d", try)
		return
	}
	if outermost(s).Outer() != nil && (len(p.live.levels) == 0 || p.live.levels[0].scope != outermost(s)) {
		p.started = p.live.clock.done
	}
	p.live.enter(s, func(s *plan.Scope) string { return plainText(p.mask(levelText(s))) }, time.Now())
}

// outermost gives the cell of a step of the plan itself that a cell is in.
func outermost(s *plan.Scope) *plan.Scope {
	for s.Outer() != nil && s.Outer().Outer() != nil {
		s = s.Outer()
	}
	return s
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
	step := s.Step()
	if kind := steps.Kinds()[step.Kind]; !step.Group() && !step.Load() && kind.Least != nil {
		if spec, err := s.Spec(); err == nil {
			p.live.mu.Lock()
			p.live.clock.passed += min(took, kind.Least(spec))
			p.live.mu.Unlock()
		}
	}
	switch {
	case step.Group():
		if n := p.live.clock.done - p.started; n > 1 && s == outermost(s) && err == nil {
			p.line("%s  %s in %s", levelText(s), plural(n, "cell"), took.Round(100*time.Millisecond))
		}
	case errors.Is(err, steps.ErrInterrupted):
		p.line("%s interrupted", stepText(s))
	case err != nil:
		p.line("%s failed", stepText(s))
	case !step.Load() && (s.Name() != "" || took >= worthALine):
		p.line("%s  %s", stepText(s), took.Round(time.Millisecond))
	}
}

func (p *progress) Cell(s *plan.Scope, nth, planned int, least time.Duration) {
	p.cell, p.name = fmt.Sprintf("cell %d of %d", nth, planned), s.Identity()
	if s.Repeat() > 1 {
		p.name += fmt.Sprintf(" #%d", s.Repeat())
	}
	p.live.mu.Lock()
	p.live.clock.begin(least, time.Now())
	p.live.mu.Unlock()
}

func (p *progress) Load(s engine.Snapshot) {
	p.live.load(s)
	if p.every {
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
	o := &c.Outcome
	rate := "tps"
	if c.Load != "" {
		rate = "events/s"
	}
	text := fmt.Sprintf("%.0f %s, p95 %s", ratio(float64(o.Events), o.Elapsed), rate, millis(o.Latency.P95))
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
	p.live.mu.Lock()
	took := time.Since(p.live.clock.begun)
	p.live.clock.end(time.Now())
	p.live.errors, p.live.now = p.live.errors+failed, 0
	done, planned := p.live.clock.had+p.live.clock.done, p.live.clock.planned
	p.live.mu.Unlock()
	text += ", " + took.Round(100*time.Millisecond).String()
	p.write(func(columns int) string { return p.cellLine(text, columns) })
	p.printing.Lock()
	defer p.printing.Unlock()
	if p.bar != nil {
		p.bar.SetCurrent(int64(min(done, planned-1))) // the last cell is not the end: finally follows
	}
}

// cellLine is the line of a cell that is done. On a terminal its name gives way, from its begin: what stands last tells it from
// the one before. Where there is no room for that, the figures have a line of their own.
func (p *progress) cellLine(figures string, columns int) string {
	words := strings.Fields(p.name)
	room := columns - 1 - len(p.cell) - 1 - 2 - runewidth.StringWidth(figures)
	if columns == 0 || runewidth.StringWidth(p.name) <= room {
		return strings.Join(append([]string{p.cell}, words...), " ") + "  " + figures
	}
	for len(words) > 1 {
		words = words[1:]
		if name := "… " + strings.Join(words, " "); runewidth.StringWidth(name) <= room {
			return p.cell + " " + name + "  " + figures
		}
	}
	return fit(p.cell+" "+p.name, columns-1) + "\n" + fit("  "+figures, columns-1)
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func (p *progress) Filling(done, total int64) {
	p.preparing(fmt.Sprintf("%d of %d rows", done, total), done == total)
}

func (p *progress) Writing(done, total int64) {
	p.preparing(fmt.Sprintf("%s of %s", host.SizeText(done), host.SizeText(total)), done == total)
}

// preparing says how far a preparation is; where that is not drawn, now and then.
func (p *progress) preparing(text string, done bool) {
	p.say("%s", text)
	switch {
	case p.drawn() || done:
		p.filled = time.Time{}
	case p.filled.IsZero():
		p.filled = time.Now()
	case time.Since(p.filled) > 10*time.Second:
		p.line("prepare  %s", text)
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

// Finally comes for each group that is open; one line is enough.
func (p *progress) Finally(error) {
	p.live.mu.Lock()
	told := p.live.broken
	p.live.broken, p.live.detail = true, ""
	p.live.mu.Unlock()
	if !told {
		p.line("finally")
	}
}

// interrupted tells what the signal does. It may come at any moment.
func (p *progress) interrupted() {
	p.line("interrupted: what was measured is kept and finally runs; once more ends at once, without finally")
}

// abandoned tells that the program ends though finally has not come to its end.
func (p *progress) abandoned() {
	p.close()
	p.line("ended at once: finally has not run to its end, so what the plan puts back there has to be put back by hand")
}

// ask puts a question; what is being done makes room for it. A signal is as good as no.
func (p *progress) ask(ctx context.Context, question string) bool {
	p.close()
	defer p.open()
	answer := make(chan bool, 1)
	go func() { answer <- p.t.confirm(question) }()
	select {
	case yes := <-answer:
		return yes
	case <-ctx.Done():
		return false
	}
}
