//go:build amd64 || arm64 || loong64 || ppc64le || riscv64

package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestTheAgendaIsInOrder(t *testing.T) {
	var a agenda
	if a.next() != never {
		t.Errorf("nobody waits, and the next is due at %d", a.next())
	}
	random := rand.New(rand.NewPCG(1, 2))
	var want, got []int64
	for range 1000 {
		due := random.Int64N(500)
		want = append(want, due)
		a.add(&member{runner: &runner{session: session{turn: turn{due: due}}}})
	}
	for len(a) > 0 {
		next := a.next()
		if got = append(got, a.take().session.turn.due); got[len(got)-1] != next {
			t.Fatalf("%d was next, and %d was taken", next, got[len(got)-1])
		}
	}
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("taken in the order %v", got)
	}
}

// TestTheAlarmRingsInTime, and lets nobody wait who would wake up too late.
func TestTheAlarmRingsInTime(t *testing.T) {
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(a.fd)
	c := &clock{base: time.Now()}
	for _, lead := range []lead{0, mostLead} {
		a.lead = lead
		due := c.now() + 5*ms
		if timeout := a.patience(due, c.now()); timeout != forever {
			t.Fatalf("epoll may wait for %d ms only", timeout)
		}
		poll := []unix.PollFd{{Fd: int32(a.fd), Events: unix.POLLIN}}
		for n := 0; n == 0; {
			if n, err = unix.Poll(poll, 10_000); err != nil && err != unix.EINTR || err == nil && n == 0 {
				t.Fatalf("it did not ring in ten seconds: %v", err)
			}
		}
		now := c.now()
		if now < due-int64(lead) {
			t.Errorf("it rang %s before the event is due, with a lead of %s", time.Duration(due-now), time.Duration(lead))
		}
		a.ring(now, true)
		if a.patience(due, now) != 0 {
			t.Error("once it has rung there is time to wait again")
		}
	}
	if a.patience(1000*ms, 1000*ms-int64(a.lead)) != 0 {
		t.Error("it lets epoll wait although that would be late")
	}
	if a.patience(never, 0) != forever {
		t.Error("what is never due needs to be waited for")
	}
}

func TestTheLeadIsWhatIsUsuallyOverslept(t *testing.T) {
	var l lead
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		l.learn(30_000 + random.Int64N(8_000) - 4_000 - int64(l)) // a thread wakes up 30 ± 4 µs late
	}
	if l < 24_000 || l > 34_000 {
		t.Errorf("a lead of %s", time.Duration(l))
	}
	for range 100 {
		l.learn(1e9)
	}
	if l != mostLead {
		t.Errorf("a lead of %s", time.Duration(l))
	}
}
