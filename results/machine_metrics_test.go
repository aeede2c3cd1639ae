package results

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// measuredOn is a cell of 100 events/s on a generator and a server's machine whose figures are all different.
func measuredOn() Cell {
	c := cellAt(1)
	c.Machines = []Machine{
		{Role: Generator, Usage: Usage{Elapsed: 10, CPUs: 4, User: 0.5, System: 0.25, Idle: 0.25, Reads: 1e6, BytesRead: 1e12, ContextSwitches: 1e6},
			Processes: map[string]Process{ProcessGenerator: {User: 6, System: 2, Wait: 0.5, GCPause: 0.02}}},
		// Looked at for twice as long as the cell was measured: rates are by its own clock.
		{Role: ServerMachine, Server: true, Usage: Usage{Elapsed: 20, CPUs: 8, User: 0.25, System: 0.05, IOWait: 0.1, Steal: 0.02, Idle: 0.58,
			ContextSwitches: 80_000, RunQueue: 3.5, Reads: 4000, Writes: 6000, BytesRead: 40 << 20, BytesWritten: 200 << 20,
			BytesReceived: 10 << 20, BytesSent: 30 << 20, Free: 512 << 20, Cached: 2048 << 20},
			Processes: map[string]Process{ProcessServer: {User: 30, System: 10}}},
	}
	c.Server = &ServerStatus{Elapsed: 10, Counters: map[string]int64{ // of MariaDB 10.11
		"questions": 14_000, "innodb_buffer_pool_read_requests": 200_000, "innodb_buffer_pool_reads": 500, "innodb_os_log_written": 1000 * 3072,
		"innodb_data_fsyncs": 1100, "innodb_row_lock_waits": 25, "created_tmp_tables": 1010, "handler_tmp_write": 6000, "handler_write": 1000,
		"handler_update": 2000, "handler_delete": 1000, "rows_read": 410_000,
	}}
	c.Outcome.Schedule = &Schedule{Due: 1010, Rate: 101, Begun: 1000, Late: 400, Dropped: 10, QueueMean: 1.5, QueueMax: 12}
	return c
}

