package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// bench is the measurement under way.
type bench struct {
	options
	server  *server
	folder  string // for what both tools leave behind
	theirs  sysbench
	program benchplan
	bare    bare
	report  *report
	log     io.Writer
}

// part is one of the things that are measured.
type part struct {
	name string
	do   func(b *bench, ctx context.Context) error
}

// parts lists them in the order in which they are done. Those that need the tables come before the one that drops them.
func parts() []part {
	return []part{
		{loadPart, (*bench).loads},
		{limitPart, (*bench).limit},
		{"start", (*bench).start},
		{"memory", (*bench).memory},
		{"lost", (*bench).lost},
		{"prepare", (*bench).prepare},
		{"hotpath", (*bench).hotpath},
		{"validate", (*bench).validate},
	}
}

func partNames() (names []string) {
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}

// measureAll measures all that the options ask for. What could not be measured is in the error, all else in the report; that is nil
// where nothing was begun.
func measureAll(ctx context.Context, o options, log io.Writer) (r *report, err error) {
	if err := liftFileLimit(); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "peerbench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	b := &bench{options: o, folder: folder, log: log}
	if b.report, err = describe(ctx, o); err != nil {
		return nil, err
	}
	if warning := b.report.busy(); warning != "" {
		b.say("%s", warning)
	}
	if b.server, err = startServer(ctx, o.settings, max(slices.Max(o.clients), memoryClients), o.tables.Count); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.server.end()) }()
	b.report.Server = b.server.Program().String()
	b.theirs = sysbench{o.sysbench, b.server, folder, o.tables}
	b.program = benchplan{o.benchplan, b.server, folder, o.tables, o.io}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program: %w", err)
	}
	b.bare = bare{self, b.server, o.tables}
	return b.report, b.all(ctx)
}

// all does the parts that were picked, and goes on where one fails.
func (b *bench) all(ctx context.Context) error {
	b.say("making %d tables of %s rows", b.tables.Count, number(float64(b.tables.Rows), 0))
	if _, err := b.program.prepare(ctx, b.tables.Count, b.tables); err != nil {
		return err
	}
	var errs []error
	for _, p := range parts() {
		if !slices.Contains(b.parts, p.name) {
			continue
		}
		if err := p.do(b, ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(append(errs, b.server.Err())...)
}

// say tells of the progress.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, time.Now().Format(time.TimeOnly)+"  "+format+"\n", args...)
}
