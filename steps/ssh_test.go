package steps

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"benchplan/results"
	"benchplan/steps/monitor/sshtest"
)

const passphrase = "a-passphrase-that-nobody-sees"

// TestMonitorOverSSH: the server's machine is dialled once a run, its figures stand beside those of the generator, and its secret nowhere.
func TestMonitorOverSSH(t *testing.T) {
	m := sshtest.Start(t, passphrase)
	_, port, _ := net.SplitHostPort(m.Address)
	target, _, _ := onShared(t)
	watched := func(monitor string) string {
		return strings.Replace(target, "{ ", "{ monitor: { address: 127.0.0.1:"+port+", "+monitor+" }, ", 1)
	}
	env := map[string]string{"PHRASE": passphrase}
	good := `key: ` + m.Key + `, passphrase: "${{ secrets.PHRASE }}", known_hosts: ` + m.KnownHosts
	o := trial{env: env, plan: watched(good) + `
tables: { schema: sbtest, rows: 100 }
steps:
  - prepare:
  - { name: rw, repeat: 2, run: { workload: oltp_read_write, threads: 2, duration: 1s } }
`}.carryOut(t).done(t)
	for _, cell := range o.cells {
		if len(cell.Machines) != 2 {
			t.Fatalf("machines %+v", cell.Machines)
		}
		here, there := cell.Machines[0], cell.Machines[1]
		if here.Role != results.Generator || here.Server || there.Role != results.ServerMachine || !there.Server || there.Name != here.Name || there.Usage.CPUs != here.Usage.CPUs || there.Usage.ContextSwitches == 0 {
			t.Errorf("%+v\n%+v", here, there)
		}
	}
	if host := o.run.Targets[0].Host; host == nil || host.CPUs == 0 {
		t.Errorf("the server's machine is %+v", host)
	}
	if n := m.Connections(); n != 1 {
		t.Errorf("it was dialled %d times", n)
	}
	o.noneHolds(t, passphrase)

	unknown := filepath.Join(t.TempDir(), "none")
	strange := strings.Replace(good, m.KnownHosts, unknown, 1)
	for name, c := range map[string]struct{ first, at string }{
		"before anything is touched": {"", "p.yaml:5:17"},
		"at the load":                {"  - shell: 'true'\n", "p.yaml:6:17"},
	} {
		t.Run(name, func(t *testing.T) {
			o := trial{env: env, change: func(c *Config) { c.AllowShell = true }, plan: watched(strange) + "tables: { schema: sbtest, rows: 100 }\nsteps:\n" + c.first +
				"  - prepare:\n  - { name: rw, run: { workload: oltp_read_write, threads: 2, duration: 1s } }\n"}.carryOut(t)
			o.fails(t, c.at+`: run "rw": monitor of target … the host is not known … add this line to `+unknown+" … "+m.HostLine)
			if prepared := strings.Contains(strings.Join(o.events, " "), "prepared"); prepared != (c.first != "") || len(o.cells) != 0 {
				t.Errorf("%q", o.events)
			}
			o.noneHolds(t, passphrase)
		})
	}
}
