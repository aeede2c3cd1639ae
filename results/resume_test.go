package results

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFalseAlarmsAfterAResume: the same scenario twice in a run that was resumed after some rounds, on a server that is faster or slower
// then and drifts within each part: at most 5 % of the runs find a difference, and a round that was cut in two is none.
func TestFalseAlarmsAfterAResume(t *testing.T) {
	for _, tt := range []struct {
		cut         int // cells before the resume
		jump, drift float64
		pairs       int
	}{{6, 0, 0, 8}, {6, 0.5, 0, 8}, {7, 0.5, 0, 7}, {8, -0.3, 0.1, 8}, {5, 0.3, 0.2, 7}} {
		s := &source{random: rand.New(rand.NewPCG(3, 4)), noise: 0.02, drift: tt.drift}
		alarms := 0
		for range trials {
			cells := twoScenarios(s, 8, true, 0)
			for i := range cells {
				if i >= tt.cut {
					cells[i].Resumed = 1
					cells[i].Outcome.Events = int64(float64(cells[i].Outcome.Events) * (1 + tt.jump))
				}
			}
			c := tpsChange(cells)
			if c.Method != ByPairs || c.Pairs != tt.pairs {
				t.Fatalf("%+v: compared by %s of %d", tt, c.Method, c.Pairs)
			}
			if c.Significant {
				alarms++
			}
		}
		t.Logf("%+v: %.1f %% false alarms", tt, 100*float64(alarms)/trials)
		if alarms > atMost(trials, 0.05) {
			t.Errorf("%+v: %d false alarms in %d", tt, alarms, trials)
		}
	}
}

// TestDriftIsWithinParts: a jump between two parts is no drift.
func TestDriftIsWithinParts(t *testing.T) {
	var rounds []round
	for i := range 8 {
		r := round{at: float64(2 * i), level: 0.01 * float64(2*i), part: i / 4}
		r.level += float64(r.part) // the jump
		rounds = append(rounds, r)
	}
	d, ok := driftOf(rounds)
	if !ok || math.Abs(d.slope-0.01) > 1e-12 || d.variance > 1e-20 || d.freedom != 5 {
		t.Errorf("%+v %v", d, ok)
	}
	for i := range rounds {
		rounds[i].part = i
	}
	if _, ok := driftOf(rounds); ok {
		t.Error("a drift is seen where each part has one round")
	}
}

// TestTableOfAResumedRun: rows stand in the order of the plan, also where the first of them were executed last, and the time is that of
// the parts.
func TestTableOfAResumedRun(t *testing.T) {
	begin := time.Date(2026, 5, 1, 22, 0, 0, 0, time.UTC)
	run := &Run{Plan: "p", Status: Killed, Started: begin, Resolved: json.RawMessage(`{"steps":[{"cell":"mix config=a","kind":"run"},{"cell":"mix config=b","kind":"run"}]}`)}
	first := cellAt(2, Label{"config", "b"})
	first.Path, first.Finished = []string{"mix"}, begin.Add(time.Minute)
	run.Resume(begin.Add(10*time.Hour), []Cell{first}, nil)
	second := cellAt(3, Label{"config", "a"})
	second.Path, second.Resumed, second.Finished = []string{"mix"}, 1, begin.Add(10*time.Hour+2*time.Minute)
	run.Status = Killed
	r := NewReport("x", run, []Cell{first, second}, nil)
	var order []string
	for _, row := range r.Rows() {
		order = append(order, row.Labels[0].Value)
	}
	if !slices.Equal(order, []string{"a", "b"}) {
		t.Errorf("rows %q", order)
	}
	if r.Run.Elapsed != 180 {
		t.Errorf("it took %v s, want 180", r.Run.Elapsed)
	}
	run.Errors = []string{"once"}
	run.Resume(begin.Add(20*time.Hour), []Cell{first, second}, []string{"host CPUs: 8 → 4"})
	want := []Resumption{
		{At: begin.Add(10 * time.Hour), Ended: begin.Add(time.Minute), After: Killed},
		{At: begin.Add(20 * time.Hour), Ended: begin.Add(10*time.Hour + 2*time.Minute), After: Killed, Errors: []string{"once"}, Changed: []string{"host CPUs: 8 → 4"}},
	}
	if diff := cmp.Diff(want, run.Resumed); diff != "" || run.Errors != nil || run.Status != Running {
		t.Errorf("resumed twice (-want +got):\n%s", diff)
	}
	if got := run.elapsed([]Cell{first, second}); got != 3*time.Minute {
		t.Errorf("it took %s", got)
	}
}

