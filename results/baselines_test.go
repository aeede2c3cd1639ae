package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// runAt keeps a run without cells.
func runAt(t *testing.T, root, plan string, hour int, status RunStatus, rehearsal bool) string {
	t.Helper()
	at := start.Add(time.Duration(hour) * time.Hour)
	w, err := Create(root, plan, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	writeRun(t, w, Run{Plan: plan, Status: status, Started: at, Rehearsal: rehearsal})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.Folder()
}

// TestLastBaseline: the last is the one before it of the same plan that was carried out to its end in earnest.
func TestLastBaseline(t *testing.T) {
	root := t.TempDir()
	first := runAt(t, root, "p", 1, Done, false)
	runAt(t, root, "p", 2, Done, true)
	runAt(t, root, "p", 3, RunFailed, false)
	runAt(t, root, "p", 4, Interrupted, false)
	runAt(t, root, "other", 5, Done, false)
	this := runAt(t, root, "p", 6, Done, false)
	later := runAt(t, root, "p", 7, Done, false)
	at := func(hour int) time.Time { return start.Add(time.Duration(hour) * time.Hour) }
	for name, tt := range map[string]struct {
		of   Subject
		want string
	}{
		"of a run":              {Subject{"p", this, at(6)}, first},
		"of the latest":         {Subject{"p", later, at(7)}, this},
		"of one to come":        {Subject{"p", "", time.Time{}}, later},
		"of one kept elsewhere": {Subject{"p", t.TempDir(), at(6)}, first},
	} {
		if got, err := FindBaseline(root, tt.of, "last"); err != nil || got != tt.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, tt.want)
		}
	}
	if got, err := FindBaseline(t.TempDir(), Subject{"p", this, at(6)}, "last"); err != nil || got != first {
		t.Errorf("a run named by its path: %s, %v", got, err)
	}
	if _, err := FindBaseline(root, Subject{"p", first, at(1)}, "last"); err == nil || !strings.Contains(err.Error(), "run it once without --baseline") {
		t.Errorf("of the first: %v", err)
	}
}

// TestPin: a name is one run's at a time, survives moving, and is listed.
func TestPin(t *testing.T) {
	root := t.TempDir()
	first, second := runAt(t, root, "p", 1, Done, false), runAt(t, root, "p", 2, RunFailed, false)
	for _, step := range []struct{ folder, name string }{{first, "release-1"}, {first, "good"}, {second, "good"}} {
		if err := Pin(step.folder, step.name); err != nil {
			t.Fatal(err)
		}
	}
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Rename(root, moved); err != nil {
		t.Fatal(err)
	}
	first, second = filepath.Join(moved, "p", filepath.Base(first)), filepath.Join(moved, "p", filepath.Base(second))
	for spec, want := range map[string]string{"release-1": first, "good": second, RunName(first): first} {
		if got, err := FindBaseline(moved, Subject{Plan: "p"}, spec); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", spec, got, err, want)
		}
	}
	entries, err := List(moved)
	if err != nil || strings.Join(entries[0].Pinned, " ") != "release-1" || strings.Join(entries[1].Pinned, " ") != "good" {
		t.Errorf("%+v, %v", entries, err)
	}
	if _, err := FindBaseline(moved, Subject{Plan: "p"}, "nothing"); err == nil || !strings.Contains(err.Error(), "pinned are: good, release-1") {
		t.Error(err)
	}
	if err := Unpin(first, "good"); err == nil {
		t.Error("a name was taken from a run that does not have it")
	}
	if err := Unpin(second, "good"); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(first); err != nil {
		t.Fatal(err)
	}
	if _, err := FindBaseline(moved, Subject{Plan: "p"}, "release-1"); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Error(err)
	}
	for _, name := range []string{"", "last", "a/b", `a\b`, "a b", "-x", "\x1b[31m", "20260910T140203Z"} {
		if err := Pin(second, name); err == nil {
			t.Errorf("a run was pinned as %q", name)
		}
	}
	elsewhere := filepath.Join(t.TempDir(), "out")
	w, err := CreateAt(elsewhere, nil)
	if err != nil {
		t.Fatal(err)
	}
	writeRun(t, w, Run{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Pin(elsewhere, "x"); err == nil || !strings.Contains(err.Error(), "--baseline takes its path") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(moved, "p", pinsFile), []byte(`{"v":99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Pin(second, "x"); err == nil || !strings.Contains(err.Error(), "newer benchplan") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(moved, "p", pinsFile), []byte(`{"v":1,"baselines":{"x":"../../etc"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FindBaseline(moved, Subject{Plan: "p"}, "x"); err == nil || !strings.Contains(err.Error(), "outside") {
		t.Error(err)
	}
}
