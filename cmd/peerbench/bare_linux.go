package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sys/unix"

	"benchplan/workloads/engine/protocol"
)

// runBare is the bare client. See bare.
func runBare(ctx context.Context, argument string, stdout io.Writer) error {
	var e errands
	if err := json.Unmarshal([]byte(argument), &e); err != nil {
		return err
	}
	clients := make([]bareClient, e.Load.Clients)
	for i := range clients {
		var err error
		if clients[i], err = newBareClient(ctx, e, i); err != nil {
			return err
		}
	}
	r, err := drive(ctx, e, clients)
	if err != nil {
		return err
	}
	for i := range clients {
		if err := clients[i].quit(); err != nil {
			return err
		}
	}
	time.Sleep(settling)
	return json.NewEncoder(stdout).Encode(r)
}

// bareClient is a connection with its statement.
type bareClient struct {
	fd       int
	packet   []byte // the command; its last eight bytes are the argument
	sequence uint8  // that its answer begins with
	answer   protocol.Answer
}

// settling is what the server needs to add what ended connections have done to its counters, which are read next.
const settling = 200 * time.Millisecond

// quit takes the last answer and ends the connection.
func (c *bareClient) quit() error {
	defer unix.Close(c.fd)
	var command protocol.Command
	command.Quit()
	packets, _, err := command.Packets()
	if err != nil {
		return err
	}
	if _, err := unix.Write(c.fd, packets); err != nil {
		return os.NewSyscallError("send", err)
	}
	for buf := make([]byte, 4096); ; {
		n, err := unix.Read(c.fd, buf)
		switch {
		case n == 0 && err == nil:
			return nil
		case err != nil && err != unix.EAGAIN && err != unix.EINTR:
			return os.NewSyscallError("recv", err)
		case err != nil:
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLIN}}, -1)
		}
	}
}

// login is a connection over which the driver logs in.
type login struct {
	net.Conn
	agreed protocol.Capabilities
	said   bool
}

// Write looks at what the driver agrees on in its first packet.
func (l *login) Write(b []byte) (int, error) {
	if !l.said {
		l.agreed, l.said = protocol.ReadCapabilities(b)
	}
	return l.Conn.Write(b)
}

// newBareClient logs in by the driver, takes the socket from it, and prepares the statement.
func newBareClient(ctx context.Context, e errands, i int) (c bareClient, err error) {
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.DBName = e.Network, e.Address, e.User, database
	if e.Network == "tcp" {
		cfg.Passwd = os.Getenv(passwordVariable)
	}
	var conn login
	cfg.DialFunc = func(ctx context.Context, network, address string) (_ net.Conn, err error) {
		conn.Conn, err = new(net.Dialer).DialContext(ctx, network, address)
		return &conn, err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return c, err
	}
	if _, err := connector.Connect(ctx); err != nil {
		return c, err
	}
	defer conn.Close() // the descriptor below stays open; the runtime must not watch it
	raw, err := conn.Conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return c, err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { c.fd, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) }); err != nil || failed != nil {
		return c, errors.Join(err, failed)
	}
	var command protocol.Command
	command.Prepare(fmt.Sprintf("SELECT c FROM sbtest%d WHERE id=?", i%e.Tables.Count+1), math.MaxInt)
	packets, sequence, err := command.Packets()
	if err != nil {
		return c, err
	}
	c.answer.Capabilities = conn.agreed
	if err := c.prepare(conn.Conn, packets, sequence); err != nil {
		return c, err
	}
	command.Execute(c.answer.ID, 1, math.MaxInt)
	command.Int(0)
	packets, c.sequence, err = command.Packets()
	c.packet = append(c.packet, packets...)
	return c, err
}

// prepare sends COM_STMT_PREPARE and reads its answer.
func (c *bareClient) prepare(conn net.Conn, packets []byte, sequence uint8) error {
	c.answer.Begin(sequence, true)
	if _, err := conn.Write(packets); err != nil {
		return err
	}
	buf := make([]byte, 4096)
	for status := protocol.More; status != protocol.Done; {
		n, err := conn.Read(buf)
		if err == nil {
			_, status, err = c.answer.Feed(buf[:n])
		}
		if err != nil {
			return err
		}
	}
	return c.answer.Err()
}

// drive has each client send again whatever it is answered, until the time is over.
func drive(ctx context.Context, e errands, clients []bareClient) (r bareReport, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// As benchplan's loop does. Where it is refused, the loop goes without it too.
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH}, 0)
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return r, os.NewSyscallError("epoll_create", err)
	}
	defer unix.Close(epoll)
	random := rand.New(rand.NewPCG(e.Load.Seed, 0))
	began := time.Now()
	for i := range clients {
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}
		if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, clients[i].fd, &event); err != nil {
			return r, os.NewSyscallError("epoll_ctl", err)
		}
		if err := clients[i].send(random, e.Tables.Rows); err != nil {
			return r, err
		}
	}
	const wait = 100 // milliseconds
	events, buf := make([]unix.EpollEvent, 128), make([]byte, 4096)
	limit := time.Duration(e.Load.Seconds) * time.Second
	for r.Seconds < limit.Seconds() && ctx.Err() == nil {
		n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), wait, 0, 0)
		if errno != 0 && errno != unix.EINTR {
			return r, os.NewSyscallError("epoll_wait", errno)
		}
		if errno != 0 {
			n = 0
		}
		for j := range int(n) {
			c := &clients[events[j].Fd]
			if err := c.receive(buf); err != nil {
				return r, err
			}
			r.Events++
			if err := c.send(random, e.Tables.Rows); err != nil {
				return r, err
			}
		}
		r.Seconds = time.Since(began).Seconds()
	}
	return r, ctx.Err()
}

// send sends the statement with another id.
func (c *bareClient) send(random *rand.Rand, rows int64) error {
	binary.LittleEndian.PutUint64(c.packet[len(c.packet)-8:], uint64(1+random.Int64N(rows)))
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(c.fd), uintptr(unsafe.Pointer(&c.packet[0])), uintptr(len(c.packet)), unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 || int(n) != len(c.packet) {
		return fmt.Errorf("send of %d bytes: %d, %w", len(c.packet), n, errno)
	}
	return nil
}

// receive takes the answer, which is so small that it comes at once.
func (c *bareClient) receive(buf []byte) error {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(c.fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return os.NewSyscallError("recv", errno)
	}
	c.answer.Begin(c.sequence, false)
	switch _, status, err := c.answer.Feed(buf[:n]); {
	case err != nil:
		return err
	case status != protocol.Done || c.answer.Err() != nil || c.answer.Rows != 1:
		return fmt.Errorf("an answer of %d bytes is not one row but %d, and says %v", n, c.answer.Rows, c.answer.Err())
	}
	return nil
}
