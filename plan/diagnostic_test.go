package plan_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchplan/plan"

	"github.com/google/go-cmp/cmp"
)

// What a user sees of a mistaken plan: every mistake once, with its line and a caret.
func TestDiagnostics(t *testing.T) {
	files, err := filepath.Glob("testdata/diagnostics/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no files")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = plan.Read(plan.Source{Name: filepath.Base(file), Text: text}, words(), plan.Options{})
			var found plan.Diagnostics
			if !errors.As(err, &found) {
				t.Fatalf("no diagnostics, but %v", err)
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".txt", err.Error()+"\n")
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
