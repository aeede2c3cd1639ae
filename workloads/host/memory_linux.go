package host

import "syscall"

// totalMemory is how many bytes of memory the machine has; 0: unknown.
func totalMemory() int64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}
