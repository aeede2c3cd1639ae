package monitor

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"benchplan/results"
)

// machineReader reads one machine beside one cell.
type machineReader struct {
	watched Watched
	notes
	name    string
	devices devices
	pids    map[string]int

	begun       time.Time // when the measured part began
	first, last sample
	rows        []results.Usage
	running     float64 // the sum of the runnable tasks seen after the first sample
	samples     int     // after the first
	missing     bool    // that some figures are missing was noted
}

// sample is a machine at one moment.
type sample struct {
	at time.Time // by this machine's clock, so that all series have one axis
	counters
	processes map[string]process // at the first and the last moment only: a server has a thousand threads
	pause     time.Duration      // of this program's garbage collector, since it was started
	gcs       int64
}

// read does its work until the measured part is over and the last sample taken.
func (r *machineReader) read(ctx context.Context, b *bell) {
	if err := r.prepare(ctx); err != nil {
		r.note("no figures of %s: %w", r.watched.Machine.name, err)
		return
	}
	b.ready()
	for {
		s := b.wait(ctx)
		if r.begun.IsZero() {
			r.begun = s.begin
		}
		if !r.begun.IsZero() { // else it is of the warm-up
			if err := r.heed(ctx, s); err != nil {
				r.note("the figures of %s end %.1f s after the measured part began: %w", r.watched.Machine.name, time.Since(r.begun).Seconds(), err)
				return
			}
		}
		if s.over {
			return
		}
	}
}

// heed takes a sample, and notes what it is of.
func (r *machineReader) heed(ctx context.Context, s strokes) error {
	now, err := r.sample(ctx, s.over || !s.begin.IsZero())
	if err != nil {
		return err
	}
	if now.missing != nil && !r.missing {
		r.missing = true
		r.note("%s: %w", r.watched.Machine.name, now.missing)
	}
	if r.first.at.IsZero() {
		if s.over {
			r.note("no figures of %s: the cell was over before it answered", r.watched.Machine.name)
		} else if late := now.at.Sub(r.begun); late >= time.Second {
			r.note("the figures of %s begin %.1f s after the measured part did: it was slow to answer", r.watched.Machine.name, late.Seconds())
		}
		r.first, r.last = now, now
		return nil
	}
	r.samples++
	r.running += now.running
	if s.seconds > 0 {
		u := usage(r.last.counters, now.counters)
		u.At = r.last.at.Sub(r.begun).Seconds()
		r.rows = append(r.rows, u)
	}
	r.last = now
	return nil
}

// prepare reaches the machine, and learns which devices it has.
func (r *machineReader) prepare(ctx context.Context) error {
	source := r.watched.Machine.source
	if err := source.ready(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	root, release, err := source.fetch(ctx, append([]string{"/proc/sys/kernel/hostname", "/proc/stat"}, deviceFiles...)...)
	if err != nil {
		return err
	}
	defer release()
	if !exists(filepath.Join(root, "proc/stat")) {
		platform, err := source.platform(ctx)
		if err != nil {
			return err
		}
		return fmt.Errorf("it is %s and shows no /proc/stat: %w", platform, errNotLinux)
	}
	r.name = firstLine(filepath.Join(root, "proc/sys/kernel/hostname"))
	r.devices = readDevices(root)
	r.pids = maps.Clone(r.watched.Processes)
	if r.isGenerator() {
		if r.pids == nil {
			r.pids = map[string]int{}
		}
		r.pids[results.ProcessGenerator] = os.Getpid()
	}
	return nil
}

// isGenerator tells that this program drives the load from the machine.
func (r *machineReader) isGenerator() bool {
	return r.watched.Machine.here && r.watched.Role == results.Generator
}

// sample reads the machine, and with the processes as well where that is wanted.
func (r *machineReader) sample(ctx context.Context, processes bool) (sample, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	files := counterFiles
	if processes {
		for _, pid := range r.pids {
			files = slices.Concat(files, processFiles(pid))
		}
	}
	s := sample{at: time.Now()}
	root, release, err := r.watched.Machine.source.fetch(ctx, files...)
	if err != nil {
		return s, err
	}
	defer release()
	if s.counters, err = readCounters(root, r.devices); err != nil {
		return s, err
	}
	if !processes {
		return s, nil
	}
	s.processes = map[string]process{}
	for name, pid := range r.pids {
		if p, err := readProcess(root, pid); err == nil {
			s.processes[name] = p
		}
	}
	if r.isGenerator() {
		var gc debug.GCStats
		debug.ReadGCStats(&gc)
		s.pause, s.gcs = gc.PauseTotal, gc.NumGC
	}
	return s, nil
}

// result gives what was read; false where that spans no time.
func (r *machineReader) result() (results.Machine, bool) {
	if r.samples == 0 {
		return results.Machine{}, false
	}
	m := results.Machine{
		Role: r.watched.Role, Server: r.watched.Server, Name: r.name,
		Usage: usage(r.first.counters, r.last.counters), Seconds: r.rows,
	}
	m.Usage.At = r.first.at.Sub(r.begun).Seconds()
	m.Usage.RunQueue = r.running / float64(r.samples)
	for name, to := range r.last.processes {
		from, ok := r.first.processes[name]
		if !ok {
			continue
		}
		p, ok := took(r.pids[name], from, to)
		if !ok {
			continue
		}
		if name == results.ProcessGenerator && r.isGenerator() {
			p.GCPause, p.GCs = (r.last.pause - r.first.pause).Seconds(), r.last.gcs-r.first.gcs
		}
		if m.Processes == nil {
			m.Processes = map[string]results.Process{}
		}
		m.Processes[name] = p
	}
	return m, true
}
