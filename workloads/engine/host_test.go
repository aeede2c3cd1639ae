package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
)

// calls is a host workload for tests: every event is one and the same call.
type calls struct {
	do     func(ctx context.Context, index int) error
	open   error
	close  error
	done   []int64 // events of each client
	opened atomic.Int64
	closed atomic.Int64
}

func (c *calls) Counters() []string { return []string{"ones", "twos"} }

func (c *calls) Open(_ context.Context, clients int) error {
	c.opened.Add(1)
	c.done = make([]int64, clients)
	return c.open
}

func (c *calls) Close(context.Context) (map[string]int64, error) {
	c.closed.Add(1)
	return map[string]int64{"at_the_end": 7}, c.close
}

func (c *calls) Client(index, _ int, _ *rand.Rand) engine.HostClient { return call{c, index} }

type call struct {
	*calls
	index int
}

func (c call) Do(ctx context.Context) (result engine.HostResult, err error) {
	if c.do != nil {
		if err := c.do(ctx, c.index); err != nil {
			return result, err
		}
	}
	c.done[c.index]++
	result.Counts[0], result.Counts[1] = 1, 2
	return result, nil
}

func pause(d time.Duration) func(context.Context, int) error {
	return func(context.Context, int) error {
		time.Sleep(d)
		return nil
	}
}

