package results

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// watchedCell is a cell of an open loop with a machine, its server, and what both did in each second.
func watchedCell(seq int) Cell {
	c := cellAt(seq)
	c.Wanted.Rate = 100
	c.Outcome.Schedule = &Schedule{Due: 1000, Rate: 100, Begun: 1000}
	c.Outcome.Series = []Second{
		{At: 0, Length: 1, Events: 100, Queries: 1400, P50: 80.5, P95: 160, P99: 240, Max: 1e4, Restarts: 2, Reconnects: 1, Clients: 8, Due: 100, Queue: 3},
		{At: 1, Length: 1, Errors: 3, Clients: 7, Due: 100, Queue: 103},
	}
	usage := Usage{At: 1, Elapsed: 1.5, CPUs: 2, User: 0.25, System: 0.125, IOWait: 0.0625, Steal: 0.03, Idle: 0.5325, ContextSwitches: 12345, RunQueue: 2.5,
		Reads: 1, Writes: 2, BytesRead: 3, BytesWritten: 4, BytesReceived: 5, BytesSent: 6, Free: 1 << 40, Cached: 7}
	c.Machines = []Machine{
		{Role: Generator, Name: "here", Usage: usage, Seconds: []Usage{{Elapsed: 1}, usage}},
		{Role: ServerMachine, Name: "there", Server: true, Usage: usage, Processes: map[string]Process{ProcessServer: {PID: 7, User: 1}}, Seconds: []Usage{usage}},
	}
	c.Server = &ServerStatus{Elapsed: 10, Counters: map[string]int64{"questions": 4}, Variables: map[string]string{"sync_binlog": "0"},
		Seconds: []map[string]int64{{"questions": 3, "innodb_os_log_written": 512}, nil, {"questions": 1, "rows_read": 0}}}
	return c
}

// TestWatchedRoundTrip: what machines and server did in each second is read as it was written, whether it is big, zero or missing.
func TestWatchedRoundTrip(t *testing.T) {
	w := create(t, nil)
	writeRun(t, w, Run{})
	c := watchedCell(1)
	appendCells(t, w, c)
	_, cells, warnings, err := Open(w.Folder())
	if err != nil || warnings != nil {
		t.Fatal(err, warnings)
	}
	got := cells[0]
	if series, err := ReadSeries(w.Folder(), &got); err != nil || !cmp.Equal(series, c.Outcome.Series) {
		t.Errorf("series: %v\n%s", err, cmp.Diff(c.Outcome.Series, series))
	}
	for i := range c.Machines {
		usage, err := ReadUsage(w.Folder(), &got.Machines[i])
		if err != nil || !cmp.Equal(usage, c.Machines[i].Seconds) {
			t.Errorf("machine %d: %v\n%s", i, err, cmp.Diff(c.Machines[i].Seconds, usage))
		}
	}
	status, err := ReadStatus(w.Folder(), got.Server)
	if err != nil || !cmp.Equal(status, c.Server.Seconds) {
		t.Errorf("status: %v\n%s", err, cmp.Diff(c.Server.Seconds, status))
	}
	var names []string
	for _, m := range got.Machines {
		names = append(names, m.SeriesFile)
	}
	names = append(names, got.SeriesFile, got.Server.SeriesFile)
	if want := []string{"series/0001.generator.csv", "series/0001.server.csv", "series/0001.csv", "series/0001.status.csv"}; !cmp.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	var unwatched Machine
	if usage, err := ReadUsage(w.Folder(), &unwatched); usage != nil || err != nil {
		t.Errorf("a machine without seconds: %v, %v", usage, err)
	}
	if status, err := ReadStatus(w.Folder(), &ServerStatus{}); status != nil || err != nil {
		t.Errorf("a server without seconds: %v, %v", status, err)
	}
	for _, name := range []string{"../../etc/passwd", "/etc/passwd"} {
		if _, err := ReadUsage(w.Folder(), &Machine{SeriesFile: name}); err == nil || !strings.Contains(err.Error(), "outside") {
			t.Errorf("a record that points to %s: %v", name, err)
		}
	}
}

