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
	"syscall"
	"time"
	"unsafe"

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

// newDrivers gives what drives the clients: loops for those whose sockets the engine has, else one for each client. A client that is
// alone needs no loop: it waits for its own socket.
func (r *run) newDrivers(ended context.Context) (drivers []driving, err error) {
	var members []*member
	for _, client := range r.runners {
		line, ok := client.line.(*connection)
		switch {
		case !ok || line.socket == nil:
			drivers = append(drivers, driving{drive: func() { client.drive(ended) }})
		case len(r.runners) == 1:
			drivers = append(drivers, driving{drive: func() { driveAlone(ended, client) }})
		default:
			members = append(members, &member{runner: client, line: line})
		}
	}
	if len(members) == 0 {
		return drivers, nil
	}
	n := min(loopsFor(len(members), runtime.GOMAXPROCS(0)), len(r.tally.shards))
	var loops []*loop
	for i := range n {
		l, err := newLoop(r, ended)
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
		loops, drivers = append(loops, l), append(drivers, driving{drive: l.drive, busy: l.busy})
	}
	return drivers, nil
}

// driveAlone drives a client from a thread of its own. The kernel keeps a thread near the server's that it talks with; another thread,
// to which the scheduler might move the client, would begin far from it.
func driveAlone(ended context.Context, client *runner) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	client.drive(ended)
}

// loop drives any number of sessions from one thread: it waits for all their sockets at once, and does for each that has something
// what the session wants next. In an open loop it waits for the next event that is due as well. It waits for nothing else.
type loop struct {
	clock   *clock
	start   int64           // when the measured part begins
	ended   context.Context // ends with the cell: then no new connection is tried
	members []*member
	running int // members that the loop still drives
	buffers *buffers
	events  []unix.EpollEvent
	epoll   int
	aloof   bool   // it may wait briefly without telling the scheduler
	bell    int    // an eventfd by which others wake the loop
	alarm   *alarm // nil: the loop is closed
	agenda  agenda // members whose events are not due yet
	over    bool   // the cell is
	now     int64  // when something was last done; some of what needs the time can do with that

	from, to effort // from the beginning to the end of the measured part

	mu   sync.Mutex
	back []*member // those whose new connection is there, or will not come

	others sync.WaitGroup // what others do for the loop
	caught func()         // is deferred by them: a panic there ends the cell
}

// member is a session of a loop.
type member struct {
	*runner
	line    *connection
	index   int   // in loop.members
	asked   bool  // an answer is to come
	writing bool  // there is more to be sent than the kernel takes
	muted   bool  // the loop does not wait for the socket
	since   int64 // when it was given away for a new connection
	found   bool  // there is one
}

// What else the loop waits for, in place of a member's index.
const (
	theBell  = -1
	theAlarm = -2
)

const forever = -1 // milliseconds, for epoll

func newLoop(r *run, ended context.Context) (*loop, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("event loop: %w", os.NewSyscallError("epoll_create", err))
	}
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_ = unix.Close(epoll)
		return nil, fmt.Errorf("event loop: %w", os.NewSyscallError("eventfd", err))
	}
	l := &loop{
		clock: &r.clock, caught: r.caught, start: r.cell.start, ended: ended,
		epoll: epoll, aloof: aloof(), bell: bell, buffers: newBuffers(), events: make([]unix.EpollEvent, 128),
	}
	err = l.control(unix.EPOLL_CTL_ADD, bell, theBell, unix.EPOLLIN)
	if err == nil && r.order.Rate != nil {
		if l.alarm, err = newAlarm(); err == nil {
			err = l.control(unix.EPOLL_CTL_ADD, l.alarm.fd, theAlarm, unix.EPOLLIN|unix.EPOLLET) // so it need not be read
		}
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *loop) close() {
	if l.alarm != nil {
		_ = unix.Close(l.alarm.fd)
	}
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
	if l.alarm == nil { // an event that is due waits for nobody
		defer deferPreemption()()
	}
	defer l.close()
	defer l.others.Wait()
	l.others.Add(1)
	defer l.release(context.AfterFunc(l.ended, func() {
		defer l.others.Done()
		l.ring()
	}))
	const startedAtOnce = 16
	l.running = len(l.members)
	for i, m := range l.members {
		l.now = l.clock.now()
		l.enter(m, m.session.begin(l.now))
		if i%startedAtOnce == startedAtOnce-1 {
			l.turn(0) // the first must not wait for the last to have started
		}
	}
	for {
		timeout := l.beginDue()
		if l.running == 0 {
			break
		}
		l.turn(timeout)
	}
	if !l.over {
		l.to = effortAt(l.clock.now())
	}
}

// release does away with what would wake the loop at the end of the cell.
func (l *loop) release(stop func() bool) {
	if stop() {
		l.others.Done()
	}
}

// busy gives which share of the measured time the loop had a processor; it is for when drive has returned.
func (l *loop) busy() float64 { return l.to.since(l.from) }

