//go:build amd64 || arm64 || loong64 || ppc64le || riscv64

package engine

import "golang.org/x/sys/unix"

// deferPreemption has the kernel let others finish when the calling thread is woken while they run on its processor (SCHED_BATCH, see
// sched(7)); with a processor to spare it runs at once as ever. Where the server is on the same machine, its threads would otherwise be
// stopped by each of their replies: the loop finds several at a time instead, and all change places less often. It gives what takes
// that back, from the same thread. A thread that has another policy than the usual one, by who started the program, keeps it.
func deferPreemption() (restore func()) {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL {
		return func() {}
	}
	batch := *attr
	batch.Policy = unix.SCHED_BATCH
	if unix.SchedSetAttr(0, &batch, 0) != nil {
		return func() {}
	}
	return func() { _ = unix.SchedSetAttr(0, attr, 0) } // it was allowed before
}
