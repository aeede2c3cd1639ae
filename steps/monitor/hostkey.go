package monitor

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// knownHosts are the hosts' keys that are trusted.
type knownHosts struct {
	file  string // where a line is added
	known ssh.HostKeyCallback
	// refused is why a host's key was not taken.
	refused error
}

// readKnownHosts reads a file in the format of ssh's known_hosts, or those that ssh reads itself. One that is not there is empty.
func readKnownHosts(file string) (*knownHosts, error) {
	files := []string{file}
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("the keys of known hosts: %w; name the file by known_hosts", err)
		}
		files = []string{filepath.Join(home, ".ssh", "known_hosts"), "/etc/ssh/ssh_known_hosts"}
	}
	for i, f := range files {
		files[i] = inHome(f)
	}
	there := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !exists(f) })
	known, err := knownhosts.New(there...)
	if err != nil {
		return nil, fmt.Errorf("the keys of known hosts: %w", err)
	}
	return &knownHosts{file: files[0], known: known}, nil
}

// check is an ssh.HostKeyCallback.
func (h *knownHosts) check(address string, remote net.Addr, key ssh.PublicKey) error {
	err := h.known(address, remote, key)
	if err != nil {
		h.refused = h.explain(address, key, err)
	}
	return err
}

func (h *knownHosts) explain(address string, key ssh.PublicKey, err error) error {
	host := knownhosts.Normalize(address)
	line := knownhosts.Line([]string{address}, key)
	print := key.Type() + " " + ssh.FingerprintSHA256(key)
	unlike, ok := errors.AsType[*knownhosts.KeyError](err)
	if !ok {
		return fmt.Errorf("the host's key (%s) is not to be trusted: %w", print, err)
	}
	if len(unlike.Want) == 0 {
		return fmt.Errorf("the host is not known, and its key is not checked blindly (%w); its key is %s: if that is right, add this line to %s:\n%s",
			err, print, h.file, line)
	}
	var where []string
	for _, w := range unlike.Want {
		where = append(where, fmt.Sprintf("%s:%d (%s)", w.Filename, w.Line, w.Key.Type()))
	}
	return fmt.Errorf("the host's key has changed, or somebody else answers in its place (%w): it shows %s, and known is that of %s; "+
		"if the machine was set up anew, remove what is known by: ssh-keygen -R '%s' -f '%s', and add this line:\n%s",
		err, print, strings.Join(where, ", "), host, unlike.Want[0].Filename, line)
}

// algorithms puts the kinds of key that are known of the host first, as it may have others too: those would be refused as changed.
func (h *knownHosts) algorithms(address string) []string {
	// The callback tells what it would have taken when it is shown a key that nobody has.
	unlike, ok := errors.AsType[*knownhosts.KeyError](h.known(address, &net.TCPAddr{}, nobody{}))
	if !ok {
		return nil
	}
	var first []string
	for _, w := range unlike.Want {
		switch kind := w.Key.Type(); kind {
		case ssh.KeyAlgoRSA:
			first = append(first, ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		default:
			first = append(first, kind+"-cert-v01@openssh.com", kind)
		}
	}
	all := ssh.SupportedAlgorithms().HostKeys
	first = slices.DeleteFunc(first, func(a string) bool { return !slices.Contains(all, a) })
	for _, a := range all {
		if !slices.Contains(first, a) {
			first = append(first, a)
		}
	}
	return first
}

// nobody is a public key that no host has.
type nobody struct{}

func (nobody) Type() string                        { return "nobody" }
func (nobody) Marshal() []byte                     { return []byte("nobody") }
func (nobody) Verify([]byte, *ssh.Signature) error { return errors.New("nobody's key") }

// inHome gives a path with the home folder in the place of a leading "~/".
func inHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	home, err := os.UserHomeDir()
	if !ok || err != nil {
		return path
	}
	return filepath.Join(home, rest)
}
