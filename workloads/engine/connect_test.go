package engine_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
)

// many is a workload of many templates, of which a client uses one.
type many struct{ templates []string }

func (m many) Templates(string) []string                       { return m.templates }
func (many) Client(string, int, int, *rand.Rand) engine.Client { return first{} }

type first struct{}

func (first) Next(s *engine.Statement)          { s.Class, s.Last = results.Read, true; s.Args.Int(1) }
func (first) Done(int64, int64)                 {}
func (first) Undo(*engine.Statement, bool) bool { return false }

// readWrite makes as many templates as oltp_read_write has on four tables.
func readWrite(d *testdb.Database) many {
	var m many
	for i := range 4 {
		d.Exec(fmt.Sprintf("CREATE TABLE IF NOT EXISTS many%d (id INT PRIMARY KEY, k INT, c CHAR(120), pad CHAR(60), KEY (k))", i))
		for _, format := range []string{
			"SELECT c FROM many%d WHERE id=?", "SELECT c FROM many%d WHERE id BETWEEN ? AND ?",
			"SELECT SUM(k) FROM many%d WHERE id BETWEEN ? AND ?", "SELECT c FROM many%d WHERE id BETWEEN ? AND ? ORDER BY c",
			"SELECT DISTINCT c FROM many%d WHERE id BETWEEN ? AND ? ORDER BY c", "UPDATE many%d SET k=k+1 WHERE id=?",
			"UPDATE many%d SET c=? WHERE id=?", "DELETE FROM many%d WHERE id=?", "INSERT INTO many%d (id, k, c, pad) VALUES (?, ?, ?, ?)",
		} {
			m.templates = append(m.templates, fmt.Sprintf(format, i))
		}
	}
	return m
}

// TestACellAsksForNoMore: beside its events a cell costs the server a connection for each client, and a prepare for each of its templates.
func TestACellAsksForNoMore(t *testing.T) {
	const clients, each = 20, 3
	d := testdb.Shared(t)
	load := readWrite(d)
	for _, io := range []engine.IOMode{engine.IOAuto, engine.IODriver} {
		for _, mode := range []engine.PSMode{engine.PSAuto, engine.PSDisable} {
			t.Run(fmt.Sprintf("%s/%s", io, mode), func(t *testing.T) {
				want := map[string]int64{"Connections": clients, "Com_stmt_prepare": clients * int64(len(load.templates)), "Com_stmt_execute": clients * each}
				if mode == engine.PSDisable {
					// One client asks for all how the server reads literals.
					want = map[string]int64{"Connections": clients, "Com_stmt_prepare": 0, "Com_stmt_execute": 0, "Com_select": clients*each + 1}
				}
				want["Com_set_option"], want["Com_stmt_close"] = 0, 0
				want["Connections"]++ // that of the second look
				before := counted(t, d)
				o := engine.Order{Clients: []engine.RoleClients{{Count: clients}}, EventsEach: each, IO: io, PSMode: mode}
				out, err := engine.Run(t.Context(), d.Connector(), load, o, nil, nil)
				if err != nil || out.Events != clients*each {
					t.Fatalf("%d events, %v", out.Events, err)
				}
				after, got := counted(t, d), map[string]int64{}
				for name := range want {
					got[name] = after[name] - before[name]
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("what the server counted (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// counted gives the counters of a server, of one look over one connection.
func counted(t *testing.T, d *testdb.Database) map[string]int64 {
	t.Helper()
	counters := map[string]int64{}
	for _, row := range d.Rows("SHOW GLOBAL STATUS") {
		if n, err := strconv.ParseInt(row[1], 10, 64); err == nil {
			counters[row[0]] = n
		}
	}
	return counters
}

// TestMemoryOfAClient bounds what a client holds while it is connected and has all its statements prepared: texts and templates are
// shared, and a loop has no buffers for each socket.
func TestMemoryOfAClient(t *testing.T) {
	const clients = 100
	d := testdb.Shared(t)
	load := readWrite(d)
	for _, c := range []struct {
		io   engine.IOMode
		most int64 // bytes
	}{{engine.IOAuto, 6 << 10}, {engine.IODriver, 32 << 10}} {
		t.Run(string(c.io), func(t *testing.T) {
			m := &heap{}
			o := engine.Order{Clients: []engine.RoleClients{{Count: clients}}, Duration: plan.Duration(time.Second / 2), IO: c.io}
			without := o
			without.Clients = []engine.RoleClients{{Count: 2}}
			if _, err := engine.Run(t.Context(), d.Connector(), load, without, nil, m); err != nil {
				t.Fatal(err)
			}
			base := m.inUse
			if _, err := engine.Run(t.Context(), d.Connector(), load, o, nil, m); err != nil {
				t.Fatal(err)
			}
			if each := (m.inUse - base) / (clients - 2); each > c.most {
				t.Errorf("a client holds %d bytes, want at most %d", each, c.most)
			} else {
				t.Logf("a client holds %d bytes", each)
			}
		})
	}
}

// heap is a meter that looks at how much memory is in use when the measured part begins.
type heap struct{ inUse int64 }

func (h *heap) Begin() {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.inUse = int64(m.HeapAlloc + m.StackInuse)
}
func (*heap) Second() {}
func (*heap) End()    {}

// BenchmarkBetweenCells is what a cell takes beside its events: to connect, to prepare and to stop. cpu-ms is of this program.
func BenchmarkBetweenCells(b *testing.B) {
	d := testdb.Own(b, map[string]string{"max_connections": "1100", "max_prepared_stmt_count": "200000", "table_open_cache": "8000"})
	all := readWrite(d)
	for _, templates := range []int{1, len(all.templates)} {
		for _, clients := range []int{64, 1000} {
			for _, io := range []engine.IOMode{engine.IOAuto, engine.IODriver} {
				b.Run(fmt.Sprintf("templates=%d/clients=%d/%s", templates, clients, io), func(b *testing.B) {
					connector := d.Connector()
					before := processor()
					b.ReportAllocs()
					for b.Loop() {
						o := engine.Order{Clients: []engine.RoleClients{{Count: clients}}, EventsEach: 1, IO: io}
						out, err := engine.Run(b.Context(), connector, many{all.templates[:templates]}, o, nil, nil)
						if err != nil || out.Events != int64(clients) {
							b.Fatal(out.Events, err)
						}
					}
					b.ReportMetric(float64((processor()-before).Milliseconds())/float64(b.N), "cpu-ms/op")
				})
			}
		}
	}
}

// processor is the processor time that this program has had.
func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
