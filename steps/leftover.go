package steps

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps/target"
	"benchplan/workloads"
	"benchplan/workloads/guard"
	"benchplan/workloads/host"
	"benchplan/workloads/tables"
)

// What finally should have done and has not is told as it was to be sent, so that a person can do it.

// leaveAll notes steps of finally that are not begun.
func (r *run) leaveAll(steps []*plan.Step, outer *plan.Scope) {
	for _, step := range steps {
		r.leave(step, outer)
	}
}

// leave notes a step of finally that is not begun, in all of its cells.
func (r *run) leave(step *plan.Step, outer *plan.Scope) {
	var cells []plan.Cell
	if err := guard.Call(func() (err error) { cells, err = outer.Cells(step); return err }); err != nil {
		r.leaveUnknown(step)
		return
	}
	r.leaveCells(step, outer, cells)
}

// leaveCells notes a step of finally that is not begun, in some of its cells. What its if leaves out is none of it.
func (r *run) leaveCells(step *plan.Step, outer *plan.Scope, cells []plan.Cell) {
	for _, cell := range cells {
		err := guard.Call(func() error {
			s, err := outer.Enter(step, cell)
			if err != nil {
				return err
			}
			wanted, err := s.If()
			if err != nil || !wanted {
				return err
			}
			if step.Group() {
				r.leaveAll(step.Steps, s)
				r.leaveAll(step.Finally, s)
				return nil
			}
			return r.leaveSpec(s)
		})
		if err != nil {
			r.leaveUnknown(step)
		}
	}
}

// leaveCell notes a step of finally that failed in one cell; s is nil where that could not even be entered. One that refused to drop what
// is not benchplan's is not noted: nobody is to do that by hand.
func (r *run) leaveCell(step *plan.Step, s *plan.Scope, failed error) {
	_, refused := errors.AsType[final](failed)
	_, panicked := errors.AsType[*guard.Panic](failed)
	if refused && !panicked && slices.Contains([]string{"cleanup", "database", "prepare"}, step.Kind) {
		return
	}
	if s == nil || step.Group() || guard.Call(func() error { return r.leaveSpec(s) }) != nil {
		r.leaveUnknown(step)
	}
}

// leaveSpec notes what a step was to send.
func (r *run) leaveSpec(s *plan.Scope) error {
	spec, err := s.Spec()
	if err != nil {
		return err
	}
	on, send := "", []string{Describe(s.Step().Kind, spec)}
	if m, ok := spec.(interface {
		byHand(c *Call) (on string, send []string)
	}); ok {
		on, send = m.byHand(&Call{Scope: s, Log: r.Writer.Log(), run: r})
	}
	if len(send) > 0 {
		r.leaveBehind(s, on, send)
	}
	return nil
}

// leaveUnknown notes a step whose values could not be worked out, by its place.
func (r *run) leaveUnknown(step *plan.Step) {
	r.leaveNote(results.NotPutBack{
		At: r.Plan.Source.At(step.Pos), Step: step.Kind, Send: []string{"(its values could not be worked out: see the plan)"},
	})
}

func (r *run) leaveBehind(s *plan.Scope, on string, send []string) {
	r.leaveNote(results.NotPutBack{At: s.At(), Step: stepTitle(s), Cell: cellText(s), On: on, Send: send})
}

// leaveNote writes it down, masked. A rehearsal changes nothing that would have to be put back.
func (r *run) leaveNote(n results.NotPutBack) {
	if r.Rehearse {
		return
	}
	for i, line := range n.Send {
		n.Send[i] = r.Mask(line)
	}
	r.Writer.Log().Error("not put back", "at", n.At, "step", n.Step, "cell", n.Cell, "on", n.On, "send", n.Send)
	r.Run.NotPutBack = append(r.Run.NotPutBack, n)
}

// byHand gives the request as it goes over the line, without its secrets.
func (h *httpSpec) byHand(*Call) (on string, send []string) {
	method, to := h.request()
	send = []string{method + " " + shownURL(to)}
	for _, name := range sortedKeys(h.Headers) {
		send = append(send, name+": "+h.Headers[name].String())
	}
	switch a := h.Auth; {
	case a == nil:
	case a.Basic != nil:
		send = append(send, "Authorization: Basic, as user "+a.Basic.User.String())
	default:
		send = append(send, "Authorization: Bearer "+a.Bearer.String())
	}
	switch {
	case h.JSON != nil:
		if b, err := json.Marshal(h.JSON); err == nil {
			send = append(send, "Content-Type: application/json", "", string(b))
		}
	case h.Body != nil:
		send = append(append(send, ""), strings.Split(h.Body.String(), "\n")...)
	}
	return "", send
}

