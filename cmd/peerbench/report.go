package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"benchplan/results"
	"benchplan/steps/monitor"
)

// The headings of the tables, in the order in which they are printed.
const (
	tableThroughput = "Throughput, events/s"
	tableCPU        = "Client CPU a query, µs"
	tableStart      = "Start and report, CPU ms"
	tableLimit      = "The most by one thread"
	tableOther      = "Beside the load"
)

var allTables = []string{tableThroughput, tableCPU, tableLimit, tableStart, tableOther}

// report is what was measured, where and how.
type report struct {
	Began    time.Time    `json:"began"`
	Machine  results.Host `json:"machine"`
	Load     float64      `json:"load_average"` // over the minute before the start
	Server   string       `json:"server"`
	Settings string       `json:"settings"` // of the server
	Theirs   string       `json:"sysbench"`
	Ours     string       `json:"benchplan"`
	Go       string       `json:"go"` // that compiled this program
	Method   string       `json:"method"`
	Figures  []figure     `json:"figures"`
	Runs     []outcome    `json:"runs"`
}

// describe tells machine, programs and method.
func describe(ctx context.Context, o options) (*report, error) {
	r := &report{Began: time.Now().UTC(), Settings: settingsText(o.settings), Go: runtime.Version(), Method: o.method()}
	var err error
	if r.Theirs, err = (sysbench{program: o.sysbench}).version(ctx); err != nil {
		return nil, err
	}
	if r.Ours, err = (benchplan{program: o.benchplan}).version(); err != nil {
		return nil, err
	}
	if r.Machine, err = monitor.Local().Identity(ctx, os.TempDir()); err != nil {
		return nil, err
	}
	if fs, err := procfs.NewDefaultFS(); err == nil { // what is not Linux has none
		if load, err := fs.LoadAvg(); err == nil {
			r.Load = load.Load1
		}
	}
	return r, nil
}

// method says how often and how long was measured.
func (o options) method() string {
	warmed := "workload and transport"
	if o.long {
		warmed = "cell"
	}
	text := fmt.Sprintf("%d tables of %s rows, uniform, prepared statements; %s over all cells, %d s for each tool in turn; one uncounted for each %s before",
		o.tables.Count, number(float64(o.tables.Rows), 0), counted(o.runs, "round"), o.seconds, warmed)
	if o.io != "" {
		text += "; benchplan with io: " + o.io
	}
	return text
}

// busy warns where the machine had other work when the measurement began; empty: it had not.
func (r *report) busy() string {
	const quiet = 0.5
	if r.Load <= quiet {
		return ""
	}
	return fmt.Sprintf("the load average was %.2f at the start: other programs have this machine too, and are in the figures", r.Load)
}

// keep keeps runs.
func (r *report) keep(list ...outcome) { r.Runs = append(r.Runs, list...) }

// add adds figures.
func (r *report) add(list ...figure) { r.Figures = append(r.Figures, list...) }

// load adds the figures of a cell: sysbench beside each of the others.
func (r *report) load(c *cell) {
	for i, t := range c.tools[1:] {
		throughput, cpu := c.comparisons(i + 1)
		if t.name() == (bare{}).name() {
			r.add(
				compared(tableLimit, c.load.cell(), "events/s", 0, throughput, target{}),
				compared(tableLimit, c.load.cell(), "CPU µs a query", 1, cpu, target{}),
			)
			continue
		}
		r.add(
			compared(tableThroughput, c.load.cell(), "1/s", 0, throughput, throughputTarget(c.load.Clients)),
			compared(tableCPU, c.load.cell(), "µs", 1, cpu, cpuTarget(c.load.Clients)),
		)
	}
}

// comparisons gives what sysbench and a tool came to by both figures of a load.
func (c *cell) comparisons(tool int) (throughput, cpu comparison) {
	for _, t := range c.turns {
		throughput.add(t[0].perSecond(), t[tool].perSecond())
		cpu.add(t[0].cpuPerQuery(), t[tool].cpuPerQuery())
	}
	return throughput, cpu
}

// cell names what is compared.
func (l load) cell() string {
	return fmt.Sprintf("%s, %s, %s", strings.TrimPrefix(l.Workload, "oltp_"), l.Transport, counted(l.Clients, "client"))
}

// heading describes the measurement, a line each.
func (r *report) heading() []string {
	m := r.Machine
	machine := fmt.Sprintf("%s, %d CPUs, %.1f GiB, %s, kernel %s", m.CPU, m.CPUs, float64(m.Memory)/(1<<30), m.OS, m.Kernel)
	if m.Virtual != "" {
		machine += ", " + m.Virtual
	}
	if m.Disk != "" {
		machine += ", " + m.Disk
	}
	lines := []string{
		"Machine: " + machine + fmt.Sprintf("; load average at the start %.2f", r.Load),
		"Programs: " + strings.Join([]string{r.Ours, r.Theirs, r.Server + " on the same machine"}, "; "),
		"Server: " + r.Settings,
		"Method: " + r.Method,
	}
	if warning := r.busy(); warning != "" {
		lines = append(lines, "Warning: "+warning)
	}
	return lines
}

// notes says what the columns are, and how many figures reach their target.
func (r *report) notes() []string {
	lines := []string{
		"sysbench, benchplan: medians. ratio: of the medians. least–most: of the ratios of single pairs, or of benchplan's own values; " +
			"of six and more, the median of many more lies between them in 97 cases of 100.",
		"Start and report: what a run of one event for each client takes; that much is in the client CPU of each run too.",
	}
	var targets, met int
	for _, f := range r.Figures {
		if f.Met != nil {
			targets++
			if *f.Met {
				met++
			}
		}
	}
	return append(lines, fmt.Sprintf("%d of %d figures reach what they are to reach.", met, targets))
}

// save writes everything into a file, as JSON.
func (r *report) save(file string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
