package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeIsTrue: the plans in the README are plans, the plans that it names are there, and its commands exist.
func TestReadmeIsTrue(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(readme, -1)
	if len(blocks) == 0 {
		t.Error("there is no plan in the README")
	}
	for _, b := range blocks {
		benchplan(t, "validate", planFile(t, "readme.yaml", b[1])).want(t, exitDone)
	}
	for _, link := range regexp.MustCompile(`\]\((plans/[^)]+)\)`).FindAllStringSubmatch(readme, -1) {
		if _, err := os.Stat(filepath.Join("../..", link[1])); err != nil {
			t.Error(err)
		}
	}
	for _, line := range regexp.MustCompile("(?m)^\\| `benchplan ([a-z]+)").FindAllStringSubmatch(readme, -1) {
		benchplan(t, line[1], "--help").want(t, exitDone)
	}
}

// TestReadyPlansAreGood: each reads without a mistake and can be shown.
func TestReadyPlansAreGood(t *testing.T) {
	files, err := filepath.Glob("../../plans/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		got := benchplan(t, "show", file).want(t, exitDone)
		if !strings.Contains(got.out, "run ") {
			t.Errorf("%s runs nothing:\n%s", file, got.out)
		}
	}
}

// TestQuickstart: the plan of make demo, cut to two short rounds.
func TestQuickstart(t *testing.T) {
	got := benchplan(t, "run", "../../plans/quickstart.yaml", "--runs", t.TempDir(), "--set", "vars.rounds=2", "--set", "vars.duration=50ms", "--set", "vars.warmup=0s").want(t, exitDone)
	for _, text := range []string{"flush", "clients", "baseline", "private server"} {
		if !strings.Contains(got.out, text) {
			t.Errorf("the table lacks %q:\n%s", text, got.out)
		}
	}
}
