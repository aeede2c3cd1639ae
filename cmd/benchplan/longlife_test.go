package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchplan/results"
	"benchplan/steps/localserver"
	"benchplan/steps/localserver/proxytest"
	"benchplan/steps/localserver/servertest"
)

// gauge is something that must not grow with the number of cells.
type gauge struct {
	name string
	read func(*longLife) float64
	// What it may grow by a cell, as the slope of a line through the samples: in a thousand cells, where a single object that each left
	// would show (what is kept of those that fail makes 0.6), and in a few, where caches and pools still fill.
	most, mostOfFew float64
}

var gauges = []gauge{
	{"heap, bytes", func(l *longLife) float64 { return float64(l.memory.HeapAlloc) }, 200, 8 << 10},
	{"heap, objects", func(l *longLife) float64 { return float64(l.memory.HeapObjects) }, 1.3, 30},
	{"resident, KiB", func(*longLife) float64 { return ofStatus("VmRSS") }, 10, 200},
	{"goroutines", func(*longLife) float64 { return float64(runtime.NumGoroutine()) }, 0.02, 0.2},
	{"threads", func(*longLife) float64 { return ofStatus("Threads") }, 0.02, 0.3},
	{"file descriptors", func(*longLife) float64 { return descriptors() }, 0.02, 0.2},
	{"Prepared_stmt_count", func(l *longLife) float64 { return l.status("Prepared_stmt_count") }, 0.02, 0.2},
	{"Threads_connected", func(l *longLife) float64 { return l.status("Threads_connected") }, 0.02, 0.2},
	{"journal, bytes", func(l *longLife) float64 { return l.journal() }, 16 << 10, 16 << 10},
}

// longLife is a run of many short cells, looked at between two of them.
type longLife struct {
	t       *testing.T
	server  *localserver.Server
	proxy   *proxytest.Proxy
	admin   *sql.DB
	folder  string
	every   int // cells between two samples
	cell    int
	memory  runtime.MemStats
	samples [][]float64 // by gauge
}

// ServeHTTP is what the plan's http step asks for before each cell: nothing else is under way then.
func (l *longLife) ServeHTTP(http.ResponseWriter, *http.Request) {
	if l.cell%l.every == 0 {
		l.sample()
	}
	l.proxy.Fail(nil)
	switch l.cell % 20 {
	case 7: // the clients lose their connections, and have others
		time.AfterFunc(150*time.Millisecond, func() { l.proxy.Break(proxytest.Reset) })
	case 13: // they lose them now and then, after some bytes
		l.proxy.Fail(func(n int) *proxytest.Fault {
			if n < 3 { // that reads the status, and others
				return nil
			}
			return &proxytest.Fault{How: proxytest.Cut, After: 60_000, Replies: true}
		})
	case 19: // there are none for them
		l.proxy.Fail(func(n int) *proxytest.Fault {
			if n < 1 {
				return nil
			}
			return &proxytest.Fault{How: proxytest.Cut}
		})
	}
	l.cell++
}

func (l *longLife) sample() {
	runtime.GC()
	runtime.GC() // what has a finalizer goes with the second
	runtime.ReadMemStats(&l.memory)
	row := make([]float64, len(gauges))
	for i, g := range gauges {
		row[i] = g.read(l)
	}
	l.samples = append(l.samples, row)
}

func (l *longLife) status(name string) float64 {
	var key, value string
	if err := l.admin.QueryRow("SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(&key, &value); err != nil {
		l.t.Error(err)
	}
	n, _ := strconv.ParseFloat(value, 64)
	return n
}

func (l *longLife) journal() float64 {
	info, err := os.Stat(filepath.Join(l.folder, "cells.jsonl"))
	if err != nil {
		return 0 // before the first cell
	}
	return float64(info.Size())
}

// ofStatus reads a number of this process from /proc/self/status.
func ofStatus(name string) float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return n
		}
	}
	return 0
}

func descriptors() float64 {
	entries, _ := os.ReadDir("/proc/self/fd")
	return float64(len(entries))
}

// slope is that of the line through values that are one apart, by least squares.
func slope(values []float64) float64 {
	n := float64(len(values))
	var sx, sy, sxx, sxy float64
	for i, y := range values {
		x := float64(i)
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

// liveLong runs so many cells, in both ways of driving sockets, some of which meet faults, and sees that nothing grows.
func liveLong(t *testing.T, cells, every int) {
	l := &longLife{t: t, server: servertest.Start(t, localserver.Config{MaxConnections: 100}), folder: filepath.Join(t.TempDir(), "run"), every: every}
	l.proxy = proxytest.New(t, "unix", l.server.Socket())
	l.admin = servertest.OpenDB(t, l.server, "")
	l.admin.SetMaxOpenConns(1)
	sampler := httptest.NewServer(l)
	t.Cleanup(sampler.Close)
	file := planFile(t, "p.yaml", fmt.Sprintf(`
target: { address: "%s", database: life, connect_timeout: 20s }
tables: { schema: sbtest, count: 2, rows: 100 }
steps:
  - database: create
  - prepare:
  - matrix: { io: [loop, driver], text: [auto, disable] }
    order: interleaved
    repeat: %d
    steps:
      - http: { get: "%s/" }
      - name: cell
        continue_on_error: true
        run: { workload: oltp_read_write, threads: 4, duration: 250ms, io: "${{ matrix.io }}", ps_mode: "${{ matrix.text }}", reconnect_timeout: 20s }
  - http: { get: "%s/" }
`, l.proxy.Address(), cells/4, sampler.URL, sampler.URL))
	got := benchplan(t, "run", file, "--out", l.folder, "--yes", "--quiet")
	if got.status == exitUsage {
		t.Fatal(got.err)
	}
	run, kept := opened(t, l.folder)
	met := map[results.CellStatus]int{}
	var reconnects int64
	for _, c := range kept {
		met[c.Status]++
		reconnects += c.Outcome.Reconnects
	}
	t.Logf("exit status %d, %d cells: %v, %d reconnects", got.status, len(kept), met, reconnects)
	if got.status != exitFailed || run.Planned != cells || len(run.Errors) == 0 || reconnects == 0 || met[results.Complete] < cells*8/10 {
		t.Errorf("status %d, planned %d, errors %d, %v:\n%s", got.status, run.Planned, len(run.Errors), met, got.err)
	}
	l.flat()
}

// flat holds the samples against what the gauges may grow. The first tenth is left out: caches and pools fill.
func (l *longLife) flat() {
	settled := l.samples[max(1, len(l.samples)/10):]
	for i, g := range gauges {
		values := make([]float64, len(settled))
		for j, row := range settled {
			values[j] = row[i]
		}
		grows := slope(values) / float64(l.every)
		l.t.Logf("%-20s %+.4g a cell, from %.0f to %.0f, at most %.0f: %.0f", g.name, grows, values[0], values[len(values)-1], slices.Max(values), values)
		most := g.most
		if l.cell < 1000 {
			most = g.mostOfFew
		}
		if grows > most {
			l.t.Errorf("%s: %.3g more with each cell, which is more than %v", g.name, grows, most)
		}
	}
}

// TestLongLife is the soak test in small.
func TestLongLife(t *testing.T) { liveLong(t, 40, 4) }
