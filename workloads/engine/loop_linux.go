//go:build amd64 || arm64 || loong64 || ppc64le || riscv64

package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"benchplan/workloads/engine/protocol"
)

// Measured on machines of few processors: one loop serves as many clients as the server beside it can answer, at half of the
// processor time that goroutines take; a second has both find less at a time and costs more than it brings. A loop is a thread, so
// half of the processors is what leaves room for the rest of the program, and for a server on the same machine.
const clientsPerLoop = 8

// loopsFor gives how many loops drive so many clients on so many processors.
func loopsFor(clients, processors int) int {
	return max(1, min(processors/2, clients/clientsPerLoop))
}

// drivers gives what drives the clients, each to be called from a goroutine of its own: loops for those whose sockets the engine has,
// else one for each client. A client that is alone needs no loop: it waits for its own socket.
func (r *run) drivers(ended context.Context) (drivers []func(), err error) {
	var members []*member
	for _, client := range r.runners {
		if line, ok := client.line.(*connection); ok && line.socket != nil && len(r.runners) > 1 {
			members = append(members, &member{runner: client, line: line})
			continue
		}
		drivers = append(drivers, func() { client.drive(ended) })
	}
	if len(members) == 0 {
		return drivers, nil
	}
	n := min(loopsFor(len(members), runtime.GOMAXPROCS(0)), len(r.tally.shards))
	var loops []*loop
	for i := range n {
		l, err := newLoop(&r.clock, ended)
		if err != nil {
			for _, l := range loops {
				l.close()
			}
			return nil, err
		}
		for j := i; j < len(members); j += n {
			// Nobody but the loop puts anything down there, so its lock is free.
			members[j].session.shard = r.tally.shards[i]
			members[j].index = len(l.members)
			l.members = append(l.members, members[j])
		}
		loops, drivers = append(loops, l), append(drivers, l.drive)
	}
	return drivers, nil
}

// loop drives any number of sessions from one thread: it waits for all their sockets at once, and does for each that has something
// what the session wants next. It waits for nothing else.
type loop struct {
	clock   *clock
	ended   context.Context // ends with the cell: then no new connection is tried
	members []*member
	running int // members that the loop still drives
	buffers *buffers
	events  []unix.EpollEvent
	epoll   int
	bell    int // an eventfd by which others wake the loop

	mu   sync.Mutex
	back []*member // those whose new connection is there, or will not come

	others sync.WaitGroup // goroutines for members
}

// member is a session of a loop.
type member struct {
	*runner
	line    *connection
	index   int   // in loop.members
	waiting bool  // for an answer
	writing bool  // there is more to be sent than the kernel takes
	since   int64 // when it was given away for a new connection
	found   bool  // there is one
}

const theBell = -1 // in place of a member's index

func newLoop(clock *clock, ended context.Context) (*loop, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("event loop: %w", os.NewSyscallError("epoll_create", err))
	}
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_ = unix.Close(epoll)
		return nil, fmt.Errorf("event loop: %w", os.NewSyscallError("eventfd", err))
	}
	l := &loop{clock: clock, ended: ended, epoll: epoll, bell: bell, buffers: newBuffers(), events: make([]unix.EpollEvent, 128)}
	if err := l.control(unix.EPOLL_CTL_ADD, bell, theBell, unix.EPOLLIN); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *loop) close() {
	_ = unix.Close(l.epoll)
	_ = unix.Close(l.bell)
}

// control changes what the loop waits for.
func (l *loop) control(operation, fd, index int, events uint32) error {
	event := unix.EpollEvent{Events: events, Fd: int32(index)}
	if err := unix.EpollCtl(l.epoll, operation, fd, &event); err != nil {
		return fmt.Errorf("event loop: %w", os.NewSyscallError("epoll_ctl", err))
	}
	return nil
}

// drive runs all sessions to their end.
func (l *loop) drive() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer l.close()
	defer l.others.Wait()
	const startedAtOnce = 16
	l.running = len(l.members)
	for i, m := range l.members {
		l.enter(m, m.session.begin(l.clock.now()))
		if i%startedAtOnce == startedAtOnce-1 {
			l.turn(0) // the first must not wait for the last to have started
		}
	}
	for l.running > 0 {
		l.turn(-1)
	}
}

// turn waits for sockets, so many milliseconds or for ever, and serves those that have something.
func (l *loop) turn(timeout int) {
	n, err := unix.EpollWait(l.epoll, l.events, timeout)
	if err != nil {
		// It cannot fail but by a signal. Should it, this is no busy loop.
		if !errors.Is(err, unix.EINTR) {
			time.Sleep(time.Millisecond)
		}
		return
	}
	rung := false
	for i := range l.events[:max(n, 0)] {
		event := &l.events[i]
		if event.Fd == theBell {
			rung = true
			continue
		}
		m := l.members[event.Fd]
		if m.writing && event.Events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0 {
			l.write(m)
		}
		if m.waiting && event.Events&^unix.EPOLLOUT != 0 {
			l.read(m)
		}
	}
	if rung {
		l.answerBell()
	}
}

