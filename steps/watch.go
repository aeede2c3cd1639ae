package steps

import (
	"context"
	"database/sql"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps/monitor"
	"benchplan/steps/target"
	"benchplan/workloads/engine"
)

// watching reads the machines and the server beside the load of one cell.
type watching struct {
	watch     *monitor.Watch
	status    *sql.DB           // of the server; nil: the load is on this machine
	variables map[string]string // that differ from the run's record of the server
}

// watchHost watches this machine beside a load on it; nil in a rehearsal.
func (c *Call) watchHost(ctx context.Context) *watching {
	if c.run.Rehearse {
		return nil
	}
	return &watching{watch: monitor.NewWatch(ctx, monitor.Config{Machines: []monitor.Watched{c.generator()}, Log: c.Log})}
}

func (c *Call) generator() monitor.Watched {
	return monitor.Watched{Machine: c.run.machines.here, Role: results.Generator}
}

// watchServer watches this machine and that of the server beside a load. Before that it holds what the load needs against what the
// server has now. nil in a rehearsal.
func (c *Call) watchServer(ctx context.Context, conn *connection, t *plan.Target, wants need) (*watching, error) {
	if c.run.Rehearse {
		return nil, nil
	}
	machine, err := c.run.machines.of(ctx, t)
	if err != nil {
		return nil, final{err}
	}
	db, err := conn.db(ctx, "")
	if err != nil {
		return nil, err
	}
	w := &watching{status: db}
	if w.variables, err = c.ready(ctx, conn, t, db, wants); err != nil {
		_ = db.Close()
		return nil, err
	}
	c.meetMachine(ctx, conn, machine)
	if err := c.run.keepServers(); err != nil {
		_ = db.Close()
		return nil, final{c.run.halt(c.Scope, err)}
	}
	w.watch = monitor.NewWatch(ctx, monitor.Config{Machines: c.watched(ctx, conn, t, machine), Status: db, Log: c.Log})
	w.watch.Ready(ctx)
	return w, nil
}

// watched lists the machines of a load: this one, and that of the server where it is another.
func (c *Call) watched(ctx context.Context, conn *connection, t *plan.Target, machine *monitor.Machine) []monitor.Watched {
	here := c.generator()
	if machine != c.run.machines.here {
		list := []monitor.Watched{here}
		if machine != nil {
			list = append(list, monitor.Watched{Machine: machine, Role: results.ServerMachine, Server: true})
		}
		return list
	}
	here.Server = true
	if pid := conn.processID(ctx); pid > 0 {
		here.Processes = map[string]int{results.ProcessServer: pid}
	}
	return []monitor.Watched{here}
}

// ready asks the server for its variables, holds the load against them, and gives those that have changed since the server was met.
func (c *Call) ready(ctx context.Context, conn *connection, t *plan.Target, db *sql.DB, wants need) (map[string]string, error) {
	if conn.server.Variables == nil {
		return nil, wants.refuse(thisMachine(), nil) // a server that has none
	}
	now, err := conn.variables(ctx, db)
	if err != nil {
		c.problem(err)
		return nil, wants.refuse(thisMachine(), nil)
	}
	limits := serverLimits(ctx, db, conn, t, now)
	if err := wants.refuse(thisMachine(), limits); err != nil {
		return nil, err
	}
	c.run.tell("table_open_cache of "+conn.key, wants.warning(limits))
	c.run.tell("clock of "+conn.key, c.run.clockWarning(ctx, conn, db))
	return changedVariables(conn.server.Variables, now), nil
}

// changedVariables gives the settings that differ from what they were. States, such as positions in a log, are left out.
func changedVariables(before, now map[string]string) map[string]string {
	var changed map[string]string
	for name, value := range now {
		if was, known := before[name]; known && was == value || results.Volatile(name) {
			continue
		}
		if changed == nil {
			changed = map[string]string{}
		}
		changed[name] = value
	}
	return changed
}

// variables asks for the server's global variables, in the form in which the run's record has them.
func (c *connection) variables(ctx context.Context, db *sql.DB) (map[string]string, error) {
	now, err := target.Variables(ctx, db)
	if err != nil {
		return nil, c.advise(err)
	}
	return c.portable(now), nil
}

// meetMachine puts the server's machine into the run's record of the server, once.
func (c *Call) meetMachine(ctx context.Context, conn *connection, machine *monitor.Machine) {
	if machine == nil || conn.seen {
		return
	}
	conn.seen = true
	host, err := machine.Identity(ctx, conn.dataFolder())
	if err != nil {
		c.problem(err)
		conn.server.Unknown = append(conn.server.Unknown, "its machine: "+err.Error())
	}
	if was := conn.server.Host; was != nil { // a record that is gone on with
		if err == nil {
			c.run.changed(results.HostChanges("machine of "+conn.name(), was, &host))
		}
		return
	}
	conn.server.Host = &host
}

// keepServers writes the servers, as they were met, into the run's record before a cell is measured on them: a cell tells only what has
// changed on its server since, and a run that is killed writes no more.
func (r *run) keepServers() error {
	servers := r.targets.servers()
	met := len(servers)
	for _, s := range servers {
		if s.Host != nil {
			met++
		}
	}
	if met == r.met {
		return nil
	}
	r.met, r.Run.Targets = met, servers
	return r.Writer.WriteRun(r.Run)
}

// halt ends the run, whatever continue_on_error says, since what it measures cannot be kept: nothing but finally is begun any more.
func (r *run) halt(s *plan.Scope, err error) error {
	r.halted = r.fault(s, err)
	return r.halted
}

// dataFolder is where the server keeps its data, on its machine; empty where it does not say.
func (c *connection) dataFolder() string {
	if c.private != nil {
		return c.private.Data()
	}
	return c.server.Variables["datadir"]
}

// processID gives the server's process on this machine; 0 where that cannot be told.
func (c *connection) processID(ctx context.Context) int {
	if c.private != nil {
		return c.private.PID()
	}
	if c.pid == 0 || !target.Running(c.pid) {
		c.pid = target.ProcessID(ctx, c.config, c.server.Variables)
	}
	return c.pid
}

// meter gives what the engine calls; none for a load that is not watched.
func (w *watching) meter() engine.Meter {
	if w == nil {
		return nil
	}
	return w.watch
}

// finish ends the watch and puts what it read into the record of the cell.
func (w *watching) finish(c *Call, cell *results.Cell) {
	if w == nil {
		return
	}
	var problems []error
	cell.Machines, cell.Server, problems = w.watch.Finish()
	if cell.Server == nil && w.variables != nil {
		cell.Server = &results.ServerStatus{}
	}
	if cell.Server != nil {
		cell.Server.Variables = w.variables
	}
	for _, err := range problems {
		c.unread(err) // the watch has logged it
	}
	if w.status != nil {
		_ = w.status.Close() // nothing was written there
	}
}

// problem logs what kept a figure from being read, and tells it once.
func (c *Call) problem(err error) {
	c.Log.Warn("not all figures could be read", "error", err.Error())
	c.unread(err)
}

// unread tells once in a run what kept a figure from being read.
func (c *Call) unread(err error) {
	c.run.tell("problem: "+err.Error(), "not all figures could be read: "+err.Error())
}

// tell gives a note to the observer and the log, where it has a text: one a run for each thing that it is about.
func (r *run) tell(about, text string) {
	if text == "" || r.told[about] {
		return
	}
	r.told[about] = true
	text = r.Mask(text)
	r.Writer.Log().Info(text)
	r.Observer.Note(text)
}
