package steps

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps/localserver"
	"benchplan/steps/target"
	"benchplan/workloads/engine"
	"benchplan/workloads/tables"

	"github.com/go-sql-driver/mysql"
	"github.com/hashicorp/go-multierror"
)

// targets are the servers that a run has reached, and the private ones that it has started.
type targets struct {
	open     []*connection
	rehearse bool
	demand   demand
	log      func() *slog.Logger
	note     func(string)
}

// demand is what the largest cell needs of a server.
type demand struct {
	connections, statements int
}

// connection is a target that was reached.
type connection struct {
	key     string
	target  *plan.Target
	private *localserver.Server // nil for a server of somebody else
	config  *mysql.Config       // no database selected
	server  results.Server
	stopped bool // by a server step: it is no fault that it does not answer
}

func newTargets(c Config) *targets {
	return &targets{rehearse: c.Rehearse, demand: largestDemand(c.Plan, c.Rehearse), log: c.Writer.Log, note: c.Observer.Note}
}

// reach gives the connection to a target; the first time it connects without selecting a database, and starts a private server.
func (ts *targets) reach(ctx context.Context, t *plan.Target) (*connection, error) {
	key := targetKey(t)
	if ts.rehearse && !t.Private() {
		t = &plan.Target{Database: t.Database, ConnectTimeout: t.ConnectTimeout, User: plan.PlainText("root")}
	}
	if i := slices.IndexFunc(ts.open, func(c *connection) bool { return c.key == key }); i >= 0 {
		c := ts.open[i]
		if c.stopped {
			return nil, errors.New("the private server is stopped; start it again by a step `server: start`")
		}
		return c, nil
	}
	c := &connection{key: key, target: t}
	var err error
	if t.Private() {
		err = ts.start(ctx, c)
	} else {
		c.config, err = target.Config(t)
	}
	if err != nil {
		return nil, err
	}
	if err := c.identify(ctx); err != nil {
		if c.private != nil {
			err = errors.Join(err, c.private.Stop(context.WithoutCancel(ctx)))
		}
		return nil, err
	}
	ts.open = append(ts.open, c)
	ts.log().Info("target reached", "target", c.name(), "version", c.server.Version)
	return c, nil
}

// targetKey tells targets apart: by all that leads to the server and the account, not by the database.
func targetKey(t *plan.Target) string {
	local, _ := json.Marshal(t.Local) // maps come sorted
	tls, _ := json.Marshal(t.TLS)
	return strings.Join([]string{t.Address, t.Socket, t.User.Reveal(), t.Password.Reveal(), string(local), string(tls), fmt.Sprint(t.Params)}, "\x00")
}

// start starts a private server for the connection.
func (ts *targets) start(ctx context.Context, c *connection) error {
	config := localserver.Config{MaxConnections: ts.demand.connections, MaxPreparedStatements: ts.demand.statements, Log: ts.log()}
	if l := c.target.Local; l != nil {
		config.Options, config.Data = l.Options, l.Data
		if l.Program != "" {
			program, err := localserver.Inspect(ctx, l.Program)
			if err != nil {
				return err
			}
			config.Program = &program
		}
	}
	begin := time.Now()
	server, err := localserver.Start(ctx, config)
	if err != nil {
		return err
	}
	c.private = server
	c.config = mysql.NewConfig()
	c.config.User, c.config.Net, c.config.Addr = server.User(), "unix", server.Socket()
	c.config.Timeout = c.target.ConnectTimeout.D()
	c.config.Logger = &mysql.NopLogger{}
	ts.note(fmt.Sprintf("private server: %s, ready after %s", server.Program(), time.Since(begin).Round(time.Millisecond)))
	ts.warn(server)
	return nil
}

// warn tells of options that the server did not take as they were given: an axis of such a value is not what its label says.
func (ts *targets) warn(server *localserver.Server) {
	for _, w := range server.Warnings() {
		ts.note("private server: " + w)
	}
}

// identify connects once and asks who the server is. On a private server the target's database is made.
func (c *connection) identify(ctx context.Context) error {
	db, err := c.db(ctx, "")
	if err != nil {
		return err
	}
	defer db.Close()
	c.server = target.Identify(ctx, db)
	c.server.Endpoint = c.endpoint()
	if c.private != nil {
		c.server.Name = "private server"
		if _, err := db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+tables.Quote(c.target.Database)); err != nil {
			return fmt.Errorf("private server: database %s: %w", c.target.Database, err)
		}
	}
	return nil
}

func (c *connection) name() string {
	if c.private != nil {
		return "private server"
	}
	return target.Name(c.target)
}

// endpoint says where the server is, in a form that is the same for each run of the same plan.
func (c *connection) endpoint() results.Endpoint {
	return results.Endpoint{Address: c.name(), Database: c.target.Database}
}

// db opens a pool and connects once; an empty database selects none.
func (c *connection) db(ctx context.Context, database string) (*sql.DB, error) {
	connector, err := c.connector(database)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(c.advise(err), db.Close())
	}
	return db, nil
}

// connector makes connections to the server; an empty database selects none.
func (c *connection) connector(database string) (driver.Connector, error) {
	config := c.config.Clone()
	config.DBName = database
	return engine.NewConnector(config)
}

// advise says which target an error is from, what to do, and how a private server ended that did.
func (c *connection) advise(err error) error {
	if err == nil {
		return nil
	}
	if c.private == nil {
		return target.Advise(c.target, err)
	}
	if died := c.died(); died != nil {
		return fmt.Errorf("private server: %w", died)
	}
	return fmt.Errorf("private server: %w", err)
}

// died waits a moment for the news that a private server has ended by itself, which may come after the broken connection.
func (c *connection) died() error {
	if c.private == nil {
		return nil
	}
	exited := c.private.Exited()
	if exited == nil {
		return nil
	}
	select {
	case <-exited:
		return c.private.Err()
	case <-time.After(200 * time.Millisecond):
		return nil
	}
}

// servers lists the targets that were reached, for run.json.
func (ts *targets) servers() []results.Server {
	out := make([]results.Server, len(ts.open))
	for i, c := range ts.open {
		out[i] = c.server
	}
	return out
}

// close ends the private servers.
func (ts *targets) close() error {
	var failures *multierror.Error
	for _, c := range ts.open {
		if c.private != nil {
			failures = collect(failures, c.private.Stop(context.Background()))
		}
	}
	return failures.ErrorOrNil()
}

// target gives the connection of the step's target.
func (c *Call) target(ctx context.Context) (*connection, *plan.Target, error) {
	t, err := c.Scope.Target()
	if err != nil {
		return nil, nil, err
	}
	conn, err := c.run.targets.reach(ctx, t)
	return conn, t, err
}

// data gives what a step that works on the tables needs.
func (c *Call) data(ctx context.Context) (conn *connection, t *plan.Target, spec *plan.Tables, err error) {
	spec, err = c.Scope.Tables()
	if err == nil && spec == nil {
		err = errNoTables
	}
	if err != nil {
		return nil, nil, nil, err
	}
	conn, t, err = c.target(ctx)
	if err == nil && c.run.Rehearse {
		spec.Rows = rehearsedCount(spec.Rows)
	}
	return conn, t, spec, err
}

var errNoTables = errors.New("no tables are said here; add `tables: {schema: …, count: …, rows: …}` to the plan or to a group around this step")
