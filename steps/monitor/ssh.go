package monitor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/user"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// SSH says how a machine is reached. ~/.ssh/config is not read: an alias or a jump host of it has no meaning here.
type SSH struct {
	Address string // host or host:port; port 22 unless said
	User    string // empty: the user who runs benchplan
	// Key is the file of a private key, "~/" allowed. Empty: the keys of the agent (SSH_AUTH_SOCK) and of ~/.ssh.
	Key string
	// KnownHosts is the file with the keys of the hosts that are trusted. Empty: ~/.ssh/known_hosts and /etc/ssh/ssh_known_hosts.
	KnownHosts string
	Password   string `json:"-"`
	Passphrase string `json:"-"` // of Key, or of the keys of ~/.ssh
	// Timeout is how long connecting may take; 0: 10 seconds.
	Timeout time.Duration
}

// String gives user and address, so that printing never shows a secret.
func (c SSH) String() string { return c.User + "@" + c.Address }

// GoString is String.
func (c SSH) GoString() string { return c.String() }

const dialTimeout = 10 * time.Second

// Dial connects to a machine over ssh, and starts a shell on it that lasts as long as the connection. The host's key has to be known.
// What is tried to log in: the key; the password, by the methods password and keyboard-interactive; without a key, those of the agent and of
// ~/.ssh. An error says what to do, and shows no secret.
func Dial(ctx context.Context, c SSH) (*Machine, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	// A function keeps the configuration, so that a Machine that is printed shows no secret.
	m := &Machine{name: "machine " + c.Address, source: &remote{dial: func(ctx context.Context) (*shell, error) { return c.dial(ctx) }}}
	if err := m.source.ready(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

// complete fills in what was left out.
func (c SSH) complete() (SSH, error) {
	if c.Address == "" {
		return c, errors.New("ssh: no address; give the host's name, or host:port")
	}
	if _, _, err := net.SplitHostPort(c.Address); err != nil {
		c.Address = net.JoinHostPort(strings.Trim(c.Address, "[]"), "22")
	}
	if c.User == "" {
		u, err := user.Current()
		if err != nil {
			return c, fmt.Errorf("ssh to %s: no user was given, and who runs benchplan is not known: %w", c.Address, err)
		}
		c.User = u.Username
	}
	if c.Timeout <= 0 {
		c.Timeout = dialTimeout
	}
	return c, nil
}

func (c SSH) dial(ctx context.Context) (*shell, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	hosts, err := readKnownHosts(c.KnownHosts)
	if err != nil {
		return nil, fmt.Errorf("ssh to %s: %w", c.Address, err)
	}
	login, err := newLogin(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("ssh to %s: %w", c, err)
	}
	defer login.close()

	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", c.Address)
	if err != nil {
		return nil, fmt.Errorf("ssh to %s: %w%s", c.Address, err, dialRemedy(err))
	}
	// The handshake knows no context: it ends with its connection.
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	config := &ssh.ClientConfig{
		User:              c.User,
		Auth:              login.methods(),
		HostKeyCallback:   hosts.check,
		HostKeyAlgorithms: hosts.algorithms(c.Address),
	}
	transport, channels, requests, err := ssh.NewClientConn(conn, c.Address, config)
	if err != nil {
		conn.Close()
		return nil, c.explain(ctx, err, hosts, login)
	}
	client := ssh.NewClient(transport, channels, requests)
	sh, err := newShell(ctx, client)
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("ssh to %s: %w", c, err)
	}
	return sh, nil
}

// explain says why the handshake failed and what to do.
func (c SSH) explain(ctx context.Context, err error, hosts *knownHosts, login *login) error {
	switch {
	case hosts.refused != nil:
		return fmt.Errorf("ssh to %s: %w", c.Address, hosts.refused)
	case ctx.Err() != nil:
		return fmt.Errorf("ssh to %s: no answer within %v (%w); check the address and that an ssh server listens there", c.Address, c.Timeout, ctx.Err())
	case strings.Contains(err.Error(), "unable to authenticate"), strings.Contains(err.Error(), "Too many authentication failures"),
		// A sshd that offers to ask for a password and then does not: the package takes its refusal (51) for a fault.
		strings.Contains(err.Error(), "unexpected message type 51"):
		return fmt.Errorf("ssh to %s: the login was refused (%w); tried: %s; %s", c, err, login.tried(), login.remedy())
	}
	return fmt.Errorf("ssh to %s: %w; check that an ssh server listens there", c, err)
}

func dialRemedy(err error) string {
	_, unknownHost := errors.AsType[*net.DNSError](err)
	switch {
	case unknownHost:
		return "; the host name is not known: check the address"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "; nothing listens there: check the address, the port, and that sshd runs"
	case errors.Is(err, context.DeadlineExceeded):
		return "; no answer: check the address and the firewall"
	}
	return ""
}

// remote is a machine that is reached over ssh. One command runs at a time.
type remote struct {
	dial func(context.Context) (*shell, error)

	mu     sync.Mutex
	shell  *shell // nil: not connected
	closed bool
}

func (r *remote) ready(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errors.New("the ssh connection was closed")
	}
	if r.shell != nil && r.shell.alive() {
		return nil
	}
	r.drop()
	sh, err := r.dial(ctx)
	if err != nil {
		return err
	}
	r.shell = sh
	return nil
}

// run runs commands of a POSIX shell and gives what they print. Where they do not answer, the connection is given up.
func (r *remote) run(ctx context.Context, commands string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shell == nil {
		return nil, errors.New("the ssh connection was lost; it is made again for the next cell")
	}
	out, err := r.shell.run(ctx, commands)
	if err != nil {
		r.drop()
		return nil, fmt.Errorf("the ssh connection was lost (%w); it is made again for the next cell", err)
	}
	return out, nil
}

func (r *remote) drop() {
	if r.shell != nil {
		r.shell.close()
		r.shell = nil
	}
}

func (r *remote) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.drop()
	return nil
}
