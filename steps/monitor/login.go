package monitor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// login is what is tried to log in.
type login struct {
	signers  []ssh.Signer
	names    []string // of what is tried, for messages
	locked   []string // the files of keys that want a passphrase
	password string
	keyNamed bool
	close    func() // ends the talk with the agent
}

// newLogin gathers the keys. One that was asked for by its name has to be usable; of the others, those that are.
func newLogin(ctx context.Context, c SSH) (*login, error) {
	l := &login{password: c.Password, keyNamed: c.Key != "", close: func() {}}
	inAgent := l.askAgent(ctx)
	if c.Key != "" {
		if err := l.addFile(inHome(c.Key), c.Passphrase, inAgent); err != nil {
			l.close()
			return nil, err
		}
		return l, nil
	}
	l.signers = inAgent
	if len(inAgent) > 0 {
		l.names = append(l.names, fmt.Sprintf("the keys of the agent (%d)", len(inAgent)))
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return l, nil
	}
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		file := filepath.Join(home, ".ssh", name)
		if !exists(file) {
			continue
		}
		if err := l.addFile(file, c.Passphrase, inAgent); err != nil {
			l.locked = append(l.locked, file)
		}
	}
	return l, nil
}

// askAgent gives the agent's keys; none where there is no agent. They sign through it, until the login is closed or the context ends.
func (l *login) askAgent(ctx context.Context) []ssh.Signer {
	socket := os.Getenv("SSH_AUTH_SOCK")
	if socket == "" {
		return nil
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	l.close = func() {
		stop()
		conn.Close()
	}
	signers, err := agent.NewClient(conn).Signers()
	if err != nil {
		return nil
	}
	return signers
}

// addFile adds the key of a file. One that wants a passphrase which was not given may be with the agent.
func (l *login) addFile(file, passphrase string, inAgent []ssh.Signer) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("the key: %w; check key", err)
	}
	signer, err := ssh.ParsePrivateKey(text)
	locked, ok := errors.AsType[*ssh.PassphraseMissingError](err)
	switch {
	case err == nil:
	case !ok:
		return fmt.Errorf("the key %s cannot be read (%w); key is the file of a private key in the format of OpenSSH or PEM", file, err)
	case passphrase != "":
		if signer, err = ssh.ParsePrivateKeyWithPassphrase(text, []byte(passphrase)); err != nil {
			return fmt.Errorf("the key %s: the passphrase does not open it (%w); check passphrase", file, err)
		}
	default:
		if signer = withKey(inAgent, publicKey(file, locked)); signer == nil {
			return fmt.Errorf("the key %s is locked by a passphrase: give passphrase, or add the key to the agent by ssh-add", file)
		}
	}
	l.names = append(l.names, "the key "+file)
	if withKey(l.signers, signer.PublicKey()) == nil {
		l.signers = append(l.signers, signer)
	}
	return nil
}

// publicKey gives the public half of a locked key: from itself, or from the file beside it where its format does not show it.
func publicKey(file string, locked *ssh.PassphraseMissingError) ssh.PublicKey {
	if locked.PublicKey != nil {
		return locked.PublicKey
	}
	text, err := os.ReadFile(file + ".pub")
	if err != nil {
		return nil
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return nil
	}
	return key
}

// withKey gives the signer that has a public key; nil where none has.
func withKey(signers []ssh.Signer, key ssh.PublicKey) ssh.Signer {
	if key == nil {
		return nil
	}
	i := slices.IndexFunc(signers, func(s ssh.Signer) bool { return string(s.PublicKey().Marshal()) == string(key.Marshal()) })
	if i < 0 {
		return nil
	}
	return signers[i]
}

// methods gives what is tried, in this order: what was given before what was found, as a server breaks off after a few keys. All keys have to
// be one method: of each the client tries but one.
func (l *login) methods() []ssh.AuthMethod {
	var keys, password []ssh.AuthMethod
	if len(l.signers) > 0 {
		keys = []ssh.AuthMethod{ssh.PublicKeys(l.signers...)}
	}
	if l.password != "" {
		password = []ssh.AuthMethod{ssh.Password(l.password), ssh.KeyboardInteractive(l.answer)}
	}
	if l.keyNamed {
		return append(keys, password...)
	}
	return append(password, keys...)
}

// answer gives the password to every question that is not to be shown, as servers ask for it that leave passwords to PAM.
func (l *login) answer(_, _ string, questions []string, shown []bool) ([]string, error) {
	answers := make([]string, len(questions))
	for i := range questions {
		if !shown[i] {
			answers[i] = l.password
		}
	}
	return answers, nil
}

// tried lists, for messages, what was tried.
func (l *login) tried() string {
	names := slices.Clone(l.names)
	if l.password != "" {
		names = append(names, "the password")
	}
	if len(names) == 0 {
		return "nothing, as no key was found and no password given"
	}
	return strings.Join(names, ", ")
}

func (l *login) remedy() string {
	remedy := "check user, key and password; ssh-copy-id puts a key onto the machine"
	if len(l.locked) > 0 {
		remedy = "locked by a passphrase: " + strings.Join(l.locked, ", ") + " (give passphrase, or add the key to the agent by ssh-add); " + remedy
	}
	return remedy
}
