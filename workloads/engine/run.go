package engine

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/guard"
)

const (
	dialsAtOnce = 64 // connections being opened at the same time
	mostShards  = 16
)

// Run has the workload's clients do what the order says, and gives what came of it. The connector has to be of
// NewConnector; it decides the server, the account, the database and the session's settings. observer and meter may be nil.
//
// All clients connect and prepare before the clock starts; where one cannot, that is the error and nothing was run. An
// error that ends the cell (a *StatementError, ErrServerLost), and the end of ctx, are returned together with what was
// measured until then.
func Run(ctx context.Context, connector driver.Connector, w Workload, o Order, observer Observer, meter Meter) (results.Outcome, error) {
	if err := o.Validate(); err != nil {
		return results.Outcome{}, fmt.Errorf("workload %s: %w", o.Workload, err)
	}
	r := newRun(connector, w, o)
	if err := r.connect(ctx); err != nil {
		r.disconnect()
		if ctx.Err() != nil {
			return results.Outcome{Clients: o.Total(), Stopped: results.ByInterrupt}, context.Cause(ctx)
		}
		return results.Outcome{Clients: o.Total(), Stopped: results.ByError}, fmt.Errorf("workload %s: %w", o.Workload, err)
	}
	return r.measure(ctx, observer, meter)
}

// run is a cell being run: the sessions' common state, and what looks after them.
type run struct {
	order   Order
	clock   clock
	cell    cell
	tally   *tally
	runners []*runner
	dialect dialect
	pacers  []*pacer // of an open loop, by role; a closed loop has nil in it
	// connections are the lines of the runners to a server; none where the load is on this machine.
	connections []*connection
	io          IOMode
	threads     bool // each client has an OS thread of its own
	drivers     []driving

	failure chan struct{} // closed once err is set
	err     error
	once    sync.Once
}

// driving is what drives one client or several.
type driving struct {
	drive func()         // to be called from a goroutine of its own
	busy  func() float64 // which share of the measured time it had a processor, once drive has returned; nil: not known
}

func newRun(connector driver.Connector, w Workload, o Order) *run {
	r := newCell(o)
	for role, clients := range o.Clients {
		r.addRole(connector, w, role, clients)
	}
	return r
}

// newCell makes a run that has no clients yet.
func newCell(o Order) *run {
	r := &run{
		order:   o,
		tally:   newTally(max(1, min(runtime.GOMAXPROCS(0), o.Total(), mostShards)), len(o.Clients)),
		failure: make(chan struct{}),
		pacers:  make([]*pacer, len(o.Clients)),
	}
	r.cell = cell{
		clients:  o.Clients,
		queues:   newQueues(o),
		start:    int64(o.Warmup),
		budget:   int64(o.Events),
		each:     int64(o.EventsEach),
		onError:  o.OnError,
		fallback: o.OnErrorDefault,
		fail:     r.fail,
	}
	for i, q := range r.cell.queues {
		if q != nil {
			r.pacers[i] = newPacer(&r.clock)
		}
	}
	if r.cell.fallback == "" {
		r.cell.fallback = Stop
	}
	r.cell.end.Store(math.MaxInt64)
	if o.Duration > 0 {
		r.cell.end.Store(int64(o.Warmup) + int64(o.Duration))
	}
	return r
}

// addRole makes the runners of a role.
func (r *run) addRole(connector driver.Connector, w Workload, role int, clients RoleClients) {
	s := &script{templates: w.Templates(clients.Role), dialect: &r.dialect}
	if r.order.PSMode == PSDisable {
		s.patterns = make([]pattern, len(s.templates))
		for i, sql := range s.templates {
			s.patterns[i] = parsePattern(sql)
		}
	}
	for i := range clients.Count {
		c := &connection{script: s, connector: connector, mode: r.order.io()}
		r.connections = append(r.connections, c)
		r.add(c, session{
			client:    w.Client(clients.Role, i, clients.Count, clientRandom(r.order.Seed, clients.Role, i)),
			role:      role,
			index:     i,
			templates: s.templates,
		})
	}
}

