package engine

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchplan/plan"
	"benchplan/results"
)

// idle is a driver whose server answers at once: what is left is the engine's own work.
type idle struct{}

func (idle) Connect(ctx context.Context) (driver.Conn, error) {
	ctx.Value(wireKey{}).(*wire).attach(io.NopCloser(nil))
	return idle{}, nil
}
func (idle) Driver() driver.Driver                                       { return nil }
func (idle) Prepare(string) (driver.Stmt, error)                         { return idle{}, nil }
func (idle) PrepareContext(context.Context, string) (driver.Stmt, error) { return idle{}, nil }
func (idle) Close() error                                                { return nil }
func (idle) Begin() (driver.Tx, error)                                   { return nil, driver.ErrSkip }
func (idle) NumInput() int                                               { return -1 }
func (idle) Columns() []string                                           { return nil }
func (idle) Next([]driver.Value) error                                   { return io.EOF }
func (idle) Exec([]driver.Value) (driver.Result, error)                  { return idle{}, nil }
func (idle) Query([]driver.Value) (driver.Rows, error)                   { return idle{}, nil }
func (idle) LastInsertId() (int64, error)                                { return 0, nil }
func (idle) RowsAffected() (int64, error)                                { return 1, nil }
func (idle) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return idle{}, nil
}
func (idle) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return idle{}, nil
}

// lookups is a workload of one statement with an integer and a text.
type lookups struct{ class results.Class }

func (lookups) Templates(string) []string { return []string{"SELECT c FROM t WHERE id=? AND c<>?"} }

func (l lookups) Client(_ string, _, _ int, random *rand.Rand) Client {
	return &lookup{class: l.class, random: random, text: func(dst []byte) []byte { return append(dst, "a text of some length"...) }}
}

type lookup struct {
	class  results.Class
	random *rand.Rand
	text   func([]byte) []byte
}

func (l *lookup) Next(s *Statement) {
	s.Class, s.Last = l.class, true
	s.Args.Int(l.random.Int64N(1_000_000))
	s.Args.Text(l.text)
}
func (l *lookup) Done(int64, int64)          {}
func (l *lookup) Undo(*Statement, bool) bool { return false }

// BenchmarkStatement measures the engine's own cost of a statement, all clients on GOMAXPROCS processors.
func BenchmarkStatement(b *testing.B) {
	for _, mode := range []PSMode{PSDisable, PSAuto} {
		for _, class := range []results.Class{results.Read, results.Write} {
			b.Run(string(mode)+"/"+string(class), func(b *testing.B) {
				r := newRun(idle{}, lookups{class}, Order{Clients: []RoleClients{{Count: 1}}, Events: 1, PSMode: mode})
				if err := r.connect(b.Context()); err != nil {
					b.Fatal(err)
				}
				r.cell.budget = int64(b.N)
				r.clock.base = time.Now()
				b.ReportAllocs()
				b.ResetTimer()
				r.runners[0].drive(b.Context())
			})
		}
	}
}

// BenchmarkTurn measures the engine's own cost of a statement in an open loop that never has to wait: against
// BenchmarkStatement it is what the schedule costs.
func BenchmarkTurn(b *testing.B) {
	for _, arrivals := range []Arrivals{Constant, Poisson} {
		b.Run(string(arrivals), func(b *testing.B) {
			o := Order{Clients: []RoleClients{{Count: 1}}, Events: plan.Count(b.N), PSMode: PSDisable, Rate: &Rate{From: mostRate, Arrivals: arrivals}}
			r := newRun(idle{}, lookups{results.Read}, o)
			if err := r.connect(b.Context()); err != nil {
				b.Fatal(err)
			}
			r.clock.base = time.Now().Add(-time.Duration(b.N) * 2 * time.Microsecond) // all are due
			b.ReportAllocs()
			b.ResetTimer()
			r.runners[0].drive(b.Context())
		})
	}
}

// BenchmarkPace tells how late events are begun on this machine while clients are free, and what processor time waiting takes, where
// each client has a goroutine: an operation is an event, so ns/op is the distance at which they come.
func BenchmarkPace(b *testing.B) {
	for _, rate := range []float64{100, 1000, 10_000, 20_000} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			o := Order{Clients: []RoleClients{{Count: 64}}, Events: plan.Count(b.N), PSMode: PSDisable, Rate: &Rate{From: rate}}
			r := newRun(idle{}, lookups{results.Read}, o)
			if err := r.connect(b.Context()); err != nil {
				b.Fatal(err)
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
		})
	}
}

func TestTheEngineAllocatesNothingPerStatement(t *testing.T) {
	for _, mode := range []PSMode{PSDisable, PSAuto} {
		r := newRun(idle{}, lookups{results.Read}, Order{Clients: []RoleClients{{Count: 1}}, Events: 1, PSMode: mode})
		if err := r.connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.clock.base = time.Now()
		client := r.runners[0]
		n := testing.AllocsPerRun(10, func() {
			r.cell.budget = 1000
			r.cell.tickets.Store(0)
			client.drive(t.Context())
		})
		if got := r.tally.shards[0].roles[0].TotalCount(); got != 11_000 {
			t.Fatalf("%d events", got)
		}
		// A call has a few; its thousand statements have none.
		if n > 10 {
			t.Errorf("%s: %v allocations in 1000 statements", mode, n)
		}
	}
}

// TestBoxes: each argument is the one that was put last, of its own type.
func TestBoxes(t *testing.T) {
	b := newBox()
	for _, tt := range []struct {
		arg  Arg
		want driver.Value
	}{
		{Arg{Kind: Int, Int: -1 << 40}, int64(-1 << 40)},
		{Arg{Kind: Int, Int: 7}, int64(7)},
		{Arg{Kind: Uint, Int: -1}, uint64(math.MaxUint64)},
		{Arg{Kind: Bytes, Bytes: []byte("text")}, []byte("text")},
		{Arg{Kind: Bytes}, []byte{}},
		{Arg{Kind: Int, Int: 8}, int64(8)},
	} {
		if diff := cmp.Diff(tt.want, b.put(&tt.arg)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.arg, diff)
		}
	}
}
