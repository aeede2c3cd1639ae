//go:build amd64 || arm64 || loong64 || ppc64le || riscv64

package engine

import (
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"benchplan/workloads/engine/protocol"
)

// takeable tells whether the engine can do without the driver on this kind of connection. A type that only wraps a socket may do more
// than the socket does.
func takeable(conn net.Conn) bool {
	switch conn.(type) {
	case *net.TCPConn, *net.UnixConn:
		return true
	}
	return false
}

// descriptor is a socket of the kernel. Only its owner reads, writes and closes it; any goroutine may shut it down.
type descriptor struct {
	fd     int
	mu     sync.Mutex
	closed bool
}

// takeOver gives a descriptor of the connection's socket and closes the connection: the runtime watches all that it has, and would be
// woken by every packet.
func takeOver(conn net.Conn) (*descriptor, error) {
	defer conn.Close()
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("take over a connection: %w", err)
	}
	var d descriptor
	var failed error
	err = raw.Control(func(fd uintptr) {
		if d.fd, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); failed == nil {
			// Calls that must not wait say so each.
			if failed = os.NewSyscallError("fcntl", unix.SetNonblock(d.fd, false)); failed != nil {
				_ = unix.Close(d.fd)
			}
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, fmt.Errorf("take over a connection: %w", err)
	}
	return &d, nil
}

// Close shuts the socket down, so that whoever waits for it is woken. It stays the owner's to be freed.
func (d *descriptor) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	return os.NewSyscallError("shutdown", unix.Shutdown(d.fd, unix.SHUT_RDWR))
}

// free says good-bye to the server and closes the socket.
func (d *descriptor) free() {
	var quit protocol.Command
	quit.Quit()
	if packet, _, err := quit.Packets(); err == nil {
		_, _ = d.send(packet, false)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	_ = unix.Close(d.fd)
}

// send writes to the socket. Without wait it writes what there is room for, and unix.EAGAIN says that there is none.
func (d *descriptor) send(b []byte, wait bool) (int, error) {
	return d.transfer("send", unix.SYS_SENDTO, b, unix.MSG_NOSIGNAL, wait)
}

// receive reads from the socket. Without wait unix.EAGAIN says that there is nothing.
func (d *descriptor) receive(b []byte, wait bool) (int, error) {
	n, err := d.transfer("recv", unix.SYS_RECVFROM, b, 0, wait)
	if n == 0 && err == nil {
		return 0, errHungUp
	}
	return n, err
}

// transfer does one call of the kernel. One that does not wait is made without telling the scheduler.
func (d *descriptor) transfer(name string, call uintptr, b []byte, flags uintptr, wait bool) (int, error) {
	for {
		var n uintptr
		var errno syscall.Errno
		if wait {
			n, _, errno = syscall.Syscall6(call, uintptr(d.fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), flags, 0, 0)
		} else {
			n, _, errno = syscall.RawSyscall6(call, uintptr(d.fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), flags|unix.MSG_DONTWAIT, 0, 0)
		}
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, unix.EAGAIN
		default:
			return 0, os.NewSyscallError(name, errno)
		}
	}
}

// execute sends a statement and waits for the answer.
func (s *socket) execute(b *buffers, script *script, st *Statement) (rows, affected int64, err error) {
	packets, err := s.encode(&b.command, script, st)
	if err != nil {
		return 0, 0, err
	}
	for status := protocol.More; status != protocol.Done; {
		for len(packets) > 0 {
			n, err := s.descriptor.send(packets, true)
			if err != nil {
				return 0, 0, err
			}
			packets = packets[n:]
		}
		if len(s.early) > 0 {
			if err := s.heed(); err != nil {
				return 0, 0, err
			}
		}
		n, err := s.descriptor.receive(b.in, true)
		if err != nil {
			return 0, 0, err
		}
		if status, packets, err = s.feed(b.in[:n]); err != nil {
			return 0, 0, err
		}
	}
	return s.outcome(st.Class)
}
