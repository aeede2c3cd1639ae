package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
)

func create(t *testing.T, mask func(string) string) *Writer {
	t.Helper()
	w, err := Create(t.TempDir(), "my plan", start, mask)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func writeRun(t *testing.T, w *Writer, run Run) {
	t.Helper()
	if err := w.WriteRun(&run); err != nil {
		t.Fatal(err)
	}
}

func appendCells(t *testing.T, w *Writer, cells ...Cell) {
	t.Helper()
	for i := range cells {
		if err := w.Append(&cells[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRoundTrip: what is written is what is read, histograms and series included.
func TestRoundTrip(t *testing.T) {
	w := create(t, nil)
	run := Run{Plan: "my plan", PlanText: "name: my plan\n", Status: Running, Started: start, Planned: 2, Seed: 1<<63 + 1,
		Targets: []Server{{Endpoint: Endpoint{Address: "/run/mysqld.sock"}, Version: "11.8.3", Variables: map[string]string{"sync_binlog": "1"}}}}
	writeRun(t, w, run)
	first := cellAt(1, Label{"config", "a|b\n\"},\"crc\":\"00000000\"}{\"v\":1"})
	first.Outcome.Histograms = map[string]*hdrhistogram.Histogram{"events": histogramOf(1_000_000, 2_000_000, 30_000_000_000), "role.write": histogramOf(640)}
	first.Outcome.Series = []Second{{At: 0, Length: 1, Events: 100, Queries: 1400, P50: 80.5, P95: 160, P99: 240}, {At: 1, Length: 0.25, Errors: 3}}
	second := cellAt(0, Label{"config", "b"})
	appendCells(t, w, first, second)
	first.Version, first.HistogramFile, first.SeriesFile = CellVersion, "histograms/0001.hlog", "series/0001.csv"
	second.Version, second.Seq = CellVersion, 2

	gotRun, cells, warnings, err := Open(w.Folder())
	if err != nil || warnings != nil {
		t.Fatal(err, warnings)
	}
	run.Version = RunVersion
	if diff := cmp.Diff(&run, gotRun); diff != "" {
		t.Errorf("run.json (-wrote +read):\n%s", diff)
	}
	if cells[0].HistogramCRC == "" || cells[0].SeriesCRC == "" {
		t.Error("a file has no checksum")
	}
	first.HistogramCRC, first.SeriesCRC = cells[0].HistogramCRC, cells[0].SeriesCRC
	histograms, series := first.Outcome.Histograms, first.Outcome.Series
	first.Outcome.Histograms, first.Outcome.Series = nil, nil
	if diff := cmp.Diff([]Cell{first, second}, cells); diff != "" {
		t.Errorf("cells (-wrote +read):\n%s", diff)
	}
	gotHistograms, err := ReadHistograms(w.Folder(), &cells[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, h := range histograms {
		if got := gotHistograms[name]; got == nil || !got.Equals(h) {
			t.Errorf("histogram %s came back as %v", name, got)
		}
	}
	gotSeries, err := ReadSeries(w.Folder(), &cells[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(series, gotSeries); diff != "" {
		t.Errorf("series (-wrote +read):\n%s", diff)
	}
	if h, err := ReadHistograms(w.Folder(), &cells[1]); h != nil || err != nil {
		t.Errorf("a cell without histograms: %v, %v", h, err)
	}
	if _, err := ReadSeries(w.Folder(), &Cell{SeriesFile: "../../etc/passwd"}); err == nil || !strings.Contains(err.Error(), "outside") {
		t.Errorf("a record that points outside: %v", err)
	}
}

func TestPermissions(t *testing.T) {
	w := create(t, nil)
	writeRun(t, w, Run{})
	c := cellAt(1)
	c.Outcome.Series = []Second{{Length: 1}}
	appendCells(t, w, c)
	err := filepath.WalkDir(w.Folder(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s is %v, want %v", path, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTornTail: whatever a crash left of the last line costs that line, and a resumed run goes on behind the others.
func TestTornTail(t *testing.T) {
	for _, tail := range []string{"", "{", `{"v":1,"path":["config"`, strings.Repeat("\x00", 100), "whole"} {
		w := create(t, nil)
		writeRun(t, w, Run{Plan: "my plan", Status: Running})
		appendCells(t, w, cellAt(1, Label{"config", "a"}), cellAt(2, Label{"config", "b"}))
		journal := filepath.Join(w.Folder(), cellsFile)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(journal)
		if err != nil {
			t.Fatal(err)
		}
		wantWarning := tail != "" && tail != "whole"
		if tail == "whole" {
			b = bytes.TrimSuffix(b, []byte("\n")) // all of the line is there but its newline
		} else {
			b = append(b, tail...)
		}
		if err := os.WriteFile(journal, b, 0o600); err != nil {
			t.Fatal(err)
		}
		again, run, cells, warnings, err := Resume(w.Folder(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(cells) != 2 || len(warnings) > 0 != wantWarning || run.Status != Killed {
			t.Errorf("tail %q: %d cells, warnings %q, status %s", tail, len(cells), warnings, run.Status)
		}
		appendCells(t, again, cellAt(0, Label{"config", "c"}))
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		_, cells, warnings, err = Open(w.Folder())
		if err != nil || len(cells) != 3 || warnings != nil || cells[2].Seq != 3 {
			t.Errorf("tail %q, after resuming: %d cells, warnings %q, %v", tail, len(cells), warnings, err)
		}
	}
}

// TestFlippedByte: a damaged byte anywhere in the journal costs at most the line in which it is, and says so.
func TestFlippedByte(t *testing.T) {
	var whole []byte
	var ends []int
	for _, config := range []string{"a", "b", "c"} {
		c := Cell{Version: 1, Path: []string{"run"}, Labels: []Label{{"config", config}}, Seq: len(ends) + 1, Status: Complete}
		line, err := encodeLine(&c)
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, line...)
		ends = append(ends, len(whole))
	}
	for i := range whole {
		line := 0
		for i >= ends[line] {
			line++
		}
		for _, flip := range []byte{0x01, 0x20, 0x80, 0xff, whole[i] ^ '\n'} {
			if flip == 0 {
				continue
			}
			damaged := bytes.Clone(whole)
			damaged[i] ^= flip
			cells, _, warnings, err := readJournal(damaged)
			if err != nil {
				t.Fatalf("byte %d: %v", i, err)
			}
			if len(warnings) == 0 && len(cells) != 3 {
				t.Errorf("byte %d ^ %#x: %d cells and no warning", i, flip, len(cells))
			}
			found := map[string]bool{}
			for _, c := range cells {
				found[c.Labels[0].Value] = true
			}
			for n, config := range []string{"a", "b", "c"} {
				if n != line && !found[config] {
					t.Errorf("byte %d ^ %#x of line %d: line %d is lost too", i, flip, line+1, n+1)
				}
			}
		}
	}
}

// TestManyDamagedLines: however many lines of a journal are lost, one sentence says so.
func TestManyDamagedLines(t *testing.T) {
	c := cellAt(1)
	line, err := encodeLine(&c)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{
		0: "", 1: "cells.jsonl line 2 is damaged and was skipped: its cell is lost",
		3000: "3000 lines of cells.jsonl are damaged and were skipped, the first of them line 2: their cells are lost",
	} {
		cells, _, warnings, err := readJournal(slices.Concat(line, bytes.Repeat([]byte("{}\n"), n), line))
		if got := strings.Join(warnings, "\n"); err != nil || len(cells) != 2 || got != want {
			t.Errorf("%d lines: %d cells, %q, %v", n, len(cells), got, err)
		}
	}
}

// TestResumedCell: a cell that was executed again stands once, and a whole one is not replaced by a part.
func TestResumedCell(t *testing.T) {
	part, whole, other := cellAt(1, Label{"config", "a"}), cellAt(2, Label{"config", "a"}), cellAt(3, Label{"config", "a"})
	part.Status, other.Repeat = Partial, 2
	for _, order := range [][]Cell{{part, whole, other}, {whole, part, other}} {
		cells := currentCells(order)
		if len(cells) != 2 || cells[0].Seq != 2 || cells[1].Seq != 3 {
			t.Errorf("got %d cells, the first number %d", len(cells), cells[0].Seq)
		}
	}
}

func TestNewerFormat(t *testing.T) {
	w := create(t, nil)
	writeRun(t, w, Run{})
	c := Cell{Version: CellVersion + 1}
	line, err := encodeLine(&c)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Folder(), cellsFile), line, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err = Open(w.Folder()); err == nil || !strings.Contains(err.Error(), "newer benchplan") || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a newer cell: %v", err)
	}
	if err := os.WriteFile(filepath.Join(w.Folder(), runFile), []byte(`{"v":99,"plan":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err = Open(w.Folder()); err == nil || !strings.Contains(err.Error(), "newer benchplan") {
		t.Errorf("a newer run: %v", err)
	}
}

// TestLock: two writers never share a folder, and a run whose writer is gone is seen as killed.
func TestLock(t *testing.T) {
	w := create(t, nil)
	writeRun(t, w, Run{Status: Running})
	if _, _, _, _, err := Resume(w.Folder(), nil); !errors.Is(err, errLocked) {
		t.Errorf("a second writer: %v", err)
	}
	if run, _, _, err := Open(w.Folder()); err != nil || run.Status != Running {
		t.Errorf("while it is written: %v, %v", run.Status, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if run, _, _, err := Open(w.Folder()); err != nil || run.Status != Killed {
		t.Errorf("when its writer is gone: %v, %v", run.Status, err)
	}
	c := cellAt(1)
	if err := w.Append(&c); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("appending after the end: %v", err)
	}
}

func TestCreate(t *testing.T) {
	root := t.TempDir()
	for _, want := range []string{"20260910T140203Z", "20260910T140203Z-2", "20260910T140203Z-3"} {
		w, err := Create(root, "../a/b", start, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := w.Folder(), filepath.Join(root, "-a-b", want); got != want {
			t.Errorf("made %s, want %s", got, want)
		}
		defer w.Close() //nolint:errcheck // of no account here
	}
	if _, err := CreateAt(root, nil); err == nil || !strings.Contains(err.Error(), "not empty") || strings.Contains(err.Error(), "--resume") {
		t.Errorf("a folder with something in it: %v", err)
	}
	for _, folder := range []string{filepath.Join(root, "new", "er"), t.TempDir()} {
		w, err := CreateAt(folder, nil)
		if err != nil {
			t.Errorf("%s: %v", folder, err)
			continue
		}
		defer w.Close() //nolint:errcheck // of no account here
	}
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(file, "p", start, nil); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a root that is a file: %v", err)
	}
	c := cellAt(1)
	w := create(t, nil)
	appendCells(t, w, c)
	if err := w.Append(&c); err == nil {
		t.Error("two cells of one number were taken")
	}
}

// TestFailedAppend: a cell that cannot be written leaves the journal as it was.
func TestFailedAppend(t *testing.T) {
	w := create(t, nil)
	writeRun(t, w, Run{})
	appendCells(t, w, cellAt(1))
	bad := cellAt(2, Label{"config", "b"})
	bad.Outcome.Histograms = map[string]*hdrhistogram.Histogram{"role.a b": histogramOf(1)}
	if err := w.Append(&bad); err == nil || !strings.Contains(err.Error(), bad.Key()) {
		t.Errorf("a tag that the format cannot hold: %v", err)
	}
	bad.Outcome.Histograms = nil
	bad.Options = map[string]any{"f": func() {}}
	if err := w.Append(&bad); err == nil || !strings.Contains(err.Error(), bad.Key()) {
		t.Errorf("options that are no JSON: %v", err)
	}
	bad.Options = nil
	appendCells(t, w, bad)
	if _, cells, warnings, err := Open(w.Folder()); err != nil || warnings != nil || len(cells) != 2 {
		t.Errorf("%d cells, %q, %v", len(cells), warnings, err)
	}
}

// TestFullDisk writes to a device that is always full.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Logf("no /dev/full here: %v", err)
		return
	}
	w := create(t, nil)
	if err := w.journal.Close(); err != nil {
		t.Fatal(err)
	}
	w.journal = full
	inFolder := filepath.Join(w.Folder(), cellsFile) // the journal has to be the file that stands there
	if err := errors.Join(os.Remove(inFolder), os.Symlink("/dev/full", inFolder)); err != nil {
		t.Fatal(err)
	}
	c := cellAt(1)
	if err := w.Append(&c); err == nil || !strings.Contains(err.Error(), "the disk is full") || !strings.Contains(err.Error(), "--out") {
		t.Errorf("a full disk: %v", err)
	}
}

// TestMask: a secret in free text reaches no file, while names and figures stay what they are.
func TestMask(t *testing.T) {
	const secret = "134217"
	w := create(t, func(s string) string { return strings.ReplaceAll(s, secret, "***") })
	writeRun(t, w, Run{Errors: []string{"bad " + secret}, Settings: map[string]string{"vars.p": "p" + secret},
		Targets: []Server{{Variables: map[string]string{"innodb_buffer_pool_size": "134217728", "init_connect": "set x='134217'"}}}})
	c := cellAt(1, Label{"config", secret})
	c.Outcome.Events = 134217
	c.Status, c.Error = Failed, "no "+secret
	c.Attributes = map[string]string{"note": "has " + secret}
	c.Outcome.Errors = []ErrorCount{{Code: 1, Count: 134217, Message: "denied " + secret}}
	c.Marks = []Mark{{Code: "x", Text: secret, Remedy: secret}}
	appendCells(t, w, c)
	if c.Error != "no "+secret || c.Outcome.Errors[0].Message != "denied "+secret {
		t.Error("the caller's record was masked")
	}
	w.Log().With("a", secret+"!").WithGroup("g").Info("message "+secret, "error", errors.New(secret), "n", 134217, "any", map[string]any{"k": []string{secret}, "n": 134217})

	_, cells, _, err := Open(w.Folder())
	if err != nil {
		t.Fatal(err)
	}
	got := cells[0]
	if got.Labels[0].Value != secret || got.Outcome.Events != 134217 || got.Outcome.Errors[0].Count != 134217 {
		t.Error("a name or a figure was masked")
	}
	for _, file := range []string{runFile, cellsFile, logFile} {
		b, err := os.ReadFile(filepath.Join(w.Folder(), file))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(`"value":"134217"`, "", `"events":134217`, "", `"count":134217`, "", `"n":134217`, "", `134217728`, "").Replace(string(b))
		if strings.Contains(text, secret) {
			t.Errorf("%s holds the secret: %s", file, text)
		}
		if !strings.Contains(text, "***") {
			t.Errorf("%s masks nothing: %s", file, text)
		}
	}
	log, err := os.ReadFile(filepath.Join(w.Folder(), logFile))
	if err != nil {
		t.Fatal(err)
	}
	var line map[string]any
	if err := json.Unmarshal(log, &line); err != nil {
		t.Fatal(err)
	}
	delete(line, "time")
	want := map[string]any{"level": "INFO", "msg": "message ***", "a": "***!", "g": map[string]any{
		"error": "***", "n": 134217.0, "any": map[string]any{"k": []any{"***"}, "n": 134217.0}}}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("log.jsonl (-want +got):\n%s", diff)
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	if _, err := Find(root, "last"); err == nil || !strings.Contains(err.Error(), "none yet") {
		t.Errorf("no runs: %v", err)
	}
	var folders []string
	for i, name := range []string{"one", "two", "one"} {
		at := start.AddDate(0, 0, i)
		w, err := Create(root, name, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		writeRun(t, w, Run{Plan: name, Status: Done, Started: at, Finished: at.Add(1e9), Planned: 2})
		appendCells(t, w, cellAt(1))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, w.Folder())
	}
	for spec, want := range map[string]int{
		"last": 2, "one": 2, "two": 1, "one/20260910T140203Z": 0, folders[0]: 0, "one/20260912T140203Z": 2,
	} {
		if got, err := Find(root, spec); err != nil || got != folders[want] {
			t.Errorf("%s: %s, %v; want %s", spec, got, err, folders[want])
		}
	}
	for _, spec := range []string{"three", "", "one/2020"} {
		if _, err := Find(root, spec); err == nil || !strings.Contains(err.Error(), "two/20260911T140203Z") {
			t.Errorf("%q: %v", spec, err)
		}
	}
	entries, err := List(root)
	if err != nil || len(entries) != 3 {
		t.Fatal(entries, err)
	}
	if e := entries[1]; e.Name != "two/20260911T140203Z" || e.Status != Done || e.Complete != 1 || e.Planned != 2 || e.Elapsed != 1e9 || e.Size == 0 {
		t.Errorf("listed as %+v", e)
	}
	// The path of a plan's folder is its last run; a rehearsal is the last run only where there is no other.
	for i, name := range []string{"one", "tried"} {
		w, err := Create(root, name, start.AddDate(0, 1, i), nil)
		if err != nil {
			t.Fatal(err)
		}
		writeRun(t, w, Run{Plan: name, Description: "what it asks", Status: Done, Started: start.AddDate(0, 1, i), Rehearsal: true})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, w.Folder())
	}
	for spec, want := range map[string]int{
		"last": 2, "one": 2, filepath.Join(root, "one"): 2, filepath.Join(root, "one") + "/": 2, filepath.Join(root, "two"): 1, "tried": 4,
		filepath.Join(root, "tried"): 4, RunName(folders[3]): 3,
	} {
		if got, err := Find(root, spec); err != nil || got != folders[want] {
			t.Errorf("%s: %s, %v; want %s", spec, got, err, folders[want])
		}
	}
	if entries, err = List(root); err != nil || len(entries) != 5 || entries[2].Rehearsal || !entries[3].Rehearsal {
		t.Errorf("rehearsals: %+v, %v", entries, err)
	}
	if got := RunName(folders[1]); got != "two/20260911T140203Z" {
		t.Errorf("called %s", got)
	}
}

// TestLogThatCannotBeWritten: the first error is kept, and what follows a part of a line begins a new one.
func TestLogThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Logf("no /dev/full here: %v", err)
		return
	}
	w := create(t, nil)
	w.Log().Info("whole")
	if err := w.LogError(); err != nil {
		t.Error(err)
	}
	file := w.logTo.file
	w.logTo.file = full
	w.Log().Info("lost")
	w.logTo.file, w.logTo.torn = file, true // a full disk takes a part
	if err := full.Close(); err != nil {
		t.Error(err)
	}
	w.Log().Info("after")
	if err := w.LogError(); err == nil || !strings.Contains(err.Error(), "the disk is full") || !strings.Contains(err.Error(), "the log is not whole") {
		t.Error(err)
	}
	b, err := os.ReadFile(filepath.Join(w.Folder(), logFile))
	if err != nil || strings.Count(string(b), "\n") != 3 || !strings.Contains(string(b), "whole") || !strings.Contains(string(b), "\n\n{") {
		t.Errorf("%v: %s", err, b)
	}
}

// TestCellsThatCannotBeWritten are given by Cells, beside those of a journal that was removed.
func TestCellsThatCannotBeWritten(t *testing.T) {
	w := create(t, strings.ToUpper)
	appendCells(t, w, cellAt(1))
	if err := os.RemoveAll(w.Folder()); err != nil {
		t.Fatal(err)
	}
	lost := cellAt(2, Label{"config", "b"})
	lost.Status, lost.Error = Failed, "a secret"
	if err := w.Append(&lost); err == nil || !strings.Contains(err.Error(), "was removed or moved") {
		t.Errorf("%v", err)
	}
	cells, warnings, err := w.Cells()
	if err != nil || len(cells) != 2 || cells[1].Error != "A SECRET" || cells[1].HistogramFile != "" || len(warnings) != 1 || !strings.Contains(warnings[0], lost.Key()) {
		t.Errorf("%+v, %q, %v", cells, warnings, err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := w.Cells(); err == nil {
		t.Error("a writer that is closed gives cells")
	}
}
