package localserver

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// attributes gives the server a session of its own, as a service manager does: signals of the terminal do not reach it, and the kernel
// shares the processors between it and the load as between two services (sched(7), autogroups). Within one session it would share them
// between threads, of which a server has many and a load generator may have one.
//
// It also lets the kernel send a signal to the server when the thread that started it ends, which process.run keeps
// for the server's life: when benchplan is killed. The kernel forgets that when a process changes its user, which is
// why root starts the server with --user=root. A server whose data are kept is asked to end in order; while it makes its data folder or
// starts, it would not even heed that.
func attributes(keeps bool) *syscall.SysProcAttr {
	signal := syscall.SIGKILL
	if keeps {
		signal = syscall.SIGTERM
	}
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: signal}
}

// commandLine gives the arguments of a running process; none where it has ended or is not this user's to see.
func commandLine(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return nil
	}
	var args []string
	for arg := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte{0}), []byte{0}) {
		args = append(args, string(arg))
	}
	return args
}
