package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchplan/plan"
)

// names lists what is in a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestPrepareAndCleanup(t *testing.T) {
	f := plan.Files{Count: 3, TotalSize: 3 * 1_500_000, Dir: t.TempDir()}
	var last, total int64
	report, err := PrepareFiles(t.Context(), f, FilesOptions{Seed: 1}, func(done, all int64) { last, total = done, all })
	if err != nil {
		t.Fatal(err)
	}
	if report.Files != 3 || report.Reused != 0 || report.Bytes != 4_500_000 || last != 4_500_000 || total != 4_500_000 {
		t.Errorf("%+v, told %d of %d", report, last, total)
	}
	text := contents(t, &f)
	if len(text) != 4_500_000 || strings.Count(text, "\x00") > 30_000 {
		t.Errorf("%d bytes, %d of them 0", len(text), strings.Count(text, "\x00"))
	}
	if got := names(t, f.Dir); !slices.Equal(got, []string{markerName, "test_file.0", "test_file.1", "test_file.2"}) {
		t.Errorf("the folder has %v", got)
	}

	// Fewer and smaller ones take their place.
	f.Count, f.TotalSize = 2, 2000
	if _, err := PrepareFiles(t.Context(), f, FilesOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if got := names(t, f.Dir); !slices.Equal(got, []string{markerName, "test_file.0", "test_file.1"}) || len(contents(t, &f)) != 2000 {
		t.Errorf("the folder has %v", got)
	}

	// Cleaning up takes what was made, not only what is under test now.
	f.Count = 1
	removed, err := CleanupFiles(f, false)
	if err != nil || removed != 2 {
		t.Errorf("%d removed, %v", removed, err)
	}
	if got := names(t, f.Dir); len(got) != 0 {
		t.Errorf("%v was left", got)
	}
	if removed, err := CleanupFiles(f, false); err != nil || removed != 0 {
		t.Errorf("a second time: %d removed, %v", removed, err)
	}
	f.Dir += "/gone"
	if removed, err := CleanupFiles(f, false); err != nil || removed != 0 {
		t.Errorf("no folder: %d removed, %v", removed, err)
	}
}

func TestReuse(t *testing.T) {
	f := plan.Files{Count: 3, TotalSize: 3000, Dir: t.TempDir()}
	prepare := func(o FilesOptions) FilesReport {
		t.Helper()
		report, err := PrepareFiles(t.Context(), f, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	prepare(FilesOptions{Seed: 1})
	first := contents(t, &f)
	if err := os.Truncate(filepath.Join(f.Dir, "test_file.1"), 10); err != nil {
		t.Fatal(err)
	}
	if report := prepare(FilesOptions{Seed: 2, Reuse: true}); report.Reused != 2 || report.Bytes != 1000 {
		t.Errorf("%+v", report)
	}
	second := contents(t, &f)
	if first[:1000] != second[:1000] || first[1000:2000] == second[1000:2000] || first[2000:] != second[2000:] {
		t.Error("not the whole files were kept")
	}
	if report := prepare(FilesOptions{Seed: 3}); report.Reused != 0 || report.Bytes != 3000 {
		t.Errorf("%+v", report)
	}
}

// TestForeignFilesStay: what benchplan did not make is neither overwritten nor removed, unless it is told to.
func TestForeignFilesStay(t *testing.T) {
	f := plan.Files{Count: 3, TotalSize: 3000, Dir: t.TempDir()}
	precious := filepath.Join(f.Dir, "test_file.1")
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := ForeignFiles(f); err != nil || !slices.Equal(list, []string{"test_file.1"}) {
		t.Errorf("%v, %v", list, err)
	}
	_, err := PrepareFiles(t.Context(), f, FilesOptions{}, nil)
	_, err2 := CleanupFiles(f, false)
	for _, err := range []error{err, err2} {
		if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "test_file.1") || !strings.Contains(err.Error(), "--force") {
			t.Errorf("error %v", err)
		}
	}
	if b, err := os.ReadFile(precious); err != nil || string(b) != "precious" {
		t.Fatalf("%q, %v", b, err)
	}
	if got := names(t, f.Dir); len(got) != 1 {
		t.Errorf("something was made beside it: %v", got)
	}

	// A link is not followed.
	target := filepath.Join(t.TempDir(), "elsewhere")
	if err := errors.Join(os.WriteFile(target, []byte("precious"), 0o600), os.Remove(precious), os.Symlink(target, precious)); err != nil {
		t.Fatal(err)
	}
	if _, err := PrepareFiles(t.Context(), f, FilesOptions{Force: true}, nil); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(target); err != nil || string(b) != "precious" {
		t.Errorf("%q, %v", b, err)
	}
	if list, err := ForeignFiles(f); err != nil || list != nil {
		t.Errorf("once overwritten they are ours: %v, %v", list, err)
	}
	if removed, err := CleanupFiles(f, false); err != nil || removed != 3 {
		t.Errorf("%d removed, %v", removed, err)
	}
}

func TestMarkerNamesNothingElsewhere(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "files")
	outside := filepath.Join(dir, "precious")
	err := errors.Join(os.Mkdir(inner, 0o700), os.WriteFile(outside, nil, 0o600),
		os.WriteFile(filepath.Join(inner, markerName), []byte("../precious\ntest_file./../../precious\ntest_file.-1\n/etc/passwd\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CleanupFiles(plan.Files{Count: 1, TotalSize: 1, Dir: inner}, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

func TestInterruptedPrepareLeavesNothing(t *testing.T) {
	f := plan.Files{Count: 4, TotalSize: 4 << 20, Dir: t.TempDir()}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	_, err := PrepareFiles(ctx, f, FilesOptions{}, func(done, _ int64) {
		if done > 2<<20 {
			cancel(reason)
		}
	})
	if !errors.Is(err, reason) {
		t.Errorf("error %v", err)
	}
	if got := names(t, f.Dir); !slices.Equal(got, []string{markerName}) {
		t.Errorf("%v was left", got)
	}
}

func TestSizeText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 16384: "16.0 KiB", 3 << 30: "3.0 GiB", 1<<40 + 1<<39: "1.5 TiB"} {
		if got := SizeText(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
