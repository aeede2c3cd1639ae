//go:build amd64 || arm64 || loong64 || ppc64le || riscv64

package engine

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
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
	aloof  bool // who waits for it may do so briefly without telling the scheduler
	blocks bool // recv itself may wait, and returns after that time
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
	d := descriptor{aloof: aloof()}
	_, overTCP := conn.(*net.TCPConn)
	var failed error
	err = raw.Control(func(fd uintptr) {
		if d.fd, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); failed == nil {
			// Calls that must not wait say so each.
			if failed = os.NewSyscallError("fcntl", unix.SetNonblock(d.fd, false)); failed != nil {
				_ = unix.Close(d.fd)
				return
			}
			// A recv that waits on a Unix socket is woken when the server takes the statement too, only to wait again.
			if limit := unix.NsecToTimeval(briefly.Nanoseconds()); overTCP && d.aloof {
				d.blocks = unix.SetsockoptTimeval(d.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit) == nil
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

// briefly is how long a thread of the engine waits for the kernel while it keeps its processor from the Go scheduler. A thread that
// gives it up is watched, woken and handed a processor again, which costs about as much as a statement that the server answers at once.
// It holds nobody up: the runtime interrupts a thread that it has to stop by a signal, and again until it has stopped. The limit is for
// a runtime that may not (GODEBUG=asyncpreemptoff=1). One that could come before the answer would have the kernel set a timer each time.
const briefly = 100 * time.Millisecond

// aloof tells whether a thread may keep a processor while it waits: the rest of the program has another.
func aloof() bool { return runtime.GOMAXPROCS(0) > 1 }

// send writes to the socket. Without wait it writes what there is room for, and unix.EAGAIN says that there is none.
func (d *descriptor) send(b []byte, wait bool) (int, error) {
	for {
		switch n, errno := d.transfer(unix.SYS_SENDTO, b, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT); {
		case errno == unix.EINTR:
		case errno == unix.EAGAIN && wait:
			d.await(unix.POLLOUT)
		default:
			return n, named("send", errno)
		}
	}
}

// receive reads from the socket. Without wait unix.EAGAIN says that there is nothing.
func (d *descriptor) receive(b []byte, wait bool) (int, error) {
	for {
		flags := uintptr(unix.MSG_DONTWAIT)
		if wait && d.blocks {
			flags = 0
		} else if wait {
			d.await(unix.POLLIN)
		}
		switch n, errno := d.transfer(unix.SYS_RECVFROM, b, flags); {
		case n == 0 && errno == 0:
			return 0, errHungUp
		case flags == 0 && (errno == unix.EAGAIN || errno == unix.EINTR):
			d.awaitLong(unix.POLLIN) // the runtime may have been what interrupted it, so that this thread stops
		case errno != unix.EINTR && (errno != unix.EAGAIN || !wait):
			return n, named("recv", errno)
		}
	}
}

// transfer does one call of the kernel without telling the scheduler.
func (d *descriptor) transfer(call uintptr, b []byte, flags uintptr) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(call, uintptr(d.fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), flags, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// await waits for the socket, for as long as it takes: at first without telling the scheduler. What the wait fails with, a signal or a
// socket that is shut down, the next call says.
func (d *descriptor) await(events int16) {
	if d.aloof {
		p := unix.PollFd{Fd: int32(d.fd), Events: events}
		limit := unix.NsecToTimespec(briefly.Nanoseconds())
		n, _, errno := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
		if errno != 0 || n > 0 {
			return
		}
	}
	d.awaitLong(events)
}

// awaitLong is await that tells the scheduler from the beginning.
func (d *descriptor) awaitLong(events int16) {
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(d.fd), Events: events}}, forever)
}

// named gives the error of a call of the kernel; unix.EAGAIN as it is.
func named(call string, errno syscall.Errno) error {
	switch errno {
	case 0:
		return nil
	case unix.EAGAIN:
		return unix.EAGAIN
	}
	return os.NewSyscallError(call, errno)
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
