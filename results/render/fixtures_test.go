package render

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"benchplan/plan"
	"benchplan/results"
)

var start = time.Date(2018, 5, 23, 14, 20, 0, 0, time.UTC)

// radonRun is the run of the radon method: five scenarios, each once, with the figures of the method's text (its mean
// latencies, which it divides by the seconds once too often, from Little's law; percentiles in a usual proportion).
func radonRun() (*results.Run, []results.Cell) {
	run := &results.Run{
		Version: 1, Plan: "radon-benchyou", PlanFile: "radon-benchyou.yaml", PlanText: "name: radon-benchyou\n", PlanHash: "9f2c6ab0",
		Tool: results.Tool{Version: "0.1.0", Go: "go1.26.0"}, Host: results.Host{Name: "generator", OS: "linux/amd64", CPUs: 32, GOMAXPROCS: 32},
		Targets: []results.Server{{Endpoint: results.Endpoint{Address: "192.168.0.16:3308", Database: "sbtest"}, Version: "5.7.25-radon"}},
		Status:  results.Done, Started: start, Finished: start.Add(17280 * time.Second), Planned: 5,
		Report: results.Settings{Baseline: map[string]string{"config": "plain"}},
	}
	cells := []results.Cell{
		radonCell(1, "5.1", "plain", "write", results.ByDuration, 3602, 6818994, load{64, 1893, 1385.86}, load{}),
		radonCell(2, "5.2", "plain", "read", results.ByEvents, 2934, 10000000, load{}, load{128, 3408, 1813.36}),
		radonCell(3, "5.3", "plain", "rw", results.ByDuration, 3604, 6269848, load{64, 508, 6936.69}, load{64, 1230, 6200.80}),
		radonCell(4, "5.4", "twopc", "rw", results.ByEvents, 3526, 10000000, load{64, 967, 3808.16}, load{64, 1869, 3783.29}),
		radonCell(5, "5.5", "twopc+audit", "rw", results.ByDuration, 3602, 9693881, load{64, 920, 4281.83}, load{64, 1770, 3794.18}),
	}
	return run, cells
}

// load is what one role did.
type load struct {
	clients int
	tps     float64
	max     float64 // ms
}

func radonCell(seq int, step, config, mix string, stop results.Stop, elapsed float64, total int64, write, read load) results.Cell {
	c := benchyouCell(seq, []string{step}, []results.Label{{Name: "config", Value: config}, {Name: "mix", Value: mix}}, elapsed, total, write, read)
	c.Outcome.Stopped = stop
	c.Wanted = results.Wanted{Duration: plan.Duration(time.Hour), Events: 10_000_000}
	return c
}

func benchyouCell(seq int, path []string, labels []results.Label, elapsed float64, total int64, write, read load) results.Cell {
	started := start.Add(time.Duration(seq) * time.Hour)
	o := results.Outcome{
		Clients: write.clients + read.clients, Elapsed: elapsed, Stopped: results.ByDuration, Events: total,
		Statements: map[results.Class]results.Statements{},
	}
	writes := int64(float64(total) * write.tps / (write.tps + read.tps))
	for _, r := range []struct {
		name  string
		class results.Class
		load  load
		count int64
	}{{"write", results.Write, write, writes}, {"read", results.Read, read, total - writes}} {
		if r.load.clients == 0 {
			o.Roles = append(o.Roles, results.Role{Name: r.name})
			continue
		}
		l := latencyOf(r.count, float64(r.load.clients)*elapsed/float64(r.count)*1000, r.load.max)
		o.Roles = append(o.Roles, results.Role{Name: r.name, Clients: r.load.clients, Events: r.count, Latency: l})
		o.Statements[r.class] = results.Statements{Count: r.count, Latency: l}
	}
	o.Latency = latencyOf(total, float64(o.Clients)*elapsed/float64(total)*1000, max(write.max, read.max))
	return results.Cell{
		Version: 1, Path: path, Labels: labels, Repeat: 1, Round: 1, Seq: seq, Position: fmt.Sprintf("radon-benchyou.yaml:%d", 10*seq),
		Workload: "benchyou_random", Options: map[string]any{"rows_per_insert": 1},
		Tables:  plan.Tables{Schema: "benchyou", Count: 32, Engine: "innodb", Options: "PARTITION BY HASH(id)"},
		Clients: map[string]int{"write": write.clients, "read": read.clients},
		Target:  results.Endpoint{Address: "192.168.0.16:3308", Database: "sbtest"}, ServerVersion: "5.7.25-radon",
		Started: started, Finished: started.Add(time.Duration(elapsed * float64(time.Second))), Status: results.Complete, Outcome: o,
	}
}

