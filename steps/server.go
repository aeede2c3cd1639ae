package steps

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"benchplan/plan"
)

// serverSpec changes the server's settings.
type serverSpec struct {
	Action  string            `key:"action" short:"true" enum:"restart|start|stop" doc:"what to do with the private server, with the options of the target"`
	Restart map[string]string `key:"restart" doc:"start-up options with which the private server is started again on the same data"`
	Start   map[string]string `key:"start" doc:"start-up options with which the stopped private server is started again"`
	Set     map[string]string `key:"set" doc:"global variables to set on any target (SET GLOBAL); they are read back, and put back at the end of the group"`
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

func doServer(ctx context.Context, c *Call, spec *serverSpec) (map[string]any, error) {
	if len(spec.Set) > 0 {
		return nil, c.setGlobals(ctx, spec.Set)
	}
	if c.run.Rehearse {
		t, err := c.Scope.Target()
		if err != nil || !t.Private() {
			return nil, err
		}
	}
	return nil, c.restart(ctx, spec)
}

// restart stops and starts the private server.
func (c *Call) restart(ctx context.Context, spec *serverSpec) error {
	t, err := c.Scope.Target()
	if err != nil {
		return err
	}
	conn := c.run.targets.find(t)
	if conn == nil {
		if conn, err = c.run.targets.reach(ctx, t); err != nil {
			return err
		}
	}
	options := spec.Restart
	if options == nil {
		options = spec.Start
	}
	if spec.Action == "stop" {
		conn.stopped = true
		return conn.private.Halt(ctx)
	}
	if (spec.Action == "start" || spec.Start != nil) && !conn.stopped {
		return errors.New("the private server runs already; use `server: restart`")
	}
	if err := conn.private.Restart(ctx, options); err != nil {
		conn.stopped = true
		return err
	}
	conn.stopped = false
	c.run.targets.warn(conn.private)
	maps.DeleteFunc(c.run.settings, func(name, _ string) bool { return strings.HasPrefix(name, "option ") })
	for name, value := range options {
		c.run.settings["option "+name] = value
	}
	return conn.identify(ctx)
}

// find gives the connection to a target that was reached before, stopped or not.
func (ts *targets) find(t *plan.Target) *connection {
	key := targetKey(t)
	if i := slices.IndexFunc(ts.open, func(c *connection) bool { return c.key == key }); i >= 0 {
		return ts.open[i]
	}
	return nil
}

// setGlobals sets global variables, reads them back, and has them put back at the end of the group.
func (c *Call) setGlobals(ctx context.Context, wanted map[string]string) error {
	conn, _, err := c.target(ctx)
	if err != nil {
		return err
	}
	db, err := conn.db(ctx, "")
	if err != nil {
		return err
	}
	defer db.Close()
	for _, name := range sortedKeys(wanted) {
		before, err := readGlobal(ctx, db, name)
		if err != nil {
			return fmt.Errorf("set %s: %w", name, conn.advise(err))
		}
		// The undo comes first: a SET whose answer is lost may have been done.
		c.later(func(ctx context.Context) error {
			delete(c.run.settings, "variable "+name)
			return conn.putBackGlobal(ctx, name, before)
		})
		if err := setGlobal(ctx, db, name, wanted[name]); err != nil {
			return fmt.Errorf("set %s = %s: %w", name, wanted[name], conn.advise(err))
		}
		after, err := readGlobal(ctx, db, name)
		if err != nil {
			return fmt.Errorf("read back %s: %w", name, conn.advise(err))
		}
		if !sameSetting(wanted[name], after) {
			return fmt.Errorf("set %s = %s: the server took it as %s", name, wanted[name], after)
		}
		c.run.settings["variable "+name] = after
		c.Log.Info("server set", "variable", name, "before", before, "after", after)
	}
	return nil
}

func (c *connection) putBackGlobal(ctx context.Context, name, value string) error {
	db, err := c.db(ctx, "")
	if err != nil {
		return fmt.Errorf("SET GLOBAL %s = %s: %w", name, literal(value), err)
	}
	defer db.Close()
	if err := setGlobal(ctx, db, name, value); err != nil {
		return fmt.Errorf("SET GLOBAL %s = %s: %w", name, literal(value), c.advise(err))
	}
	return nil
}

func readGlobal(ctx context.Context, db *sql.DB, name string) (string, error) {
	var value sql.NullString
	err := db.QueryRowContext(ctx, "SELECT @@GLOBAL."+name).Scan(&value)
	return value.String, err
}

func setGlobal(ctx context.Context, db *sql.DB, name, value string) error {
	_, err := db.ExecContext(ctx, "SET GLOBAL "+name+" = "+literal(value))
	return err
}

// literal writes a setting as SQL: numbers bare, sizes as numbers of bytes, which SET does not know by suffix, and the rest quoted.
func literal(value string) string {
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return value
	}
	if n, err := plan.ParseSize(value); err == nil && value != "" && value[0] >= '0' && value[0] <= '9' {
		return strconv.FormatInt(int64(n), 10)
	}
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(value) + "'"
}

// sameSetting compares what was set with what the server says, which writes ON as 1 and 8M as 8388608.
func sameSetting(wanted, got string) bool {
	if strings.EqualFold(wanted, got) || strings.Trim(literal(wanted), "'") == got {
		return true
	}
	a, aErr := strconv.ParseFloat(truthNumber(literal(wanted)), 64)
	b, bErr := strconv.ParseFloat(truthNumber(got), 64)
	return aErr == nil && bErr == nil && a == b
}

func truthNumber(s string) string {
	switch strings.ToUpper(strings.Trim(s, "'")) {
	case "ON", "TRUE", "YES":
		return "1"
	case "OFF", "FALSE", "NO":
		return "0"
	}
	return s
}
