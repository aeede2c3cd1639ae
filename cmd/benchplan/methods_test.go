package main

import (
	"path/filepath"
	"strings"
	"testing"

	"benchplan/results"
	"benchplan/steps/localserver/servertest"
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

// TestSysbenchMySQLInSmall: the machine first, which needs no server, then OLTP; the server's setting is put back.
func TestSysbenchMySQLInSmall(t *testing.T) {
	t.Setenv("MYSQL_PASSWORD", radonPassword)
	server := servertest.Shared(t)
	db := servertest.OpenDB(t, server, "")
	for _, statement := range []string{"CREATE OR REPLACE USER 'bench'@'localhost' IDENTIFIED BY '" + radonPassword + "'", "GRANT ALL ON *.* TO 'bench'@'localhost'"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	pool := func() (n int64) {
		if err := db.QueryRow("SELECT @@GLOBAL.innodb_buffer_pool_size").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := pool()
	folder := filepath.Join(t.TempDir(), "run")
	got := benchplan(t, "run", "../../plans/sysbench-mysql.yaml", "--out", folder, "--set", "vars.socket="+server.Socket(), "--set", "vars.user=bench",
		"--set", "vars.database="+servertest.Database(t, server), "--set", "vars.folder="+t.TempDir(), "--set", "vars.prime=500", "--set", "vars.threads=2",
		"--set", "vars.events=50", "--set", "vars.files=4M", "--set", "vars.memory=1M", "--set", "vars.rows=500", "--set", "vars.duration=200ms",
		"--set", "vars.pools=[32M, 48M]").want(t, exitDone)
	_, cells := opened(t, folder)
	var kinds []string
	for _, c := range cells {
		kinds = append(kinds, c.Workload)
	}
	want := "cpu threads fileio memory oltp_0_4 oltp_0_4 oltp_0_4 oltp_0_4 oltp_0_4 oltp_0_4"
	if strings.Join(kinds, " ") != want {
		t.Errorf("cells %v, want %s", kinds, want)
	}
	if after := pool(); after != before {
		t.Errorf("the buffer pool was %d and is %d", before, after)
	}
	for _, text := range []string{"cpu", "fileio", "MiB/s", "myisam", "read-only", "baseline"} {
		if !strings.Contains(got.out, text) {
			t.Errorf("the tables lack %q:\n%s", text, got.out)
		}
	}
	// One cell in sysbench's words.
	summary := benchplan(t, "report", folder, "--cell", "engine=myisam,mode=read-only", "--format", "sysbench", "--percentile", "95,99").want(t, exitDone)
	for _, text := range []string{"queries performed:", "95th percentile:", "99th percentile:", "events (avg/stddev):"} {
		if !strings.Contains(summary.out, text) {
			t.Errorf("the summary lacks %q:\n%s", text, summary.out)
		}
	}
	benchplan(t, "report", folder, "--cell", "nothing").want(t, exitUsage).says(t, "no cell of")
	noPassword(t, folder)
}
