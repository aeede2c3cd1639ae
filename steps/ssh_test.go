package steps

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"benchplan/results"
)

// sshMachine is a real sshd on the loopback: each connection is given to one of its own, as inetd does it.
type sshMachine struct {
	port        string
	key, known  string // files: a key that may log in, protected by passphrase, and the host's key
	line        string // of the host's key
	connections atomic.Int32
}

const passphrase = "a-passphrase-that-nobody-sees"

func newSSHMachine(t *testing.T) *sshMachine {
	t.Helper()
	program, err := exec.LookPath("sshd")
	if err != nil {
		program = "/usr/sbin/sshd"
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatal("there is no sshd for the tests: install it (Debian and Ubuntu: apt-get install openssh-server)")
	}
	if os.Getuid() == 0 { // what its start script makes, and without which it does not run as root
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	m := &sshMachine{key: filepath.Join(folder, "id"), known: filepath.Join(folder, "known_hosts")}
	host := newSSHKey(t, filepath.Join(folder, "host"), "")
	put(t, filepath.Join(folder, "authorized"), string(ssh.MarshalAuthorizedKey(newSSHKey(t, m.key, passphrase))))
	config := filepath.Join(folder, "config")
	put(t, config, fmt.Sprintf("HostKey %s/host\nAuthorizedKeysFile %[1]s/authorized\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\nPasswordAuthentication no\n", folder))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, m.port, _ = net.SplitHostPort(l.Addr().String())
	m.line = knownhosts.Line([]string{l.Addr().String()}, host)
	put(t, m.known, m.line+"\n")
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			m.connections.Add(1)
			file, err := conn.(*net.TCPConn).File()
			conn.Close()
			if err != nil {
				continue
			}
			c := exec.Command(program, "-i", "-e", "-f", config)
			c.Stdin, c.Stdout = file, file
			if err := c.Start(); err == nil {
				serving.Go(func() { _ = c.Wait() }) // it ends when its client goes
			}
			file.Close()
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return m
}

// newSSHKey writes a private key into a file and gives the public one. ssh-keygen can be told to make it quick to open.
func newSSHKey(t *testing.T, file, passphrase string) ssh.PublicKey {
	t.Helper()
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-a", "1", "-N", passphrase, "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	text, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestMonitorOverSSH: the server's machine is dialled once a run, its figures stand beside those of the generator, and its secret nowhere.
func TestMonitorOverSSH(t *testing.T) {
	m := newSSHMachine(t)
	target, _, _ := onShared(t)
	watched := func(monitor string) string {
		return strings.Replace(target, "{ ", "{ monitor: { address: 127.0.0.1:"+m.port+", "+monitor+" }, ", 1)
	}
	env := map[string]string{"PHRASE": passphrase}
	good := `key: ` + m.key + `, passphrase: "${{ secrets.PHRASE }}", known_hosts: ` + m.known
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
	if n := m.connections.Load(); n != 1 {
		t.Errorf("it was dialled %d times", n)
	}
	o.noneHolds(t, passphrase)

	unknown := filepath.Join(t.TempDir(), "none")
	strange := strings.Replace(good, m.known, unknown, 1)
	for name, c := range map[string]struct{ first, at string }{
		"before anything is touched": {"", "p.yaml:5:17"},
		"at the load":                {"  - shell: 'true'\n", "p.yaml:6:17"},
	} {
		t.Run(name, func(t *testing.T) {
			o := trial{env: env, change: func(c *Config) { c.AllowShell = true }, plan: watched(strange) + "tables: { schema: sbtest, rows: 100 }\nsteps:\n" + c.first +
				"  - prepare:\n  - { name: rw, run: { workload: oltp_read_write, threads: 2, duration: 1s } }\n"}.carryOut(t)
			o.fails(t, c.at+`: run "rw": monitor of target … the host is not known … add this line to `+unknown+" … "+m.line)
			if prepared := strings.Contains(strings.Join(o.events, " "), "prepared"); prepared != (c.first != "") || len(o.cells) != 0 {
				t.Errorf("%q", o.events)
			}
			o.noneHolds(t, passphrase)
		})
	}
}
