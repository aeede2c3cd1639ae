package steps

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads"
	"benchplan/workloads/engine"
	"benchplan/workloads/guard"
)

// runSpec is the load of one cell. The workload's own options stand beside these.
type runSpec struct {
	Workload  string            `key:"workload" required:"true" doc:"the load; benchplan workloads lists them with their options"`
	Threads   threads           `key:"threads" doc:"clients, one connection (or, in a load on this machine, one thread) each: a number, or by role as in {write: 64, read: 0}, where a role that is not named has none; left out, the workload's own"`
	Rate      rate              `key:"rate" doc:"events that are due each second, over all clients (an open loop: latency counts from when an event was due): a number, {per_second: 1000, arrivals: poisson}, or a ramp {from: 100, to: 2000}; left out, each client begins the next event when its last is done"`
	Duration  plan.Duration     `key:"duration" doc:"measured time; with events too, whichever comes first"`
	Events    plan.Count        `key:"events" doc:"number of events over all clients; it is exact"`
	Warmup    plan.Duration     `key:"warmup" doc:"time before anything is counted"`
	Interval  plan.Duration     `key:"interval" default:"1s" min:"1s" doc:"how often progress is shown"`
	PSMode    string            `key:"ps_mode" enum:"auto|disable" doc:"auto: prepared statements; disable: text; left out, the target's, else the workload's own"`
	IO        string            `key:"io" enum:"auto|loop|driver" doc:"how statements are sent: loop: one thread over the sockets of many clients; driver: the Go driver, a goroutine for each client; left out or auto: loop where that can be (Linux, neither TLS nor compression), else driver"`
	OnError   map[string]string `key:"on_error" doc:"what follows an error, by its number or by default: stop, restart, count or reconnect; as in {1105: count, default: stop}"`
	Grace     plan.Duration     `key:"grace" min:"10ms" max:"1h" doc:"how long events under way may take to end when the time is up, before their connections are cut; left out, 5s"`
	Reconnect plan.Duration     `key:"reconnect_timeout" min:"100ms" max:"24h" doc:"how long a client that has lost its connection tries to have another, before the run fails; left out, 30s"`
	Silence   plan.Duration     `key:"silence" min:"1s" max:"24h" doc:"how long a run that only events end may go without an answer before it fails; left out, 5m"`
	Options   any               `key:"-" more:"workload"`
}

// threads is a number of clients, or one for each role.
type threads struct {
	All   int            `key:"all" short:"true" min:"1" max:"100000" unit:"clients" doc:"clients of a workload without roles"`
	Roles map[string]int `key:"*" doc:"clients by role"`
}

func runKind() Kind {
	k := define("runs a workload: one cell of the comparison", doRun)
	k.Load = true
	for _, m := range results.Metrics() {
		k.Yields = append(k.Yields, m.Name)
	}
	k = lasting(k, func(spec *runSpec) time.Duration {
		return leastTime(engine.Order{Warmup: spec.Warmup, Duration: spec.Duration, Events: spec.Events, Rate: spec.Rate.schedule()})
	})
	return checked(k, checkRun)
}

func checkRun(spec *runSpec, in plan.Place) []plan.Problem {
	definition, ok := workloads.Family(spec.Workload)
	if !ok {
		return nil // told by the reading
	}
	var found []plan.Problem
	clients, problems := spec.clients(definition)
	found = append(found, problems...)
	if len(problems) == 0 {
		order, problems := spec.order(definition, clients)
		found = append(found, problems...)
		if len(problems) == 0 {
			if err := order.Validate(); err != nil {
				found = append(found, problem("", err.Error()))
			}
		}
	}
	if definition.Host != nil {
		return append(found, checkHost(spec, definition.Host, in)...)
	}
	if definition.Schema == "" || in.BadTables {
		return found
	}
	if in.Tables == nil {
		return append(found, problem("", errNoTables.Error()))
	}
	if in.Tables.Schema != definition.Schema {
		return append(found, problem("workload", fmt.Sprintf("%s works on tables of the schema %s; these are of %s", spec.Workload, definition.Schema, in.Tables.Schema)))
	}
	if definition.Check != nil {
		if err := definition.Check(spec.Options, *in.Tables); err != nil {
			found = append(found, problem("workload", err.Error()))
		}
	}
	return found
}

// checkHost says what is wrong with a load on this machine.
func checkHost(spec *runSpec, host *engine.Host, in plan.Place) []plan.Problem {
	var found []plan.Problem
	meaningless := func(path string) {
		found = append(found, problem(path, fmt.Sprintf("%s sends no statements to a server, so %s means nothing here; leave it out", spec.Workload, path)))
	}
	if spec.PSMode != "" {
		meaningless("ps_mode")
	}
	if spec.IO != "" {
		meaningless("io")
	}
	if len(spec.OnError) > 0 {
		meaningless("on_error")
	}
	if spec.Reconnect > 0 {
		meaningless("reconnect_timeout")
	}
	if spec.Silence > 0 {
		meaningless("silence")
	}
	if spec.Threads.All > mostThreads {
		found = append(found, problem("threads", fmt.Sprintf("%d threads are not possible: %s takes an OS thread for each, and %d at the most", spec.Threads.All, spec.Workload, mostThreads)))
	}
	var files *plan.Files
	if host.Files {
		files = in.Files
	}
	if err := host.Check(spec.Options, files); err != nil {
		found = append(found, problem("workload", err.Error()))
	}
	return found
}

