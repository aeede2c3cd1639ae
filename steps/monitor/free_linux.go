package monitor

import "golang.org/x/sys/unix"

func freeBytes(path string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	size := s.Frsize
	if size == 0 { // kernels and file systems that know one block size only
		size = s.Bsize
	}
	return int64(s.Bavail) * int64(size), nil
}
