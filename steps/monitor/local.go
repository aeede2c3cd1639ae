package monitor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// errNotLinux is why there are no figures.
var errNotLinux = errors.New("figures of a machine can be read on Linux only; leave monitor out to run without them")

// local is the machine that benchplan runs on.
type local struct{}

func (local) ready(context.Context) error { return nil }

func (local) platform(context.Context) (string, error) {
	return runtime.GOOS + "/" + runtime.GOARCH, nil
}

func (local) fetch(context.Context, ...string) (string, func(), error) {
	if runtime.GOOS != "linux" {
		return "", nil, errNotLinux
	}
	return "/", func() {}, nil
}

func (local) resolve(_ context.Context, path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for {
		there, err := filepath.EvalSymlinks(path)
		if err == nil {
			return there, nil
		}
		above := filepath.Dir(path)
		if above == path || !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
			return "", err
		}
		path = above
	}
}

func (local) free(_ context.Context, path string) (int64, error) { return freeBytes(path) }

func (local) close() error { return nil }
