//go:build linux

package monitor

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"benchplan/steps/monitor/sshtest"
)

// startPasswordServer is not a real sshd: that takes passwords only of accounts which have one in /etc/shadow, and a test may not give
// them any. It takes the password by one of the two methods, and runs a real shell.
func startPasswordServer(t *testing.T, asked bool) SSH {
	t.Helper()
	folder := t.TempDir()
	key := sshtest.NewKey(t, filepath.Join(folder, "host_key"), "")
	text, err := os.ReadFile(filepath.Join(folder, "host_key"))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(text)
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	config := &ssh.ServerConfig{}
	config.AddHostKey(signer)
	if asked {
		config.KeyboardInteractiveCallback = func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			answers, err := ask("", "", []string{"Your name: ", "Password: "}, []bool{true, false})
			if err != nil || len(answers) != 2 || answers[0] != "" || answers[1] != secretPassword {
				return nil, refused
			}
			return nil, nil
		}
	} else {
		config.PasswordCallback = func(_ ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			if string(password) != secretPassword {
				return nil, refused
			}
			return nil, nil
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
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
			serving.Go(func() { serveShell(conn, config) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	known := filepath.Join(folder, "known_hosts")
	writeFile(t, known, knownhosts.Line([]string{l.Addr().String()}, key)+"\n")
	return SSH{Address: l.Addr().String(), KnownHosts: known, Password: secretPassword}
}

// serveShell runs /bin/sh for one session, after what a chatty start-up file would print.
func serveShell(conn net.Conn, config *ssh.ServerConfig) {
	defer conn.Close()
	server, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	defer server.Close()
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		for r := range requests {
			_ = r.Reply(r.Type == "exec", nil)
			if r.Type == "exec" {
				break
			}
		}
		go ssh.DiscardRequests(requests)
		_, _ = channel.Write([]byte("Welcome!\nHave a nice day"))
		_, _ = channel.Write([]byte("\n"))
		c := exec.Command("/bin/sh")
		c.Stdin, c.Stdout = channel, channel
		_ = c.Run() // until the client hangs up
		channel.Close()
	}
}

func TestPasswords(t *testing.T) {
	noLeak(t)
	noAgent(t)
	for name, asked := range map[string]bool{"password": false, "keyboard-interactive": true} {
		t.Run(name, func(t *testing.T) {
			c := startPasswordServer(t, asked)
			m := dial(t, c)
			h, err := m.Identity(t.Context(), "")
			if err != nil || h.Name == "" {
				t.Error(h, err)
			}
			c.Password = secretPassword + "!"
			_, err = Dial(t.Context(), c)
			expectError(t, err, []string{"login was refused", "tried: the password", "check user, key and password"})
		})
	}
}
