package tables_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"benchplan/plan"
	"benchplan/workloads/internal/testdb"
	"benchplan/workloads/sysbench"
	"benchplan/workloads/tables"
)

// BenchmarkRows is what a row of sbtest takes the client, from drawing its numbers to the bytes that are sent.
func BenchmarkRows(b *testing.B) {
	schema := sysbench.Schema{}
	sp := plan.Tables{Schema: "sbtest", Count: 1, Rows: 1_000_000}
	perRow := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tables.StretchRows, "ns/row")
		b.ReportMetric(0, "ns/op")
	}
	b.Run("load_data", func(b *testing.B) {
		packet := make([]byte, 16<<10) // as the driver reads
		b.ReportAllocs()
		for b.Loop() {
			r := tables.Lines(schema, sp, 0, 1, 7)
			for {
				if _, err := r.Read(packet); err == io.EOF {
					break
				}
			}
		}
		perRow(b)
	})
	b.Run("insert", func(b *testing.B) {
		var text []byte
		b.ReportAllocs()
		for b.Loop() {
			text = tables.Tuples(text, schema, sp, 0, 1, 7)
		}
		perRow(b)
	})
}

// BenchmarkPrepare holds Prepare against `sysbench prepare`, index included, on one server and in turn: one after the other within
// each round, so that what else the machine does hits both. It reports the median of the rounds' ratios of rows a second, their least
// and greatest, and of either the rows a second and the processor time that a row took; ns/op is of a round. It is 4 tables of 100,000
// rows by 4 threads, and one of 400,000 by one. Give -benchtime 7x for seven rounds.
func BenchmarkPrepare(b *testing.B) {
	if _, err := exec.LookPath("sysbench"); err != nil {
		b.Skip("sysbench 1.0 is not on PATH: the package sysbench of Debian, Ubuntu and Fedora brings it")
	}
	pools := []struct {
		name    string
		options map[string]string
	}{
		{"holds", map[string]string{"innodb_buffer_pool_size": "512M", "innodb_log_file_size": "256M"}}, // nothing has to be written meanwhile
		{"small", nil}, // as a private server has it: 64 MiB, with a log of 16 MiB
	}
	shapes := []struct {
		tables  int
		rows    plan.Count
		threads int
	}{{4, 100_000, 4}, {1, 400_000, 1}}
	for _, pool := range pools {
		for _, shape := range shapes {
			for _, charset := range []string{"latin1", "utf8mb4"} {
				for _, method := range tables.Methods[1:] {
					b.Run(fmt.Sprintf("pool=%s/tables=%d/charset=%s/%s", pool.name, shape.tables, charset, method), func(b *testing.B) {
						options := map[string]string{"character_set_server": charset}
						maps.Copy(options, pool.options)
						r := rivals{
							d:    testdb.Own(b, options),
							spec: plan.Tables{Schema: "sbtest", Count: shape.tables, Rows: shape.rows, Engine: "innodb"},
						}
						r.compare(b, tables.PrepareOptions{Method: method, Threads: shape.threads, Seed: 1})
					})
				}
			}
		}
	}
}

// rivals are the two that fill the tables of a spec in turn.
type rivals struct {
	d    *testdb.Database
	spec plan.Tables
}

// effort is what filling the tables once took.
type effort struct {
	elapsed        time.Duration
	server, client time.Duration // of processors
}

func (r rivals) compare(b *testing.B, o tables.PrepareOptions) {
	var ours, theirs []effort
	var ratios []float64
	for range b.N {
		theirs = append(theirs, r.measure(b, func() time.Duration { return r.sysbench(b, o.Threads) }))
		ours = append(ours, r.measure(b, func() time.Duration { return r.prepare(b, o) }))
		ratios = append(ratios, theirs[len(theirs)-1].elapsed.Seconds()/ours[len(ours)-1].elapsed.Seconds())
	}
	b.ReportMetric(median(ratios), "x-sysbench")
	b.ReportMetric(slices.Min(ratios), "x-least")
	b.ReportMetric(slices.Max(ratios), "x-most")
	r.report(b, ours, "")
	r.report(b, theirs, "sysbench-")
}

// measure has the tables filled, and drops them.
func (r rivals) measure(b *testing.B, fill func() (client time.Duration)) (e effort) {
	b.Helper()
	e.server = -r.serverTime(b)
	began := time.Now()
	e.client = fill()
	e.elapsed = time.Since(began)
	e.server += r.serverTime(b)
	r.d.Exec("DROP TABLE " + strings.Join(tables.Names(sysbench.Schema{}, r.spec), ", "))
	return e
}

// report gives medians.
func (r rivals) report(b *testing.B, list []effort, prefix string) {
	total := float64(r.spec.Count) * float64(r.spec.Rows)
	var rate, server, client []float64
	for _, e := range list {
		rate = append(rate, total/e.elapsed.Seconds())
		server = append(server, float64(e.server.Microseconds())/total)
		client = append(client, float64(e.client.Microseconds())/total)
	}
	b.ReportMetric(median(rate), prefix+"rows/s")
	b.ReportMetric(median(server), prefix+"server-cpu-µs/row")
	b.ReportMetric(median(client), prefix+"client-cpu-µs/row")
}

// median gives the middle one, the upper of two.
func median(list []float64) float64 { return slices.Sorted(slices.Values(list))[len(list)/2] }

func (r rivals) prepare(b *testing.B, o tables.PrepareOptions) (client time.Duration) {
	b.Helper()
	client = -processTime(b, os.Getpid())
	if _, err := tables.Prepare(b.Context(), r.d.Connector(), sysbench.Schema{}, r.spec, o, nil); err != nil {
		b.Fatal(err)
	}
	return client + processTime(b, os.Getpid())
}

func (r rivals) sysbench(b *testing.B, threads int) (client time.Duration) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sysbench", "oltp_read_write", "--db-driver=mysql", "--mysql-socket="+r.d.Server.Socket(),
		"--mysql-user="+r.d.Server.User(), "--mysql-db="+r.d.Name, "--rand-type=uniform", fmt.Sprintf("--tables=%d", r.spec.Count),
		fmt.Sprintf("--table-size=%d", r.spec.Rows), fmt.Sprintf("--threads=%d", threads), "prepare")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("sysbench prepare: %v\n%s", err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func (r rivals) serverTime(b *testing.B) time.Duration {
	b.Helper()
	return processTime(b, r.d.Server.PID())
}

// processTime is what a process has had of processors, in hundredths of a second; 0 where the system does not tell.
func processTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	stat, err := p.Stat()
	if err != nil {
		return 0
	}
	return time.Duration(stat.CPUTime() * float64(time.Second))
}
