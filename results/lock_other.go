//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package results

import (
	"os"
	"path/filepath"
)

// lockFolder only makes the file: this system has no lock that ends with its process.
func lockFolder(folder string) (*os.File, error) {
	return os.OpenFile(filepath.Join(folder, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
}

// folderLocked cannot tell, and takes a run at its word.
func folderLocked(string) bool { return true }
