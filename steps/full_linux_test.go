package steps

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"benchplan/results"
	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
)

// TestTablespaceThatIsFull: while tables are filled, and while they are measured.
func TestTablespaceThatIsFull(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ steps, says, cell string }{
		"prepare": {"- { name: x, prepare: }", `prepare "x": target … fill table benchyou0 … Error 1114 … make room`, ""},
		"loop":    {"- tables: { rows: 100 }\n    steps: [ prepare: , { name: x, run: { workload: benchyou_seq, threads: { write: 2 }, rows_per_insert: 100, io: loop, events: 1M } } ]", `run "x": target … Error 1114 … make room there`, "{1114 "},
		"driver":  {"- tables: { rows: 100 }\n    steps: [ prepare: , { name: x, run: { workload: benchyou_seq, threads: { write: 2 }, rows_per_insert: 100, io: driver, events: 1M } } ]", `run "x": target … Error 1114 … make room there`, "{1114 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := servertest.Start(t, localserver.Config{Options: map[string]string{
				"innodb_data_file_path": "ibdata1:12M:autoextend:max:24M", "innodb_file_per_table": "0",
			}})
			target := fmt.Sprintf("target: { socket: %s, user: root, database: full, check_limits: off }\n", server.Socket())
			begin := time.Now()
			o := carryOut(t, target+"tables: { schema: benchyou, count: 1, rows: 1M }\nsteps:\n  - database: create\n  "+c.steps+"\n")
			if took := time.Since(begin); len(o.errs) != 1 || took > 2*faultSlack {
				t.Fatalf("it took %s: %q", took, o.errs)
			}
			inOrder(t, o.errs[0], c.says)
			if c.cell == "" {
				return
			}
			if cell := o.cells[0]; cell.Status != results.Failed || cell.Outcome.Events == 0 || cell.Outcome.Stopped != results.ByError {
				t.Errorf("%+v", cell)
			}
			inOrder(t, fmt.Sprint(o.cells[0].Outcome.Errors), c.cell)
		})
	}
}

// TestDiskThatIsFull: where there is no room for the binary log, statements wait for somebody to make some.
func TestDiskThatIsFull(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := unix.Mount("none", disk, "tmpfs", 0, "size=120m"); errors.Is(err, unix.EPERM) {
		t.Skip("NOT TRIED ON A FULL DISK: a small disk can be mounted by root only; run the tests as root to see what benchplan says of one")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	server := servertest.Start(t, localserver.Config{Data: filepath.Join(disk, "data"), Options: map[string]string{"log_bin": "log", "server_id": "1"}})
	target := fmt.Sprintf("target: { socket: %s, user: root, database: full, check_limits: off }\n", server.Socket())
	begin := time.Now()
	o := trial{plan: target + `
tables: { schema: benchyou, count: 2, rows: 1M }
steps:
  - database: create
  - { name: data, prepare: { method: insert } }
finally:
  - { name: tables, cleanup: }
`, change: func(c *Config) { c.patience = faultPatience }}.carryOut(t)
	if took := time.Since(begin); len(o.errs) == 0 || took > 3*faultSlack {
		t.Fatalf("it took %s: %q", took, o.errs)
	}
	inOrder(t, o.errs[0], `prepare "data": target … make room`) // refused, or after waiting
	for _, e := range o.errs[1:] {                              // a table that could be dropped has made room for the other
		inOrder(t, e, `cleanup "tables": target … make room`)
	}
}
