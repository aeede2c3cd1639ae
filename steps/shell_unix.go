//go:build unix

package steps

import (
	"os/exec"
	"syscall"
)

// endGroup gives the command a process group of its own, so that the terminal's Ctrl-C does not reach it by itself and the end
// of the step ends all that it started.
func endGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}
