package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"benchplan/plan"
)

// Order is what one cell has to run, beside the workload's own options. It is plain data that can be stored and sent.
type Order struct {
	Workload string        `json:"workload"`
	Clients  []RoleClients `json:"clients"`
	// Duration is the measured time; 0 for no limit. With Events too, whichever comes first ends the cell.
	Duration plan.Duration `json:"duration,omitempty"`
	// Events is how many events the measured part has, over all clients; 0 for no limit. It is exact: an event takes one
	// of so many tickets before it begins. An event that a policy of Count ends as failed has used up its ticket, so the
	// cell ends after Events events and failures together.
	Events plan.Count `json:"events,omitempty"`
	// EventsEach is how many events each client has in the measured part; 0 for no limit. A cell that is given nothing else ends
	// when all clients have had theirs.
	EventsEach plan.Count `json:"events_each,omitempty"`
	// Warmup is how long the load runs before anything is counted.
	Warmup plan.Duration `json:"warmup,omitempty"`
	// Interval is how often the observer is called; it is rounded up to whole seconds, and 0 is one second.
	Interval plan.Duration `json:"interval,omitempty"`
	// Seed decides every random choice: client i of a role does the same for the same seed.
	Seed   uint64 `json:"seed"`
	PSMode PSMode `json:"ps_mode,omitempty"`
	// IO is how statements get to the server and answers back; empty is IOAuto. It changes what the clients cost this machine, and
	// nothing that they do.
	IO IOMode `json:"io,omitempty"`
	// OnError says by the server's error number what follows an error. Where it says nothing, 1213 (deadlock), 1205 (lock
	// wait timeout) and 1020 (the row changed since the snapshot) restart the event, so does 1062 where the workload asks for
	// it, a lost connection is reopened, and OnErrorDefault holds for the rest. A lost connection is looked up as 2013.
	OnError map[int]Action `json:"on_error,omitempty"`
	// OnErrorDefault is what follows an error that nothing else covers; empty is Stop.
	OnErrorDefault Action `json:"on_error_default,omitempty"`
	// Grace is how long events under way may take to finish when the time is up, before their connections are cut; 0 is
	// 5 s. After an interrupt or an error it is at most 1 s.
	Grace plan.Duration `json:"grace,omitempty"`
	// Rate makes the loop an open one: events are due by a schedule, whether or not a client is free. nil: closed.
	Rate *Rate `json:"rate,omitempty"`
	// Silence is how long a cell without a Duration may have statements under way and no answer to any, before it is given up as
	// ErrServerLost; 0 is 5 min. While a client reconnects, ServerLost holds instead. It is looked at once a second, and is not
	// for loads on this machine.
	Silence plan.Duration `json:"silence,omitempty"`
	// ServerLost is how long a client tries to reconnect before the cell is given up; 0 is 30 s. So long it may also lose its connection
	// again and again with no event between that came to its end.
	ServerLost plan.Duration `json:"server_lost,omitempty"`
}

// Rate is the schedule of an open loop. An event's latency runs from the moment when it was due.
type Rate struct {
	// From and To are events per second over all clients, above 0 and at most 1,000,000: To is reached at the end of the
	// Duration, in a straight line; 0 is From. The warm-up runs at From, and what it leaves in the queue is dropped. Roles share
	// the rate, and an order's Events, as they share the clients; each has a queue of its own.
	From float64 `json:"from"`
	To   float64 `json:"to,omitempty"`
	// Arrivals is how the events are spread; empty is Constant.
	Arrivals Arrivals `json:"arrivals,omitempty"`
}

// ramp tells whether the rate changes.
func (r Rate) ramp() bool { return r.To != 0 && r.To != r.From }

// validate reports all that is wrong with the rate of a cell of that duration.
func (r Rate) validate(duration time.Duration) (errs []error) {
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !(r.From > 0 && r.From <= mostRate) {
		fail("the rate is %v: it takes more than 0 and at most %d events per second; leave it out for as many as the server can do", r.From, mostRate)
	}
	if !(r.To >= 0 && r.To <= mostRate) {
		fail("the rate goes to %v: it takes more than 0 and at most %d events per second", r.To, mostRate)
	}
	if r.ramp() && duration <= 0 {
		fail("a rate that goes from %v to %v needs to know in what time: give the run a duration", r.From, r.To)
	}
	if r.Arrivals != "" && r.Arrivals != Constant && r.Arrivals != Poisson {
		fail("the arrivals are %q: they are %s or %s", r.Arrivals, Constant, Poisson)
	}
	return errs
}

