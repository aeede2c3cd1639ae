//go:build linux

package monitor

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"benchplan/results"
	"benchplan/steps/monitor/sshtest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"
)

const (
	secretPassphrase = "a-passphrase-that-nobody-may-see"
	secretPassword   = "a-password-that-nobody-may-see"
)

// startSSHD starts an sshd, and gives what logs in to it.
func startSSHD(t *testing.T) (*sshtest.Server, SSH) {
	t.Helper()
	s := sshtest.Start(t, "")
	return s, SSH{Address: s.Address, Key: s.Key, KnownHosts: s.KnownHosts}
}

// dialSSHD connects to an sshd of the test's own.
func dialSSHD(t *testing.T) *Machine {
	t.Helper()
	_, c := startSSHD(t)
	return dial(t, c)
}

// dial connects, and closes the connection at the test's end.
func dial(t *testing.T, c SSH) *Machine {
	t.Helper()
	m, err := Dial(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// noAgent hides the agent and the keys of whoever runs the test.
func noAgent(t *testing.T) {
	t.Helper()
	t.Setenv("SSH_AUTH_SOCK", "")
	t.Setenv("HOME", t.TempDir())
}

func TestIdentityOverSSHIsThatReadHere(t *testing.T) {
	noLeak(t)
	noAgent(t)
	m := dialSSHD(t)
	folder := filepath.Join(t.TempDir(), "it's not", "yet")
	there, err := m.Identity(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	here, err := Local().Identity(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(here, there); diff != "" || there.Disk == "" || there.CPUs == 0 {
		t.Error(there, diff)
	}
	// Others write to the disk meanwhile: one of several looks has to find it unchanged.
	for range 50 {
		before, err1 := Local().Free(t.Context(), folder)
		there, err2 := m.Free(t.Context(), folder)
		after, err3 := Local().Free(t.Context(), folder)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		if min(before, after) <= there && there <= max(before, after) {
			return
		}
	}
	t.Error("the free space is never that read here")
}

// readAll reads all that there is of a machine.
func readAll(t *testing.T, m *Machine, pid int) (devices, counters, process) {
	t.Helper()
	files := append(append(counterFiles, deviceFiles...), processFiles(pid)...)
	root, release, err := m.source.fetch(t.Context(), files...)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	d := readDevices(root)
	c, err := readCounters(root, d)
	if err != nil || c.missing != nil {
		t.Fatal(err, c.missing)
	}
	p, err := readProcess(root, pid)
	if err != nil {
		t.Fatal(err)
	}
	return d, c, p
}

func TestCountersOverSSHAreThoseReadHere(t *testing.T) {
	noLeak(t)
	noAgent(t)
	m := dialSSHD(t)
	pid := os.Getpid()
	_, a, p := readAll(t, Local(), pid)
	devices, b, q := readAll(t, m, pid)
	devicesHere, c, r := readAll(t, Local(), pid)

	if diff := cmp.Diff(devicesHere, devices, cmp.AllowUnexported(devices)); diff != "" || len(devices.disks) == 0 && exists("/sys/block/sda") {
		t.Error("devices", diff)
	}
	// What the kernel counts grows: what was read between lies between.
	between := func(what string, a, b, c float64) {
		t.Helper()
		if !(a <= b && b <= c) {
			t.Errorf("%s: %v was read over ssh between %v and %v", what, b, a, c)
		}
	}
	between("uptime", a.uptime, b.uptime, c.uptime)
	between("user", a.cpu.User, b.cpu.User, c.cpu.User)
	between("nice", a.cpu.Nice, b.cpu.Nice, c.cpu.Nice)
	between("system", a.cpu.System, b.cpu.System, c.cpu.System)
	between("softirq", a.cpu.SoftIRQ, b.cpu.SoftIRQ, c.cpu.SoftIRQ)
	between("context switches", float64(a.switches), float64(b.switches), float64(c.switches))
	between("CPUs", float64(a.cpus), float64(b.cpus), float64(c.cpus))
	for name := range b.disks {
		between(name, float64(a.disks[name].WriteIOs), float64(b.disks[name].WriteIOs), float64(c.disks[name].WriteIOs))
		between(name, float64(a.disks[name].ReadSectors), float64(b.disks[name].ReadSectors), float64(c.disks[name].ReadSectors))
	}
	for name := range b.nets {
		between(name, float64(a.nets[name].RxBytes), float64(b.nets[name].RxBytes), float64(c.nets[name].RxBytes))
	}
	between("user of the process", p.user, q.user, r.user)
	between("system of the process", p.system, q.system, r.system)
	if p.started != q.started || q.memory == 0 || len(q.waited) < 2 {
		t.Errorf("the process is %+v, and over ssh %+v", p, q)
	}
	for thread := range maps.Keys(q.waited) {
		if _, here := r.waited[thread]; here {
			between("waiting of a thread", float64(p.waited[thread]), float64(q.waited[thread]), float64(r.waited[thread]))
		}
	}
}

func TestACellIsWatchedOverSSH(t *testing.T) {
	noLeak(t)
	noAgent(t)
	m, read := notice(dialSSHD(t))
	for range 2 { // the connection serves one cell after another
		w := NewWatch(t.Context(), Config{Machines: []Watched{
			{Machine: m, Role: results.ServerMachine, Server: true, Processes: map[string]int{"server": os.Getpid()}},
			{Machine: Local(), Role: results.Generator},
		}})
		read()
		w.Begin()
		read()
		burn(t, 0.2)
		w.Second()
		read()
		burn(t, 0.2)
		w.Second()
		w.End()
		machines, _, problems := w.Finish()
		if len(machines) != 2 || len(problems) > 0 {
			t.Fatal(machines, problems)
		}
		there, here := machines[0], machines[1]
		if there.Name != here.Name || there.Role != results.ServerMachine || !there.Server || there.Usage.CPUs != here.Usage.CPUs {
			t.Errorf("there %+v, here %+v", there, here)
		}
		p := there.Processes["server"]
		if p.PID != os.Getpid() || p.User+p.System <= 0 || p.Memory == 0 || len(there.Processes) != 1 || p.GCs != 0 {
			t.Errorf("the processes over ssh are %+v", there.Processes)
		}
		if there.Usage.Elapsed <= 0 || there.Usage.User+there.Usage.System <= 0 || len(there.Seconds) == 0 {
			t.Errorf("over ssh %+v, seconds %+v", there.Usage, there.Seconds)
		}
	}
}

func TestHostKeys(t *testing.T) {
	noLeak(t)
	noAgent(t)
	s, access := startSSHD(t)
	right, err := os.ReadFile(s.KnownHosts)
	if err != nil {
		t.Fatal(err)
	}
	other := sshtest.NewKey(t, filepath.Join(t.TempDir(), "other"), "")
	wrong := knownhosts.Line([]string{s.Address}, other) + "\n"
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, text)
		return path
	}
	line := strings.TrimSpace(string(right))
	for name, c := range map[string]struct {
		known string
		want  []string // in the error; none: it is let in
	}{
		"known":               {file("known", string(right)), nil},
		"known by its hash":   {file("hashed", knownhosts.HashHostname(knownhosts.Normalize(s.Address))+strings.TrimPrefix(line, knownhosts.Normalize(s.Address))+"\n"), nil},
		"known among others":  {file("others", "db1 "+strings.SplitN(wrong, " ", 2)[1]+string(right)), nil},
		"not known":           {file("empty", ""), []string{"not known", "add this line to " + filepath.Join(dir, "empty"), line, "SHA256:"}},
		"no such file":        {filepath.Join(dir, "none"), []string{"not known", "add this line to " + filepath.Join(dir, "none"), line}},
		"changed":             {file("changed", wrong), []string{"has changed", filepath.Join(dir, "changed") + ":1", "ssh-keygen -R", line}},
		"revoked":             {file("revoked", "@revoked * "+strings.SplitN(line, " ", 2)[1]+"\n"), []string{"not to be trusted", "revoked"}},
		"a file of something": {file("broken", "db1 ssh-ed25519 what\n"), []string{filepath.Join(dir, "broken")}},
	} {
		t.Run(name, func(t *testing.T) {
			config := access
			config.KnownHosts = c.known
			m, err := Dial(t.Context(), config)
			if err == nil {
				m.Close()
			}
			expectError(t, err, c.want)
		})
	}
}

// expectError checks that the error has all that it should say, and no secret. No words: no error.
func expectError(t *testing.T, err error, words []string) {
	t.Helper()
	if len(words) == 0 {
		if err != nil {
			t.Error(err)
		}
		return
	}
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error lacks %q: %v", w, err)
		}
	}
	for _, secret := range []string{secretPassword, secretPassphrase} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

// TestASSHDThatRefusesWithoutAsking: without PAM, sshd offers to ask for a password, and when asked to do so only refuses.
func TestASSHDThatRefusesWithoutAsking(t *testing.T) {
	noLeak(t)
	noAgent(t)
	s := sshtest.Start(t, "", "KbdInteractiveAuthentication yes")
	_, err := Dial(t.Context(), SSH{Address: s.Address, KnownHosts: s.KnownHosts, Password: secretPassword})
	expectError(t, err, []string{"login was refused", "tried: the password", "check user, key and password"})
}

func TestLogins(t *testing.T) {
	noLeak(t)
	s, access := startSSHD(t)
	dir := t.TempDir()
	locked := filepath.Join(dir, "locked")
	lockedKey := sshtest.NewKey(t, locked, secretPassphrase)
	s.Authorize(t, lockedKey)
	stranger := filepath.Join(dir, "stranger")
	sshtest.NewKey(t, stranger, "")
	broken := filepath.Join(dir, "broken")
	writeFile(t, broken, "no key\n")
	text, err := os.ReadFile(locked)
	if err != nil {
		t.Fatal(err)
	}
	lockedPrivate, err := ssh.ParseRawPrivateKeyWithPassphrase(text, []byte(secretPassphrase))
	if err != nil {
		t.Fatal(err)
	}
	withLocked := startAgent(t, lockedPrivate)

	for _, c := range []struct {
		name   string
		change func(*SSH)
		agent  string
		want   []string // in the error; none: it is let in
	}{
		{"a key", func(*SSH) {}, "", nil},
		{"a key of ~/.ssh", func(c *SSH) { c.Key = ""; putDefault(t, s.Key) }, "", nil},
		{"a locked key with its passphrase", func(c *SSH) { c.Key, c.Passphrase = locked, secretPassphrase }, "", nil},
		{"a locked key that the agent has", func(c *SSH) { c.Key = locked }, withLocked, nil},
		{"the agent", func(c *SSH) { c.Key = "" }, withLocked, nil},
		{"a locked key", func(c *SSH) { c.Key = locked }, "", []string{locked, "passphrase", "ssh-add"}},
		{"a locked key with another passphrase", func(c *SSH) { c.Key, c.Passphrase = locked, secretPassphrase+"!" }, "", []string{locked, "passphrase does not open it"}},
		{"a key that may not", func(c *SSH) { c.Key = stranger }, "", []string{"login was refused", stranger, "ssh-copy-id"}},
		{"a key that is none", func(c *SSH) { c.Key = broken }, "", []string{broken, "cannot be read"}},
		{"a key that is not there", func(c *SSH) { c.Key = broken + "?" }, "", []string{broken + "?", "no such file"}},
		{"a user who is not there", func(c *SSH) { c.User = "nobody-of-this-name" }, "", []string{"nobody-of-this-name@", "login was refused"}},
		{"a password where there are none", func(c *SSH) { c.Key, c.Password = "", secretPassword }, "", []string{"login was refused", "the password"}},
		{"nothing", func(c *SSH) { c.Key = "" }, "", []string{"login was refused", "no key was found and no password given"}},
		{"a locked key of ~/.ssh", func(c *SSH) { c.Key = ""; putDefault(t, locked) }, "", []string{"login was refused", "locked by a passphrase", "id_ed25519"}},
		{"no address", func(c *SSH) { c.Address = "" }, "", []string{"no address"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			noAgent(t)
			t.Setenv("SSH_AUTH_SOCK", c.agent)
			config := access
			c.change(&config)
			m, err := Dial(t.Context(), config)
			if err == nil {
				m.Close()
			}
			expectError(t, err, c.want)
			for _, printed := range []string{fmt.Sprintf("%v %+v %#v", config, config, config), fmt.Sprintf("%+v %#v", m, m)} {
				if strings.Contains(printed, "nobody-may-see") {
					t.Errorf("printing shows a secret: %s", printed)
				}
			}
		})
	}
}

// putDefault makes a key one of those that are tried unasked.
func putDefault(t *testing.T, key string) {
	t.Helper()
	text, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(os.Getenv("HOME"), ".ssh")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(folder, "id_ed25519"), string(text))
}