// mostThreads is how many OS threads a load on this machine may have: the Go runtime ends a program that has 10,000.
const mostThreads = 8000

// stepWords are keys by which other tools raise the number of clients while a load runs.
var stepWords = []string{"from", "to", "start", "end", "step", "steps", "min", "max"}

// stepped tells whether the clients are given as a series of numbers.
func (t *threads) stepped() bool {
	return slices.ContainsFunc(stepWords, func(word string) bool { _, there := t.Roles[word]; return there })
}

// clients gives the number of clients of each role, in the workload's order of roles.
func (s *runSpec) clients(d engine.Definition) ([]engine.RoleClients, []plan.Problem) {
	if s.Threads.stepped() {
		return nil, []plan.Problem{problem("threads", "steps of threads are cells of the comparison: use a matrix, as in `matrix: {threads: [1, 8, 64]}` beside the run, and `threads: ${{ matrix.threads }}`")}
	}
	if len(d.Roles) == 0 {
		if len(s.Threads.Roles) > 0 {
			return nil, []plan.Problem{problem("threads", fmt.Sprintf("%s has no roles: threads takes a number", s.Workload))}
		}
		return []engine.RoleClients{{Count: max(s.Threads.All, 1)}}, nil
	}
	var names []string
	for _, role := range d.Roles {
		names = append(names, role.Name)
	}
	if s.Threads.All > 0 {
		return nil, []plan.Problem{problem("threads", fmt.Sprintf("%s has the roles %s: say how many of each, as in {%s: %d}", s.Workload, strings.Join(names, " "), names[0], s.Threads.All))}
	}
	var problems []plan.Problem
	for _, name := range sortedKeys(s.Threads.Roles) {
		if !slices.Contains(names, name) {
			problems = append(problems, problem("threads."+name, fmt.Sprintf("%s has no role %q (it has: %s)", s.Workload, name, strings.Join(names, " "))))
		} else if n := s.Threads.Roles[name]; n < 0 || n > 100_000 {
			problems = append(problems, problem("threads."+name, fmt.Sprintf("%d clients are not possible", n)))
		}
	}
	var out []engine.RoleClients
	for _, role := range d.Roles {
		n := role.Clients
		if len(s.Threads.Roles) > 0 {
			n = s.Threads.Roles[role.Name]
		}
		out = append(out, engine.RoleClients{Role: role.Name, Count: n})
	}
	return out, problems
}

// psMode is how statements are sent: as the run says, else the target, else the workload.
func (s *runSpec) psMode(workload engine.PSMode, t *plan.Target) engine.PSMode {
	if s.PSMode == "" && t.PSMode != "" {
		return engine.PSMode(t.PSMode)
	}
	return workload
}

// order gives what the engine has to run.
func (s *runSpec) order(d engine.Definition, clients []engine.RoleClients) (engine.Order, []plan.Problem) {
	o := engine.Order{
		Workload: s.Workload, Clients: clients, Duration: s.Duration, Events: s.Events, Warmup: s.Warmup, Interval: s.Interval,
		Rate: s.Rate.schedule(), Grace: s.Grace, ServerLost: s.Reconnect, Silence: s.Silence,
		PSMode: d.PSMode, IO: engine.IOMode(s.IO),
	}
	if len(s.OnError) > 0 {
		o.OnError = make(map[int]engine.Action, len(s.OnError))
	}
	if s.PSMode != "" {
		o.PSMode = engine.PSMode(s.PSMode)
	}
	problems := s.Rate.check(s.Duration)
	for _, key := range sortedKeys(s.OnError) {
		action := engine.Action(s.OnError[key])
		if !slices.Contains(engine.Actions, action) {
			problems = append(problems, problem("on_error."+key, fmt.Sprintf("%q is not one of: %s", action, joinActions())))
			continue
		}
		if key == "default" {
			o.OnErrorDefault = action
			continue
		}
		code, err := strconv.ParseUint(key, 10, 16)
		if err != nil || code == 0 {
			problems = append(problems, problem("on_error."+key, fmt.Sprintf("%q is neither the number of an error nor default", key)))
			continue
		}
		o.OnError[int(code)] = action
	}
	if d.Host != nil && d.Host.Limit != nil {
		if err := d.Host.Limit(s.Options, &o); err != nil {
			problems = append(problems, problem("", err.Error()))
		}
	}
	return o, problems
}

func joinActions() string {
	var out []string
	for _, a := range engine.Actions {
		out = append(out, string(a))
	}
	return strings.Join(out, ", ")
}

