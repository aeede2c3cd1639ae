package steps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"benchplan/plan"
)

// maxOutput is the most of a command's output that is kept, in bytes.
const maxOutput = 1 << 20

// shellSpec is one command, given to sh.
type shellSpec struct {
	Command plan.Text            `key:"command" short:"true" required:"true" doc:"what sh executes" nosecret:"a secret in a command is seen by everybody in the list of processes; put it into env: {NAME: \"${{ secrets.… }}\"} and write $NAME here"`
	Env     map[string]plan.Text `key:"env" doc:"environment variables; the place for a secret, which would be seen in a command"`
	Dir     string               `key:"dir" doc:"folder to be in; from the plan's folder, which is the default"`
	Stdin   *plan.Text           `key:"stdin" doc:"standard input"`
}

func shellKind() Kind {
	k := define("executes a command on this machine; only with --allow-shell; stdout is kept, without line feeds at its end", doShell)
	k.Yields = []string{"stdout"}
	k.Shell = true
	return k
}

func doShell(ctx context.Context, c *Call, spec *shellSpec) (map[string]any, error) {
	if c.run.Rehearse {
		c.unchecked = true
		c.note("rehearsal: skipped the shell step at %s", c.Scope.At())
		return map[string]any{"stdout": ""}, nil
	}
	if !c.run.AllowShell {
		return nil, final{errors.New("commands are not executed without --allow-shell")}
	}
	command := exec.CommandContext(ctx, "sh", "-c", spec.Command.Reveal())
	command.Dir = planFolder(c.run.Plan)
	if spec.Dir != "" {
		command.Dir = c.path(spec.Dir)
		if _, err := os.Stat(command.Dir); err != nil {
			return nil, fmt.Errorf("dir: %w", err) // the system would say that there is no sh
		}
	}
	command.Env = os.Environ()
	for name, value := range spec.Env {
		command.Env = append(command.Env, name+"="+value.Reveal())
	}
	if spec.Stdin != nil {
		command.Stdin = strings.NewReader(spec.Stdin.Reveal())
	}
	stdout, stderr := &bounded{}, &bounded{}
	command.Stdout, command.Stderr = stdout, stderr
	endGroup(command)
	command.WaitDelay = 5 * time.Second // a child that keeps the pipes open does not keep us
	err := command.Run()
	mistakes := stderr.text(c.run.Mask)
	c.Log.Info("shell", "command", spec.Command.String(), "stdout", stdout.text(c.run.Mask), "stderr", mistakes)
	yields := map[string]any{"stdout": strings.TrimRight(string(stdout.kept), "\r\n")}
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return yields, nil
	}
	if ctx.Err() != nil {
		err = ctx.Err() // and not that it was killed
	}
	for _, text := range []string{mistakes, stdout.text(c.run.Mask)} {
		if text = lastLines(text, 5); text != "" {
			return yields, fmt.Errorf("%w: %s", err, text)
		}
	}
	return yields, err
}

// bounded keeps the first part of what is written to it and takes the rest without keeping it.
type bounded struct {
	kept []byte
	lost int
}

func (b *bounded) Write(p []byte) (int, error) {
	keep := min(len(p), maxOutput-len(b.kept))
	b.kept = append(b.kept, p[:keep]...)
	b.lost += len(p) - keep
	return len(p), nil
}

func (b *bounded) text(mask func(string) string) string {
	s := mask(strings.ToValidUTF8(string(b.kept), "\uFFFD"))
	if b.lost > 0 {
		s += fmt.Sprintf("… (%d bytes more)", b.lost)
	}
	return s
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
