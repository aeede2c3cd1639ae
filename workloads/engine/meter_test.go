package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
)

// logbook is a meter that writes down how it is called.
type logbook struct {
	calls strings.Builder
	began time.Time
	ended time.Time
}

func (l *logbook) Begin()  { l.calls.WriteString("B"); l.began = time.Now() }
func (l *logbook) Second() { l.calls.WriteString("s") }
func (l *logbook) End()    { l.calls.WriteString("E"); l.ended = time.Now() }

func TestTheMeterIsReadBesideTheLoad(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, tt := range []struct {
		name      string
		o         engine.Order
		sleep     string
		interrupt time.Duration
		begins    bool
	}{
		{"without a warm-up", engine.Order{Duration: 5 * second / 2}, "0.01", 0, true},
		{"a warm-up", engine.Order{Duration: 3 * second / 2, Warmup: 6 * second / 5}, "0.01", 0, true},
		{"events under way at the end", engine.Order{Duration: second}, "2", 0, true},
		{"events", engine.Order{Events: 30}, "0.1", 0, true},
		{"events, a rate and a warm-up", engine.Order{Events: 30, Rate: rate(20), Warmup: second}, "0", 0, true},
		{"an interrupt", engine.Order{Duration: 60 * second}, "0.01", 1300 * time.Millisecond, true},
		{"an interrupt in the warm-up", engine.Order{Duration: 60 * second, Warmup: 60 * second}, "0.01", 1300 * time.Millisecond, false},
		{"an error", engine.Order{Duration: 60 * second}, "no number", 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := testdb.Shared(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if tt.interrupt > 0 {
				defer time.AfterFunc(tt.interrupt, func() { cancel(broken) }).Stop()
			}
			tt.o.Clients = clients(2)
			meter := new(logbook)
			out, err := engine.Run(ctx, d.Connector(), sleeps(tt.sleep), tt.o, nil, meter)
			returned := time.Now()
			if (err != nil) != (out.Stopped == results.ByError || out.Stopped == results.ByInterrupt) {
				t.Fatalf("stopped by %s: %v", out.Stopped, err)
			}
			want := "B" + strings.Repeat("s", len(out.Series)) + "E"
			if !tt.begins {
				want = "E"
			}
			if got := meter.calls.String(); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if tt.begins && meter.ended.Sub(meter.began).Seconds() < out.Elapsed-0.5 {
				t.Errorf("from beginning to end it was %s, elapsed %v s", meter.ended.Sub(meter.began), out.Elapsed)
			}
			if out.Unfinished > 0 && tt.sleep == "2" && returned.Sub(meter.ended) < 500*time.Millisecond {
				t.Error("it was told the end only after the events under way had been waited for")
			}
		})
	}
}
