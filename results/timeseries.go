package results

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
)

// The files in series/ are CSV with one line a second and a head that names each column with its unit. A field is empty where there
// is nothing to say: a percentile of no events, a counter that the server does not have. Columns are found by their names, so that a
// file of an earlier version, which lacks some, is read as well.

// column is one column of a file of T.
type column[T any] struct {
	name string
	text func(*T) string        // empty: there is nothing to say
	read func(*T, string) error // is not called for an empty field
}

func wholeColumn[T any, N int | int64](name string, field func(*T) *N) column[T] {
	return column[T]{
		name: name,
		text: func(t *T) string { return strconv.FormatInt(int64(*field(t)), 10) },
		read: func(t *T, s string) error {
			n, err := strconv.ParseInt(s, 10, 64)
			*field(t) = N(n)
			return err
		},
	}
}

func realColumn[T any](name string, field func(*T) *float64) column[T] {
	return column[T]{
		name: name,
		text: func(t *T) string { return strconv.FormatFloat(*field(t), 'g', -1, 64) },
		read: func(t *T, s string) error {
			v, err := strconv.ParseFloat(s, 64)
			if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
				err = fmt.Errorf("%q is no number", s)
			}
			*field(t) = v
			return err
		},
	}
}

// where makes the fields of a column empty for the lines of which it says nothing.
func (c column[T]) where(says func(*T) bool) column[T] {
	text := c.text
	c.text = func(t *T) string {
		if !says(t) {
			return ""
		}
		return text(t)
	}
	return c
}

// secondColumns are those of the series of a load; of a closed loop, nothing was due.
func secondColumns(open bool) []column[Second] {
	ended := func(s *Second) bool { return s.Events > 0 }
	scheduled := func(*Second) bool { return open }
	return []column[Second]{
		realColumn("at_s", func(s *Second) *float64 { return &s.At }),
		realColumn("length_s", func(s *Second) *float64 { return &s.Length }),
		wholeColumn("events", func(s *Second) *int64 { return &s.Events }),
		wholeColumn("queries", func(s *Second) *int64 { return &s.Queries }),
		realColumn("p50_ms", func(s *Second) *float64 { return &s.P50 }).where(ended),
		realColumn("p95_ms", func(s *Second) *float64 { return &s.P95 }).where(ended),
		realColumn("p99_ms", func(s *Second) *float64 { return &s.P99 }).where(ended),
		realColumn("max_ms", func(s *Second) *float64 { return &s.Max }).where(ended),
		wholeColumn("errors", func(s *Second) *int64 { return &s.Errors }),
		wholeColumn("restarts", func(s *Second) *int64 { return &s.Restarts }),
		wholeColumn("reconnects", func(s *Second) *int64 { return &s.Reconnects }),
		wholeColumn("clients", func(s *Second) *int { return &s.Clients }),
		wholeColumn("due", func(s *Second) *int64 { return &s.Due }).where(scheduled),
		wholeColumn("queue", func(s *Second) *int64 { return &s.Queue }).where(scheduled),
	}
}

// usageColumns are those of the series of a machine; shares are of the time of all CPUs, 0 to 1.
func usageColumns() []column[Usage] {
	return []column[Usage]{
		realColumn("at_s", func(u *Usage) *float64 { return &u.At }),
		realColumn("elapsed_s", func(u *Usage) *float64 { return &u.Elapsed }),
		wholeColumn("cpus", func(u *Usage) *int { return &u.CPUs }),
		realColumn("cpu_user_share", func(u *Usage) *float64 { return &u.User }),
		realColumn("cpu_system_share", func(u *Usage) *float64 { return &u.System }),
		realColumn("cpu_iowait_share", func(u *Usage) *float64 { return &u.IOWait }),
		realColumn("cpu_steal_share", func(u *Usage) *float64 { return &u.Steal }),
		realColumn("cpu_idle_share", func(u *Usage) *float64 { return &u.Idle }),
		wholeColumn("context_switches", func(u *Usage) *int64 { return &u.ContextSwitches }),
		realColumn("run_queue_tasks", func(u *Usage) *float64 { return &u.RunQueue }),
		wholeColumn("disk_reads", func(u *Usage) *int64 { return &u.Reads }),
		wholeColumn("disk_writes", func(u *Usage) *int64 { return &u.Writes }),
		wholeColumn("disk_read_bytes", func(u *Usage) *int64 { return &u.BytesRead }),
		wholeColumn("disk_written_bytes", func(u *Usage) *int64 { return &u.BytesWritten }),
		wholeColumn("net_received_bytes", func(u *Usage) *int64 { return &u.BytesReceived }),
		wholeColumn("net_sent_bytes", func(u *Usage) *int64 { return &u.BytesSent }),
		wholeColumn("memory_free_bytes", func(u *Usage) *int64 { return &u.Free }),
		wholeColumn("memory_cached_bytes", func(u *Usage) *int64 { return &u.Cached }),
	}
}

