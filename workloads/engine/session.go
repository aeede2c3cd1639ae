package engine

import (
	"sync/atomic"
	"time"

	"benchplan/results"
)

// cell is what all sessions of a run share: when to count and when to stop, and what follows an error. Times are
// nanoseconds since the clock started.
//
// What is counted is decided by when it ended: statements and events that ended in [start, end) count, whenever they
// began. So an event that began in the warm-up takes the place of one that is still under way at the end, and the
// throughput is unbiased. What is under way at the end may finish, but is in no figure except Unfinished.
// An open loop counts events only that were due in the measured part: which ones these are does not hang on the server.
type cell struct {
	clients  []RoleClients
	queues   []*queue     // of an open loop, by role; a closed loop has nil in it
	start    int64        // the end of the warm-up
	end      atomic.Int64 // when the measured part ends; moved forward by an error or an interrupt
	budget   int64        // events of the measured part; 0 for no limit
	each     int64        // likewise, of each client
	tickets  atomic.Int64 // how many were taken
	onError  map[int]Action
	fallback Action
	// fail ends the cell by an error, at that time. It tells whether this was the first.
	fail func(now int64, err error) bool
}

// takeTicket tells whether one more event may be counted.
func (c *cell) takeTicket() bool {
	return c.budget == 0 || c.tickets.Add(1) <= c.budget
}

// action decides what follows an error.
func (c *cell) action(f fault, s *Statement) Action {
	code := f.code
	if f.lost {
		code = codeServerLost
	}
	if a, ok := c.onError[code]; ok {
		return a
	}
	switch {
	case f.lost:
		return Reconnect
	case code == codeDeadlock, code == codeLockWaitTimeout, code == codeSnapshotConflict:
		return Restart
	case code == codeDuplicateKey && s.RestartDuplicate:
		return Restart
	}
	return c.fallback
}

// step is what a session wants done next.
type step uint8

const (
	execute   step = iota // its statement
	reconnect             // a new connection with the templates prepared
	wait                  // nothing until its event is due, or the cell is over
	stop                  // nothing any more
)

// phase says what the statement under way is for.
type phase uint8

const (
	working phase = iota // the workload
	undoing              // rolling back
	closing              // after the last event
)

// session is the state of one client: which statement is next, what its outcome is counted as, whether to go on. It knows
// no connection and no timer: who drives it does what a step says and reports back by answered, failed, reconnected or arrived.
type session struct {
	cell      *cell
	queue     *queue // of an open loop; nil: the loop is closed
	shard     *shard
	client    Client
	role      int // index in cell.clients
	index     int // within the role
	templates []string
	result    *HostResult // what the last event came to, where the client's events are calls; nil: they are statements
	statement Statement
	phase     phase
	then      Action // what follows an undo: Restart the event, Count it and begin the next, or Stop

	open           bool  // an event is under way
	ticket         bool  // and has its place among the events of the measured part
	taken          int64 // how many such places the session has had
	ended          int64 // events that came to their end, counted or not
	events, busy   int64 // counted events, and the nanoseconds that they took
	stranded       bool  // its connection was lost when there was no time left for another: see settle
	begun          bool  // it was driven at all
	late           int64 // how long after the measured time began it first was: the system woke others first
	idleSince      int64 // when there was no ticket left for it; 0: there always was
	eventStart     int64 // of an open loop: when it was due
	statementStart int64
	turn           turn  // of an open loop: the event that the session claimed
	waited         int64 // and how much later than it was due it was begun
}

// begin starts an event, unless the cell is over.
func (s *session) begin(now int64) step {
	if !s.begun {
		s.begun, s.late = true, max(0, now-s.cell.start)
	}
	s.open, s.ticket = false, false
	if now >= s.cell.end.Load() {
		return s.close()
	}
	if s.queue != nil {
		return s.claim(now)
	}
	if now >= s.cell.start {
		if !s.takeTicket() {
			s.idleSince = now
			return s.close()
		}
		s.ticket = true
	}
	s.open = true
	s.eventStart = now
	return s.next(now)
}

