package results

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Entry is one run in a list of runs.
type Entry struct {
	Folder    string
	Name      string // <plan>/<time>, which Find takes
	Plan      string
	Started   time.Time
	Elapsed   time.Duration // until the end or the last cell
	Status    RunStatus
	Rehearsal bool
	Resumed   int      // how often
	Complete  int      // cells
	Planned   int      // cells
	Size      int64    // bytes
	Pinned    []string // the names by which it is a baseline
	PinsErr   error    // why these names cannot be read; the same for all runs of the plan
	Err       error    // why the run cannot be read; then the fields above may be empty
}

// List gives the runs under root, the oldest first. A root that does not exist has none.
func List(root string) ([]Entry, error) { return list(root, newEntry) }

// briefList is List without what the cells tell and the sizes: to find a run among many.
func briefList(root string) ([]Entry, error) { return list(root, briefEntry) }

func list(root string, entry func(folder, name string) Entry) ([]Entry, error) {
	plans, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, plan := range plans {
		entries = append(entries, listPlan(filepath.Join(root, plan.Name()), entry)...)
	}
	sortEntries(entries)
	return entries, nil
}

// listPlan gives the runs in the folder of one plan, in no order; a file, or a folder of something else, has none.
func listPlan(folder string, entry func(folder, name string) Entry) []Entry {
	runs, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	pinned, unread := readPins(folder) // a list of names that cannot be read hides no run
	var entries []Entry
	for _, run := range runs {
		path := filepath.Join(folder, run.Name())
		if _, err := os.Stat(filepath.Join(path, runFile)); err == nil {
			e := entry(path, filepath.Base(folder)+"/"+run.Name())
			e.Pinned, e.PinsErr = pinned.of(run.Name()), unread
			entries = append(entries, e)
		}
	}
	return entries
}

// sortEntries puts the oldest first.
func sortEntries(entries []Entry) {
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
}

// briefEntry is an entry from the run's record alone.
func briefEntry(folder, name string) Entry {
	e := Entry{Folder: folder, Name: name}
	e.Plan, _, _ = strings.Cut(name, "/")
	e.Started = nameTime(filepath.Base(folder))
	run, err := readRun(folder)
	if err != nil {
		e.Err = err
		return e
	}
	e.Plan, e.Status, e.Planned, e.Rehearsal = run.Plan, run.Status, run.Planned, run.Rehearsal
	e.Resumed = len(run.Resumed)
	if !run.Started.IsZero() {
		e.Started = run.Started
	}
	return e
}

func newEntry(folder, name string) Entry {
	e := briefEntry(folder, name)
	e.Size = folderSize(folder)
	if e.Err != nil {
		return e
	}
	run, cells, _, err := Open(folder)
	if err != nil {
		e.Err = err
		return e
	}
	head := newHead(name, run, cells)
	e.Complete, e.Elapsed = head.CellsComplete, time.Duration(head.Elapsed*float64(time.Second))
	return e
}

// nameTime reads the time in a folder's name; the zero time where there is none.
func nameTime(name string) time.Time {
	t, err := time.Parse(timeLayout, name[:min(len(name), len(timeLayout))])
	if err != nil {
		return time.Time{}
	}
	return t
}

func folderSize(folder string) int64 {
	var size int64
	// What cannot be read does not count: the size is for information only.
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}

// RunName is how a run folder is called: its last two names, <plan>/<time>.
func RunName(folder string) string {
	if absolute, err := filepath.Abs(folder); err == nil {
		folder = absolute
	}
	if nameTime(filepath.Base(folder)).IsZero() {
		return filepath.Base(folder)
	}
	return filepath.Base(filepath.Dir(folder)) + "/" + filepath.Base(folder)
}

// Find gives the folder of the run that is meant by a folder's path, <plan>/<time>, the name of a plan or the path of its
// folder (its last run), or the word last. The last run is the last one in earnest; a rehearsal only where there is
// nothing else. The error lists what there is.
func Find(root, spec string) (string, error) {
	for _, folder := range []string{spec, filepath.Join(root, spec)} {
		if _, err := os.Stat(filepath.Join(folder, runFile)); err == nil && spec != "" {
			return folder, nil
		}
	}
	entries, err := briefList(root)
	if err != nil {
		return "", err
	}
	if spec != "" {
		if folder := lastOf(entries, func(e Entry) bool {
			return spec == "last" || spec == e.Plan || spec == e.Name || folderName(spec) == filepath.Base(filepath.Dir(e.Folder))
		}); folder != "" {
			return folder, nil
		}
		within := listPlan(spec, briefEntry)
		sortEntries(within)
		if folder := lastOf(within, func(Entry) bool { return true }); folder != "" {
			return folder, nil
		}
	}
	if len(entries) == 0 {
		return "", fmt.Errorf("there is no run %q: %s holds none yet; benchplan run PLAN makes one", spec, root)
	}
	return "", fmt.Errorf("there is no run %q under %s; there are:\n%s", spec, root, lastNames(entries, 10))
}

// lastOf gives the folder of the last of the runs that are meant, one in earnest before any rehearsal; "" for none.
func lastOf(entries []Entry, meant func(Entry) bool) string {
	rehearsal := ""
	for _, e := range slices.Backward(entries) {
		switch {
		case !meant(e):
		case !e.Rehearsal:
			return e.Folder
		case rehearsal == "":
			rehearsal = e.Folder
		}
	}
	return rehearsal
}

// lastNames lists the newest runs, the newest first.
func lastNames(entries []Entry, n int) string {
	var b strings.Builder
	for i, e := range slices.Backward(entries) {
		if len(entries)-i > n {
			fmt.Fprintf(&b, "  and %d older\n", i+1)
			break
		}
		fmt.Fprintf(&b, "  %s\n", e.Name)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