// statusColumns are those of the series of a server: differences of the status variables that it has.
func statusColumns() []column[map[string]int64] {
	columns := make([]column[map[string]int64], len(StatusSeries))
	for i, name := range StatusSeries {
		columns[i] = column[map[string]int64]{
			name: name,
			text: func(m *map[string]int64) string { return strconv.FormatInt((*m)[name], 10) },
			read: func(m *map[string]int64, s string) error {
				n, err := strconv.ParseInt(s, 10, 64)
				if *m == nil {
					*m = map[string]int64{}
				}
				(*m)[name] = n
				return err
			},
		}.where(func(m *map[string]int64) bool { _, ok := (*m)[name]; return ok })
	}
	return columns
}

func encodeTable[T any](columns []column[T], lines []T) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	fields := make([]string, len(columns))
	for i, c := range columns {
		fields[i] = c.name
	}
	w.Write(fields) //nolint:errcheck // a buffer takes everything
	for n := range lines {
		for i, c := range columns {
			fields[i] = c.text(&lines[n])
		}
		w.Write(fields) //nolint:errcheck // as above
	}
	w.Flush()
	return b.Bytes()
}

// readTable reads a file of a run folder that a record names; no name is no file, and no error.
func readTable[T any](folder, name, crc string, columns []column[T]) ([]T, error) {
	if name == "" {
		return nil, nil
	}
	path, b, err := readNamed(folder, name, crc)
	if err != nil {
		return nil, err
	}
	lines, err := decodeTable(b, columns)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}

// decodeTable leaves alone what it has no column for, and leaves at zero what the file has no column for.
func decodeTable[T any](b []byte, columns []column[T]) ([]T, error) {
	r := csv.NewReader(bytes.NewReader(b))
	head, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty: it lacks its head")
	}
	if err != nil {
		return nil, err
	}
	known := make([]*column[T], len(head))
	for i, name := range head {
		if n := slices.IndexFunc(columns, func(c column[T]) bool { return c.name == name }); n >= 0 {
			known[i] = &columns[n]
		}
	}
	if !slices.ContainsFunc(known, func(c *column[T]) bool { return c != nil }) {
		return nil, fmt.Errorf("it has none of the columns %s, …", columns[0].name)
	}
	var lines []T
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		var line T
		for i, field := range fields {
			if known[i] == nil || field == "" {
				continue
			}
			if err := known[i].read(&line, field); err != nil {
				at, _ := r.FieldPos(i)
				return nil, fmt.Errorf("line %d, %s: %w", at, head[i], err)
			}
		}
		lines = append(lines, line)
	}
}

// series gives the files of what a cell did in each second, and notes their names in it.
func (w *Writer) series(cell *Cell) (files []keptFile) {
	keep := func(name, crc *string, kind string, content []byte) {
		*name, *crc = fmt.Sprintf("%s/%04d%s.csv", seriesDir, cell.Seq, kind), sum(content)
		files = append(files, keptFile{filepath.Join(w.folder, *name), content})
	}
	if series := cell.Outcome.Series; len(series) > 0 {
		keep(&cell.SeriesFile, &cell.SeriesCRC, "", encodeTable(secondColumns(cell.open()), series))
	}
	for i := range cell.Machines {
		if m := &cell.Machines[i]; len(m.Seconds) > 0 {
			keep(&m.SeriesFile, &m.SeriesCRC, "."+m.Role, encodeTable(usageColumns(), m.Seconds))
		}
	}
	if s := cell.Server; s != nil && len(s.Seconds) > 0 {
		keep(&s.SeriesFile, &s.SeriesCRC, ".status", encodeTable(statusColumns(), s.Seconds))
	}
	return files
}

// ReadSeries gives the one-second series of a cell of that run folder; none is no error.
func ReadSeries(folder string, cell *Cell) ([]Second, error) {
	return readTable(folder, cell.SeriesFile, cell.SeriesCRC, secondColumns(cell.open()))
}

// ReadUsage gives what a machine of a cell of that run folder did in each second; none is no error.
func ReadUsage(folder string, m *Machine) ([]Usage, error) {
	return readTable(folder, m.SeriesFile, m.SeriesCRC, usageColumns())
}

// ReadStatus gives, for each second, by how much the status variables of StatusSeries that the server has went up; none is no error.
// A second in which it could not be asked has none.
func ReadStatus(folder string, s *ServerStatus) ([]map[string]int64, error) {
	return readTable(folder, s.SeriesFile, s.SeriesCRC, statusColumns())
}