// claim takes the next event of an open loop, and begins it if it is due.
func (s *session) claim(now int64) step {
	var ok bool
	if s.cell.each > 0 && s.taken >= s.cell.each {
		return s.close()
	}
	if s.turn, ok = s.queue.claim(now); !ok {
		return s.close()
	}
	if s.turn.due > now {
		return wait
	}
	return s.arrived(now)
}

// arrived reports that the event for which the session waited is due. It may also be told too early, at the end of the cell.
func (s *session) arrived(now int64) step {
	switch {
	case now >= s.cell.end.Load():
		return s.close()
	case s.turn.warm && now >= s.cell.start:
		return s.claim(now)
	case s.turn.due > now:
		return wait
	}
	s.queue.begin(now, s.turn)
	if s.ticket = !s.turn.warm; s.ticket {
		s.taken++
	}
	s.open = true
	s.eventStart, s.waited = s.turn.due, now-s.turn.due
	return s.next(now)
}

// takeTicket tells whether one more event of the session may be counted.
func (s *session) takeTicket() bool {
	if s.queue != nil || s.cell.each > 0 && s.taken >= s.cell.each || !s.cell.takeTicket() {
		return false
	}
	s.taken++
	return true
}

func (s *session) next(now int64) step {
	s.phase = working
	s.statementStart = now
	s.statement.reset()
	s.client.Next(&s.statement)
	return execute
}

// answered reports that the server executed the statement.
func (s *session) answered(now, rows, affected int64) step {
	switch s.phase {
	case undoing:
		return s.undo(now, false)
	case closing:
		return s.close()
	}
	s.client.Done(rows, affected)
	s.count(now, rows, affected)
	if s.statement.Last {
		s.ended++
		return s.begin(now)
	}
	return s.next(now)
}

// count puts down a statement that was executed, and the event that ended with it.
func (s *session) count(now, rows, affected int64) {
	sh := s.shard
	if now < s.cell.start {
		sh.mu.Lock()
		defer sh.mu.Unlock()
		if s.result == nil {
			sh.warm.queries++
		}
		if s.statement.Last {
			sh.warm.events++
			record(sh.warm.latency, now-s.eventStart)
		}
		return
	}
	if now >= s.cell.end.Load() {
		if s.statement.Last {
			s.putUnfinished(now)
		}
		return
	}
	// An event that began in the warm-up takes its ticket now; where none is left it does not count.
	counts := s.statement.Last && (s.ticket || s.takeTicket())
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if s.result == nil {
		class := &sh.classes[classIndex(s.statement.Class)]
		class.rows += rows
		class.affected += affected
		record(class.latency, now-s.statementStart)
		sh.current.queries++
	}
	if counts {
		if s.result != nil {
			sh.addCounts(s.result)
		}
		s.events++
		s.busy += now - s.eventStart - s.waited
		sh.current.events++
		sh.lastEnd = max(sh.lastEnd, now)
		record(sh.current.latency, now-s.eventStart)
		record(sh.roles[s.role], now-s.eventStart)
		sh.uncounted[s.role] -= max(0, s.cell.start-s.eventStart)
	}
}

// putUnfinished puts down an event that was under way when the time was up, and has ended or been given up now.
func (s *session) putUnfinished(now int64) {
	sh := s.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.unfinished++
	sh.longestUnfinished = max(sh.longestUnfinished, now-s.eventStart)
	if s.queue == nil {
		sh.uncounted[s.role] += max(0, s.cell.end.Load()-max(s.eventStart, s.cell.start))
	}
}

