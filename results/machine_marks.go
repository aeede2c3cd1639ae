package results

import (
	"fmt"
	"net"
	"slices"
	"strings"
)

// What makes the figures of a cell doubtful for want of CPU.
const (
	// usageLeast is how many seconds a machine has to be watched: the kernel counts in ticks of 10 ms.
	usageLeast = 0.5
	// waitMost is the share of all latencies in which the generator may have waited for a CPU: the tolerance of Little's law too.
	waitMost = 0.05
	// ownMost is the share of its machine's CPUs that the generator may take, and idleLeast the share that has to be left: with less, a
	// reply waits to be read.
	ownMost   = 0.80
	idleLeast = 0.05
	// loopMost is the share of the time in which one thread of the generator may have a processor, where that thread drives many
	// clients: with more, a reply waits for others to be read.
	loopMost = 0.95
	// sharedMost is the share that it may take of CPUs that it has in common with the server, where less than sharedIdle of them is left.
	// With cheap statements from a local server (MariaDB 10.11: sysbench's point selects and read-write) the generator takes a third of
	// what both take. That is usual, and known to whoever runs a server beside the load; with more it decides what is measured.
	sharedMost = 0.40
	sharedIdle = 0.10
	gcMost     = 0.01 // of the time, in which the garbage collector stopped the generator
	// unwatchedShare is the part of a cell that may be missing from the figures of a machine, and unwatchedLeast, in seconds, what always may.
	unwatchedShare = 0.10
	unwatchedLeast = 1.0
	stealMost      = 0.01 // of the CPUs, taken by the hypervisor
	// foreignMost is the share of the CPUs that other programs may take, and foreignUser the share of user time that has to be in it:
	// what interrupts and the kernel's own threads do for the load is no program's, and is system time.
	foreignMost = 0.10
	foreignUser = 0.05
)

// generator is the machine that drove the load; nil where it was not watched.
func (c *Cell) generator() *Machine {
	for i := range c.Machines {
		if c.Machines[i].Role == Generator {
			return &c.Machines[i]
		}
	}
	return nil
}

// underTest is the machine of the server or, of a load on this machine, this one; nil where it was not watched.
func (c *Cell) underTest() *Machine {
	if c.Load != "" {
		return c.generator()
	}
	for i := range c.Machines {
		if c.Machines[i].hasServer() {
			return &c.Machines[i]
		}
	}
	return nil
}

func (m *Machine) hasServer() bool { return m.Server || m.Role == ServerMachine }