func latencyOf(count int64, mean, longest float64) results.Latency {
	return results.Latency{Count: count, Min: mean / 20, Mean: mean, P50: mean * 0.82, P95: mean * 2.1, P99: mean * 3.7, P999: mean * 9.1, Max: longest}
}

// matrixRun is three configurations by three mixes, six repeats each, interleaved.
func matrixRun(repeats int, factor float64) (*results.Run, []results.Cell) {
	run, _ := radonRun()
	run.Plan, run.Planned = "radon-twopc", 9*repeats
	run.Report = results.Settings{Baseline: map[string]string{"config": "plain"}, Pivot: "mix"}
	run.Started = start
	run.Finished = start.Add(6 * time.Hour)
	random := rand.New(rand.NewPCG(7, 7))
	var cells []results.Cell
	for repeat := range repeats {
		for _, config := range []struct {
			name string
			cost float64
		}{{"plain", 1}, {"twopc", 0.9}, {"twopc+audit", 0.895}} {
			for _, mix := range []struct {
				name        string
				write, read load
			}{
				{"write", load{64, 1893, 1385}, load{}},
				{"read", load{}, load{128, 3408, 1813}},
				{"rw", load{64, 508, 6936}, load{64, 1230, 6200}},
			} {
				cost := config.cost
				if mix.name == "read" {
					cost = 1
				}
				noise := factor * cost * (1 + 0.02*(random.Float64()-0.5))
				total := int64((mix.write.tps + mix.read.tps) * noise * 300)
				c := benchyouCell(len(cells)+1, []string{"config", "mix"},
					[]results.Label{{Name: "config", Value: config.name}, {Name: "mix", Value: mix.name}}, 300, total, mix.write, mix.read)
				c.Repeat, c.Round = repeat+1, repeat+1
				if s, ok := c.Outcome.Statements[results.Read]; ok {
					s.Rows = s.Count
					c.Outcome.Statements[results.Read] = s
				}
				c.Tables.Rows = 10_000
				cells = append(cells, c)
			}
		}
	}
	return run, cells
}

// oltpRun is one cell of a workload without roles.
func oltpRun() (*results.Run, []results.Cell) {
	run, _ := radonRun()
	run.Plan, run.Planned, run.Report = "quickstart", 1, results.Settings{}
	run.Finished = start.Add(70 * time.Second)
	run.Targets = []results.Server{{Endpoint: results.Endpoint{Address: "private server", Database: "sbtest"}, Version: "11.8.3-MariaDB"}}
	o := results.Outcome{
		Clients: 8, Elapsed: 60, Stopped: results.ByDuration, Events: 48_000, Latency: latencyOf(48_000, 10, 88.2),
		Statements: map[results.Class]results.Statements{
			results.Read:  {Count: 672_000, Rows: 20_640_000, Latency: latencyOf(672_000, 0.4, 12)},
			results.Write: {Count: 192_000, Affected: 192_000, Latency: latencyOf(192_000, 0.6, 40)},
			results.Other: {Count: 96_000, Latency: latencyOf(96_000, 0.9, 80)},
		},
		Restarts: []results.ErrorCount{{Code: 1213, Class: results.Write, Count: 12, Message: "Deadlock found"}},
	}
	return run, []results.Cell{{
		Version: 1, Path: []string{"oltp"}, Labels: nil, Repeat: 1, Round: 1, Seq: 1, Workload: "oltp_read_write", Clients: map[string]int{"": 8},
		Tables: plan.Tables{Schema: "sysbench", Count: 1, Rows: 10000, Engine: "innodb"}, Started: start, Finished: start.Add(time.Minute),
		Status: results.Complete, Outcome: o,
	}}
}

