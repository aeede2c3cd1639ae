package steps

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchplan/results"
)

// TestLoadsOnThisMachine need no server: none is started, and none could be.
func TestLoadsOnThisMachine(t *testing.T) {
	t.Setenv("BENCHPLAN_SERVER", "/nonexistent/mariadbd")
	dir := t.TempDir()
	o := carryOut(t, `
files: { count: 3, total_size: 3M, dir: `+dir+` }
steps:
  - matrix: { n: [1, 2] }
    steps:
      - { name: cpu, run: { workload: cpu, cpu_max_prime: 500, threads: "${{ matrix.n }}", events: 50 } }
      - { name: memory, run: { workload: memory, memory_total_size: 64K, threads: "${{ matrix.n }}" } }
      - { name: threads, run: { workload: threads, thread_yields: 10, threads: "${{ matrix.n }}", duration: 100ms, warmup: 50ms }, assert: [ errors == 0, tps > 0, qps == nil ] }
      - { name: mutex, run: { workload: mutex, mutex_locks: 100, mutex_loops: 10, threads: "${{ matrix.n }}" } }
      - prepare: { reuse: true }
      - { name: fileio, run: { workload: fileio, file_test_mode: rndrw, file_extra_flags: sync, threads: "${{ matrix.n }}", events: 100 }, assert: [ file_reads > 0, mib_written > 0 ] }
finally:
  - cleanup:
`).done(t)
	if len(o.cells) != 10 || len(o.run.Targets) != 0 {
		t.Fatalf("%d cells, targets %+v", len(o.cells), o.run.Targets)
	}
	events := map[string]int64{"cpu": 50, "memory": 64, "mutex": 2, "fileio": 100}
	for _, c := range o.cells {
		if c.Load != c.Workload || c.Target != (results.Endpoint{}) || c.ServerVersion != "" || c.Tables.Schema != "" || c.Status != results.Complete || len(c.Outcome.Statements) > 0 {
			t.Errorf("%s: %+v", c.Workload, c)
		}
		if _, ok := c.Options["ps_mode"]; ok {
			t.Errorf("%s has a ps_mode: %v", c.Workload, c.Options)
		}
		if (c.Files != nil) != (c.Workload == "fileio") {
			t.Errorf("%s: files %+v", c.Workload, c.Files)
		}
		want := events[c.Workload]
		if n, _ := c.Label("n"); c.Workload == "mutex" && n == "1" {
			want = 1
		}
		if want > 0 && c.Outcome.Events != want {
			t.Errorf("%s: %d events, want %d", c.Workload, c.Outcome.Events, want)
		}
	}
	if log := strings.Join(o.events, "\n"); !strings.Contains(log, "written 3 reused 0") || !strings.Contains(log, "written 3 reused 3") {
		t.Errorf("events:\n%s", log)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestTablesAndFiles of one scope are both made and both removed.
func TestTablesAndFiles(t *testing.T) {
	target, _, _ := onShared(t)
	o := carryOut(t, target+`
tables: { schema: benchyou, count: 2, rows: 10 }
files: { count: 2, total_size: 64K, dir: "`+t.TempDir()+`" }
steps:
  - prepare:
  - { name: sql, run: { workload: benchyou_random, threads: { read: 1 }, events: 5 } }
  - { name: io, run: { workload: fileio, file_test_mode: seqrd, events: 4 } }
  - cleanup:
`).done(t)
	if o.cells[0].Load != "" || o.cells[0].Target.Address == "" || o.cells[1].Load != "fileio" || o.cells[1].Outcome.Counters[results.CountBytesRead] != 65536 {
		t.Errorf("%+v", o.cells)
	}
}

func TestPlansOfLoadsOnThisMachine(t *testing.T) {
	for name, tt := range map[string]struct{ plan, want string }{
		"a run without an end":       {"steps:\n  - run: { workload: cpu }\n", "p.yaml:2:5: the run would never end"},
		"memory ends by itself":      {"steps:\n  - run: { workload: memory }\n", ""},
		"mutex ends by itself":       {"steps:\n  - run: { workload: mutex, threads: 4 }\n", ""},
		"mutex with a warm-up":       {"steps:\n  - run: { workload: mutex, warmup: 1s }\n", "leave warmup out"},
		"tables beside it":           {"tables: { schema: benchyou }\nsteps:\n  - run: { workload: cpu, events: 1 }\n", ""},
		"no files":                   {"steps:\n  - run: { workload: fileio, file_test_mode: rndrd, events: 1 }\n", "p.yaml:2:12: fileio works on files; add `files:"},
		"files and no mode":          {"files: {}\nsteps:\n  - run: { workload: fileio, events: 1 }\n", `needs "file_test_mode"`},
		"small files":                {"files: { total_size: 1M }\nsteps:\n  - run: { workload: fileio, file_test_mode: rndrd, events: 1 }\n", "8192 bytes each, less than a block of 16384"},
		"asynchronous":               {"files: {}\nsteps:\n  - run: { workload: fileio, file_test_mode: rndrd, file_io_mode: async, events: 1 }\n", "file_io_mode async is not offered"},
		"no such flag":               {"files: {}\nsteps:\n  - run: { workload: fileio, file_test_mode: rndrd, file_extra_flags: [direct, fast], events: 1 }\n", `"fast" is not one of: sync, dsync, direct`},
		"sysbench's spelling":        {"steps:\n  - run: { workload: cpu, cpu-max-prime: 20000, events: 1 }\n", `did you mean "cpu_max_prime"?`},
		"sysbench's size of files":   {"files: { file-total-size: 3G }\nsteps:\n  - run: { workload: fileio, file_test_mode: rndrd, events: 1 }\n", `did you mean "total_size"?`},
		"options of statements":      {"steps:\n  - run: { workload: cpu, events: 1, ps_mode: auto, on_error: { 1205: count } }\n", "p.yaml:2:38: cpu sends no statements to a server, so ps_mode means nothing here"},
		"sockets that are not there": {"steps:\n  - run: { workload: cpu, events: 1, io: loop }\n", "cpu sends no statements to a server, so io means nothing here"},
		"roles":                      {"steps:\n  - run: { workload: cpu, events: 1, threads: { write: 1 } }\n", "cpu has no roles"},
		"too many threads":           {"steps:\n  - run: { workload: cpu, events: 1, threads: 20k }\n", "20000 threads are not possible"},
		"prepare without data":       {"steps:\n  - prepare:\n", "no tables are said here, and no files; add"},
		"prepare with files":         {"files: {}\nsteps:\n  - prepare:\n  - cleanup:\n", ""},
		"verify is of tables alone":  {"files: {}\nsteps:\n  - verify:\n", "no tables are said here"},
		"none at random":             {"steps:\n  - run: { workload: memory, memory_oper: none, memory_access_mode: rnd }\n", "memory_oper none touches no word"},
	} {
		err := read(tt.plan)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v\nwant %s", name, err, tt.want)
		}
	}
}

func TestInterruptOfALoadOnThisMachine(t *testing.T) {
	dir := t.TempDir()
	ctx, on := interruptAt(t, "cell 1 of 1", 300*time.Millisecond)
	o := trial{ctx: ctx, on: on, plan: `
files: { count: 2, total_size: 1M, dir: ` + dir + ` }
steps:
  - prepare:
  - run: { workload: fileio, file_test_mode: rndwr, duration: 1h, threads: 2 }
finally:
  - cleanup:
`}.carryOut(t)
	o.isInterrupted(t)
	if len(o.cells) != 1 || o.cells[0].Status != results.Partial || o.cells[0].Outcome.Counters[results.CountFileWrites] == 0 {
		t.Errorf("%+v", o.cells)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestFilesThatAreNotOurs(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "test_file.0")
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	head := "files: { count: 1, total_size: 64K, dir: " + dir + " }\nsteps:\n"
	carryOut(t, head+"  - prepare:\n    retry: { attempts: 5, interval: 1h }\n").fails(t, "p.yaml:3:5: prepare: there are files in "+dir+" not made by benchplan … test_file.0; --force")
	carryOut(t, head+"  - cleanup:\n").fails(t, "p.yaml:3:5: cleanup: … --force")
	carryOut(t, head+"  - run: { workload: fileio, file_test_mode: seqwr, events: 1 }\n").fails(t, "p.yaml:3:5: run: workload fileio: there are files … --force")
	var asked []string
	forced := func(c *Config) {
		c.Force = true
		c.Confirm = func(q string) bool { asked = append(asked, q); return false }
	}
	trial{plan: head + "  - prepare:\n", change: forced}.carryOut(t).fails(t, "p.yaml:3:5: prepare: Overwrite files in "+dir+" … The answer was no")
	if b, err := os.ReadFile(precious); err != nil || string(b) != "precious" || len(asked) != 1 {
		t.Fatalf("%q, %v, asked %v", b, err, asked)
	}
	trial{plan: head + "  - prepare:\n  - cleanup:\n", change: func(c *Config) { c.Force = true }}.carryOut(t).done(t)
}

// TestRehearsalOfLoadsOnThisMachine: a thousandth of the files' size, in a folder of its own, so that prepared files stay.
func TestRehearsalOfLoadsOnThisMachine(t *testing.T) {
	t.Setenv("BENCHPLAN_SERVER", "/nonexistent/mariadbd")
	dir := t.TempDir()
	text := func(size string) string {
		return `
files: { count: 4, total_size: ` + size + `, dir: ` + dir + ` }
steps:
  - prepare: { reuse: true }
  - { name: io, run: { workload: fileio, file_test_mode: rndrw, file_block_size: 8K, duration: 1h, events: 100k } }
  - { name: cpu, run: { workload: cpu, cpu_max_prime: 1_000_000_000, events: 10M } }
  - { name: mutex, run: { workload: mutex } }
`
	}
	carryOut(t, strings.Split(text("4M"), "  - { name: io")[0]).done(t)
	begin := time.Now()
	o := rehearse(t, text("400M")).done(t)
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	if f := o.cells[0].Files; f.TotalSize != 4*98304 || filepath.Base(f.Dir) != rehearsalName || o.cells[0].Outcome.Events != 100 {
		t.Errorf("%+v, %d events", f, o.cells[0].Outcome.Events)
	}
	if o.cells[1].Outcome.Elapsed != 1 || o.cells[1].Outcome.Cut != 1 {
		t.Errorf("%+v", o.cells[1].Outcome)
	}
	if info, err := os.Stat(filepath.Join(dir, "test_file.3")); err != nil || info.Size() != 1<<20 {
		t.Errorf("the prepared files: %v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(dir, rehearsalName)); err == nil {
		t.Error("the rehearsal's folder was left")
	}
	rehearse(t, "files: { dir: /nonexistent }\nsteps:\n  - prepare:\n").fails(t, "p.yaml:3:5: prepare: files: dir: … make the folder")
}