// beginDue begins the events that are due, and gives how long the loop may wait for the next, in milliseconds.
func (l *loop) beginDue() (timeout int) {
	for len(l.agenda) > 0 {
		l.now = l.clock.now()
		if due := l.agenda.next(); due > l.now && !l.over {
			return l.alarm.patience(due, l.now)
		}
		l.beginNext()
	}
	return forever
}

// beginNext has the session that is due first begin its event.
func (l *loop) beginNext() {
	m := l.agenda.take()
	m.waiting.Store(false)
	next := m.session.arrived(l.now)
	if m.muted {
		m.muted = false
		l.enter(m, next)
		return
	}
	l.advance(m, next)
}

// turn waits for sockets, so many milliseconds or for ever, and serves those that have something.
func (l *loop) turn(timeout int) {
	if l.from.at == 0 && l.now >= l.start {
		l.from = effortAt(l.clock.now())
	}
	n, err := l.await(timeout)
	if err != nil {
		// It cannot fail but by a signal. Should it, this is no busy loop.
		if !errors.Is(err, unix.EINTR) {
			time.Sleep(time.Millisecond)
		}
		return
	}
	rung := false
	for i := range l.events[:max(n, 0)] {
		switch event := &l.events[i]; event.Fd {
		case theBell:
			rung = true
		case theAlarm:
			l.now = l.clock.now()
			l.alarm.ring(l.now, timeout == forever && n == 1)
		default:
			l.serve(l.members[event.Fd], event.Events)
		}
		// An event that is due does not wait until all that have something are served.
		for l.agenda.next() <= l.now {
			l.beginNext()
		}
	}
	if rung {
		l.answerBell()
	}
}

// await waits for the loop's descriptors, so many milliseconds or for ever: at first without telling the scheduler.
func (l *loop) await(timeout int) (n int, err error) {
	first := timeout
	if timeout == forever {
		first = int(briefly.Milliseconds())
	}
	if first <= int(briefly.Milliseconds()) && l.aloof {
		n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.epoll), uintptr(unsafe.Pointer(unsafe.SliceData(l.events))), uintptr(len(l.events)), uintptr(first), 0, 0)
		switch {
		case errno != 0:
			return 0, errno
		case n > 0 || timeout != forever:
			return int(n), nil
		}
	}
	return unix.EpollWait(l.epoll, l.events, timeout)
}

// serve does what can be done for a session whose socket has something.
func (l *loop) serve(m *member, events uint32) {
	if m.waiting.Load() {
		// The server says something unasked, or has closed the connection. The next statement will meet it; until then it would wake
		// the loop again and again.
		m.muted = true
		_ = l.control(unix.EPOLL_CTL_DEL, m.line.socket.descriptor.fd, m.index, 0)
		return
	}
	if m.writing && events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0 {
		l.write(m)
	}
	if m.asked && events&^unix.EPOLLOUT != 0 {
		l.read(m)
	}
}

// enter makes a session whose socket is new one of those that the loop waits for, and goes on with it.
func (l *loop) enter(m *member, next step) {
	if err := l.control(unix.EPOLL_CTL_ADD, m.line.socket.descriptor.fd, m.index, unix.EPOLLIN); err != nil && next != stop {
		// The kernel has no room for it. Another connection would fare no better, and an answer would not be heard.
		m.session.cell.fail(l.clock.now(), err)
		m.session.stranded = true
		next = stop
	}
	l.advance(m, next)
}

// advance does what the session wants, until it has to wait.
func (l *loop) advance(m *member, next step) {
	for next == execute {
		err := l.send(m)
		if err == nil {
			m.asked = true
			return
		}
		next = m.failed(l.clock.now(), err)
	}
	m.asked, m.writing = false, false
	switch next {
	case wait:
		m.waiting.Store(true)
		l.agenda.add(m)
	case reconnect:
		l.giveAway(m)
	default:
		m.end()
		l.running--
	}
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
	return s.heed()
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
	l.now = l.clock.now()
	if err != nil {
		l.advance(m, m.failed(l.now, err))
		return
	}
	l.advance(m, m.session.answered(l.now, rows, affected))
}

// giveAway has a goroutine bring a new connection: connecting waits.
func (l *loop) giveAway(m *member) {
	_ = l.control(unix.EPOLL_CTL_DEL, m.line.socket.descriptor.fd, m.index, 0)
	m.since = l.clock.now()
	m.found = false
	l.others.Go(func() {
		defer l.giveBack(m)
		defer l.caught()
		m.found = m.reconnect(l.ended, m.since)
	})
}

// giveBack returns a session that was given away. Any goroutine may call it.
func (l *loop) giveBack(m *member) {
	l.mu.Lock()
	l.back = append(l.back, m)
	l.mu.Unlock()
	l.ring()
}

// ring wakes the loop. Any goroutine may call it.
func (l *loop) ring() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(l.bell, one[:])
}

// answerBell heeds the end of the cell, and takes back the sessions that were given away.
func (l *loop) answerBell() {
	var count [8]byte
	_, _ = unix.Read(l.bell, count[:])
	if !l.over && l.ended.Err() != nil {
		l.over, l.to = true, effortAt(l.clock.now())
	}
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
		l.others.Go(func() {
			defer l.caught()
			m.goOn(l.ended, next)
		})
	}
}