// TestWhichServerItIs: what makes it another one, and what only a changed one.
func TestWhichServerItIs(t *testing.T) {
	server := func(change func(*Server)) *Server {
		s := &Server{Endpoint: Endpoint{Address: "db:3306"}, Version: "8.4.3", VersionComment: "MySQL", Variables: map[string]string{
			"server_uuid": "u1", "hostname": "db", "port": "3306", "max_connections": "151", "timestamp": "1", "datadir": "/a"}}
		if change != nil {
			change(s)
		}
		return s
	}
	noUUID := func(change func(*Server)) func(*Server) {
		return func(s *Server) {
			delete(s.Variables, "server_uuid")
			if change != nil {
				change(s)
			}
		}
	}
	for name, tt := range map[string]struct {
		before, now    func(*Server)
		other, changed []string
	}{
		"the same":                        {nil, func(s *Server) { s.Variables["timestamp"], s.Variables["datadir"] = "2", "/b" }, nil, nil},
		"another version":                 {nil, func(s *Server) { s.Version = "8.4.4" }, []string{"version: 8.4.3 → 8.4.4"}, nil},
		"another product":                 {nil, func(s *Server) { s.VersionComment = "Percona" }, []string{"version_comment: MySQL → Percona"}, nil},
		"another id":                      {nil, func(s *Server) { s.Variables["server_uuid"] = "u2" }, []string{"server_uuid: u1 → u2"}, nil},
		"the same id elsewhere":           {nil, func(s *Server) { s.Variables["hostname"] = "c0ffee" }, nil, []string{"server variable hostname: db → c0ffee"}},
		"no id, another machine":          {noUUID(nil), noUUID(func(s *Server) { s.Variables["hostname"] = "db2" }), []string{"hostname: db → db2"}, nil},
		"a setting":                       {nil, func(s *Server) { s.Variables["max_connections"] = "500" }, nil, []string{"server variable max_connections: 151 → 500"}},
		"nothing could be asked":          {nil, func(s *Server) { s.Version, s.Variables = "", nil }, nil, nil},
		"a private server has another id": {func(s *Server) { s.Name = "private server" }, func(s *Server) { s.Name = "private server"; s.Variables["server_uuid"] = "u2" }, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			before, now := server(tt.before), server(tt.now)
			if diff := cmp.Diff(tt.other, OtherServer(before, now)); diff != "" {
				t.Errorf("another one (-want +got):\n%s", diff)
			}
			if tt.other == nil && tt.changed != nil {
				if diff := cmp.Diff(tt.changed, ServerChanges(before, now)); diff != "" {
					t.Errorf("changed (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestOrphansAreRemoved: the files of a cell whose line was never written are gone after a resume, and no others.
func TestOrphansAreRemoved(t *testing.T) {
	w := create(t, nil)
	writeRun(t, w, Run{Plan: "p", Status: Running})
	appendCells(t, w, cellAt(1, Label{"config", "a"}), cellAt(2, Label{"config", "b"}))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"histograms/0003.hlog", "histograms/0004.hlog.tmp", "series/0003.csv", "series/0003.status.csv", "series/0002.csv.tmp", "series/notes.txt"} {
		if err := os.WriteFile(filepath.Join(w.Folder(), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := filepath.Glob(filepath.Join(w.Folder(), "*", "000[12].*"))
	again, _, cells, _, err := Resume(w.Folder(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if len(cells) != 2 || again.LastSeq() != 2 {
		t.Errorf("%d cells, the last is number %d", len(cells), again.LastSeq())
	}
	left, _ := filepath.Glob(filepath.Join(w.Folder(), "*", "*.*"))
	var names []string
	for _, path := range left {
		names = append(names, strings.TrimPrefix(path, w.Folder()+"/"))
	}
	want := []string{"series/notes.txt"}
	for _, path := range before {
		if !strings.HasSuffix(path, ".tmp") {
			want = append(want, strings.TrimPrefix(path, w.Folder()+"/"))
		}
	}
	slices.Sort(want)
	slices.Sort(names)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files that are left (-want +got):\n%s", diff)
	}
}
