package monitor

import (
	"context"
	"fmt"
)

// Machine is one that is watched. Where it is reached over ssh, the connection stays open until Close; one that was lost is made again
// when the machine is next asked, at the latest by the Watch of the next cell. It may be used from several goroutines.
type Machine struct {
	name   string // how problems call it
	here   bool   // benchplan runs on it
	source source
}

// source is how a machine's files are come by.
type source interface {
	// ready makes sure that the machine can be asked, and connects anew where it has to.
	ready(ctx context.Context) error
	// platform tells its operating system and architecture as Go calls them: linux/amd64.
	platform(ctx context.Context) (string, error)
	// fetch makes files, named by absolute paths and shell patterns, readable under a folder until release is called. What is not
	// there is left out.
	fetch(ctx context.Context, files ...string) (root string, release func(), err error)
	// resolve gives the path without symbolic links, or that of the nearest folder above it that exists.
	resolve(ctx context.Context, path string) (string, error)
	// free gives the bytes that an unprivileged user may still write to the file system of a path that exists.
	free(ctx context.Context, path string) (int64, error)
	close() error
}

// Local gives this machine. Its figures can be read on Linux only.
func Local() *Machine { return &Machine{name: "this machine", here: true, source: local{}} }

// Free gives how many bytes an unprivileged user may still write under path. Of a path that does not exist yet, the nearest folder
// above it counts.
func (m *Machine) Free(ctx context.Context, path string) (int64, error) {
	free, err := m.free(ctx, path)
	if err != nil {
		return 0, fmt.Errorf("the free disk space of %s under %s: %w", m.name, path, err)
	}
	return free, nil
}

func (m *Machine) free(ctx context.Context, path string) (int64, error) {
	if err := m.source.ready(ctx); err != nil {
		return 0, err
	}
	there, err := m.source.resolve(ctx, path)
	if err != nil {
		return 0, err
	}
	return m.source.free(ctx, there)
}

// Close ends the connection, and with it what runs on the other machine.
func (m *Machine) Close() error { return m.source.close() }
