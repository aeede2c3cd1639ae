package monitor

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"benchplan/results"
	"benchplan/workloads/guard"
)

const (
	// readLimit is how long one reading of a machine or of the status may take.
	readLimit = 3 * time.Second
	// finishLimit is how long Finish waits for the last readings.
	finishLimit = 4 * time.Second
)

// Watched is a machine that is read while a cell is measured.
type Watched struct {
	Machine *Machine
	Role    string // results.Generator or results.ServerMachine
	Server  bool   // the server under test runs on it
	// Processes are those whose share of the machine is wanted, by name: their ids on that machine. Of the generator that is this
	// machine, benchplan itself is read in any case. A process that has gone, or was started anew, is left out.
	Processes map[string]int
}

// Config is what a Watch reads.
type Config struct {
	Machines []Watched
	Status   *sql.DB      // SHOW GLOBAL STATUS is asked there, on a connection of its own; nil: it is not asked
	Log      *slog.Logger // told of problems when they arise; may be nil
}

// Watch reads machines and a server beside one cell's load. It is an engine.Meter: Begin, Second and End note the moment and return at once.
//
// Each machine, and the status, has a goroutine of its own. One that cannot be read is left alone for the rest of the cell, with what was
// read until then kept; the next Watch tries it again, and makes a lost ssh connection anew.
type Watch struct {
	cancel   context.CancelFunc
	running  sync.WaitGroup
	bells    []*bell
	machines []*machineReader
	status   *statusReader
}

// NewWatch begins to watch: best before the clients connect, as it reaches the machines and readies the status's connection meanwhile. The
// end of ctx does not end it, so that a cell that is interrupted keeps its figures: Finish does, and has to be called.
func NewWatch(ctx context.Context, c Config) *Watch {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &Watch{cancel: cancel}
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	for _, m := range c.Machines {
		r := &machineReader{watched: m, notes: notes{log: log}}
		w.machines = append(w.machines, r)
		w.start(ctx, r.read, &r.notes)
	}
	if c.Status != nil {
		w.status = &statusReader{db: c.Status, notes: notes{log: log}}
		w.start(ctx, w.status.read, &w.status.notes)
	}
	return w
}

func (w *Watch) start(ctx context.Context, read func(context.Context, *bell), n *notes) {
	b := newBell()
	w.bells = append(w.bells, b)
	w.running.Go(func() {
		defer b.ready()
		if err := guard.Call(func() error { read(ctx, b); return nil }); err != nil {
			n.note("the figures are not whole: %w", err)
		}
	})
}

// Ready waits until all that is watched has been reached or cannot be, a few seconds at most: the first reading of a machine whose ssh
// connection is still being made would come when the measured part has long begun.
func (w *Watch) Ready(ctx context.Context) {
	limit := time.NewTimer(readLimit)
	defer limit.Stop()
	for _, b := range w.bells {
		select {
		case <-b.prepared:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (w *Watch) ring(add func(*strokes)) {
	for _, b := range w.bells {
		b.ring(add)
	}
}

// Begin notes that the measured part begins.
func (w *Watch) Begin() {
	now := time.Now()
	w.ring(func(s *strokes) { s.begin = now })
}

// Second notes that a second of the series is over.
func (w *Watch) Second() { w.ring(func(s *strokes) { s.seconds++ }) }

// End notes that the measured part is over.
func (w *Watch) End() { w.ring(func(s *strokes) { s.over = true }) }

// Finish waits for the last readings, a few seconds at most, ends all that was started, and gives what was read: nothing of a cell whose
// measured part never began. The problems say what is missing, why, and what to do. It is called once.
func (w *Watch) Finish() (machines []results.Machine, status *results.ServerStatus, problems []error) {
	w.ring(func(s *strokes) { s.over, s.finish = true, true })
	limit := time.AfterFunc(finishLimit, w.cancel)
	w.running.Wait()
	limit.Stop()
	w.cancel()
	for _, r := range w.machines {
		if m, ok := r.result(); ok {
			machines = append(machines, m)
		}
		problems = append(problems, r.problems...)
	}
	if w.status != nil {
		status = w.status.result()
		problems = append(problems, w.status.problems...)
	}
	return machines, status, problems
}

// notes collects what could not be read.
type notes struct {
	problems []error
	log      *slog.Logger
}

func (n *notes) note(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	n.problems = append(n.problems, err)
	n.log.Warn("monitor", "problem", err.Error())
}
