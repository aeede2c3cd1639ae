package results

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// smallRun makes the folder of a run with every file that there can be, and a baseline pinned beside it.
func smallRun(t *testing.T, root string) (folder string) {
	t.Helper()
	w, err := Create(root, "p", start, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := Run{Plan: "p", PlanText: "name: p\n", Status: Running, Started: start, Planned: 2, Settings: map[string]string{"--set vars.a": "1"}}
	writeRun(t, w, run)
	one := watchedCell(1)
	one.Labels = []Label{{"config", "a"}}
	one.Outcome.Histograms = map[string]*hdrhistogram.Histogram{"events": histogramOf(1_000_000, 2_000_000)}
	appendCells(t, w, one, cellAt(2, Label{"config", "b"}))
	run.Status, run.Finished = Done, start.Add(1e9)
	writeRun(t, w, run)
	w.Log().Info("done")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Pin(w.Folder(), "base"); err != nil {
		t.Fatal(err)
	}
	return w.Folder()
}

// readAll gives all that can be read of a run folder as one text, and what was wrong with it.
func readAll(folder string) (figures string, wrong []string) {
	var b strings.Builder
	add := func(v any, err error) {
		if err != nil {
			wrong = append(wrong, err.Error())
			return
		}
		j, err := json.Marshal(v)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		b.Write(j)
		b.WriteByte('\n')
	}
	run, cells, warnings, err := Open(folder)
	wrong = append(wrong, warnings...)
	add(run, err)
	add(cells, nil)
	for i := range cells {
		c := &cells[i]
		histograms, err := ReadHistograms(folder, c)
		add(len(histograms), err)
		for _, name := range slices.Sorted(func(yield func(string) bool) {
			for name := range histograms {
				if !yield(name) {
					return
				}
			}
		}) {
			add(name, nil)
			add(histograms[name].Export(), nil)
		}
		add(ReadSeries(folder, c))
		for n := range c.Machines {
			add(ReadUsage(folder, &c.Machines[n]))
		}
		if c.Server != nil {
			add(ReadStatus(folder, c.Server))
		}
	}
	base, err := FindBaseline(filepath.Dir(filepath.Dir(folder)), Subject{Plan: "p"}, "base")
	add(strings.TrimPrefix(base, folder), err)
	return b.String(), wrong
}

var everyByte = flag.Bool("every-byte", false, "damage every byte of a run folder, not one in some")

// damages gives a text with one byte of it changed, taken out or put in, or cut off there.
func damages(text []byte, i int) map[string][]byte {
	flipped := bytes.Clone(text)
	flipped[i] ^= 1 << (i % 8)
	more := []byte{text[i], ' ', '0'}[i%3]
	return map[string][]byte{
		"a bit is another": flipped, "it is missing": slices.Concat(text[:i], text[i+1:]), "another stands before it": slices.Concat(text[:i], []byte{more}, text[i:]), "the file ends there": text[:i],
	}
}

// TestDamageIsTold: whatever happens to one byte of any file of a run, what is read is what was written, or an error or a warning says
// which file is damaged.
func TestDamageIsTold(t *testing.T) {
	root := t.TempDir()
	folder := smallRun(t, root)
	want, wrong := readAll(folder)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	files := []string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != logFile && d.Name() != lockFile { // of which nothing is read
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	step := 7
	switch {
	case *everyByte:
		step = 1
	case raceDetector:
		step = 29
	}
	type place struct {
		file string
		at   int
	}
	places := make(chan place)
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		mine := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(mine, os.DirFS(root)); err != nil {
			t.Fatal(err)
		}
		readers.Go(func() {
			for p := range places {
				name, _ := filepath.Rel(root, p.file)
				checkDamage(t, mine, name, filepath.Join(mine, strings.TrimPrefix(folder, root)), p.at, want)
			}
		})
	}
	for n, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		for at := n % step; at < int(info.Size()); at += step {
			places <- place{file, at}
		}
	}
	close(places)
	readers.Wait()
}

func checkDamage(t *testing.T, root, name, folder string, at int, want string) {
	path := filepath.Join(root, name)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	for what, content := range damages(whole, at) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Error(err)
		}
		got, wrong := readAll(folder)
		base := filepath.Base(name)
		switch {
		case len(wrong) == 0 && got != want:
			t.Errorf("%s, byte %d: %s, and nobody says so", name, at, what)
		case len(wrong) > 0 && !strings.Contains(strings.Join(wrong, "\n"), base):
			t.Errorf("%s, byte %d: %s, and this names no file: %q", name, at, what, wrong)
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Error(err)
	}
}

// TestMissingRecordsAreTold: a journal that has lost whole lines looks whole by itself; run.json counts them.
func TestMissingRecordsAreTold(t *testing.T) {
	folder := smallRun(t, t.TempDir())
	path := filepath.Join(folder, cellsFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	for name, content := range map[string][]byte{"the last": lines[0], "the first": lines[1], "all": nil} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, warnings, err := Open(folder); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "of the 2 records that run.json counts") {
			t.Errorf("%s line is missing: %q, %v", name, warnings, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, _, warnings, err := Open(folder); err != nil || len(warnings) != 1 {
		t.Errorf("no journal: %q, %v", warnings, err)
	}
}

// TestLastOfDamagedRuns: which run was the last one is not guessed where one cannot be read.
func TestLastOfDamagedRuns(t *testing.T) {
	root := t.TempDir()
	smallRun(t, root)
	later := smallRun(t, root)
	if got, err := FindBaseline(root, Subject{Plan: "p"}, "last"); err != nil || got != later {
		t.Fatal(got, err)
	}
	path := filepath.Join(later, runFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(b, []byte(`"done"`), []byte(`"donf"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FindBaseline(root, Subject{Plan: "p"}, "last"); err == nil || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), "name the run") {
		t.Error(err)
	}
	if _, _, _, _, err := Resume(later, nil); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged run is gone on with: %v", err)
	}
	if err := os.WriteFile(path, b[:len(b)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := Open(later); err == nil || !strings.Contains(err.Error(), runFile+" is damaged at line ") {
		t.Error(err)
	}
}

// TestSeriesThatCannotBeReadAreTold: without its series a row has no interval, and the report says why.
func TestSeriesThatCannotBeReadAreTold(t *testing.T) {
	root := t.TempDir()
	folder := smallRun(t, root)
	series := filepath.Join(folder, seriesDir, "0001.csv")
	b, err := os.ReadFile(series)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(series, bytes.Replace(b, []byte("100"), []byte("101"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	run, cells, warnings, err := Open(folder)
	if err != nil || warnings != nil {
		t.Fatal(err, warnings)
	}
	r := Recorded{Name: "p", Folder: folder, Run: run, Cells: cells}
	if got := ReportOf(r, Options{}).Warnings; len(got) != 1 || !strings.Contains(got[0], "0001.csv is damaged") {
		t.Errorf("%q", got)
	}
	other := Recorded{Name: "q", Folder: smallRun(t, root), Run: run, Cells: cells}
	c, err := Compare([]Recorded{r, other})
	if err != nil || len(c.Warnings) != 1 || !strings.HasPrefix(c.Warnings[0], "p: ") {
		t.Errorf("%q, %v", c.Warnings, err)
	}
}