// enter makes a session whose socket is new one of those that the loop waits for, and goes on with it.
func (l *loop) enter(m *member, next step) {
	err := l.control(unix.EPOLL_CTL_ADD, m.line.socket.descriptor.fd, m.index, unix.EPOLLIN)
	if err != nil && next == execute {
		next = m.failed(l.clock.now(), err)
	}
	l.advance(m, next)
}

// advance does what the session wants, until it has to wait.
func (l *loop) advance(m *member, next step) {
	for next == execute {
		err := l.send(m)
		if err == nil {
			m.waiting = true
			return
		}
		next = m.failed(l.clock.now(), err)
	}
	m.waiting, m.writing = false, false
	if next == reconnect {
		l.giveAway(m)
		return
	}
	m.end()
	l.running--
}

// send sends the session's statement, or as much of it as the kernel takes.
func (l *loop) send(m *member) error {
	s := m.line.socket
	packets, err := s.encode(&l.buffers.command, m.line.script, &m.session.statement)
	if err != nil {
		return err
	}
	if err := l.put(m, packets); err != nil || len(s.early) == 0 {
		return err
	}
	// The server has said something before it was asked: why it ends the connection.
	early := s.early
	s.early = nil
	status, _, err := s.feed(early)
	if err == nil && status == protocol.Done {
		if _, _, err = s.outcome(m.session.statement.Class); err == nil {
			err = fmt.Errorf("%w: an answer to nothing", protocol.ErrSequence)
		}
	}
	return err
}

// put sends packets, and keeps what the kernel does not take.
func (l *loop) put(m *member, packets []byte) error {
	s := m.line.socket
	n, err := s.descriptor.send(packets, false)
	if err != nil && err != unix.EAGAIN {
		return err
	}
	if n == len(packets) {
		return nil
	}
	s.unsent = append(s.unsent[:0], packets[n:]...)
	m.writing = true
	return l.control(unix.EPOLL_CTL_MOD, s.descriptor.fd, m.index, unix.EPOLLIN|unix.EPOLLOUT)
}

// write goes on sending what the kernel did not take before.
func (l *loop) write(m *member) {
	s := m.line.socket
	n, err := s.descriptor.send(s.unsent, false)
	if err == unix.EAGAIN {
		return
	}
	if err == nil {
		if s.unsent = s.unsent[n:]; len(s.unsent) > 0 {
			return
		}
		s.unsent = nil
		m.writing = false
		err = l.control(unix.EPOLL_CTL_MOD, s.descriptor.fd, m.index, unix.EPOLLIN)
	}
	if err != nil {
		l.advance(m, m.failed(l.clock.now(), err))
	}
}

// read takes what has come, and goes on with the session when its answer is complete.
func (l *loop) read(m *member) {
	const mostReads = 8 // in a row: an answer that does not end must not keep the others waiting
	s := m.line.socket
	for range mostReads {
		n, err := s.descriptor.receive(l.buffers.in, false)
		if err == unix.EAGAIN {
			return
		}
		var status protocol.Status
		var refusal []byte
		if err == nil {
			status, refusal, err = s.feed(l.buffers.in[:n])
		}
		if err == nil && m.writing && status != protocol.More {
			err = fmt.Errorf("%w: the server answered before it had the whole statement", protocol.ErrSequence)
		}
		if err == nil && status == protocol.Refuse {
			err = l.put(m, refusal)
		}
		switch {
		case err != nil:
			l.advance(m, m.failed(l.clock.now(), err))
			return
		case status == protocol.Done:
			l.answered(m)
			return
		case n < len(l.buffers.in):
			return
		}
	}
}

// answered tells the session what its statement came to. The moment is also when the next one begins.
func (l *loop) answered(m *member) {
	rows, affected, err := m.line.socket.outcome(m.session.statement.Class)
	now := l.clock.now()
	if err != nil {
		l.advance(m, m.failed(now, err))
		return
	}
	l.advance(m, m.session.answered(now, rows, affected))
}

// giveAway has a goroutine bring a new connection: connecting waits.
func (l *loop) giveAway(m *member) {
	_ = l.control(unix.EPOLL_CTL_DEL, m.line.socket.descriptor.fd, m.index, 0)
	m.since = l.clock.now()
	l.others.Go(func() {
		m.found = m.reconnect(l.ended, m.since)
		l.mu.Lock()
		l.back = append(l.back, m)
		l.mu.Unlock()
		var one [8]byte
		binary.NativeEndian.PutUint64(one[:], 1)
		_, _ = unix.Write(l.bell, one[:])
	})
}

// answerBell takes back the sessions that were given away.
func (l *loop) answerBell() {
	var count [8]byte
	_, _ = unix.Read(l.bell, count[:])
	l.mu.Lock()
	back := l.back
	l.back = nil
	l.mu.Unlock()
	for _, m := range back {
		if !m.found {
			m.session.stranded = true
			m.end()
			l.running--
			continue
		}
		now := l.clock.now()
		next := m.session.reconnected(now, time.Duration(now-m.since))
		if m.line.socket != nil {
			l.enter(m, next)
			continue
		}
		// The server it has met now wants TLS or compression.
		l.running--
		l.others.Go(func() { m.goOn(l.ended, next) })
	}
}