func TestHostEventsAreExact(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	w := &calls{}
	out, err := engine.RunHost(t.Context(), w, engine.Order{Workload: "w", Clients: clients(5), Events: 10_000}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Events != 10_000 || out.Stopped != results.ByEvents || out.Clients != 5 || len(out.Statements) != 0 {
		t.Errorf("%+v", out)
	}
	if c := out.Counters; c["ones"] != 10_000 || c["twos"] != 20_000 || c["at_the_end"] != 7 {
		t.Errorf("counters %v", c)
	}
	var series int64
	for _, s := range out.Series {
		series += s.Events
	}
	if series != 10_000 || out.Roles[0].Events != 10_000 || out.Histograms["events"].TotalCount() != 10_000 {
		t.Errorf("the series has %d events, the role %d", series, out.Roles[0].Events)
	}
	if got := runtime.GOMAXPROCS(0); got != before {
		t.Errorf("GOMAXPROCS was %d and is %d", before, got)
	}
	if w.opened.Load() != 1 || w.closed.Load() != 1 {
		t.Errorf("opened %d times, closed %d times", w.opened.Load(), w.closed.Load())
	}
}

func TestEachHostClientHasItsEvents(t *testing.T) {
	w := &calls{do: func(_ context.Context, index int) error {
		time.Sleep(time.Duration(index) * 5 * time.Millisecond)
		return nil
	}}
	out, err := engine.RunHost(t.Context(), w, engine.Order{Workload: "w", Clients: clients(4), EventsEach: 3}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Events != 12 || out.Stopped != results.ByEvents || out.Unfinished != 0 {
		t.Errorf("%+v", out)
	}
	for i, n := range w.done {
		if n != 3 {
			t.Errorf("client %d did %d events", i, n)
		}
	}
}

func TestHostWarmupIsNotCounted(t *testing.T) {
	w := &calls{do: pause(2 * time.Millisecond)}
	var warm bool
	o := engine.Order{Workload: "w", Clients: clients(2), Warmup: plan.Duration(1100 * time.Millisecond), Events: 100}
	out, err := engine.RunHost(t.Context(), w, o, func(s engine.Snapshot) { warm = warm || s.Warmup && s.TPS > 0 }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Events != 100 || out.Counters["ones"] != 100 || out.Warmup != 1.1 || !warm {
		t.Errorf("%d events, counters %v, warm-up %v, seen %v", out.Events, out.Counters, out.Warmup, warm)
	}
	if did := w.done[0] + w.done[1]; did <= 100 {
		t.Errorf("%d events in all, the warm-up included", did)
	}
}

func TestHostDuration(t *testing.T) {
	w := &calls{do: pause(10 * time.Millisecond)}
	out, err := engine.RunHost(t.Context(), w, engine.Order{Workload: "w", Clients: clients(3), Duration: second / 2}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Elapsed != 0.5 || out.Stopped != results.ByDuration || out.Events == 0 || out.Counters["ones"] != out.Events || out.Latency.Min < 9 {
		t.Errorf("%+v", out)
	}
}

func TestHostInterruptKeepsWhatWasMeasured(t *testing.T) {
	w := &calls{do: pause(5 * time.Millisecond)}
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(300*time.Millisecond, func() { cancel(reason) })
	out, err := engine.RunHost(ctx, w, engine.Order{Workload: "w", Clients: clients(2), Duration: 60 * second}, nil, nil)
	if !errors.Is(err, reason) || out.Stopped != results.ByInterrupt || out.Events == 0 || out.Counters["ones"] != out.Events {
		t.Errorf("%v, %+v", err, out)
	}
	if w.closed.Load() != 1 {
		t.Error("not closed")
	}
}

// TestHostEventThatDoesNotEndIsCut when the grace period is over.
func TestHostEventThatDoesNotEndIsCut(t *testing.T) {
	w := &calls{do: func(ctx context.Context, index int) error {
		if index == 1 {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}}
	begin := time.Now()
	o := engine.Order{Workload: "w", Clients: clients(2), Duration: second / 4, Grace: second / 4}
	out, err := engine.RunHost(t.Context(), w, o, nil, nil)
	if err != nil || out.Stopped != results.ByDuration || out.Cut != 1 || out.Unfinished < 1 || out.LongestUnfinished < 400 || len(out.Errors) > 0 {
		t.Errorf("%v, %+v", err, out)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestHostErrorsStopTheCell(t *testing.T) {
	var n atomic.Int64
	full := &calls{do: func(context.Context, int) error {
		if n.Add(1) > 20 {
			return &syscallError{"write test_file.0", syscall.ENOSPC}
		}
		return nil
	}}
	out, err := engine.RunHost(t.Context(), full, engine.Order{Workload: "w", Clients: clients(1), Duration: 60 * second}, nil, nil)
	if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "workload w: client 0: write test_file.0: no space") || strings.Contains(err.Error(), "statement") {
		t.Errorf("error %v", err)
	}
	if out.Stopped != results.ByError || out.Events != 20 || find(out.Errors, int(syscall.ENOSPC)).Count != 1 || full.closed.Load() != 1 {
		t.Errorf("%+v", out)
	}

	shut := &calls{open: errors.New("no folder"), close: errors.New("nor this")}
	out, err = engine.RunHost(t.Context(), shut, engine.Order{Workload: "w", Clients: clients(1), Events: 1}, nil, nil)
	if !errors.Is(err, shut.open) || !errors.Is(err, shut.close) || out.Stopped != results.ByError || shut.closed.Load() != 1 {
		t.Errorf("%v, %+v", err, out)
	}

	late := &calls{close: errors.New("fsync: input/output error")}
	out, err = engine.RunHost(t.Context(), late, engine.Order{Workload: "w", Clients: clients(1), Events: 3}, nil, nil)
	if !errors.Is(err, late.close) || out.Stopped != results.ByError || out.Events != 3 {
		t.Errorf("%v, %+v", err, out)
	}

	if _, err := engine.RunHost(t.Context(), &calls{}, engine.Order{Workload: "w", Clients: clients(1)}, nil, nil); err == nil || !strings.Contains(err.Error(), "never end") {
		t.Errorf("an order without an end: %v", err)
	}
}

type syscallError struct {
	what string
	err  syscall.Errno
}

func (e *syscallError) Error() string { return e.what + ": " + e.err.Error() }
func (e *syscallError) Unwrap() error { return e.err }

// TestHostEventsAllocateNothing: what the engine does for an event is the same whether there are a thousand or a hundred thousand.
func TestHostEventsAllocateNothing(t *testing.T) {
	allocations := func(events plan.Count) float64 {
		return testing.AllocsPerRun(3, func() {
			if _, err := engine.RunHost(t.Context(), &calls{}, engine.Order{Workload: "w", Clients: clients(1), Events: events}, nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
	few, many := allocations(1000), allocations(100_000)
	if many-few > 200 {
		t.Errorf("%v allocations of 1,000 events, %v of 100,000", few, many)
	}
}
