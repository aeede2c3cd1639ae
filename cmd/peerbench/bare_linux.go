package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sys/unix"

	"benchplan/plan"
	"benchplan/workloads"
	"benchplan/workloads/engine"
	"benchplan/workloads/engine/protocol"
)

// runBare is the bare client. See bare.
func runBare(ctx context.Context, argument string, stdout io.Writer) error {
	var e errands
	if err := json.Unmarshal([]byte(argument), &e); err != nil {
		return err
	}
	definition, _ := workloads.Family(e.Load.Workload)
	options := definition.Options()
	plan.SetDefaults(options)
	spec := plan.Tables{Schema: definition.Schema, Count: e.Tables.Count, Rows: plan.Count(e.Tables.Rows)}
	workload, err := definition.New(options, spec, nil)
	if err != nil {
		return err
	}
	clients := make([]bareClient, e.Load.Clients)
	for i := range clients {
		if clients[i], err = newBareClient(ctx, e, workload, i); err != nil {
			return err
		}
	}
	r, err := drive(ctx, e, clients)
	if err != nil {
		return err
	}
	// All are told before any is waited for: one may wait for a row that another has locked.
	for i := range clients {
		if err := clients[i].quit(); err != nil {
			return err
		}
	}
	for i := range clients {
		if err := clients[i].close(); err != nil {
			return err
		}
	}
	time.Sleep(settling)
	return json.NewEncoder(stdout).Encode(r)
}

// bareClient is a connection with what is sent over it.
type bareClient struct {
	fd         int
	client     engine.Client
	statement  engine.Statement // under way
	undoing    bool             // it is of what rolls an event back
	statements []preparedStatement
	answer     protocol.Answer
}

// preparedStatement is a template as the server knows it.
type preparedStatement struct {
	id     uint32
	params int
}

// settling is what the server needs to add what ended connections have done to its counters, which are read next.
const settling = 200 * time.Millisecond

// quit tells the server that nothing more comes.
func (c *bareClient) quit() error {
	var command protocol.Command
	command.Quit()
	packets, _, err := command.Packets()
	if err != nil {
		return err
	}
	_, err = unix.Write(c.fd, packets)
	return os.NewSyscallError("send", err)
}

// close takes the last answer and waits until the server has ended the connection.
func (c *bareClient) close() error {
	defer unix.Close(c.fd)
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

// newBareClient logs in by the driver, takes the socket from it, and prepares the statements.
func newBareClient(ctx context.Context, e errands, workload engine.Workload, i int) (c bareClient, err error) {
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
	c.client = workload.Client("", i, e.Load.Clients, rand.New(rand.NewPCG(e.Load.Seed, uint64(i))))
	c.answer.Capabilities = conn.agreed
	for _, sql := range workload.Templates("") {
		if err := c.prepare(conn.Conn, sql); err != nil {
			return c, err
		}
	}
	return c, nil
}

// prepare has the server prepare a statement.
func (c *bareClient) prepare(conn net.Conn, sql string) error {
	var command protocol.Command
	command.Prepare(sql, math.MaxInt)
	packets, sequence, err := command.Packets()
	if err != nil {
		return err
	}
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
	c.statements = append(c.statements, preparedStatement{c.answer.ID, c.answer.Params})
	return c.answer.Err()
}

// drive has each client send its next statement whenever it is answered, until the time is over.
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
	var command protocol.Command
	began := time.Now()
	for i := range clients {
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}
		if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, clients[i].fd, &event); err != nil {
			return r, os.NewSyscallError("epoll_ctl", err)
		}
		if err := clients[i].send(&command); err != nil {
			return r, err
		}
	}
	const wait = 100 // milliseconds
	events, buf := make([]unix.EpollEvent, 128), make([]byte, 64<<10)
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
			done, err := c.receive(buf)
			if err != nil {
				return r, err
			}
			if !done {
				continue
			}
			if err := c.count(&r); err != nil {
				return r, err
			}
			if err := c.send(&command); err != nil {
				return r, err
			}
		}
		r.Seconds = time.Since(began).Seconds()
	}
	return r, ctx.Err()
}

// count puts down the answer, and tells the client of it.
func (c *bareClient) count(r *bareReport) error {
	err := c.answer.Err()
	refused, ok := errors.AsType[*protocol.ServerError](err)
	switch {
	case c.undoing:
		return err
	case err == nil:
		r.Queries++
		if c.statement.Last {
			r.Events++
		}
		c.client.Done(c.answer.Rows, c.answer.Affected)
		return nil
	case !ok || !slices.Contains(restarted, fmt.Sprint(refused.Code)):
		return err
	}
	r.Restarts++
	c.undoing = true
	return nil
}

// send sends the client's next statement.
func (c *bareClient) send(command *protocol.Command) error {
	c.reset()
	if c.undoing && !c.client.Undo(&c.statement, false) {
		c.undoing = false
		c.reset()
	}
	if !c.undoing {
		c.client.Next(&c.statement)
	}
	if c.statement.Template == engine.Plain {
		command.Text(append(command.Query(math.MaxInt), c.statement.Text...))
	} else {
		s := c.statements[c.statement.Template]
		command.Execute(s.id, s.params, math.MaxInt)
		for i := range c.statement.Args {
			if a := &c.statement.Args[i]; a.Kind == engine.Bytes {
				command.Bytes(a.Bytes)
			} else {
				command.Int(a.Int) // these workloads have no unsigned ones
			}
		}
	}
	packets, sequence, err := command.Packets()
	if err != nil {
		return err
	}
	c.answer.Begin(sequence, false)
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(c.fd), uintptr(unsafe.Pointer(&packets[0])), uintptr(len(packets)), unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 || int(n) != len(packets) {
		return fmt.Errorf("send of %d bytes: %d, %w", len(packets), n, errno)
	}
	return nil
}

// reset empties the statement and keeps its memory.
func (c *bareClient) reset() {
	c.statement = engine.Statement{Text: c.statement.Text[:0], Args: c.statement.Args[:0]}
}

// receive takes what has come, and tells whether the answer is complete.
func (c *bareClient) receive(buf []byte) (done bool, err error) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(c.fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), unix.MSG_DONTWAIT, 0, 0)
	switch {
	case errno == unix.EAGAIN:
		return false, nil
	case errno != 0:
		return false, os.NewSyscallError("recv", errno)
	case n == 0:
		return false, fmt.Errorf("the server closed the connection: %w", io.EOF)
	}
	_, status, err := c.answer.Feed(buf[:n])
	return status == protocol.Done, err
}
