//go:build unix && !linux

package localserver

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// attributes gives the server a process group of its own. The kernel does not end it when benchplan is killed: the next
// Start does.
func attributes(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// commandLine gives the arguments of a running process; none where it has ended. Arguments with blanks come in parts.
func commandLine(pid int) []string {
	out, err := exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}
