//go:build unix

package steps

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// endGroup gives the command a process group of its own, so that the terminal's Ctrl-C does not reach it by itself and the end
// of the step ends all that it started.
func endGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error {
		err := syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
