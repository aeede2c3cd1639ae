package monitor

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/ssh"
)

// shell is a POSIX shell on another machine, fed with commands. It reads them from the connection, so it ends with it, and between two
// commands nothing runs there.
type shell struct {
	client *ssh.Client
	in     io.WriteCloser
	out    *bufio.Reader
	ended  chan struct{} // closed when the connection is gone
	count  int           // of commands
}

// newShell starts one, and waits until it answers.
func newShell(ctx context.Context, client *ssh.Client) (*shell, error) {
	session, err := client.NewSession()
	if err != nil {
		return nil, fmt.Errorf("the machine opens no session: %w", err)
	}
	s := &shell{client: client, ended: make(chan struct{})}
	if s.in, err = session.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 64<<10)
	if err := session.Start("exec /bin/sh"); err != nil {
		return nil, fmt.Errorf("the machine runs no /bin/sh: %w", err)
	}
	go func() {
		defer close(s.ended)
		_ = client.Wait()
	}()
	// What the user's start-up files print comes first, and is passed over with this answer.
	if said, err := s.run(ctx, ":"); err != nil {
		s.close()
		if said = bytes.TrimSpace(said); len(said) > 0 {
			return nil, fmt.Errorf("the login gives no shell: %.200q", said)
		}
		return nil, fmt.Errorf("the login gives no shell (%w); give a user who may run commands", err)
	}
	return s, nil
}

// run runs commands and gives what they print. After an error (also that of the context) the shell can only be closed.
func (s *shell) run(ctx context.Context, commands string) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { s.client.Close() })
	defer stop()
	s.count++
	end := fmt.Sprintf("=benchplan %d=", s.count)
	if _, err := io.WriteString(s.in, commands+"\necho '"+end+"'\n"); err != nil {
		return nil, s.reason(ctx, err)
	}
	var out bytes.Buffer
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			out.Write(line)
			return out.Bytes(), s.reason(ctx, err)
		}
		if string(line) == end+"\n" {
			return out.Bytes(), nil
		}
		out.Write(line)
	}
}

func (s *shell) reason(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errors.New("no answer in time")
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF):
		return errors.New("ended by the other side")
	}
	return err
}

func (s *shell) alive() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// close ends the connection and waits for it.
func (s *shell) close() {
	s.client.Close()
	<-s.ended
}

// quote makes a text one word of the shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