// add makes the runner of a session.
func (r *run) add(l line, s session) {
	s.cell, s.queue, s.shard = &r.cell, r.cell.queues[s.role], r.tally.shards[len(r.runners)%len(r.tally.shards)]
	client := &runner{session: s, line: l, clock: &r.clock, patience: orDefault(r.order.ServerLost, defaultServerLost)}
	if client.pacer = r.pacers[s.role]; client.pacer != nil {
		client.place = newWaiter()
	}
	r.runners = append(r.runners, client)
}

func orDefault(d plan.Duration, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d.D()
}

// connect opens all connections, some at a time.
func (r *run) connect(ctx context.Context) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(dialsAtOnce)
	var connected atomic.Int64
	for _, client := range r.runners {
		group.Go(guard.Func(func() error {
			if groupCtx.Err() != nil {
				return groupCtx.Err()
			}
			if err := client.line.open(groupCtx); err != nil {
				return fmt.Errorf("%d of %d clients connected, then: %w", connected.Load(), len(r.runners), advise(err))
			}
			connected.Add(1)
			return nil
		}))
	}
	return group.Wait()
}

func (r *run) disconnect() {
	for _, client := range r.runners {
		client.line.close()
	}
}

// drivenBy tells how the sockets of the clients, which all have one, are driven.
func (r *run) drivenBy() IOMode {
	for _, c := range r.connections {
		if c.socket == nil {
			return IODriver
		}
	}
	return IOLoop
}

// fail ends the cell by an error, unless another did.
func (r *run) fail(now int64, err error) (first bool) {
	r.once.Do(func() {
		first = true
		r.err = err
		r.endAt(now)
		close(r.failure)
	})
	return first
}

// endAt moves the end of the measured part forward.
func (r *run) endAt(now int64) {
	for {
		end := r.cell.end.Load()
		if now >= end || r.cell.end.CompareAndSwap(end, now) {
			return
		}
	}
}

// measure starts all clients at once, watches over them, and reads the result when all have ended.
func (r *run) measure(ctx context.Context, observer Observer, meter Meter) (results.Outcome, error) {
	ended, end := context.WithCancel(context.Background())
	defer end()
	r.io = r.drivenBy()
	var clients, ready sync.WaitGroup
	started := make(chan struct{})
	var err error
	if r.drivers, err = r.newDrivers(ended); err != nil {
		r.disconnect()
		return results.Outcome{Clients: r.order.Total(), Stopped: results.ByError}, fmt.Errorf("workload %s: %w", r.order.Workload, advise(err))
	}
	for _, d := range r.drivers {
		ready.Add(1)
		clients.Go(func() {
			if r.threads {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
			}
			ready.Done()
			<-started
			defer r.caught()
			d.drive()
		})
	}
	done := make(chan struct{})
	go func() {
		clients.Wait()
		close(done)
	}()
	ready.Wait()
	r.clock.base = time.Now()
	close(started)

	watch := newWatch(r, observer, meter)
	stopped := r.lookAfter(ctx, watch, end, done)
	end()
	for _, p := range r.pacers {
		if p != nil {
			p.end()
		}
	}
	cut := r.finish(ctx, done, stopped)
	return r.outcome(ctx, stopped, cut, watch)
}

// caught is deferred by what runs beside the load: a panic there ends the cell, as an error, and not the program.
func (r *run) caught() {
	if v := recover(); v != nil {
		r.fail(r.clock.now(), guard.Recovered(v))
	}
}

// lookAfter watches the cell until it is over. Where that panics (an observer may), the clients are ended before the panic goes on.
func (r *run) lookAfter(ctx context.Context, w *watch, end func(), done <-chan struct{}) results.Stop {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		p := guard.Recovered(v)
		r.fail(r.clock.now(), p)
		end()
		for _, p := range r.pacers {
			if p != nil {
				p.end()
			}
		}
		for _, client := range r.runners {
			client.line.sever()
		}
		<-done
		panic(p)
	}()
	return w.over(ctx, done)
}

