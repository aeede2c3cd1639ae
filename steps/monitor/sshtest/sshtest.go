//go:build unix

// Package sshtest gives tests a real sshd to log in to, on the loopback.
//
// It knows nothing of package monitor, whose own tests use it too.
package sshtest

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// Server is a real sshd. The test takes its connections and gives each to an sshd of its own, as inetd would: so there is no port to be
// guessed, and every process is known.
type Server struct {
	Address    string // host:port
	Key        string // the file of a private key that may log in as whoever runs the test
	KnownHosts string // a known_hosts file that has the host's key
	HostLine   string // the line in it

	folder    string
	mu        sync.Mutex
	processes []*exec.Cmd // one a connection
	serving   sync.WaitGroup
}

// Start starts one for the time of a test. Its Key is locked by the passphrase, where there is one. Options are lines of sshd_config that
// go before its own: of two, sshd heeds the first.
func Start(t *testing.T, passphrase string, options ...string) *Server {
	t.Helper()
	path := program(t)
	if os.Getuid() == 0 {
		// What its start script makes, and without which it does not run as root.
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := user.Lookup("sshd"); err != nil {
			t.Fatalf("%v: an sshd that root runs needs that user; `.ci/sshd` makes it", err)
		}
	}
	s := &Server{folder: t.TempDir()}
	host := NewKey(t, filepath.Join(s.folder, "host_key"), "")
	s.Key = filepath.Join(s.folder, "id")
	s.Authorize(t, NewKey(t, s.Key, passphrase))
	config := filepath.Join(s.folder, "sshd_config")
	writeFile(t, config, strings.Join(append(options, ""), "\n")+fmt.Sprintf(`HostKey %s/host_key
AuthorizedKeysFile %[1]s/authorized_keys
StrictModes no
UsePAM no
PidFile none
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
PrintMotd no
`, s.folder))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Address = l.Addr().String()
	log, err := os.Create(filepath.Join(s.folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	s.KnownHosts, s.HostLine = filepath.Join(s.folder, "known_hosts"), knownhosts.Line([]string{s.Address}, host)
	writeFile(t, s.KnownHosts, s.HostLine+"\n")
	s.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if err := s.serve(conn, log, path, "-i", "-e", "-f", config); err != nil {
				t.Error(err)
			}
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.Kill()
		s.serving.Wait()
		log.Close()
		if t.Failed() {
			said, err := os.ReadFile(log.Name())
			t.Logf("sshd: %s%v", said, err)
		}
	})
	return s
}

// program finds sshd: BENCHPLAN_SSHD, or where it is installed.
func program(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("BENCHPLAN_SSHD"); p != "" {
		return p
	}
	if p, err := exec.LookPath("sshd"); err == nil {
		return p
	}
	const installed = "/usr/sbin/sshd"
	if _, err := os.Stat(installed); err == nil {
		return installed
	}
	t.Fatal("there is no sshd for the tests: install it (Debian and Ubuntu: apt-get install openssh-server), or name it by BENCHPLAN_SSHD")
	return ""
}

// serve gives the connection to a process, which says what goes wrong into the log, and keeps no hold of it.
func (s *Server) serve(conn net.Conn, log *os.File, path string, args ...string) error {
	defer conn.Close()
	file, err := conn.(*net.TCPConn).File()
	if err != nil {
		return err
	}
	defer file.Close()
	c := exec.Command(path, args...)
	c.Stdin, c.Stdout, c.Stderr = file, file, log
	// A group of its own: once somebody has logged in, an sshd of an ordinary user leaves the connection to a child that outlives it.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		return err
	}
	s.mu.Lock()
	s.processes = append(s.processes, c)
	s.mu.Unlock()
	s.serving.Go(func() { _ = c.Wait() }) // killed, or its client has gone: both are well
	return nil
}

// Kill ends all its processes as a power cut would. It goes on taking connections.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.processes {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // all of them may have ended
	}
}

// Connections is how many have been made so far.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.processes)
}

// Authorize lets another key log in.
func (s *Server) Authorize(t *testing.T, key ssh.PublicKey) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(s.folder, "authorized_keys"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(ssh.MarshalAuthorizedKey(key)); err != nil {
		t.Fatal(err)
	}
}

// NewKey writes a private key to a file, locked by the passphrase where there is one, and gives the public one.
func NewKey(t *testing.T, file, passphrase string) ssh.PublicKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var block *pem.Block
	if passphrase == "" {
		block, err = ssh.MarshalPrivateKey(private, "test")
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "test", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, string(pem.EncodeToMemory(block)))
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
