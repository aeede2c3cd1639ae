package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"benchplan/results"
)

// benchplan drives the program benchplan.
type benchplan struct {
	program string
	server  *server
	folder  string // for its plan and its run
	tables  tables
	io      string // option io of run; empty: left out
}

func (benchplan) name() string { return "benchplan" }

// passwordVariable is the environment variable that a plan takes the password from.
const passwordVariable = "PEERBENCH_PASSWORD"

// plan writes a plan whose steps are given, one a line.
func (b benchplan) plan(transport Transport, seed uint64, t tables, steps ...string) (string, error) {
	target := fmt.Sprintf("{ socket: %q, user: %s, database: %s }", b.server.Socket(), b.server.User(), database)
	if transport == TCP {
		target = fmt.Sprintf("{ address: %q, user: %s, password: \"${{ secrets.%s }}\", database: %s }", b.server.Address(), b.server.User(), passwordVariable, database)
	}
	text := fmt.Sprintf("name: peerbench\nseed: %d\ntarget: %s\ntables: { schema: sbtest, count: %d, rows: %d, engine: innodb }\nsteps:\n  %s\n",
		seed, target, t.Count, t.Rows, strings.Join(steps, "\n  "))
	file := filepath.Join(b.folder, "plan.yaml")
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// runPlan runs a plan, and gives the cells that were recorded.
func (b benchplan) runPlan(ctx context.Context, plan string) ([]results.Cell, effort, error) {
	out := filepath.Join(b.folder, "run")
	if err := os.RemoveAll(out); err != nil {
		return nil, effort{}, err
	}
	_, e, err := run(ctx, []string{passwordVariable + "=" + b.server.Password()}, b.program, "run", plan, "--out", out, "--quiet")
	if err != nil {
		return nil, e, err
	}
	_, cells, warnings, err := results.Open(out)
	if err == nil && len(warnings) > 0 {
		err = errors.New(strings.Join(warnings, "; "))
	}
	return cells, e, err
}

func (b benchplan) load(ctx context.Context, l load) (outcome, error) {
	limit := fmt.Sprintf("duration: %ds", l.Seconds)
	if l.Seconds == 0 {
		limit = fmt.Sprintf("events: %d", l.Clients)
	}
	plan, err := b.plan(l.Transport, l.Seed, b.tables, "- run: { "+b.options(l.Workload, fmt.Sprint(l.Clients))+", "+limit+" }")
	if err != nil {
		return outcome{}, err
	}
	cells, e, err := b.runPlan(ctx, plan)
	if err != nil {
		return outcome{}, err
	}
	if len(cells) != 1 {
		return outcome{}, fmt.Errorf("benchplan recorded %d cells where one was run", len(cells))
	}
	out := cells[0].Outcome
	o := outcome{effort: e, Events: out.Events, Measured: out.Elapsed}
	for _, r := range out.Restarts {
		o.Restarts += r.Count
	}
	for _, s := range out.Statements {
		o.Queries += s.Count
	}
	return o, nil
}

// options writes the options of a run but for what ends it.
func (b benchplan) options(workload, threads string) string {
	text := fmt.Sprintf("workload: %s, threads: %s, warmup: 0s, rand_type: uniform, ps_mode: auto", workload, threads)
	if b.io != "" {
		text += ", io: " + b.io
	}
	if workload == readWrite {
		text += ", on_error: { " + strings.Join(restarted, ": restart, ") + ": restart }"
	}
	return text
}

// version tells what the Go toolchain put into the program.
func (b benchplan) version() (string, error) {
	info, err := buildinfo.ReadFile(b.program)
	if err != nil {
		return "", fmt.Errorf("%s: %w: `make build` makes it", b.program, err)
	}
	words := []string{"benchplan"}
	if v := info.Main.Version; v != "(devel)" {
		words = append(words, v)
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			words = append(words, s.Value)
		}
	}
	return strings.Join(append(words, "by", info.GoVersion), " "), nil
}

func (b benchplan) prepare(ctx context.Context, threads int, t tables) (effort, error) {
	plan, err := b.plan(Socket, 1, t, fmt.Sprintf("- prepare: { threads: %d }", threads))
	if err != nil {
		return effort{}, err
	}
	_, e, err := b.runPlan(ctx, plan)
	return e, err
}