// TestEmptySecond: a percentile of no events is empty in the file, not 0 milliseconds, and so is what was due in a closed loop.
func TestEmptySecond(t *testing.T) {
	series := []Second{{Length: 1, Events: 2, P50: 0.5, P95: 1, P99: 1, Max: 1.25, Clients: 8}, {At: 1, Length: 1, Errors: 3}}
	for open, want := range map[bool]string{
		false: "0,1,2,0,0.5,1,1,1.25,0,0,0,8,,\n1,1,0,0,,,,,3,0,0,0,,\n",
		true:  "0,1,2,0,0.5,1,1,1.25,0,0,0,8,0,0\n1,1,0,0,,,,,3,0,0,0,0,0\n",
	} {
		head := "at_s,length_s,events,queries,p50_ms,p95_ms,p99_ms,max_ms,errors,restarts,reconnects,clients,due,queue\n"
		if diff := cmp.Diff(head+want, string(encodeTable(secondColumns(open), series))); diff != "" {
			t.Errorf("open loop %v (-want +got):\n%s", open, diff)
		}
	}
}

// TestEarlierSeries: a file of a version that had fewer columns is read, and so is one of a later version that has more.
func TestEarlierSeries(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "series-before-columns.csv"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Second{
		{At: 0, Length: 1.000278311, Events: 444, Queries: 9022, P50: 14.589951, P95: 44.040191, P99: 61.800447},
		{At: 1.000278311, Length: 1.003086321, Errors: 3},
		{At: 2.003364632, Length: 0.25, Events: 61, Queries: 1220, P50: 15.1, P95: 40, P99: 44.5},
	}
	later := bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("at_s"), []byte("new_unit,at_s")), []byte("\n0,"), []byte("\nx,0,"))
	later = bytes.ReplaceAll(bytes.ReplaceAll(later, []byte("\n1.0"), []byte("\n,1.0")), []byte("\n2"), []byte("\ny,2"))
	for name, content := range map[string][]byte{"earlier": b, "later": later} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "s.csv"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadSeries(folder, &Cell{SeriesFile: "s.csv"})
		if err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %v\n%s", name, err, cmp.Diff(want, got))
		}
	}
}

func TestDamagedSeries(t *testing.T) {
	for content, want := range map[string]string{
		"":                                     "empty",
		"a,b\n1,2\n":                           "none of the columns at_s",
		"at_s,events\n0,1\n1,x\n":              `line 3, events`,
		"at_s,events\n0,1\n1\n":                "line 3",
		"at_s,events\nNaN,1\n":                 "line 2, at_s",
		"at_s,events\n+Inf,1\n":                "line 2, at_s",
		"at_s,events\n0,1e3\n":                 "line 2, events",
		"at_s,events\n0,1\n1,\"2\n":            "line",
		"at_s,events\n0,9223372036854775808\n": "out of range",
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "s.csv"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadSeries(folder, &Cell{SeriesFile: "s.csv"})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "s.csv") {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
	if _, err := ReadSeries(t.TempDir(), &Cell{SeriesFile: "missing.csv"}); err == nil {
		t.Error("a file that is not there was read")
	}
}

// TestMaskedServer: what a server says of itself is free text, and is masked as such.
func TestMaskedServer(t *testing.T) {
	const secret = "hunter2hunter2"
	w := create(t, func(s string) string { return strings.ReplaceAll(s, secret, "***") })
	c := watchedCell(1)
	c.Server.Variables["init_connect"] = "set @p='" + secret + "'"
	appendCells(t, w, c)
	writeRun(t, w, Run{Targets: []Server{{Topology: map[string]string{"wsrep_cluster_address": "gcomm://u:" + secret}, Unknown: []string{"denied " + secret}}}})
	for _, name := range []string{cellsFile, runFile} {
		b, err := os.ReadFile(filepath.Join(w.Folder(), name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(secret)) || !bytes.Contains(b, []byte("***")) {
			t.Errorf("%s: %s", name, b)
		}
	}
	if !strings.Contains(c.Server.Variables["init_connect"], secret) {
		t.Error("the caller's record was masked")
	}
}
