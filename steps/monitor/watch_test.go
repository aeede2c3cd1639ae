//go:build linux

package monitor

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchplan/results"
)

// cpuTime is what this process has taken, in seconds, as the kernel tells it by another way than /proc.
func cpuTime(t *testing.T) float64 {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// burn takes about so much CPU time.
func burn(t *testing.T, seconds float64) {
	t.Helper()
	for until := cpuTime(t) + seconds; cpuTime(t) < until; {
		for range 1_000_000 {
		}
	}
}

// noticed tells when something was read of a machine: once when the watch begins, then for each sample.
type noticed struct {
	source
	read chan struct{}
}

func (n noticed) fetch(ctx context.Context, files ...string) (string, func(), error) {
	root, release, err := n.source.fetch(ctx, files...)
	if err != nil {
		n.read <- struct{}{}
		return "", nil, err
	}
	return root, func() { release(); n.read <- struct{}{} }, nil
}

// notice gives the machine, and what waits until it was read once more.
func notice(m *Machine) (noticing *Machine, read func()) {
	source := noticed{source: m.source, read: make(chan struct{}, 100)}
	return &Machine{name: m.name, here: m.here, source: source}, func() { <-source.read }
}

func TestTheLoadOfThisMachineShows(t *testing.T) {
	noLeak(t)
	ctx, cancel := context.WithCancel(t.Context())
	here, read := notice(Local())
	w := NewWatch(ctx, Config{Machines: []Watched{{Machine: here, Role: results.Generator, Server: true, Processes: map[string]int{"parent": os.Getppid(), "none": 1 << 30}}}})
	read()
	outer := cpuTime(t)
	began := time.Now()
	w.Begin()
	read()
	inner := cpuTime(t)
	burn(t, 0.7)
	w.Second()
	read()
	cancel() // an interrupt: the figures are kept
	burn(t, 0.5)
	for range 3 {
		runtime.GC()
	}
	w.Second()
	innerTook := cpuTime(t) - inner
	w.End()
	machines, status, problems := w.Finish()
	lasted, outerTook := time.Since(began).Seconds(), cpuTime(t)-outer

	if len(problems) > 0 || status != nil || len(machines) != 1 {
		t.Fatalf("%d machines, status %v, problems %v", len(machines), status, problems)
	}
	m := machines[0]
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if m.Role != results.Generator || !m.Server || m.Name != name {
		t.Errorf("the machine is %+v", m)
	}
	p, ok := m.Processes["benchplan"]
	// A clock tick may be missed at each end, of each of the two kinds.
	if took := p.User + p.System; !ok || p.PID != os.Getpid() || took < innerTook-0.05 || took > outerTook+0.05 {
		t.Errorf("benchplan took %.2f s of CPU, which should be within %.2f and %.2f", took, innerTook, outerTook)
	}
	if p.GCs < 3 || p.GCPause <= 0 || p.GCPause > outerTook || p.Memory < 1<<20 {
		t.Errorf("of benchplan: %+v", p)
	}
	if _, ok := m.Processes["parent"]; !ok || len(m.Processes) != 2 {
		t.Errorf("the processes are %v", m.Processes)
	}
	u := m.Usage
	if sum := u.User + u.System + u.IOWait + u.Steal + u.Idle; sum < 0.999 || sum > 1.001 {
		t.Errorf("the shares add up to %v", sum)
	}
	if u.Elapsed <= 0 || u.Elapsed > lasted+0.05 || u.CPUs < 1 || u.ContextSwitches <= 0 || u.Free <= 0 || u.Cached <= 0 {
		t.Errorf("the usage is %+v", u)
	}
	// What this process took is in the machine's share. It is counted by ticks, which are a sample.
	if busy := (u.User + u.System) * float64(u.CPUs) * u.Elapsed; busy < 0.7*innerTook {
		t.Errorf("the machine was busy for %.2f s of CPU, and this process alone took %.2f", busy, innerTook)
	}
	if len(m.Seconds) != 2 {
		t.Fatalf("there are %d seconds", len(m.Seconds))
	}
	first, second := m.Seconds[0], m.Seconds[1]
	if first.At < 0 || second.At <= first.At || second.At > lasted || first.ContextSwitches+second.ContextSwitches > u.ContextSwitches {
		t.Errorf("the seconds are %+v and %+v of %+v", first, second, u)
	}
}

func TestBytesWrittenShow(t *testing.T) {
	noLeak(t)
	folder, err := os.MkdirTemp(".", "testdata-written-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	host, err := Local().Identity(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	disk, _, _ := strings.Cut(host.Disk, " ")
	devices := readDevices("/")
	if !devices.disks[disk] {
		t.Logf("this folder is on no disk of its own (%s): only that nothing is negative is seen", host.Disk)
	}
	here, read := notice(Local())
	w := NewWatch(t.Context(), Config{Machines: []Watched{{Machine: here, Role: results.Generator}}})
	read()
	w.Begin()
	read()
	const size = 8 << 20
	file, err := os.Create(filepath.Join(folder, "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := file.Sync(); err != nil {
		t.Fatal(err)
	}
	w.End()
	machines, _, problems := w.Finish()
	if len(machines) != 1 || len(problems) > 0 {
		t.Fatal(machines, problems)
	}
	u := machines[0].Usage
	if devices.disks[disk] && (u.BytesWritten < size || u.Writes < 1) || u.BytesWritten < 0 || u.Reads < 0 || u.BytesRead < 0 {
		t.Errorf("%d bytes were written to %s, and the usage is %+v", size, disk, u)
	}
}

func TestNothingIsReadOfACellThatDidNotBegin(t *testing.T) {
	noLeak(t)
	for name, moments := range map[string]func(*Watch){
		"nothing":     func(*Watch) {},
		"the end":     func(w *Watch) { w.End() },
		"the warm-up": func(w *Watch) { w.Second(); w.Second(); w.End() },
	} {
		t.Run(name, func(t *testing.T) {
			w := NewWatch(t.Context(), Config{Machines: []Watched{{Machine: Local(), Role: results.Generator}}})
			moments(w)
			if machines, status, problems := w.Finish(); machines != nil || status != nil || problems != nil {
				t.Error(machines, status, problems)
			}
		})
	}
	if machines, status, problems := NewWatch(t.Context(), Config{}).Finish(); machines != nil || status != nil || problems != nil {
		t.Error("of nothing:", machines, status, problems)
	}
}

func TestACellWithoutAnEndIsRead(t *testing.T) {
	noLeak(t)
	here, read := notice(Local())
	w := NewWatch(t.Context(), Config{Machines: []Watched{{Machine: here, Role: results.ServerMachine, Server: true}}})
	read()
	w.Begin()
	read()
	time.Sleep(20 * time.Millisecond) // the machine's clock counts hundredths
	machines, _, problems := w.Finish()
	if len(machines) != 1 || len(problems) > 0 || machines[0].Usage.Elapsed <= 0 || len(machines[0].Processes) != 0 {
		t.Error(machines, problems)
	}
}

// hung is a machine that does not answer any more.
type hung struct{ local }

func (hung) fetch(ctx context.Context, _ ...string) (string, func(), error) {
	<-ctx.Done()
	return "", nil, ctx.Err()
}

// elsewhere is a machine of another system, as it looks over ssh.
type elsewhere struct {
	local
	folder string
}

func (elsewhere) platform(context.Context) (string, error) { return "freebsd/amd64", nil }

func (e elsewhere) fetch(context.Context, ...string) (string, func(), error) {
	return e.folder, func() {}, nil
}

func TestMachinesThatCannotBeReadDoNotHinderOthers(t *testing.T) {
	noLeak(t)
	here, read := notice(Local())
	w := NewWatch(t.Context(), Config{Machines: []Watched{
		{Machine: &Machine{name: "machine hung", source: hung{}}, Role: results.ServerMachine},
		{Machine: &Machine{name: "machine bsd", source: elsewhere{folder: t.TempDir()}}, Role: results.ServerMachine},
		{Machine: here, Role: results.Generator},
	}})
	read()
	w.Begin()
	read()
	w.Second()
	read()
	began := time.Now()
	machines, _, problems := w.Finish()
	if took := time.Since(began); took > finishLimit+5*time.Second {
		t.Errorf("Finish took %v", took)
	}
	if len(machines) != 1 || machines[0].Role != results.Generator {
		t.Errorf("the machines are %+v", machines)
	}
	if len(problems) != 2 || !strings.Contains(problems[0].Error(), "machine hung") || !strings.Contains(problems[1].Error(), "freebsd/amd64") ||
		!strings.Contains(problems[1].Error(), "Linux only") {
		t.Errorf("the problems are %v", problems)
	}
}

func TestFreeSpaceIsOfTheFolderThatExists(t *testing.T) {
	folder := t.TempDir()
	m := Local()
	var st syscall.Statfs_t
	// Others write to the disk at the same time: one of several looks has to find it unchanged.
	for range 50 {
		if err := syscall.Statfs(folder, &st); err != nil {
			t.Fatal(err)
		}
		got, err := m.Free(t.Context(), filepath.Join(folder, "not", "yet"))
		if err != nil {
			t.Fatal(err)
		}
		if got == int64(st.Bavail)*st.Frsize {
			return
		}
	}
	t.Error("the free space is never that of the folder above")
}

func TestIdentityOfThisMachine(t *testing.T) {
	h, err := Local().Identity(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if h.Name != name || h.OS != runtime.GOOS+"/"+runtime.GOARCH || h.Kernel == "" || h.CPU == "" || h.CPUs < 1 || h.Memory < 1<<26 || h.Disk != "" || h.GOMAXPROCS != 0 {
		t.Errorf("%+v", h)
	}
}

// slow is a machine that takes a while to be reached.
type slow struct {
	source
	reached chan struct{}
}

func (s slow) ready(ctx context.Context) error {
	select {
	case <-s.reached:
		return s.source.ready(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestAWatchIsReadyOnceItsMachinesAreReached: what begins before that has no figures of its beginning.
func TestAWatchIsReadyOnceItsMachinesAreReached(t *testing.T) {
	noLeak(t)
	reached := make(chan struct{})
	here, hereRead := notice(Local())
	far, farRead := notice(&Machine{name: "far", source: slow{source: Local().source, reached: reached}})
	w := NewWatch(t.Context(), Config{Machines: []Watched{{Machine: here, Role: results.Generator}, {Machine: far, Role: results.ServerMachine}}})
	hereRead()
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		w.Ready(t.Context())
	}()
	select {
	case <-ready:
		t.Error("it is ready, and one machine was not reached")
	case <-time.After(50 * time.Millisecond):
	}
	close(reached)
	<-ready
	farRead()
	w.Begin()
	hereRead()
	farRead()
	w.Second()
	w.End()
	machines, _, problems := w.Finish()
	if len(machines) != 2 || len(problems) > 0 {
		t.Errorf("%d machines, problems %v", len(machines), problems)
	}
	for _, m := range machines {
		if m.Usage.At < 0 || m.Usage.At > 0.5 {
			t.Errorf("the figures of the %s begin at %v", m.Role, m.Usage.At)
		}
	}
	// One that cannot be reached does not hold up the cell.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w = NewWatch(t.Context(), Config{Machines: []Watched{{Machine: &Machine{name: "away", source: slow{source: Local().source}}, Role: results.ServerMachine}}})
	w.Ready(ctx)
	w.cancel()
	w.Finish()
}
