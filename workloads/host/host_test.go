package host

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func clients(n int) []engine.RoleClients { return []engine.RoleClients{{Count: n}} }

// run runs a workload as a run step does.
func run(t *testing.T, d engine.Definition, options any, files *plan.Files, o engine.Order) (engine.HostWorkload, results.Outcome, error) {
	t.Helper()
	if err := d.Host.Check(options, files); err != nil {
		t.Fatal(err)
	}
	if d.Host.Limit != nil {
		if err := d.Host.Limit(options, &o); err != nil {
			t.Fatal(err)
		}
	}
	w, err := d.Host.New(options, files, false)
	if err != nil {
		t.Fatal(err)
	}
	o.Workload = d.Name
	out, err := engine.RunHost(t.Context(), w, o, nil, nil)
	return w, out, err
}

func TestPrimes(t *testing.T) {
	for limit, want := range map[uint64]uint64{1: 0, 2: 0, 3: 1, 4: 2, 5: 2, 6: 3, 26: 9, 100: 25, 10_000: 1229, 100_000: 9592} {
		if got, err := countPrimes(t.Context(), limit); got != want || err != nil {
			t.Errorf("%d primes below %d, want %d (%v)", got, limit, want, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := countPrimes(ctx, 1_000_000_000); !errors.Is(err, context.Canceled) {
		t.Errorf("goes on after its time: %v", err)
	}
	_, out, err := run(t, CPU(), &CPUOptions{MaxPrime: 1000}, nil, engine.Order{Clients: clients(3), Events: 200})
	if err != nil || out.Events != 200 || out.Counters != nil {
		t.Errorf("%v, %+v", err, out)
	}
}

func TestThreadsLockInTurn(t *testing.T) {
	w, out, err := run(t, Threads(), &ThreadsOptions{Yields: 50, Locks: 4}, nil, engine.Order{Clients: clients(6), Events: 100})
	if err != nil || out.Events != 100 {
		t.Fatalf("%v, %+v", err, out)
	}
	for i := range w.(*threads).locks {
		lock := &w.(*threads).locks[i]
		if lock.held != 25*50 {
			t.Errorf("lock %d was taken %d times, want %d", i, lock.held, 25*50)
		}
	}
}

func TestEachThreadHasOneMutexEvent(t *testing.T) {
	w, out, err := run(t, Mutex(), &MutexOptions{Number: 16, Locks: 500, Loops: 10}, nil, engine.Order{Clients: clients(5)})
	if err != nil || out.Events != 5 || out.Stopped != results.ByEvents {
		t.Fatalf("%v, %+v", err, out)
	}
	var held int64
	for i := range w.(*mutexes).locks {
		lock := &w.(*mutexes).locks[i]
		held += lock.held
	}
	if held != 5*500 {
		t.Errorf("%d locks were taken, want %d", held, 5*500)
	}
	if loop(1234) != 1234 {
		t.Error("the loops are not done")
	}
	o := engine.Order{Clients: clients(1), Warmup: plan.Duration(time.Second)}
	if err := Mutex().Host.Limit(&MutexOptions{}, &o); err == nil || !strings.Contains(err.Error(), "warmup") {
		t.Errorf("with a warm-up: %v", err)
	}
}

// TestMemoryPassesOverAllOfABlock: what is written stands there, and what is read is what stands there.
func TestMemoryPassesOverAllOfABlock(t *testing.T) {
	for _, words := range []int{1, 7, 8, 9, 128, 1000} {
		o := MemoryOptions{BlockSize: plan.Size(words * wordSize), Scope: scopeLocal, AccessMode: "seq"}
		var want uint64
		for i := range words {
			want += uint64(i) + 1
		}
		c := client(t, o, "read")
		if c.sum != want {
			t.Errorf("%d words: the sum read is %d, want %d", words, c.sum, want)
		}
		c = client(t, o, memoryWrite)
		for i, v := range c.block {
			if v != c.events {
				t.Fatalf("word %d of %d was not written: %d", i, words, v)
			}
		}
	}
}

// client does one event.
func client(t *testing.T, o MemoryOptions, operation string) *memoryClient {
	t.Helper()
	o.Operation = operation
	m := &memory{options: o}
	if err := m.Open(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	c := m.Client(0, 1, rand.New(rand.NewPCG(1, 2))).(*memoryClient)
	result, err := c.Do(t.Context())
	if err != nil || operation != memoryNone && result.Counts[0] != int64(o.BlockSize) {
		t.Errorf("%+v, %v", result, err)
	}
	return c
}

// TestMemoryAtRandom: about a share of 1/e of the words is left out, and none outside is met.
func TestMemoryAtRandom(t *testing.T) {
	o := MemoryOptions{BlockSize: 10_000 * wordSize, Scope: scopeLocal, AccessMode: accessRnd}
	c := client(t, o, memoryWrite)
	written := 0
	for _, v := range c.block {
		if v == c.events {
			written++
		}
	}
	if written < 6000 || written > 6600 {
		t.Errorf("%d of 10,000 words were written, want about 6,320", written)
	}
	if c = client(t, o, "read"); c.sum < 45_000_000 || c.sum > 55_000_000 {
		t.Errorf("the sum read is %d, want about 50,000,000", c.sum)
	}
}

func TestMemoryEndsWithItsTotalSize(t *testing.T) {
	for _, tt := range []struct {
		options MemoryOptions
		order   engine.Order
		events  int64
		bytes   int64
	}{
		{MemoryOptions{1024, 1 << 20, "global", "write", "seq"}, engine.Order{}, 1024, 1 << 20},
		{MemoryOptions{1024, 1<<20 + 1, "local", "read", "rnd"}, engine.Order{}, 1025, 1<<20 + 1024},
		{MemoryOptions{4096, 1 << 20, "global", "read", "seq"}, engine.Order{Events: 10}, 10, 40960},
		{MemoryOptions{4096, 1 << 20, "local", "none", "seq"}, engine.Order{Events: 1000}, 256, 0},
	} {
		tt.order.Clients = clients(4)
		_, out, err := run(t, Memory(), &tt.options, nil, tt.order)
		if err != nil || out.Events != tt.events || out.Stopped != results.ByEvents || out.Counters[results.CountMemoryBytes] != tt.bytes {
			t.Errorf("%+v: %v, %d events, %v", tt.options, err, out.Events, out.Counters)
		}
	}
}

func TestMemoryThatThereIsNot(t *testing.T) {
	if totalMemory() == 0 {
		t.Skip("this system does not tell how much memory it has: there the memory workload asks for what the plan says, and Go ends the program where it cannot be had")
	}
	o := &MemoryOptions{1 << 40, 1 << 50, "local", "write", "seq"}
	_, _, err := run(t, Memory(), o, nil, engine.Order{Clients: clients(8)})
	if err == nil || !strings.Contains(err.Error(), "8 × memory_block_size of 1.0 TiB is more than the memory of this machine") {
		t.Errorf("error %v", err)
	}
	for _, o := range []*MemoryOptions{{1001, 2000, "global", "write", "seq"}, {1024, 2000, "global", "none", "rnd"}} {
		if Memory().Host.Check(o, nil) == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// fileOptions are the defaults of fileio with a mode.
func fileOptions(mode string, change func(*FileIOOptions)) *FileIOOptions {
	o := &FileIOOptions{BlockSize: 16384, TestMode: mode, IOMode: ioSync, FsyncFreq: 100, FsyncEnd: true, FsyncMode: "fsync", RWRatio: 1.5}
	if change != nil {
		change(o)
	}
	return o
}

// madeFiles are files that were prepared.
func madeFiles(t *testing.T, count int, each plan.Size) *plan.Files {
	t.Helper()
	f := &plan.Files{Count: count, TotalSize: each * plan.Size(count), Dir: t.TempDir()}
	if _, err := PrepareFiles(t.Context(), *f, FilesOptions{Seed: 1}, nil); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFileIORequests: the numbers of each kind of request follow from the options, whatever the threads are.
func TestFileIORequests(t *testing.T) {
	for _, tt := range []struct {
		name                       string
		options                    *FileIOOptions
		count                      int
		each                       plan.Size
		threads, events            int
		reads, writes, fsyncs      int64
		bytesRead, bytesWritten    int64
		syncedAtTheEnd, sizesApart bool
	}{
		{name: "rndrd", options: fileOptions(modeRndrd, nil), count: 4, each: 1 << 20, threads: 3, events: 500, reads: 500, bytesRead: 500 * 16384},
		{name: "rndwr", options: fileOptions(modeRndwr, func(o *FileIOOptions) { o.FsyncFreq = 10 }), count: 4, each: 1 << 20, threads: 1, events: 140,
			writes: 100, fsyncs: 40, bytesWritten: 100 * 16384, syncedAtTheEnd: true},
		{name: "rndwr of many threads", options: fileOptions(modeRndwr, func(o *FileIOOptions) { o.FsyncFreq, o.FsyncMode = 10, syncData }), count: 4, each: 1 << 20, threads: 5, events: 280,
			writes: 200, fsyncs: 80, bytesWritten: 200 * 16384, syncedAtTheEnd: true},
		{name: "rndwr without fsync", options: fileOptions(modeRndwr, func(o *FileIOOptions) { o.FsyncFreq, o.FsyncEnd = 0, false }), count: 4, each: 1 << 20, threads: 2, events: 300,
			writes: 300, bytesWritten: 300 * 16384},
		{name: "fsync after each", options: fileOptions(modeRndwr, func(o *FileIOOptions) { o.FsyncAll = true }), count: 2, each: 1 << 20, threads: 2, events: 150,
			writes: 150, fsyncs: 150, bytesWritten: 150 * 16384},
		{name: "rndrw", options: fileOptions(modeRndrw, func(o *FileIOOptions) { o.FsyncFreq = 0 }), count: 4, each: 1 << 20, threads: 1, events: 1000,
			reads: 600, writes: 400, bytesRead: 600 * 16384, bytesWritten: 400 * 16384, syncedAtTheEnd: true},
		{name: "rndrw with fsync", options: fileOptions(modeRndrw, nil), count: 4, each: 1 << 20, threads: 1, events: 1040,
			reads: 600, writes: 400, fsyncs: 40, bytesRead: 600 * 16384, bytesWritten: 400 * 16384, syncedAtTheEnd: true},
		{name: "rndrw of another ratio", options: fileOptions(modeRndrw, func(o *FileIOOptions) { o.FsyncFreq, o.RWRatio = 0, 4 }), count: 4, each: 1 << 20, threads: 1, events: 1000,
			reads: 800, writes: 200, bytesRead: 800 * 16384, bytesWritten: 200 * 16384, syncedAtTheEnd: true},
		{name: "seqrd of files that are no multiple of a block", options: fileOptions(modeSeqrd, nil), count: 3, each: 40_000, threads: 2, events: 9, reads: 9, bytesRead: 120_000},
		{name: "seqrd, once and a half", options: fileOptions(modeSeqrd, nil), count: 2, each: 65536, threads: 1, events: 12, reads: 12, bytesRead: 12 * 16384},
		{name: "seqrd of merged requests", options: fileOptions(modeSeqrd, func(o *FileIOOptions) { o.MergedRequests = 3 }), count: 3, each: 65536, threads: 1, events: 6, reads: 6, bytesRead: 3 * 65536},
		{name: "seqrewr", options: fileOptions(modeSeqrewr, func(o *FileIOOptions) { o.FsyncFreq = 8 }), count: 2, each: 65536, threads: 2, events: 10,
			writes: 8, fsyncs: 2, bytesWritten: 2 * 65536, syncedAtTheEnd: true},
		{name: "seqwr", options: fileOptions(modeSeqwr, nil), count: 3, each: 40_000, threads: 2, events: 9, writes: 9, bytesWritten: 120_000, syncedAtTheEnd: true},
		{name: "seqwr that ends early", options: fileOptions(modeSeqwr, nil), count: 3, each: 65536, threads: 1, events: 5, writes: 5, bytesWritten: 5 * 16384, syncedAtTheEnd: true, sizesApart: true},
		{name: "O_SYNC and O_DSYNC", options: fileOptions(modeRndwr, func(o *FileIOOptions) { o.ExtraFlags = []string{"sync", "dsync"} }), count: 1, each: 1 << 20, threads: 1, events: 20,
			writes: 20, bytesWritten: 20 * 16384, syncedAtTheEnd: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := madeFiles(t, tt.count, tt.each)
			before := contents(t, files)
			_, out, err := run(t, FileIO(), tt.options, files, engine.Order{Clients: clients(tt.threads), Events: plan.Count(tt.events)})
			if err != nil {
				t.Fatal(err)
			}
			c := out.Counters
			got := [...]int64{c[results.CountFileReads], c[results.CountFileWrites], c[results.CountFsyncs], c[results.CountBytesRead], c[results.CountBytesWritten]}
			if want := [...]int64{tt.reads, tt.writes, tt.fsyncs, tt.bytesRead, tt.bytesWritten}; got != want || out.Events != int64(tt.events) {
				t.Errorf("reads, writes, fsyncs, bytes read and written: %v, want %v; %d events", got, want, out.Events)
			}
			if synced := c[results.CountFsyncEnd] > 0; synced != tt.syncedAtTheEnd {
				t.Errorf("synced at the end: %v", synced)
			}
			after := contents(t, files)
			if changed := after != before; changed != (tt.writes > 0) {
				t.Errorf("the files have changed: %v", changed)
			}
			for i := range tt.count {
				if info, err := os.Stat(filepath.Join(files.Dir, FileName(i))); err != nil || !tt.sizesApart && info.Size() != int64(tt.each) {
					t.Errorf("file %d: %v bytes, %v", i, info.Size(), err)
				}
			}
			if tt.sizesApart && int64(len(after)) != tt.bytesWritten {
				t.Errorf("the files have %d bytes", len(after))
			}
		})
	}
}

// contents reads all files.
func contents(t *testing.T, f *plan.Files) string {
	t.Helper()
	var all strings.Builder
	for i := range f.Count {
		b, err := os.ReadFile(filepath.Join(f.Dir, FileName(i)))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// TestRandomPlaces: every block of every file is met, at its beginning, and nothing beyond the end of a file.
func TestRandomPlaces(t *testing.T) {
	const size = 40_000
	f := newFileIO(*fileOptions(modeRndrd, nil), plan.Files{Count: 3, TotalSize: 3 * size}, false)
	c := f.Client(0, 1, rand.New(rand.NewPCG(1, 2))).(*fileClient)
	met := map[request]int{}
	for range 9000 {
		r := c.next()
		if r.operation != reading || r.file < 0 || r.file >= 3 || r.position%16384 != 0 || r.position+r.size > size || r.size < 1 {
			t.Fatalf("%+v", r)
		}
		met[r]++
	}
	if len(met) != 9 {
		t.Errorf("%d blocks were met, want 9", len(met))
	}
	for r, n := range met {
		if n < 800 || n > 1200 {
			t.Errorf("%+v was met %d times, want about 1,000", r, n)
		}
	}
}

func TestDirectIO(t *testing.T) {
	o := fileOptions(modeRndrw, func(o *FileIOOptions) { o.ExtraFlags = []string{flagDirect} })
	files := madeFiles(t, 2, 100_000) // the last, short block of each cannot be read so
	_, out, err := run(t, FileIO(), o, files, engine.Order{Clients: clients(2), Events: 100})
	if err != nil && strings.Contains(err.Error(), "takes no O_DIRECT") {
		t.Skipf("no O_DIRECT in the temporary folder: %v", err)
	}
	if err != nil || out.Events != 100 {
		t.Errorf("%v, %+v", err, out)
	}
	o.BlockSize = 1000
	if err := FileIO().Host.Check(o, files); err == nil || !strings.Contains(err.Error(), "multiple of the device's sector") {
		t.Errorf("a block of 1,000 bytes: %v", err)
	}
}

func TestFileIOErrorsSayWhatToDo(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options *FileIOOptions
		spoil   func(t *testing.T, f *plan.Files)
		want    []string
	}{
		{"folder missing", fileOptions(modeRndrd, nil), func(_ *testing.T, f *plan.Files) { f.Dir += "/nowhere" }, []string{"files: dir:", "/nowhere: no such file", "make the folder"}},
		{"folder is a file", fileOptions(modeSeqwr, nil), func(_ *testing.T, f *plan.Files) { f.Dir += "/test_file.0" }, []string{"test_file.0 is no folder"}},
		{"not prepared", fileOptions(modeRndrd, nil), func(t *testing.T, f *plan.Files) { f.Dir = t.TempDir() }, []string{"test_file.0: no such file", "step prepare"}},
		{"prepared smaller", fileOptions(modeSeqrd, nil), func(_ *testing.T, f *plan.Files) { f.TotalSize *= 2 }, []string{"test_file.0 has 65536 bytes, and 131072 are needed", "step prepare"}},
		{"writing to other people's files", fileOptions(modeRndwr, nil), unmark, []string{"not made by benchplan, which are not written to: test_file.0, test_file.1", "--force"}},
		{"making other people's files anew", fileOptions(modeSeqwr, nil), unmark, []string{"not made by benchplan, which are not written to", "--force"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := madeFiles(t, 2, 65536)
			kept := *files
			before := contents(t, files)
			tt.spoil(t, files)
			_, out, err := run(t, FileIO(), tt.options, files, engine.Order{Clients: clients(2), Events: 10})
			if err == nil || out.Stopped != results.ByError || out.Events != 0 {
				t.Fatalf("%v, %+v", err, out)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
			if contents(t, &kept) != before {
				t.Error("the files have changed")
			}
		})
	}
}

func unmark(t *testing.T, f *plan.Files) {
	t.Helper()
	if err := os.Remove(filepath.Join(f.Dir, markerName)); err != nil {
		t.Fatal(err)
	}
}

func TestReadingOtherPeoplesFiles(t *testing.T) {
	files := madeFiles(t, 2, 65536)
	unmark(t, files)
	if _, out, err := run(t, FileIO(), fileOptions(modeRndrd, nil), files, engine.Order{Clients: clients(1), Events: 10}); err != nil || out.Events != 10 {
		t.Errorf("%v, %+v", err, out)
	}
}

func TestFileThatBecomesShorter(t *testing.T) {
	files := madeFiles(t, 1, 65536)
	o := fileOptions(modeSeqrd, nil)
	w, err := FileIO().Host.New(o, files, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Open(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(files.Dir, FileName(0)), 20_000); err != nil {
		t.Fatal(err)
	}
	c := w.Client(0, 1, rand.New(rand.NewPCG(1, 2)))
	_, first := c.Do(t.Context())
	_, second := c.Do(t.Context())
	if first != nil || second == nil || !strings.Contains(second.Error(), "read 16384 bytes at 16384") || !strings.Contains(second.Error(), "has become shorter") {
		t.Errorf("%v, %v", first, second)
	}
	if _, err := w.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFileIOOptions(t *testing.T) {
	files := &plan.Files{Count: 4, TotalSize: 1 << 20, Dir: "."}
	for name, tt := range map[string]struct {
		options *FileIOOptions
		files   *plan.Files
		want    string
	}{
		"fine":                {fileOptions(modeRndrw, nil), files, ""},
		"no files":            {fileOptions(modeRndrw, nil), nil, "add `files:"},
		"async":               {fileOptions(modeRndrw, func(o *FileIOOptions) { o.IOMode = "async" }), files, "file_io_mode async is not offered"},
		"mmap":                {fileOptions(modeRndrw, func(o *FileIOOptions) { o.IOMode = "mmap" }), files, "file_io_mode mmap is not offered"},
		"files below a block": {fileOptions(modeRndrw, nil), &plan.Files{Count: 128, TotalSize: 1 << 20}, "8192 bytes each, less than a block of 16384"},
		"huge requests":       {fileOptions(modeSeqrd, func(o *FileIOOptions) { o.MergedRequests = 1_000_000 }), files, "more than 1G"},
	} {
		if err := FileIO().Host.Check(tt.options, tt.files); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEventsAllocateNothing(t *testing.T) {
	files := madeFiles(t, 2, 65536)
	for _, tt := range []struct {
		d       engine.Definition
		options any
	}{
		{CPU(), &CPUOptions{MaxPrime: 100}}, {Threads(), &ThreadsOptions{Yields: 5, Locks: 2}}, {Mutex(), &MutexOptions{Number: 4, Locks: 5, Loops: 5}},
		{Memory(), &MemoryOptions{1024, 1 << 40, "global", "write", "rnd"}}, {FileIO(), fileOptions(modeRndrw, nil)},
	} {
		w, err := tt.d.Host.New(tt.options, files, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Open(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		c := w.Client(0, 1, rand.New(rand.NewPCG(1, 2)))
		ctx := t.Context()
		if n := testing.AllocsPerRun(100, func() {
			if _, err := c.Do(ctx); err != nil {
				t.Error(err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations an event", tt.d.Name, n)
		}
		if _, err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
