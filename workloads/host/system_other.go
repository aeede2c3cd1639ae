//go:build !linux

package host

import (
	"errors"
	"fmt"
	"os"
)

const hasFdatasync = false

func fdatasync(int) error { return errors.ErrUnsupported }

// openFlags gives the flags that file_extra_flags names.
func openFlags(names []string) (int, error) {
	flags := 0
	for _, name := range names {
		if name != flagSync {
			return 0, fmt.Errorf("file_extra_flags %s is not offered on this system", name)
		}
		flags |= os.O_SYNC
	}
	return flags, nil
}

// freeSpace is how many bytes can be written in a folder; false: unknown.
func freeSpace(string) (int64, bool) { return 0, false }

// diskUsed is how many bytes a file takes on the disk.
func diskUsed(info os.FileInfo) int64 { return info.Size() }