// TestWatchedMetrics holds each figure of machines, server and schedule against what its source says.
func TestWatchedMetrics(t *testing.T) {
	mysql := measuredOn()
	mysql.Server.Counters = map[string]int64{
		"questions": 14_000, "innodb_buffer_pool_read_requests": 200_000, "innodb_os_log_fsyncs": 900, "innodb_data_fsyncs": 1500, "innodb_rows_read": 300_000,
		"innodb_rows_inserted": 1000, "innodb_rows_deleted": 1000, "created_tmp_tables": 1010, "created_tmp_disk_tables": 5, "handler_write": 9999,
	}
	host := measuredOn()
	host.Load, host.Server, host.Machines = "fileio", nil, host.Machines[:1]
	together := measuredOn()
	together.Machines = together.Machines[:1]
	together.Machines[0].Server = true
	away := measuredOn()
	away.Machines, away.Server, away.Outcome.Schedule = away.Machines[:1], nil, nil
	radon := measuredOn()
	radon.Server.Counters = map[string]int64{"questions": 14_000}
	idle := measuredOn()
	idle.Outcome.Events = 0
	missing := math.NaN()
	for name, tt := range map[string]struct {
		cell Cell
		want map[string]float64
	}{
		"MariaDB on a machine of its own": {measuredOn(), map[string]float64{
			"rio": 200, "rio_op": 2, "wio": 300, "wio_op": 3, "rmb": 2, "rkb_op": 20.48, "wmb": 10, "wkb_op": 102.4, "csw": 4000, "csw_op": 40,
			"cpu_us_op": 24_000, "free_mb": 512, "cache_mb": 2048, "cpu_user": 25, "cpu_system": 5, "cpu_iowait": 10, "cpu_steal": 2, "run_queue": 3.5,
			"net_rx_mb": 0.5, "net_tx_mb": 1.5,
			"generator_cpu": 20, "generator_cpu_us_op": 8000, "generator_wait_us_op": 500, "generator_gc": 0.2, "server_cpu_us_op": 20_000,
			"buffer_pool_hit": 99.75, "innodb_reads_op": 0.5, "log_kb_op": 3, "fsyncs_op": 1.1, "lock_waits_s": 2.5, "tmp_tables_s": 101, "tmp_disk_tables_s": 0,
			"rows_read_op": 410, "rows_written_op": 4,
			"due": 101, "late": 400, "dropped": 10, "queue_mean": 1.5, "queue_max": 12,
		}},
		"MySQL": {mysql, map[string]float64{
			"buffer_pool_hit": 100, "innodb_reads_op": 0, "log_kb_op": 0, "fsyncs_op": 0.9, "lock_waits_s": 0, "tmp_disk_tables_s": 0.5, "rows_read_op": 300, "rows_written_op": 2,
		}},
		"a load on this machine":   {host, map[string]float64{"rio": 100_000, "rio_op": 1000, "cpu_user": 50, "generator_cpu": 20, "server_cpu_us_op": missing, "fsyncs_op": missing}},
		"a server beside the load": {together, map[string]float64{"rio": 100_000, "csw_op": 1000, "server_cpu_us_op": missing}},
		"a server that is not watched": {away, map[string]float64{
			"rio": missing, "cpu_user": missing, "cpu_us_op": missing, "free_mb": missing, "generator_cpu": 20, "buffer_pool_hit": missing, "tmp_tables_s": missing, "due": missing, "late": missing,
		}},
		"a proxy without InnoDB": {radon, map[string]float64{
			"buffer_pool_hit": missing, "innodb_reads_op": missing, "log_kb_op": missing, "fsyncs_op": missing, "lock_waits_s": missing, "tmp_tables_s": missing,
			"tmp_disk_tables_s": missing, "rows_read_op": missing, "rows_written_op": missing,
		}},
		"no event": {idle, map[string]float64{"rio": 200, "rio_op": missing, "csw_op": missing, "cpu_us_op": missing, "fsyncs_op": missing, "generator_wait_us_op": missing, "lock_waits_s": 2.5}},
	} {
		for metric, want := range tt.want {
			m, ok := MetricByName(metric)
			if !ok {
				t.Fatalf("there is no metric %s", metric)
			}
			got, applies := m.Value(&tt.cell)
			if applies == math.IsNaN(want) || applies && math.Abs(got-want) > 1e-9*math.Abs(want) {
				t.Errorf("%s: %s is %v (applies: %v), want %v", name, metric, got, applies, want)
			}
		}
	}
	whole := measuredOn()
	for _, m := range Metrics() {
		if _, ok := m.Value(&whole); m.Watched() && !ok {
			t.Errorf("%s is not tried: a cell of which everything is known does not have it", m.Name)
		}
	}
}

// TestWatchedMetricsAreNoColumns: a table has the figures of machines and servers only where the plan asks for them.
func TestWatchedMetricsAreNoColumns(t *testing.T) {
	a, b := measuredOn(), measuredOn()
	a.Labels, b.Labels = []Label{{"config", "plain"}}, []Label{{"config", "xa"}}
	watched := func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { m, _ := MetricByName(name); return m.Watched() })
	}
	for _, load := range []string{"", "fileio"} {
		a.Load, b.Load = load, load
		r := NewReport("x", &Run{}, []Cell{a, b}, nil)
		if watched(r.Metrics) || watched(r.Changes) {
			t.Errorf("%q has the columns %q and the differences %q", load, r.Metrics, r.Changes)
		}
		recorded := Recorded{Run: &Run{}, Cells: []Cell{a, b}}
		c, err := Compare([]Recorded{recorded, recorded})
		if err != nil || watched(c.Metrics) {
			t.Errorf("%q is compared by %q, %v", load, c.Metrics, err)
		}
	}
	a.Load, b.Load = "", ""
	wanted := []string{"tps", "rio_op", "csw_op", "buffer_pool_hit", "late"}
	r := NewReport("x", &Run{Report: Settings{Metrics: wanted}}, []Cell{a, b}, nil)
	if !slices.Equal(r.Metrics, wanted) {
		t.Errorf("asked for %q, got %q", wanted, r.Metrics)
	}
}

// TestMetricGroups: each metric stands under one heading, in the order of the list.
func TestMetricGroups(t *testing.T) {
	var grouped, all []string
	for _, g := range MetricGroups() {
		for _, m := range g.Metrics {
			grouped = append(grouped, m.Name)
		}
	}
	for _, m := range Metrics() {
		all = append(all, m.Name)
		if strings.ContainsAny(m.Name, " %µ-") {
			t.Errorf("%s is no name for an expression", m.Name)
		}
	}
	if !slices.Equal(grouped, all) {
		t.Errorf("the groups have %q, the list %q", grouped, all)
	}
}
