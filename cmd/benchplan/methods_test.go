package main

import (
	"path/filepath"
	"strings"
	"testing"

	"benchplan/results"
)

// TestSsdHddInSmall: the page's matrix on two targets, which here are one server twice.
func TestSsdHddInSmall(t *testing.T) {
	t.Setenv("SSD_PASSWORD", radonPassword)
	t.Setenv("HDD_PASSWORD", radonPassword)
	server := radonServer(t)
	folder := filepath.Join(t.TempDir(), "run")
	got := benchplan(t, "run", "../../plans/ssd-hdd-sysbench.yaml", "--out", folder, "--set", "vars.ssd="+server.Address(), "--set", "vars.hdd="+server.Address(),
		"--set", "vars.user=bench", "--set", "vars.prepared=3", "--set", "vars.tables=2", "--set", "vars.rows=500", "--set", "vars.threads=4", "--set", "vars.duration=500ms").want(t, exitDone)
	_, cells := opened(t, folder)
	if len(cells) != 2 {
		t.Fatalf("%d cells", len(cells))
	}
	for _, c := range cells {
		o := c.Outcome
		if c.Tables.Count != 2 || o.Statements[results.Read].Count < 14*o.Events || o.Statements[results.Write].Count < 4*o.Events || o.Events == 0 {
			t.Errorf("%s: %d tables, %d events, %+v", c.Key(), c.Tables.Count, o.Events, o.Statements)
		}
		if c.Options["rand_type"] != "uniform" {
			t.Errorf("rand_type %v", c.Options["rand_type"])
		}
	}
	for _, text := range []string{"SSD", "HDD", "baseline", "p95"} {
		if !strings.Contains(got.out, text) {
			t.Errorf("the table lacks %q:\n%s", text, got.out)
		}
	}
	noPassword(t, folder)
}

// TestDDMInSmall: the table made by hand, with a partition clause that MariaDB takes.
func TestDDMInSmall(t *testing.T) {
	t.Setenv("DDM_PASSWORD", radonPassword)
	server := radonServer(t)
	folder := filepath.Join(t.TempDir(), "run")
	args := []string{"run", "../../plans/ddm-sysbench.yaml", "--out", folder, "--set", "vars.user=bench", "--set", "vars.rows=300", "--set", "vars.load_threads=2",
		"--set", "vars.threads=[2, 4]", "--set", "vars.duration=300ms", "--set", "vars.partition=partition by hash(id)"}
	for _, size := range []string{"small", "medium", "large"} {
		args = append(args, "--set", "vars."+size+"="+server.Address())
	}
	got := benchplan(t, args...).want(t, exitDone)
	_, cells := opened(t, folder)
	if len(cells) != 6 {
		t.Fatalf("%d cells", len(cells))
	}
	for _, text := range []string{"8 vCPUs", "16 vCPUs", "32 vCPUs", "tps", "qps"} {
		if !strings.Contains(got.out, text) {
			t.Errorf("the table lacks %q:\n%s", text, got.out)
		}
	}
}