// machineRun is the same server load on two machines, with what their processors and disks do: loads of three kinds.
func machineRun(factor float64) (*results.Run, []results.Cell) {
	run, _ := oltpRun()
	run.Plan, run.Planned, run.Report = "machine", 8, results.Settings{Baseline: map[string]string{"threads": "1"}}
	var cells []results.Cell
	for _, threads := range []int{1, 8} {
		scale := factor * float64(1+threads/2)
		_, sql := oltpRun()
		events := 6000 * float64(threads) * factor
		sql[0].Clients = map[string]int{"": threads}
		o := &sql[0].Outcome
		o.Clients, o.Events, o.Latency, o.Restarts = threads, int64(events), latencyOf(int64(events), float64(threads)*60_000/events, 88.2), nil
		for class, s := range o.Statements {
			s.Count, s.Rows = s.Count*o.Events/48_000, s.Rows*o.Events/48_000
			o.Statements[class] = s
		}
		cells = append(cells, sql[0], hostCell("cpu", threads, 40_000*scale, nil), hostCell("memory", threads, 4e8*scale, map[string]int64{
			results.CountMemoryBytes: int64(4e8 * 1024 * scale),
		}), hostCell("fileio", threads, 20_800*scale, map[string]int64{
			results.CountFileReads: int64(12_000 * scale), results.CountFileWrites: int64(8000 * scale), results.CountFsyncs: int64(800 * scale),
			results.CountBytesRead: int64(12_000 * 16384 * scale), results.CountBytesWritten: int64(8000 * 16384 * scale), results.CountFsyncEnd: 41_250,
		}))
	}
	for i := range cells {
		c := &cells[i]
		c.Seq, c.Path = i+1, []string{c.Workload}
		c.Labels = []results.Label{{Name: "threads", Value: fmt.Sprint(c.Clients[""])}}
	}
	cells[7].Outcome.Errors = []results.ErrorCount{{Code: 5, Count: 1, Message: "read 16384 bytes at 0: input/output error"}}
	return run, cells
}

func hostCell(workload string, threads int, events float64, counters map[string]int64) results.Cell {
	l := latencyOf(int64(events), float64(threads)*60_000/events, 1000*float64(threads)/events*60*20)
	return results.Cell{
		Version: 1, Repeat: 1, Round: 1, Workload: workload, Load: workload, Clients: map[string]int{"": threads}, Started: start, Finished: start.Add(time.Minute),
		Status: results.Complete, Outcome: results.Outcome{
			Clients: threads, Elapsed: 60, Stopped: results.ByDuration, Events: int64(events), Latency: l, Counters: counters,
			Roles: []results.Role{{Clients: threads, Events: int64(events), Latency: l}},
		},
	}
}

// partialRun was interrupted in its fourth cell, which has errors too, in a rehearsal with labels that try to break out.
func partialRun() (*results.Run, []results.Cell) {
	run, cells := radonRun()
	run.Status, run.Rehearsal, run.Finished = results.Interrupted, true, start.Add(4*time.Hour)
	run.Errors = []string{"step 5.4 (radon-benchyou.yaml:40): interrupted"}
	cells = cells[:4]
	cells[0].Labels[0].Value = "<script>alert(1)</script>"
	cells[1].Labels[0].Value = "a|b\nc\x1b[31m"
	cells[2].Labels[0].Value = "二相コミット"
	cells[3] = radonCell(4, "5.4", "twopc", "rw", results.ByInterrupt, 42, 119112, load{64, 967, 3808.16}, load{64, 1869, 3783.29})
	last := &cells[3]
	last.Status, last.Error = results.Partial, "interrupted"
	last.Outcome.Errors = []results.ErrorCount{{Code: 1105, Class: results.Write, Count: 12, Message: "XA PREPARE failed on backend 2"}}
	return run, cells
}