// byHand gives all statements; the error of the step says at which one it stopped.
func (s *sqlSpec) byHand(c *Call) (on string, send []string) {
	on, database, lasting := c.server()
	if !lasting {
		return "", nil
	}
	if s.Database != nil {
		database = *s.Database
	}
	statements, err := c.statements(s)
	if err != nil {
		return on, []string{Describe("sql", s)}
	}
	send = use(database)
	for _, statement := range statements {
		send = append(send, strings.Split(statement.String()+";", "\n")...)
	}
	return on, send
}

// byHand gives what a shell is to execute, where, and with which variables.
func (s *shellSpec) byHand(c *Call) (on string, send []string) {
	if s.Dir != "" {
		send = append(send, "cd "+c.path(s.Dir))
	}
	for _, name := range sortedKeys(s.Env) {
		send = append(send, "export "+name+"="+s.Env[name].String())
	}
	send = append(send, strings.Split(s.Command.String(), "\n")...)
	if s.Stdin != nil {
		send = append(append(send, "and on its standard input:"), strings.Split(s.Stdin.String(), "\n")...)
	}
	return "", send
}

func (s *serverSpec) byHand(c *Call) (on string, send []string) {
	t, err := c.Scope.Target()
	if err != nil || t.Private() { // which ends with the run, and its settings with it
		return "", nil
	}
	for _, name := range sortedKeys(s.Set) {
		send = append(send, "SET GLOBAL "+name+" = "+literal(s.Set[name])+";")
	}
	return target.Name(t), send
}

func (d *databaseSpec) byHand(c *Call) (on string, send []string) {
	on, database, lasting := c.server()
	if !lasting {
		return "", nil
	}
	if d.Action != "create" {
		if t, err := c.Scope.Target(); err == nil {
			if conn := c.run.targets.find(t); conn == nil || !conn.databases[database] {
				send = append(send, "-- only if nothing of others is in it:")
			}
		}
		send = append(send, "DROP DATABASE IF EXISTS "+tables.Quote(database)+";")
	}
	if d.Action != "drop" {
		send = append(send, "CREATE DATABASE IF NOT EXISTS "+tables.Quote(database)+";")
	}
	return on, send
}

// byHand gives the tables only where this run has made any: those that are there may be somebody's own.
func (*cleanupSpec) byHand(c *Call) (on string, send []string) {
	spec, err := c.Scope.Tables()
	t, failed := c.Scope.Target()
	if err == nil && failed == nil && spec != nil && c.run.filled[tableKey{server: targetKey(t), database: t.Database}] {
		var database string
		var lasting bool
		if on, database, lasting = c.server(); lasting {
			send = use(database)
			for _, name := range tables.Names(workloads.Schema(spec.Schema), *spec) {
				send = append(send, "DROP TABLE IF EXISTS "+tables.Quote(name)+";")
			}
		}
	}
	if files, err := c.files(); err == nil && files != nil {
		send = append(send, fmt.Sprintf("remove %s to %s in %s", host.FileName(0), host.FileName(max(files.Count, 1)-1), files.Dir))
	}
	return on, send
}

// What only looks, or waits, has nothing to put back.
func (*waitSpec) byHand(*Call) (on string, send []string)   { return "", nil }
func (*verifySpec) byHand(*Call) (on string, send []string) { return "", nil }

// server gives the step's target as a person calls it, and its database. lasting is false where all that is on it goes with the run.
func (c *Call) server() (name, database string, lasting bool) {
	t, err := c.Scope.Target()
	if err != nil || t.Private() && (t.Local == nil || t.Local.Data == "") {
		return "", "", false
	}
	if t.Private() {
		return "private server in " + c.path(t.Local.Data), t.Database, true
	}
	return target.Name(t), t.Database, true
}

func use(database string) []string {
	if database == "" {
		return nil
	}
	return []string{"USE " + tables.Quote(database) + ";"}
}
