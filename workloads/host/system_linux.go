package host

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

const hasFdatasync = true

func fdatasync(fd int) error {
	for {
		if err := syscall.Fdatasync(fd); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// openFlags gives the flags that file_extra_flags names.
func openFlags(names []string) (int, error) {
	flags := 0
	for _, name := range names {
		switch name {
		case flagSync:
			flags |= os.O_SYNC
		case flagDsync:
			flags |= syscall.O_DSYNC
		case flagDirect:
			flags |= syscall.O_DIRECT
		default:
			return 0, fmt.Errorf("file_extra_flags has no %q", name)
		}
	}
	return flags, nil
}

// freeSpace is how many bytes can be written in a folder; false: unknown.
func freeSpace(dir string) (int64, bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil || s.Blocks == 0 { // a file system without a size of its own: ramfs, some network ones
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

// diskUsed is how many bytes a file takes on the disk.
func diskUsed(info os.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}