// failed reports that the statement had an error.
func (s *session) failed(now int64, f fault) step {
	switch {
	case s.phase == working:
		return s.fault(now, f)
	case s.statement.Tolerant && !f.lost:
		return s.answered(now, 0, 0)
	case s.phase == closing && !f.lost:
		s.countError(now, f, false, results.Other)
		return stop
	case s.phase == closing || now >= s.cell.end.Load():
		s.stranded = f.lost
		return stop
	}
	// Who cannot roll back is rid of the transaction by dropping the connection.
	s.countError(now, f, true, results.Other)
	return reconnect
}

// fault decides what follows an error of the workload's statement.
func (s *session) fault(now int64, f fault) step {
	if now >= s.cell.end.Load() {
		s.then = Stop
		if f.lost {
			s.stranded = true
			return stop
		}
		return s.undo(now, false)
	}
	action := s.cell.action(f, &s.statement)
	s.countError(now, f, action == Restart || action == Reconnect, s.statement.Class)
	switch action {
	case Reconnect:
		s.then = Restart
		return reconnect
	case Restart, Count:
		s.then = action
	default:
		s.then = Stop
		s.open = false
		s.cell.fail(now, &StatementError{
			Role: s.cell.clients[s.role].Role, Client: s.index, Class: s.statement.Class, Statement: s.text(), Err: advise(f.err),
		})
	}
	switch {
	case !f.lost:
		return s.undo(now, false)
	case s.then == Stop:
		s.stranded = true
		return stop
	}
	return reconnect
}

// countError puts down an error, or what made the event begin anew. Of the warm-up only an error that ends the cell counts.
func (s *session) countError(now int64, f fault, restarts bool, class results.Class) {
	sh := s.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	list, place := sh.errors, sh.current
	if restarts {
		list = sh.restarts
	}
	if now < s.cell.start {
		place = sh.warm
	}
	if restarts {
		place.restarts++
	} else {
		place.errors++
		if now >= s.cell.start {
			sh.lastEnd = max(sh.lastEnd, now) // a failed event ends too: the clock of a cell that ends by events goes on for it
		}
	}
	if now >= s.cell.start || !restarts && s.cell.action(f, &s.statement) == Stop {
		list.add(f, class)
	}
}

// undo rolls back what is open, then goes on as was decided.
func (s *session) undo(now int64, lost bool) step {
	s.statement.reset()
	if s.client.Undo(&s.statement, lost) {
		s.phase = undoing
		return execute
	}
	switch {
	case s.then == Stop || now >= s.cell.end.Load():
		return stop
	case s.then == Count:
		s.ended++
		s.putFailed(now)
		return s.begin(now)
	}
	return s.next(now)
}

// putFailed puts down that an event was given up for an error: it is in no latency, but its client was busy with it.
func (s *session) putFailed(now int64) {
	if s.queue != nil || now < s.cell.start {
		return
	}
	sh := s.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.uncounted[s.role] += now - max(s.eventStart, s.cell.start)
}

// reconnected reports that there is a new connection, and how long that took.
func (s *session) reconnected(now int64, away time.Duration) step {
	sh := s.shard
	sh.mu.Lock()
	if now < s.cell.start {
		sh.warm.reconnects++
	} else {
		sh.current.reconnects++
		sh.reconnects++
		sh.away += away
	}
	sh.mu.Unlock()
	return s.undo(now, true)
}

// close lets the client finish what spans its events.
func (s *session) close() step {
	closer, ok := s.client.(Closer)
	if !ok {
		return stop
	}
	s.statement.reset()
	if !closer.Close(&s.statement) {
		return stop
	}
	s.phase = closing
	return execute
}

// text gives the statement under way as the workload wrote it.
func (s *session) text() string {
	if s.statement.Template == Plain {
		return shorten(string(s.statement.Text))
	}
	return shorten(s.templates[s.statement.Template])
}

// abandon reports that nobody drives the session any more. An event under way is unfinished then.
func (s *session) abandon(now int64) {
	if !s.open {
		return
	}
	s.open = false
	s.putUnfinished(now)
}
