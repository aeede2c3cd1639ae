package steps

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"benchplan/plan"
)

// serverSpec changes the server's settings.
type serverSpec struct {
	Action  string             `key:"action" short:"true" enum:"restart|start|stop" doc:"what to do with the private server, with the options of the target"`
	Restart *map[string]string `key:"restart" doc:"start-up options with which the private server is started again on the same data"`
	Start   *map[string]string `key:"start" doc:"start-up options with which the stopped private server is started again"`
	Set     map[string]string  `key:"set" doc:"global variables to set on any target (SET GLOBAL); they are read back, and put back at the end of the group"`
}

func serverKind() Kind {
	return checked(define("restarts the private server with other options, or sets global variables of any server", doServer), checkServer)
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

func checkServer(spec *serverSpec, in plan.Place) []plan.Problem {
	var found []plan.Problem
	ways := 0
	for _, set := range []bool{spec.Action != "", spec.Restart != nil, spec.Start != nil, spec.Set != nil} {
		if set {
			ways++
		}
	}
	if ways != 1 {
		found = append(found, problem("", "server takes one of restart, start, stop and set"))
	}
	if in.Target != nil && !in.Target.Private() && spec.Set == nil {
		found = append(found, problem("", "only the private local server can be restarted, started and stopped; use `set` for settings that can change while the server runs"))
	}
	for _, name := range sortedKeys(spec.Set) {
		if !variableName.MatchString(name) {
			found = append(found, problem("set."+name, fmt.Sprintf("%q is not the name of a variable", name)))
		}
	}
	return found
}

// action gives what is to be done, where it is not set, and the options for it.
func (s *serverSpec) action() (what string, options map[string]string) {
	switch {
	case s.Restart != nil:
		return "restart", *s.Restart
	case s.Start != nil:
		return "start", *s.Start
	}
	return s.Action, nil
}

func doServer(ctx context.Context, c *Call, spec *serverSpec) (map[string]any, error) {
	if spec.Set != nil {
		return nil, c.setGlobals(ctx, spec.Set)
	}
	t, err := c.Scope.Target()
	if err != nil {
		return nil, err
	}
	conn := c.run.targets.find(t)
	if conn == nil { // only a stopped one cannot be reached, and that was found
		if conn, err = c.run.targets.reach(ctx, t); err != nil {
			return nil, err
		}
	}
	what, options := spec.action()
	if what == "stop" {
		conn.stopped = true
		return nil, conn.private.Halt(ctx)
	}
	if what == "start" && conn.private.PID() != 0 {
		return nil, final{errors.New("the private server runs already; use `server: restart`")}
	}
	return nil, c.run.targets.restart(ctx, conn, options)
}

// restart starts the private server again on the same data. After an error it is stopped.
func (ts *targets) restart(ctx context.Context, c *connection, options map[string]string) error {
	c.stopped = true
	if err := c.private.Restart(ctx, options); err != nil {
		return err
	}
	c.stopped = false
	c.startedWith(options)
	ts.warn(c.private)
	return c.answers(ctx) // the record has the server as it was first met, and each cell what differs
}
