package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchplan/results"
	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
	"benchplan/steps/radontest"

	"github.com/google/go-cmp/cmp"
)

// radonPassword is the secret of the radon plans in these tests.
const radonPassword = "s3cret-Passw0rd"

// radonServer is a real MariaDB that stands in for the radon cluster, with a password and on TCP.
func radonServer(t *testing.T) *localserver.Server {
	t.Helper()
	server := servertest.Start(t, localserver.Config{TCP: true})
	db := servertest.OpenDB(t, server, "")
	for _, statement := range []string{
		"CREATE USER 'bench'@'127.0.0.1' IDENTIFIED BY '" + radonPassword + "'",
		"GRANT ALL ON *.* TO 'bench'@'127.0.0.1'",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return server
}

// small is the radon page with numbers that a test can bear.
func small(server *localserver.Server, admin *radontest.Admin, more ...string) []string {
	args := []string{
		"--target", "bench@tcp(" + server.Address() + ")/sbtest", "--set", "vars.admin=" + admin.URL,
		"--set", "vars.tables=2", "--set", "vars.events=500", "--set", "vars.write=4", "--set", "vars.read=4",
	}
	return append(args, more...)
}

func TestRadonPageRunsAndCompares(t *testing.T) {
	t.Setenv("RADON_PASSWORD", radonPassword)
	server, admin := radonServer(t), radontest.Start(t)
	runs := t.TempDir()
	first, second := filepath.Join(runs, "first"), filepath.Join(runs, "second")
	page := "../../plans/radon-benchyou.yaml"

	got := benchplan(t, append([]string{"run", page, "--out", first}, small(server, admin)...)...).want(t, exitDone)
	for _, label := range []string{"plain", "twopc", "twopc+audit", "write", "read", "rw"} {
		if !strings.Contains(got.out, label) {
			t.Errorf("the table lacks %s:\n%s", label, got.out)
		}
	}
	run, cells := opened(t, first)
	if run.Status != results.Done {
		t.Errorf("status %s", run.Status)
	}
	checkScenarios(t, cells)
	checkSwitches(t, admin)

	// Another setting of the server, the identical matrix, and both side by side.
	db := servertest.OpenDB(t, server, "")
	if _, err := db.Exec("SET GLOBAL innodb_flush_log_at_trx_commit = 0"); err != nil {
		t.Fatal(err)
	}
	benchplan(t, append([]string{"run", page, "--out", second}, small(server, admin)...)...).want(t, exitDone)
	compared := benchplan(t, "compare", first, second).want(t, exitDone)
	for _, text := range []string{"twopc+audit", "innodb_flush_log_at_trx_commit"} {
		if !strings.Contains(compared.out, text) {
			t.Errorf("the comparison lacks %q:\n%s", text, compared.out)
		}
	}
	for _, folder := range []string{first, second} {
		noPassword(t, folder)
	}
	for name, text := range map[string]string{"stdout": got.out + compared.out, "stderr": got.err + compared.err} {
		if strings.Contains(text, radonPassword) {
			t.Errorf("the password stands in %s", name)
		}
	}
}

// checkScenarios holds the records against the five scenarios of the page.
func checkScenarios(t *testing.T, cells []results.Cell) {
	t.Helper()
	type scenario struct {
		name, config, mix string
		write, read       int
	}
	var got []scenario
	for _, c := range cells {
		config, _ := c.Label("config")
		mix, _ := c.Label("mix")
		got = append(got, scenario{strings.Join(c.Path, "/"), config, mix, c.Clients["write"], c.Clients["read"]})
		if c.Outcome.Events != 500 {
			t.Errorf("%s: %d events, want exactly 500", c.Key(), c.Outcome.Events)
		}
	}
	want := []scenario{
		{"5.1", "plain", "write", 4, 0}, {"5.2", "plain", "read", 0, 4}, {"5.3", "plain", "rw", 4, 4}, {"5.4", "twopc", "rw", 4, 4}, {"5.5", "twopc+audit", "rw", 4, 4},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(scenario{})); diff != "" {
		t.Error(diff)
	}
}

// checkSwitches tells whether the switches were really made, in order, and put back by finally.
func checkSwitches(t *testing.T, admin *radontest.Admin) {
	t.Helper()
	var got []string
	for _, sent := range admin.Sent() {
		on := "off"
		if sent["twopc-enable"] == true {
			on = "on"
		}
		got = append(got, on+" "+sent["audit-mode"].(string))
	}
	if diff := cmp.Diff([]string{"off N", "on N", "on A", "off N"}, got); diff != "" {
		t.Error(diff)
	}
	if admin.Config("twopc-enable") != false || admin.Config("audit-mode") != "N" {
		t.Error("finally did not switch back")
	}
	if ips := admin.Config("allowip").([]any); len(ips) != 3 {
		t.Errorf("allowip: %v: a PUT without it clears it", ips)
	}
}

// noPassword searches all files of a run folder.
func noPassword(t *testing.T, folder string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), radonPassword) {
			t.Errorf("the password stands in %s", path)
		}
		info, _ := d.Info()
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o, want 600", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil || files < 4 {
		t.Errorf("%d files in %s: %v", files, folder, err)
	}
}

func TestRadonSwitchThatIsNotTakenFailsTheStep(t *testing.T) {
	t.Setenv("RADON_PASSWORD", radonPassword)
	admin := radontest.Start(t)
	target, _, _ := onServer(t)
	// radon answers 200 to a key that it does not know; only the read-back tells.
	file := planFile(t, "typo.yaml", target+`
tables: { schema: benchyou }
steps:
  - http: { put: "`+admin.URL+`/v1/radon/config", json: { twopc_enable: true } }
  - http: { get: "`+admin.URL+`/v1/debug/configz" }
    assert: json.proxy["twopc-enable"] == true
    retry: { attempts: 2, interval: 10ms }
`)
	benchplan(t, "run", file, "--runs", t.TempDir()).want(t, exitFailed).
		says(t, "typo.yaml:7:13: http: after 2 tries: ", `assert does not hold: json.proxy["twopc-enable"] == true (json.proxy.twopc-enable = false)`)
}

func TestRadonPlansRehearse(t *testing.T) {
	for _, name := range []string{"radon-benchyou", "radon-benchyou-fair"} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "run")
			args := []string{"run", "../../plans/" + name + ".yaml", "--rehearse", "--out", folder, "--set", "vars.tables=2", "--set", "vars.duration=100ms"}
			if name == "radon-benchyou-fair" {
				args = append(args, "--set", "vars.repeat=1", "--set", "vars.warmup=0s")
			}
			got := benchplan(t, args...).want(t, exitDone)
			if !strings.Contains(strings.ToLower(got.out), "rehearsal") {
				t.Errorf("the table does not say that it is a rehearsal:\n%s", got.out)
			}
			run, cells := opened(t, folder)
			if !run.Rehearsal || len(cells) != run.Planned {
				t.Errorf("rehearsal %v, %d of %d cells", run.Rehearsal, len(cells), run.Planned)
			}
		})
	}
}
