package results

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// tooLong is what no reading takes, on a machine that does other things too.
const tooLong = 5 * time.Second

// inTime fails the test where reading takes long.
func inTime(t *testing.T, read func()) {
	t.Helper()
	begin := time.Now()
	read()
	if took := time.Since(begin); took > tooLong {
		t.Errorf("it took %v", took)
	}
}

// FuzzJournal: whatever a journal holds, reading it ends without a panic; a cell is read only from a line with its checksum, and lines that
// are none are told.
func FuzzJournal(f *testing.F) {
	c := cellAt(1, Label{"config", "a|b\n\"},\"crc\":\"00000000\"}{\"v\":1"})
	line, err := encodeLine(&c)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{nil, line, slices.Concat(line, line), bytes.TrimSpace(line), line[:len(line)/2], slices.Concat(bytes.TrimSpace(line), line), []byte("{}\n"), []byte("\n\n"), bytes.Repeat([]byte(`{"v":`), 50)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		inTime(t, func() {
			cells, end, warnings, err := readJournal(b)
			if err == nil && len(cells) == 0 && len(b) > 0 && len(warnings) == 0 {
				t.Error("no cell, and nobody says why")
			}
			if end < 0 || end > len(b) {
				t.Errorf("ends at %d of %d", end, len(b))
			}
			currentCells(cells)
		})
	})
}

// FuzzLine: whatever a line with a right checksum holds, it is a cell or an error, and the cell can be written again.
func FuzzLine(f *testing.F) {
	c := watchedCell(1)
	line, err := encodeLine(&c)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line[:len(line)-crcLen-1])
	for _, seed := range []string{`{"v":1`, `{"v":1,"path":null`, `{"v":9`, `{"v":1,"v":"1"`, `{"v":1,"options":{"a":[{"b":1e999}]}`, `{"v":1,"started":"x"`, `[`, `{"v":1,"outcome":{"errors":[{}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		inTime(t, func() {
			c, err := decodeLine(append(bytes.Clone(body), checksum(body)...))
			if err != nil {
				return
			}
			c.Key()
			Check(&c)
			if _, err := encodeLine(&c); err != nil {
				t.Error(err)
			}
		})
	})
}

// FuzzRun: whatever run.json and baselines.json hold, reading them ends without a panic, and a document of a version that has checksums is
// read without an error only with the right one.
func FuzzRun(f *testing.F) {
	run, err := seal(Run{Version: RunVersion, Plan: "p", Status: Done, Started: start, Resolved: []byte(`{"a":[1]}`)})
	if err != nil {
		f.Fatal(err)
	}
	names, err := seal(pins{Version: pinsVersion, Baselines: map[string]string{"a": "20260910T140203Z"}})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{run, names, run[:len(run)/2], []byte(`{"v":1}`), []byte(`{"v":99}`), []byte(`{"v":2}`), []byte(`{"v":1,"baselines":{"base":"../../x"}}`), []byte(`{"v":1,"started":"x"}`), nil, []byte("[[[["), []byte(`{"v":-1,"cells_planned":1e99}`)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		inTime(t, func() {
			for _, v := range []any{&Run{}, &pins{}} {
				readable, err := unseal("x", b, RunVersion, v)
				if err == nil != readable && readable == false {
					t.Error("neither read nor an error")
				}
			}
			root := t.TempDir()
			folder := filepath.Join(root, "p", start.Format(timeLayout))
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{filepath.Join(folder, runFile), filepath.Join(root, "p", pinsFile)} {
				if err := os.WriteFile(file, b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if run, cells, warnings, err := Open(folder); err == nil {
				ReportOf(Recorded{Name: "p", Run: run, Cells: cells, Warnings: warnings}, Options{})
			}
			if got, err := FindBaseline(root, Subject{Plan: "p"}, "base"); err == nil && got != folder {
				t.Errorf("found %s", got)
			}
			if _, err := List(root); err != nil {
				t.Error(err)
			}
		})
	})
}

// FuzzHistograms: whatever a file of histograms holds, reading it ends without a panic and without much memory.
func FuzzHistograms(f *testing.F) {
	c := cellAt(1)
	c.Outcome.Histograms = map[string]*hdrhistogram.Histogram{"events": histogramOf(1_000_000, 2_000_000), "read": histogramOf(64)}
	whole, err := encodeHistograms(&c)
	if err != nil {
		f.Fatal(err)
	}
	wide := hdrhistogram.New(1, 1<<62, 5)
	c.Outcome.Histograms = map[string]*hdrhistogram.Histogram{"events": wide}
	tooWide, err := encodeHistograms(&c)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{whole, tooWide, nil, []byte("Tag=\n"), []byte("Tag=a,1,2,3,HISTFAAA\n"), slices.Concat(whole, whole), whole[:len(whole)-9], []byte("#[StartTime: 1e400 (s\n"), []byte("1,2,3,\n")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		inTime(t, func() {
			histograms, err := decodeHistograms(b)
			for name, h := range histograms {
				if h.ByteSize() > mostHistogram {
					t.Errorf("%q takes %d bytes", name, h.ByteSize())
				}
				for _, q := range []float64{0, 50, 99.9, 100} {
					h.ValueAtQuantile(q)
				}
			}
			if err != nil && histograms != nil {
				t.Error("histograms and an error")
			}
		})
	})
}

// FuzzSeries: whatever a file of seconds holds, reading it ends without a panic, and what is read can be drawn.
func FuzzSeries(f *testing.F) {
	c := watchedCell(1)
	for _, seed := range [][]byte{
		encodeTable(secondColumns(true), c.Outcome.Series), encodeTable(usageColumns(), c.Machines[0].Seconds), encodeTable(statusColumns(), c.Server.Seconds),
		nil, []byte("at_s\n"), []byte("at_s,at_s\n1,2\n"), []byte("at_s\n\"\n"), []byte("questions,at_s,length_s,events\n1,1,0,-1\n,,1e308,9223372036854775807\n"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		inTime(t, func() {
			if series, err := decodeTable(b, secondColumns(true)); err == nil {
				BatchInterval(series)
				c := Cell{Outcome: Outcome{Series: series}}
				c.trend()
			}
			_, _ = decodeTable(b, usageColumns())
			_, _ = decodeTable(b, statusColumns())
		})
	})
}
