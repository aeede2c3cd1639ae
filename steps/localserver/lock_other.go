//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package localserver

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// tryLock fails: without file locks a folder that is in use could not be told from one that was left behind.
func tryLock(*os.File) (bool, error) {
	return false, fmt.Errorf("a private server cannot be run on %s", runtime.GOOS)
}

func ownAlone(fs.FileInfo) bool { return false }