// startAgent serves an agent that has a key, and gives its socket.
func startAgent(t *testing.T, key any) string {
	t.Helper()
	keys := agent.NewKeyring()
	if err := keys.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "agent")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				_ = agent.ServeAgent(keys, conn) // until the client hangs up
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return socket
}

func TestAMachineThatCannotBeReached(t *testing.T) {
	noLeak(t)
	noAgent(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for address, want := range map[string]string{
		silent.Addr().String(): "no answer within",
		closed.Addr().String(): "nothing listens there",
		"no-such-host.invalid": "host name is not known",
	} {
		_, err := Dial(t.Context(), SSH{Address: address, Timeout: 2 * time.Second})
		expectError(t, err, []string{"ssh to ", address, want})
	}
}

// remotePID gives the id of the shell on the other machine, which is this one.
func remotePID(t *testing.T, m *Machine) int {
	t.Helper()
	out, err := m.source.(*remote).run(t.Context(), "echo $$")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(out)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// expectEnd waits for a process's end.
func expectEnd(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); exists(fmt.Sprintf("/proc/%d/stat", pid)); {
		if time.Now().After(deadline) {
			t.Fatalf("process %d was left on the other machine", pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestNothingIsLeftOnTheOtherMachine(t *testing.T) {
	noLeak(t)
	noAgent(t)
	_, access := startSSHD(t)
	m := dial(t, access)
	pid := remotePID(t, m)
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	expectEnd(t, pid)
	if _, err := m.Identity(t.Context(), ""); err == nil {
		t.Error("a closed machine was read")
	}
	// benchplan that dies closes nothing in order: the connection just ends.
	m = dial(t, access)
	pid = remotePID(t, m)
	m.source.(*remote).shell.client.Close()
	expectEnd(t, pid)
}

func TestALostConnectionIsMadeAnewForTheNextCell(t *testing.T) {
	noLeak(t)
	noAgent(t)
	s, access := startSSHD(t)
	m := dial(t, access)
	there, readThere := notice(m)
	here, readHere := notice(Local())
	w := NewWatch(t.Context(), Config{Machines: []Watched{{Machine: there, Role: results.ServerMachine}, {Machine: here, Role: results.Generator}}})
	readThere()
	readHere()
	w.Begin()
	readThere()
	readHere()
	w.Second()
	readThere()
	gone := m.source.(*remote).shell.ended
	s.Kill()
	<-gone
	w.Second()
	w.End()
	began := time.Now()
	machines, _, problems := w.Finish()
	if took := time.Since(began); took > finishLimit+5*time.Second {
		t.Errorf("Finish took %v", took)
	}
	if len(machines) != 2 || len(machines[0].Seconds) != 1 || machines[1].Role != results.Generator {
		t.Errorf("what was read until then, and the other machine's figures, are not there: %+v", machines)
	}
	if len(problems) != 1 || !strings.Contains(problems[0].Error(), s.Address) || !strings.Contains(problems[0].Error(), "ssh connection was lost") {
		t.Errorf("the problems are %v", problems)
	}

	w = NewWatch(t.Context(), Config{Machines: []Watched{{Machine: there, Role: results.ServerMachine}}})
	readThere()
	w.Begin()
	readThere()
	burn(t, 0.1)
	w.End()
	machines, _, problems = w.Finish()
	if len(machines) != 1 || len(problems) > 0 {
		t.Errorf("the next cell has %+v, problems %v", machines, problems)
	}
}

func TestNamesFromTheOtherMachineStayInTheFolder(t *testing.T) {
	folder := t.TempDir()
	root := filepath.Join(folder, "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	err := unpack(root, []byte("/proc/stat:a: b\n/proc/stat:c\ngrep: x: binary file matches\nBinary file y matches\n/proc/uptime:1 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "proc/stat"))
	if err != nil || string(text) != "a: b\nc\n" {
		t.Errorf("%q, %v", text, err)
	}
	other := filepath.Join(folder, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unpack(other, []byte("/../../outside:x\n")); err == nil || exists(filepath.Join(folder, "outside")) {
		t.Errorf("a file was put outside: %v", err)
	}
}

func TestDialingEndsWithItsContext(t *testing.T) {
	noLeak(t)
	noAgent(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := Dial(ctx, SSH{Address: silent.Addr().String(), Timeout: time.Minute}); err == nil {
		t.Error("a machine that says nothing was reached")
	}
}