// finish waits for the events under way, for as long as the grace period is, then cuts the connections of the rest.
func (r *run) finish(ctx context.Context, done <-chan struct{}, stopped results.Stop) (cut int64) {
	grace := orDefault(r.order.Grace, defaultGrace)
	hurry := ctx.Done()
	if stopped != results.ByDuration {
		grace, hurry = min(grace, hurriedGrace), nil
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	for {
		select {
		case <-done:
			return cut
		case <-hurry:
			hurry = nil
			timer.Reset(min(grace, hurriedGrace))
		case <-timer.C:
			for _, client := range r.runners {
				if !client.over.Load() {
					client.line.sever()
					cut++
				}
			}
		}
	}
}

// endOf gives when the measured part ended.
func (r *run) endOf(stopped results.Stop) int64 {
	if stopped == results.ByEvents {
		return r.tally.lastEnd()
	}
	return r.cell.end.Load()
}

// outcome reads what the cell came to, after all its clients ended.
func (r *run) outcome(ctx context.Context, stopped results.Stop, cut int64, watch *watch) (results.Outcome, error) {
	end := r.endOf(stopped)
	for _, q := range r.cell.queues {
		if q != nil {
			q.close(end)
		}
	}
	watch.finish(end)
	out := results.Outcome{
		Clients: len(r.runners),
		Elapsed: seconds(max(0, end-r.cell.start)),
		Warmup:  seconds(min(r.cell.start, end)),
		Stopped: stopped,
		Cut:     cut,
		Series:  watch.series,
	}
	for _, d := range r.drivers {
		if d.busy != nil {
			out.LoopBusy = max(out.LoopBusy, d.busy())
		}
	}
	for _, client := range r.runners {
		s := &client.session
		if s.queue != nil {
			continue // its latencies hold more than the time of clients
		}
		s.shard.uncounted[s.role] += min(s.late, max(0, end-r.cell.start))
		if s.idleSince > 0 {
			s.shard.uncounted[s.role] += max(0, end-s.idleSince)
		}
	}
	r.tally.fill(&out, r.order.Clients)
	if len(r.connections) > 0 {
		r.tally.fillStatements(&out)
		out.IO = string(r.io)
	}
	out.Schedule = r.account(end)
	out.Fairness = r.fairness()
	out.Stranded = r.settle()
	out.Ledger = r.ledger()
	switch {
	case r.err != nil:
		out.Stopped = results.ByError
		return out, fmt.Errorf("workload %s: %w", r.order.Workload, r.err)
	case stopped == results.ByInterrupt:
		return out, context.Cause(ctx)
	}
	if err := r.allAway(end); err != nil {
		out.Stopped = results.ByError
		return out, fmt.Errorf("workload %s: %w", r.order.Workload, err)
	}
	return out, nil
}

// connected counts the clients that have a connection.
func (r *run) connected() (n int) {
	for _, client := range r.runners {
		if !client.away.Load() {
			n++
		}
	}
	return n
}

// awaited tells whether some client has a statement under way; not while one reconnects, which has a limit of its own.
func (r *run) awaited() (any bool) {
	for _, client := range r.runners {
		if client.away.Load() {
			return false
		}
		any = any || !client.waiting.Load() && !client.over.Load()
	}
	return any
}

// exhausted tells whether all events that the order allows were taken.
func (r *run) exhausted() bool {
	if r.order.Rate == nil {
		return r.cell.each > 0 || r.cell.budget > 0 && r.cell.tickets.Load() >= r.cell.budget
	}
	for _, q := range r.cell.queues {
		if q != nil && !q.done() {
			return false
		}
	}
	return true
}

// allAway is the error of a cell in which no client had a connection for the last second: its server is lost, even if the
// time for reconnecting was not over yet.
func (r *run) allAway(end int64) error {
	for _, client := range r.runners {
		if client.lostAt == 0 || end-client.lostAt < int64(time.Second) {
			return nil
		}
	}
	return fmt.Errorf("%w: no client had a connection when the time was up: %w", ErrServerLost, r.runners[0].reason())
}

// ledger sums up what the clients know to be acknowledged.
func (r *run) ledger() map[string]results.Changes {
	var sum map[string]results.Changes
	for _, client := range r.runners {
		keeper, ok := client.session.client.(Ledger)
		if !ok {
			continue
		}
		if sum == nil {
			sum = map[string]results.Changes{}
		}
		keeper.Changes(func(table string, c results.Changes) {
			total := sum[table]
			total.Inserted += c.Inserted
			total.Deleted += c.Deleted
			total.Unsure += c.Unsure
			sum[table] = total
		})
	}
	return sum
}

func seconds(ns int64) float64 { return time.Duration(ns).Seconds() }
