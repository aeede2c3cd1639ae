package monitor

import (
	"fmt"
	"path/filepath"

	"benchplan/results"

	"github.com/prometheus/procfs"
)

// ticks is how many of its clock ticks Linux shows to programs as one second, on every architecture that Go has.
const ticks = 100

// processFiles are what a process is read from.
func processFiles(pid int) []string {
	folder := fmt.Sprintf("/proc/%d/", pid)
	return []string{folder + "stat", folder + "status", folder + "task/*/schedstat"}
}

// process is what the kernel had counted for a process at one moment since it was started.
type process struct {
	started      uint64 // in ticks after the machine: tells it from a later process of the same id
	user, system float64
	waited       map[int]uint64 // nanoseconds in which a thread was runnable and had no CPU, by the thread's id
	memory       int64
}

// readProcess reads it from the /proc under root; the error says that there is no such process.
func readProcess(root string, pid int) (process, error) {
	fs, err := procfs.NewFS(filepath.Join(root, "proc"))
	if err != nil {
		return process{}, err
	}
	proc, err := fs.Proc(pid)
	if err != nil {
		return process{}, err
	}
	stat, err := proc.Stat()
	if err != nil {
		return process{}, err
	}
	p := process{
		started: stat.Starttime,
		user:    float64(stat.UTime) / ticks,
		system:  float64(stat.STime) / ticks,
		waited:  map[int]uint64{},
	}
	// Not the pages of stat: how large they are is known of this machine only.
	if status, err := proc.NewStatus(); err == nil {
		p.memory = int64(status.VmRSS)
	}
	threads, _ := fs.AllThreads(pid)
	for _, thread := range threads {
		if s, err := thread.Schedstat(); err == nil {
			p.waited[thread.PID] = s.WaitingNanoseconds
		}
	}
	return p, nil
}

// took gives what a process took between two moments; false where it is another process by now. The waiting of threads that ended in
// between is lost.
func took(pid int, from, to process) (results.Process, bool) {
	if from.started != to.started {
		return results.Process{}, false
	}
	p := results.Process{PID: pid, User: max(0, to.user-from.user), System: max(0, to.system-from.system), Memory: to.memory}
	for thread, waited := range to.waited {
		p.Wait += float64(grown(from.waited[thread], waited)) / 1e9
	}
	return p, true
}