// twoRuns are two runs of the matrix; the second is slower, misses one cell and has one of its own.
func twoRuns() []results.Recorded {
	run1, cells1 := matrixRun(6, 1)
	run2, cells2 := matrixRun(6, 0.96)
	run1.Targets[0].Variables = map[string]string{"innodb_buffer_pool_size": "134217728", "sync_binlog": "1", "timestamp": "1"}
	run2.Targets[0].Variables = map[string]string{"innodb_buffer_pool_size": "134217728", "sync_binlog": "1000", "timestamp": "2"}
	run2.Targets[0].Version = "5.7.29-radon"
	run2.PlanHash = "77aa01"
	run1.PlanText = "name: radon-twopc\nseed: 7\ntables:\n  rows: 10k\n"
	run2.PlanText = "name: radon-twopc\nseed: 7\ntables:\n  rows: 20k\n"
	run2.Started, run2.Finished = run2.Started.AddDate(0, 0, 1), run2.Finished.AddDate(0, 0, 1)
	kept := cells2[:0]
	for _, c := range cells2 {
		if mix, _ := c.Label("mix"); mix == "rw" {
			if config, _ := c.Label("config"); config == "twopc+audit" {
				c.Labels = []results.Label{{Name: "config", Value: "audit"}, {Name: "mix", Value: "rw"}}
			}
			c.Tables.Rows = 20_000
		}
		kept = append(kept, c)
	}
	return []results.Recorded{
		{Name: "radon-twopc/20180523T142000Z", Run: run1, Cells: cells1},
		{Name: "radon-twopc/20180524T142000Z", Run: run2, Cells: kept},
	}
}

// surveyRun is 500 cells of five axes, each once.
func surveyRun() (*results.Run, []results.Cell) {
	run, base := oltpRun()
	run.Plan, run.Planned = "survey", 500
	run.Report = results.Settings{Baseline: map[string]string{"engine": "innodb"}}
	run.Started, run.Finished = start, start.Add(9*time.Hour)
	random := rand.New(rand.NewPCG(3, 5))
	var cells []results.Cell
	for _, engine := range []string{"innodb", "rocksdb"} {
		for _, flush := range []string{"0", "1", "2", "o_direct", "o_direct_no_fsync"} {
			for _, size := range []string{"100k", "10M"} {
				for _, mix := range []string{"read_only", "read_write", "write_only", "point_select", "delete_insert"} {
					for n, threads := range []string{"1", "8", "16", "64", "256"} {
						c := base[0]
						c.Seq, c.Path = len(cells)+1, []string{"matrix", "oltp"}
						c.Labels = []results.Label{{Name: "engine", Value: engine}, {Name: "flush", Value: flush}, {Name: "size", Value: size}, {Name: "mix", Value: mix}, {Name: "threads", Value: threads}}
						o := c.Outcome
						clients := []int{1, 8, 16, 64, 256}[n]
						factor := (1 + 0.3*float64(n)) * (0.5 + random.Float64())
						if engine == "rocksdb" {
							factor *= 2
						}
						o.Clients, o.Events, o.Restarts = clients, int64(float64(o.Events)*factor), nil
						o.Latency = latencyOf(o.Events, float64(clients)*60_000/float64(o.Events), 88.2)
						c.Clients, c.Outcome = map[string]int{"": clients}, o
						cells = append(cells, c)
					}
				}
			}
		}
	}
	return run, cells
}

// strangeRun has labels of all sorts: long ones, formulas, wide and combining runes, those that turn the direction of writing.
func strangeRun() (*results.Run, []results.Cell) {
	run, base := oltpRun()
	run.Plan, run.Planned = "strange", 7
	var cells []results.Cell
	for i, value := range []string{"plain", "=HYPERLINK(\"http://x\")", "-1", "@SUM(A1)", "\u202egnp.exe", "二相コミット 👍 e\u0301te\u0301", strings.Repeat("long ", 1<<18)} {
		c := base[0]
		c.Seq, c.Labels = i+1, []results.Label{{Name: "config", Value: value}}
		cells = append(cells, c)
	}
	return run, cells
}

// steadyRun is two configurations without repeats, with the series of their seconds.
func steadyRun() (*results.Run, []results.Cell) {
	run, base := oltpRun()
	run.Plan, run.Planned = "steady", 2
	random := rand.New(rand.NewPCG(1, 9))
	var cells []results.Cell
	for i, config := range []string{"plain", "compressed"} {
		c := base[0]
		c.Seq, c.Labels, c.Outcome.Restarts = i+1, []results.Label{{Name: "config", Value: config}}, nil
		events := int64(0)
		for s := range 60 {
			n := int64(800/(i*3+1) + random.IntN(40))
			c.Outcome.Series = append(c.Outcome.Series, results.Second{At: float64(s), Length: 1, Events: n})
			events += n
		}
		c.Outcome.Events, c.Outcome.Latency = events, latencyOf(events, 8*60_000/float64(events), 88.2)
		cells = append(cells, c)
	}
	return run, cells
}