// Arrivals is how the events of an open loop are spread over the time.
type Arrivals string

// The arrivals.
const (
	Constant Arrivals = "constant" // at equal distances
	Poisson  Arrivals = "poisson"  // independently of each other, as from many users: the distances are exponentially distributed
)

// RoleClients is how many clients a role has. A workload without roles has one, with an empty name.
type RoleClients struct {
	Role  string `json:"role"`
	Count int    `json:"count"`
}

// PSMode is how statements with placeholders are sent; the name and the values are sysbench's (db-ps-mode).
type PSMode string

// The modes.
const (
	PSAuto    PSMode = "auto"    // as prepared statements
	PSDisable PSMode = "disable" // as text, with the arguments written into it
)

// IOMode is how the sockets of the clients are driven.
type IOMode string

// The modes.
const (
	IOAuto   IOMode = "auto"   // by the engine where that can be, else by the driver
	IOLoop   IOMode = "loop"   // by the engine: some threads wait for all sockets at once. Where that cannot be, connecting fails
	IODriver IOMode = "driver" // by the driver: a goroutine for each client
)

// Action is what follows an error of a statement.
type Action string

// The actions.
const (
	// Stop ends the cell.
	Stop Action = "stop"
	// Restart rolls back and begins the event anew, its latency going on.
	Restart Action = "restart"
	// Count rolls back, counts the error, and goes on with the next event.
	Count Action = "count"
	// Reconnect drops the connection and begins the event anew on a new one.
	Reconnect Action = "reconnect"
)

// Actions lists them.
var Actions = []Action{Stop, Restart, Count, Reconnect}

const (
	defaultGrace      = 5 * time.Second
	hurriedGrace      = time.Second // after an interrupt or an error
	defaultServerLost = 30 * time.Second
	defaultSilence    = 5 * time.Minute
	mostRate          = 1_000_000 // events per second: more than one machine can begin
)

// io is how the sockets are to be driven.
func (o Order) io() IOMode {
	if o.IO == "" {
		return IOAuto
	}
	return o.IO
}

// Total is the number of clients over all roles.
func (o Order) Total() int {
	n := 0
	for _, r := range o.Clients {
		n += r.Count
	}
	return n
}

// Validate reports all that is wrong with the order.
func (o Order) Validate() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Duration == 0 && o.Events == 0 && o.EventsEach == 0 {
		fail("the run would never end: give it a duration, a number of events, or both")
	}
	if min(o.Duration, o.Warmup, o.Interval, o.Grace, o.ServerLost, o.Silence) < 0 || o.Events < 0 || o.EventsEach < 0 {
		fail("duration, events, warmup, interval, grace, server_lost and silence cannot be negative")
	}
	if o.Rate != nil {
		errs = append(errs, o.Rate.validate(o.Duration.D())...)
	}
	seen := map[string]bool{}
	for _, r := range o.Clients {
		if r.Count < 0 {
			fail("role %q has %d clients: it takes 0 or more", r.Role, r.Count)
		}
		if seen[r.Role] {
			fail("role %q is given twice", r.Role)
		}
		seen[r.Role] = true
	}
	if o.Total() < 1 {
		fail("there are no clients: give at least one role a thread")
	}
	if o.PSMode != "" && o.PSMode != PSAuto && o.PSMode != PSDisable {
		fail("ps_mode is %q: it is %s or %s", o.PSMode, PSAuto, PSDisable)
	}
	if o.IO != "" && o.IO != IOAuto && o.IO != IOLoop && o.IO != IODriver {
		fail("io is %q: it is %s, %s or %s", o.IO, IOAuto, IOLoop, IODriver)
	}
	check := func(what string, a Action) {
		if !slices.Contains(Actions, a) {
			fail("on_error of %s is %q: it is one of %v", what, a, Actions)
		}
	}
	for code, a := range o.OnError {
		check(fmt.Sprint(code), a)
	}
	if o.OnErrorDefault != "" {
		check("default", o.OnErrorDefault)
	}
	return errors.Join(errs...)
}