// unwatchedHere tells that the server was reached over the loopback and no machine is watched as its own: it most likely takes its CPU
// on the generator's machine, but may be behind a tunnel.
func (c *Cell) unwatchedHere() bool {
	if slices.ContainsFunc(c.Machines, func(m Machine) bool { return m.hasServer() }) {
		return false
	}
	host, _, err := net.SplitHostPort(c.Target.Address)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

// known tells whether the machine's kernel told what its CPUs did, over a time that is not too short to say something.
func (m *Machine) known() bool {
	u := m.Usage
	return u.CPUs > 0 && u.Elapsed >= usageLeast && u.User+u.System+u.IOWait+u.Steal+u.Idle > 0
}

// idle is the share of the CPUs that nobody wanted.
func (u Usage) idle() float64 { return u.Idle + u.IOWait }

// share is the part of the CPUs of its machine that a process took.
func (p Process) share(u Usage) float64 { return (p.User + p.System) / (u.Elapsed * float64(u.CPUs)) }

// title names the machine in a text.
func (m *Machine) title() string {
	text := "the generator's machine"
	if m.hasServer() {
		text = "the server's machine"
	}
	if m.Name != "" {
		text += " (" + m.Name + ")"
	}
	return text
}

// checkMachines doubts a cell that was short of CPU, or not alone on its machines.
func checkMachines(c *Cell) []Mark {
	marks := checkLoop(c)
	if m := c.generator(); m != nil && m.known() {
		if p, ok := m.Processes[ProcessGenerator]; ok {
			marks = append(marks, checkGC(m, p)...)
			switch {
			case c.Load != "": // the generator is the load
			case m.hasServer():
				marks = append(marks, checkShared(m, p, "")...)
			case c.unwatchedHere():
				marks = append(marks, checkShared(m, p, "; if the server runs here, `monitor: local` in the target tells what it takes")...)
			default:
				marks = append(marks, checkGenerator(c, m, p)...)
			}
		}
	}
	return slices.Concat(marks, checkUnwatched(c), checkNoise(c))
}

// checkUnwatched doubts figures of a machine or a server that ended before the cell, or began late: set beside its events, they are wrong.
func checkUnwatched(c *Cell) []Mark {
	var texts []string
	look := func(what string, watched float64) {
		if missing := c.Outcome.Elapsed - watched; watched > 0 && missing >= max(unwatchedLeast, unwatchedShare*c.Outcome.Elapsed) {
			texts = append(texts, fmt.Sprintf("the figures of %s are of %s of %s", what, seconds(watched), seconds(c.Outcome.Elapsed)))
		}
	}
	for i := range c.Machines {
		look(c.Machines[i].title(), c.Machines[i].Usage.Elapsed)
	}
	if c.Server != nil && c.Server.Counters != nil { // else there are none
		look("the server's status", c.Server.Elapsed)
	}
	if texts == nil {
		return nil
	}
	return []Mark{{MarkUnwatched, "", strings.Join(texts, "; "), "the run's log says why; their values an event, above all, are not to be used"}}
}

// checkGenerator doubts what was measured by a generator that had too little CPU, on a machine without the server.
func checkGenerator(c *Cell, m *Machine, p Process) []Mark {
	var texts []string
	metric := "tps"
	if inEvents := c.Outcome.Latency.Mean / 1000 * float64(c.Outcome.Latency.Count); inEvents > 0 && p.Wait >= waitMost*inEvents {
		texts = append(texts, fmt.Sprintf("it waited for a CPU %s ms an event, where an event takes %s ms",
			plainly(1000*p.Wait/float64(c.Outcome.Latency.Count)), plainly(c.Outcome.Latency.Mean)))
		metric = "mean"
	}
	if own := p.share(m.Usage); own >= ownMost {
		texts = append(texts, fmt.Sprintf("it took %.0f %% of its %d CPUs", 100*own, m.Usage.CPUs))
	} else if m.Usage.idle() < idleLeast {
		texts = append(texts, fmt.Sprintf("its machine had %.1f %% of its %d CPUs left", 100*m.Usage.idle(), m.Usage.CPUs))
	}
	if texts == nil {
		return nil
	}
	return []Mark{{MarkGenerator, metric, "the generator was short of CPU: " + strings.Join(texts, "; "),
		"more CPUs for the generator, or fewer threads: this is its limit and not the server's"}}
}

// checkLoop doubts what was measured by a generator of which one thread was at its limit, however much CPU its machine had left.
func checkLoop(c *Cell) []Mark {
	if c.Outcome.LoopBusy < loopMost {
		return nil
	}
	return []Mark{{MarkGenerator, "tps", fmt.Sprintf("the generator was at its limit: a thread that drives clients was busy %.0f %% of the time", 100*c.Outcome.LoopBusy),
		"`io: driver` drives them on all CPUs of the generator; or fewer threads, or a second generator"}}
}

// checkShared doubts what a server did whose CPUs the generator took; more is added to the remedy.
func checkShared(m *Machine, p Process, more string) []Mark {
	own := p.share(m.Usage)
	if own < sharedMost || m.Usage.idle() >= sharedIdle {
		return nil
	}
	return []Mark{{MarkShared, "tps", fmt.Sprintf("generator and server share %d CPUs, all of them busy: the generator took %.0f %%", m.Usage.CPUs, 100*own),
		"a server on another machine has its CPUs to itself; here, fewer threads leave it more" + more}}
}

func checkGC(m *Machine, p Process) []Mark {
	share := p.GCPause / m.Usage.Elapsed
	if share < gcMost {
		return nil
	}
	return []Mark{{MarkGC, "max", fmt.Sprintf("benchplan's garbage collector stopped it for %.1f %% of the time (%d collections)", 100*share, p.GCs),
		"GOGC=400 in the environment of benchplan, where it has the memory; or fewer threads"}}
}

// checkNoise doubts a cell whose machines did something else besides.
func checkNoise(c *Cell) []Mark {
	var texts []string
	for i := range c.Machines {
		m := &c.Machines[i]
		if !m.known() {
			continue
		}
		if m.Usage.Steal >= stealMost {
			texts = append(texts, fmt.Sprintf("the hypervisor took %.1f %% of the CPU time of %s for others", 100*m.Usage.Steal, m.title()))
		}
		if foreign, ok := m.foreign(); ok && !(m.Role == Generator && c.unwatchedHere()) { // which would count the server among the others
			texts = append(texts, fmt.Sprintf("other programs took %.0f %% of the CPUs of %s", 100*foreign, m.title()))
		}
	}
	if texts == nil {
		return nil
	}
	return []Mark{{MarkNoisy, "tps", strings.Join(texts, "; "), "end what else runs there or use a machine of its own; more repeats, interleaved, share the noise out"}}
}

// foreign is the share of its CPUs that neither benchplan nor the server took, where that is too much. What these two took has to be
// known, each where it runs.
func (m *Machine) foreign() (float64, bool) {
	var ours []Process
	for _, kind := range []struct {
		name string
		here bool
	}{{ProcessGenerator, m.Role == Generator}, {ProcessServer, m.hasServer()}} {
		p, known := m.Processes[kind.name]
		switch {
		case kind.here && !known:
			return 0, false
		case kind.here:
			ours = append(ours, p)
		}
	}
	u := m.Usage
	user, all := u.User, u.User+u.System
	for _, p := range ours {
		user -= p.User / (u.Elapsed * float64(u.CPUs))
		all -= p.share(u)
	}
	return all, all >= foreignMost && user >= foreignUser
}
