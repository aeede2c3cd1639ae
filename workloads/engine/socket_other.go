//go:build !linux || !(amd64 || arm64 || loong64 || ppc64le || riscv64)

package engine

import (
	"context"
	"errors"
	"net"
)

// takeable tells whether the engine can do without the driver on this kind of connection: not here.
func takeable(net.Conn) bool { return false }

type descriptor struct{}

func takeOver(net.Conn) (*descriptor, error) { return nil, errors.ErrUnsupported }

func (d *descriptor) Close() error { return nil }

func (d *descriptor) free() {}

func (s *socket) execute(*buffers, *script, *Statement) (rows, affected int64, err error) {
	return 0, 0, errors.ErrUnsupported
}

// newDrivers gives what drives the clients.
func (r *run) newDrivers(ended context.Context) (drivers []driving, err error) {
	for _, client := range r.runners {
		drivers = append(drivers, driving{drive: func() { client.drive(ended) }})
	}
	return drivers, nil
}
