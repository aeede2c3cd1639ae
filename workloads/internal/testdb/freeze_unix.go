//go:build unix

package testdb

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	freeze = syscall.SIGSTOP
	thaw   = syscall.SIGCONT
)

// stopped returns when all threads of a process have stopped: on a busy machine that takes its time. Where there is no /proc it returns
// at once.
func stopped(pid int) error {
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil {
			return err
		}
		running := 0
		for _, thread := range threads {
			stat, err := os.ReadFile(thread)
			// The state follows the name, which is in brackets.
			if end := bytes.LastIndexByte(stat, ')'); err == nil && !bytes.HasPrefix(stat[end+1:], []byte(" T")) {
				running++
			}
		}
		if running == 0 {
			return nil
		}
		if time.Since(begun) > 30*time.Second {
			return fmt.Errorf("%d threads of the server do not stop", running)
		}
	}
}