func doRun(ctx context.Context, c *Call, spec *runSpec) (map[string]any, error) {
	l, err := c.load(ctx, spec)
	if err != nil {
		return nil, err
	}
	c.run.seq++
	c.run.nth++
	cell := c.record(spec, l.order)
	l.describe(&cell)
	err = guard.Call(func() (err error) { // what watches the cell has to end in any case
		c.run.Observer.Cell(c.Scope, c.run.nth, c.run.Run.Planned, leastTime(l.order))
		cell.Outcome, err = l.measure(ctx)
		return err
	})
	cell.Finished = c.run.now()
	if text := c.run.clockStep(); text != "" {
		c.note("%s", text)
	}
	l.watching.finish(c, &cell)
	err = c.conclude(ctx, l, &cell, err)
	if cell.Status == results.Partial && cell.Outcome.Elapsed == 0 || cell.Outcome.Stopped == "" {
		return nil, err // it never came to measuring: there is nothing to keep
	}
	if cell.Status == results.Complete {
		if unmet := c.run.place(c.Scope.Assert(figures(&cell))); unmet != nil {
			cell.Unmet = c.run.Mask(unmet.Error())
		}
	}
	if failed := c.run.Writer.Append(&cell); failed != nil {
		c.run.untold = c.run.halt(c.Scope, failed)
	}
	c.run.Observer.CellDone(&cell)
	return figures(&cell), err
}

// conclude sets the status of the record and gives the error of the step.
func (c *Call) conclude(ctx context.Context, l *load, cell *results.Cell, err error) error {
	cell.Status = results.Complete
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = ended(ctx, c.Scope, err)
	} else {
		err = l.advise(err)
	}
	if errors.Is(err, ErrInterrupted) {
		cell.Status = results.Partial
	} else {
		cell.Status = results.Failed
		if cell.Outcome.Stopped != "" {
			cell.Outcome.Stopped = results.ByError
		}
	}
	cell.Error = c.run.Mask(err.Error())
	return err
}

// record begins the record of the cell.
func (c *Call) record(spec *runSpec, o engine.Order) results.Cell {
	s := c.Scope
	cell := results.Cell{
		Path: s.Path(), Labels: labelsOf(s), Repeat: s.Repeat(), Round: s.Repeat(), Seq: c.run.seq, Position: s.At(),
		Workload: spec.Workload, Options: cellOptions(spec, o), Clients: byRole(o.Clients),
		Wanted:  wanted(o),
		Started: c.run.now(), Attributes: map[string]string{},
	}
	if order := s.Order(); order != plan.Declared {
		cell.Attributes["order"] = string(order)
	}
	c.run.doubtResumed(&cell, s)
	return cell
}

// wanted is the load that was asked for.
func wanted(o engine.Order) results.Wanted {
	w := results.Wanted{Duration: o.Duration, Events: int64(o.Events), Warmup: o.Warmup}
	if r := o.Rate; r != nil {
		w.Rate, w.RateTo, w.Arrivals = r.From, r.To, string(r.Arrivals)
	}
	return w
}

// cellOptions are the workload's options and how its statements are sent and its errors met.
func cellOptions(spec *runSpec, o engine.Order) map[string]any {
	out := plan.Settings(spec.Options)
	if out == nil {
		out = map[string]any{}
	}
	if o.PSMode != "" {
		out["ps_mode"] = o.PSMode
	}
	if spec.IO != "" {
		out["io"] = spec.IO
	}
	out["seed"] = strconv.FormatUint(o.Seed, 10)
	if len(spec.OnError) > 0 {
		out["on_error"] = spec.OnError
	}
	for name, d := range map[string]plan.Duration{"grace": spec.Grace, "reconnect_timeout": spec.Reconnect, "silence": spec.Silence} {
		if d > 0 {
			out[name] = d
		}
	}
	return out
}

func byRole(clients []engine.RoleClients) map[string]int {
	out := make(map[string]int, len(clients))
	for _, r := range clients {
		out[r.Role] = r.Count
	}
	return out
}

// cellSeed gives each cell, and each of its repeats, random numbers of its own that depend on nothing else: neither on the order
// of the cells nor on which were run before.
func (r *run) cellSeed(s *plan.Scope) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s\x00%d", r.Seed, results.Key(s.Path(), labelsOf(s)), s.Repeat())
	return h.Sum64()
}

// figures are the metrics of a cell, for asserts and later steps.
func figures(cell *results.Cell) map[string]any {
	out := map[string]any{}
	for _, m := range results.Metrics() {
		out[m.Name] = nil
		if v, ok := m.Value(cell); ok {
			out[m.Name] = v
		}
	}
	return out
}

// labelsOf gives the labels of a cell as a record has them.
func labelsOf(s *plan.Scope) []results.Label {
	labels := make([]results.Label, len(s.Labels()))
	for i, l := range s.Labels() {
		labels[i] = results.Label(l)
	}
	return labels
}
