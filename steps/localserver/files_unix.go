//go:build unix

package localserver

import "syscall"

// raiseFileLimit lets the programs that this one starts open as many files as the hard limit allows. The Go runtime raises the
// limit for itself alone and gives its children the one that it was started with; a server without root that asks for more
// than the hard limit then stays at that, which is 1,024 for most users and lets fewer clients in than a load needs.
func raiseFileLimit() {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return // the server will say what it can do
	}
	limit.Cur = limit.Max
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) // from then on children inherit it
}
