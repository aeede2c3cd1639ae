//go:build amd64 || arm64 || loong64 || ppc64le || riscv64

package engine

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"benchplan/plan"
	"benchplan/results"
)

// pair gives a socket as the engine has it, whose other end answers every packet at once with the same; what is left is the engine's
// own work, and the kernel's.
func pair(t testing.TB, peers *sync.WaitGroup, answer []byte) *socket {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fds[1]), "peer")
	defer file.Close()
	peer, err := net.FileConn(file)
	if err != nil {
		t.Fatal(err)
	}
	peers.Go(func() {
		defer peer.Close()
		for buf := make([]byte, 4096); ; {
			// A command is one packet, and small.
			n, err := io.ReadAtLeast(peer, buf, 5)
			if err != nil || n == 5 {
				return
			}
			if _, err := peer.Write(answer); err != nil {
				return
			}
		}
	})
	s := &socket{descriptor: &descriptor{fd: fds[0]}, limit: 1 << 20, statements: []preparedStatement{{id: 1, params: 2}}}
	s.answer.Capabilities.DeprecateEOF = true
	return s
}

// oneRow is the answer of a row with one column.
var oneRow = []byte("\x01\x00\x00\x01\x01" + "\x17\x00\x00\x02\x03def\x00\x00\x00\x01c\x00\x0c\x21\x00\x01\x00\x00\x00\xfd\x00\x00\x00\x00\x00" +
	"\x0c\x00\x00\x03\x00\x00\x09some text" + "\x07\x00\x00\x04\xfe\x00\x00\x02\x00\x00\x00")

// loopOver gives the drivers of a cell of so many clients and events.
func loopOver(t testing.TB, peers *sync.WaitGroup, clients int, mode PSMode, class results.Class, events int64) (*run, []driving) {
	t.Helper()
	r := newRun(idle{}, lookups{class}, Order{Clients: []RoleClients{{Count: clients}}, Events: 1, PSMode: mode, IO: IODriver})
	r.cell.budget = events
	for _, c := range r.connections {
		c.socket = pair(t, peers, oneRow)
	}
	drivers, err := r.newDrivers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.clock.base = time.Now()
	return r, drivers
}

func runAll(drivers []driving) {
	var all sync.WaitGroup
	for _, d := range drivers {
		all.Go(d.drive)
	}
	all.Wait()
}

// BenchmarkLoop measures the engine's own cost of a statement and of three calls of the kernel, and that of a peer.
func BenchmarkLoop(b *testing.B) {
	for _, clients := range []int{1, 8, 64} {
		for _, mode := range []PSMode{PSDisable, PSAuto} {
			b.Run(fmt.Sprintf("%s/%d", mode, clients), func(b *testing.B) {
				var peers sync.WaitGroup
				_, drivers := loopOver(b, &peers, clients, mode, results.Read, int64(b.N))
				b.ReportAllocs()
				b.ResetTimer()
				runAll(drivers)
				b.StopTimer()
				peers.Wait()
			})
		}
	}
}

// BenchmarkPaceOfTheLoop is BenchmarkPace with a loop. Statements go to a peer and back.
func BenchmarkPaceOfTheLoop(b *testing.B) {
	for _, rate := range []float64{100, 1000, 10_000, 20_000} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			var peers sync.WaitGroup
			o := Order{Clients: []RoleClients{{Count: 64}}, Events: plan.Count(b.N), PSMode: PSDisable, IO: IODriver, Rate: &Rate{From: rate}}
			r := newRun(idle{}, lookups{results.Read}, o)
			for _, c := range r.connections {
				c.socket = pair(b, &peers, oneRow)
			}
			before := processorTime(b)
			b.ResetTimer()
			out, err := r.measure(b.Context(), nil, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			took := processorTime(b) - before
			b.ReportMetric(out.Schedule.Overslept.P50*1000, "late-p50-µs")
			b.ReportMetric(out.Schedule.Overslept.P99*1000, "late-p99-µs")
			b.ReportMetric(float64(out.Schedule.Late)/float64(b.N), "busy/op")
			b.ReportMetric(float64(took.Microseconds())/float64(b.N), "cpu-µs/op")
			peers.Wait()
		})
	}
}

func TestTheLoopAllocatesNothingPerStatement(t *testing.T) {
	for _, clients := range []int{1, 10} {
		for _, mode := range []PSMode{PSDisable, PSAuto} {
			const few, many = 500, 2_500
			var allocated [2]float64
			for i, events := range []int64{few, many} {
				allocated[i] = testing.AllocsPerRun(1, func() {
					var peers sync.WaitGroup
					r, drivers := loopOver(t, &peers, clients, mode, results.Read, events)
					runAll(drivers)
					peers.Wait()
					var rows, count int64
					for _, s := range r.tally.shards {
						rows, count = rows+s.classes[0].rows, count+s.classes[0].latency.TotalCount()
					}
					if rows != events || count != events {
						t.Fatalf("%d rows of %d statements, want %d", rows, count, events)
					}
				})
			}
			// What differs is the thousands of statements; the runtime itself allocates now and then.
			if more := allocated[1] - allocated[0]; more > (many-few)/50 {
				t.Errorf("%d clients, %s: %v allocations in %d statements", clients, mode, more, many-few)
			}
		}
	}
}

func TestLoopsAreFew(t *testing.T) {
	for _, tt := range []struct{ clients, processors, want int }{
		{2, 2, 1}, {64, 1, 1}, {64, 2, 1}, {1000, 2, 1}, {64, 4, 2}, {8, 16, 1}, {16, 16, 2}, {1000, 16, 8},
	} {
		if got := loopsFor(tt.clients, tt.processors); got != tt.want {
			t.Errorf("%d clients on %d processors: %d loops, want %d", tt.clients, tt.processors, got, tt.want)
		}
	}
}

// TestAServerThatTalksUnasked: what it says before it closes the connection is the reason of the next statement's error.
func TestAServerThatTalksUnasked(t *testing.T) {
	const killed = "\x17\x00\x00\x00\xff\x87\x07#70100Connection was killed"
	var peers sync.WaitGroup
	s := pair(t, &peers, append([]byte{7, 0, 0, 1, 0, 1, 0, 2, 0, 0, 0, byte(len(killed) - 4)}, killed[1:]...))
	b := newBuffers()
	st := &Statement{Template: Plain, Text: []byte("DO 1"), Class: results.Write}
	if _, affected, err := s.execute(b, nil, st); affected != 1 || err != nil {
		t.Fatalf("%d rows changed, %v", affected, err)
	}
	_, _, err := s.execute(b, nil, st)
	if f := classify(err); !f.lost {
		t.Errorf("not lost: %v", err)
	}
	s.descriptor.free()
	peers.Wait()
}

// TestADescriptorThatIsFreeIsNobodys: its number may be another socket's by the time that somebody else wants to shut it down.
func TestADescriptorThatIsFreeIsNobodys(t *testing.T) {
	var pairs [2][2]int
	for i := range pairs {
		var err error
		if pairs[i], err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
			t.Fatal(err)
		}
	}
	d := &descriptor{fd: pairs[0][0]}
	d.free()
	d.fd = pairs[1][0] // as if the kernel had given the number to this one
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if n, err := unix.Write(pairs[1][0], []byte("x")); n != 1 || err != nil {
		t.Errorf("another's socket was shut down: %v", err)
	}
	for _, fd := range []int{pairs[0][1], pairs[1][0], pairs[1][1]} {
		_ = unix.Close(fd)
	}
}

// TestASocketThatTheKernelHasNoRoomFor ends the cell, and no client waits for an answer that would not be heard.
func TestASocketThatTheKernelHasNoRoomFor(t *testing.T) {
	for _, rate := range []*Rate{nil, {From: 1000}} {
		var peers sync.WaitGroup
		r := newRun(idle{}, lookups{results.Read}, Order{Clients: []RoleClients{{Count: 3}}, Events: 100, PSMode: PSDisable, IO: IODriver, Rate: rate})
		for _, c := range r.connections {
			c.socket = pair(t, &peers, oneRow)
		}
		l, err := newLoop(r, t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, client := range r.runners {
			l.members = append(l.members, &member{runner: client, line: r.connections[i], index: i})
		}
		// A socket that is there already is refused as one too many is.
		if err := l.control(unix.EPOLL_CTL_ADD, r.connections[1].socket.descriptor.fd, 1, 0); err != nil {
			t.Fatal(err)
		}
		r.clock.base = time.Now()
		l.drive()
		peers.Wait()
		if !errors.Is(r.err, unix.EEXIST) || !r.runners[1].session.stranded {
			t.Errorf("rate %v: error %v", rate, r.err)
		}
	}
}

// TestAThreadThatWaitsHoldsNobodyUp: the runtime stops it as often as it has to, and an answer or the end of the connection wakes it.
func TestAThreadThatWaitsHoldsNobodyUp(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		for _, answered := range []bool{true, false} {
			address := "127.0.0.1:0"
			if network == "unix" {
				address = filepath.Join(t.TempDir(), "s")
			}
			listener, err := net.Listen(network, address)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := net.Dial(network, listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			peer, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			d, err := takeOver(conn)
			if err != nil {
				t.Fatal(err)
			}
			var waiting sync.WaitGroup
			var n int
			var failed error
			waiting.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				n, failed = d.receive(make([]byte, 10), true)
			})
			for range 20 { // the first may come before it waits
				runtime.GC()
				time.Sleep(time.Millisecond)
			}
			if answered {
				_, err = peer.Write([]byte("here"))
			} else {
				err = d.Close()
			}
			waiting.Wait()
			switch {
			case err != nil:
				t.Error(err)
			case answered && (n != 4 || failed != nil), !answered && !errors.Is(failed, errHungUp):
				t.Errorf("%s, answered: %t: %d bytes, %v", network, answered, n, failed)
			}
			d.free()
			_, _ = peer.Close(), listener.Close()
		}
	}
}
