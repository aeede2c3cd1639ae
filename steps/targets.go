package steps

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
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
	folder   string // that of the plan: paths begin there
	rehearse bool
	demand   demand
	patience time.Duration // of their lookouts; 0: target.Patience
	log      *slog.Logger
	note     func(string)
	recorded []results.Server // as the run's record has them
	changed  func([]string)   // told in what a server of a run that is resumed is not what it was
	unset    []results.Unset  // variables that were still set when the run was killed
}

// connection is a target that was reached.
type connection struct {
	key     string
	target  *plan.Target
	private *localserver.Server // nil for a server of somebody else
	config  *mysql.Config       // no database selected
	lookout *target.Lookout     // over the connections of steps; a load has its own limits
	server  results.Server      // as the run first met it
	place   int                 // in the run's record of the servers
	seen    bool                // its machine was asked who it is
	pid     int                 // of a server of somebody else on this machine; 0: not known
	stopped bool                // by a server step: it is no fault that it does not answer
	lock    *dataLock           // of the databases whose tables are worked on; nil: none was

	databases map[string]bool   // that this run has made
	settings  map[string]string // that a private server was started with, and that steps have set: attributes of the cells
}

func newTargets(c Config) *targets {
	return &targets{
		folder: planFolder(c.Plan), rehearse: c.Rehearse, demand: largestDemand(c.Plan, c.Rehearse), patience: c.patience,
		log: c.Writer.Log(), note: c.Observer.Note, recorded: slices.Clone(c.Run.Targets), unset: c.Run.Unset,
	}
}

// reach gives the connection to a target; the first time it connects, without selecting a database, and starts a private
// server. In a rehearsal each target is a private server. On a private server the target's database is there.
func (ts *targets) reach(ctx context.Context, t *plan.Target) (*connection, error) {
	c := ts.find(t)
	if c == nil {
		var err error
		if c, err = ts.connect(ctx, t); err != nil {
			return nil, err
		}
		ts.open = append(ts.open, c)
		ts.log.Info("target reached", "target", c.name(), "version", c.server.Version)
	}
	if c.stopped {
		return nil, errors.New("the private server is stopped; start it again by a step `server: start`")
	}
	return c, c.provide(ctx, t.Database)
}

// find gives the connection to a target that was reached before, stopped or not.
func (ts *targets) find(t *plan.Target) *connection {
	key := targetKey(t)
	if i := slices.IndexFunc(ts.open, func(c *connection) bool { return c.key == key }); i >= 0 {
		return ts.open[i]
	}
	return nil
}

func (ts *targets) connect(ctx context.Context, t *plan.Target) (*connection, error) {
	c := &connection{key: targetKey(t), target: t, databases: map[string]bool{}, settings: map[string]string{}}
	if ts.rehearse && !t.Private() {
		c.target = &plan.Target{Database: t.Database, ConnectTimeout: t.ConnectTimeout}
	}
	var err error
	if c.target.Private() {
		err = ts.start(ctx, c)
	} else {
		c.config, err = target.Config(c.target, ts.folder)
	}
	if err != nil {
		return nil, err
	}
	c.lookout = target.NewLookout(c.config, ts.patience)
	if err := ts.meet(ctx, c); err != nil {
		if c.private != nil {
			err = errors.Join(err, c.private.Stop(context.WithoutCancel(ctx)))
		}
		return nil, err
	}
	return c, nil
}

// meet asks who the server is, and gives it its place in the run's record. Where a run that is resumed has met it before, what it was then
// stays on record.
func (ts *targets) meet(ctx context.Context, c *connection) error {
	if err := c.identify(ctx); err != nil {
		return err
	}
	c.place = ts.placeOf(&c.server)
	if c.place == len(ts.recorded) {
		ts.recorded = append(ts.recorded, c.server)
		return nil
	}
	before := ts.recorded[c.place]
	if other := results.OtherServer(&before, &c.server); other != nil {
		return final{fmt.Errorf("%s: %s: %w; its cells would not be comparable: reach that one again, or run the plan anew", c.name(), strings.Join(other, ", "), ErrOtherServer)}
	}
	now := c.server
	now.Host = before.Host // it is asked when a load begins
	now.Variables = maps.Clone(now.Variables)
	for _, u := range slices.Backward(ts.unset) {
		if u.Address == now.Address && u.Before != nil {
			now.Variables[u.Variable] = *u.Before // what the run itself had set is put back
		}
	}
	ts.changed(results.ServerChanges(&before, &now))
	c.server = before
	return nil
}

// placeOf finds a server in the run's record: under its address, the one most like it that no other connection is to. Private servers all
// have the same.
func (ts *targets) placeOf(server *results.Server) int {
	best, least := len(ts.recorded), 0
	for i := range ts.recorded {
		known := &ts.recorded[i]
		if known.Address != server.Address || slices.ContainsFunc(ts.open, func(c *connection) bool { return c.place == i }) {
			continue
		}
		unlike := len(results.ServerChanges(known, server))
		if best == len(ts.recorded) || unlike < least {
			best, least = i, unlike
		}
	}
	return best
}

// targetKey tells targets apart: by all that leads to the server and the account, not by the database.
func targetKey(t *plan.Target) string {
	local, _ := json.Marshal(t.Local) // maps come sorted
	tls, _ := json.Marshal(t.TLS)
	return strings.Join([]string{t.Address, t.Socket, t.User.Reveal(), t.Password.Reveal(), string(local), string(tls), fmt.Sprint(t.Params)}, "\x00")
}

// start starts a private server for the connection.
func (ts *targets) start(ctx context.Context, c *connection) error {
	config := localserver.Config{MaxConnections: ts.demand.connections, MaxPreparedStatements: ts.demand.statements, Log: ts.log}
	if l := c.target.Local; l != nil {
		config.Options, config.Data = l.Options, fromFolder(ts.folder, l.Data)
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
	c.startedWith(nil)
	c.config = mysql.NewConfig()
	c.config.User, c.config.Net, c.config.Addr = server.User(), "unix", server.Socket()
	c.config.Timeout, c.config.Params = c.target.ConnectTimeout.D(), c.target.Params
	ts.note(fmt.Sprintf("private server: %s, ready after %s", server.Program(), time.Since(begin).Round(time.Millisecond)))
	ts.warn(server)
	return nil
}

// startedWith notes the options of a private server's last start: those of the target with others laid over them. What steps
// had set is gone.
func (c *connection) startedWith(options map[string]string) {
	clear(c.settings)
	if c.target.Local != nil {
		for name, value := range c.target.Local.Options {
			c.settings["option "+name] = value
		}
	}
	for name, value := range options {
		c.settings["option "+name] = value
	}
}

// temporary tells that the server's data are gone with the run anyway.
func (c *connection) temporary() bool {
	return c.private != nil && (c.target.Local == nil || c.target.Local.Data == "")
}

// warn tells of options that the server did not take as they were given: an axis of such a value is not what its label says.
func (ts *targets) warn(server *localserver.Server) {
	for _, w := range server.Warnings() {
		if strings.HasPrefix(w, "Changed limits:") {
			ts.log.Info("private server: " + w) // what the largest cell needs of connections was seen to when it started
			continue
		}
		ts.note("private server: " + w)
	}
}

// identify connects once and asks who the server is.
func (c *connection) identify(ctx context.Context) error {
	db, err := c.db(ctx, "")
	if err != nil {
		return err
	}
	defer db.Close()
	c.server = target.Identify(ctx, db)
	c.server.Endpoint = c.endpoint(c.target.Database)
	c.server.Variables = c.portable(c.server.Variables)
	if c.private != nil {
		c.server.Name = privateName
	}
	return nil
}

// answers sees that the server can be asked.
func (c *connection) answers(ctx context.Context) error {
	db, err := c.db(ctx, "")
	if err != nil {
		return err
	}
	return db.Close()
}

// portable gives variables as the record has them.
func (c *connection) portable(variables map[string]string) map[string]string {
	if c.private == nil {
		return variables
	}
	return withoutFolder(variables, filepath.Dir(c.private.Data()))
}

// withoutFolder writes "…" for the private server's folder in the values of variables: it is another in each run, and that is no
// difference between two runs.
func withoutFolder(variables map[string]string, folder string) map[string]string {
	for name, value := range variables {
		if strings.Contains(value, folder) {
			variables[name] = strings.ReplaceAll(value, folder, "…")
		}
	}
	return variables
}

// provide makes a database on a private server, where nobody else has: once, so that one that a step has dropped stays so.
func (c *connection) provide(ctx context.Context, database string) error {
	if c.private == nil || database == "" || c.databases[database] {
		return nil
	}
	db, err := c.db(ctx, "")
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+tables.Quote(database)); err != nil {
		return fmt.Errorf("database %s: %w", database, c.advise(err))
	}
	c.databases[database] = true
	return nil
}

func (c *connection) name() string {
	if c.private != nil {
		return privateName
	}
	return target.Name(c.target)
}

// privateName is how records call a private server.
const privateName = "private server"

// endpoint says where the server is, in a form that is the same for each run of the same plan.
func (c *connection) endpoint(database string) results.Endpoint {
	return results.Endpoint{Address: c.name(), Database: database}
}

// db opens a pool and connects once; an empty database selects none.
func (c *connection) db(ctx context.Context, database string) (*sql.DB, error) {
	connector, err := c.connector(database)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(c.advise(err), db.Close())
	}
	return db, nil
}

// connector makes connections to the server that do not wait for ever, for statements of which the answers are read whole; an empty
// database selects none.
func (c *connection) connector(database string) (driver.Connector, error) {
	config := c.config.Clone()
	config.DBName = database
	return c.lookout.Connector(config)
}

// loadConnector makes the connections of a load.
func (c *connection) loadConnector(database string) (driver.Connector, error) {
	config := c.config.Clone()
	config.DBName = database
	return engine.NewConnector(config)
}

// advise says which target an error is from, what to do, and how a private server ended that did.
func (c *connection) advise(err error) error {
	err = c.lookout.Explain(err)
	switch {
	case err == nil:
		return nil
	case c.private == nil:
		return target.Advise(c.target, err)
	}
	if died := c.died(); died != nil {
		return fmt.Errorf("private server: %w", died)
	}
	if remedy := target.Remedy(c.target, err); remedy != "" {
		return fmt.Errorf("private server: %w: %s", err, remedy)
	}
	return fmt.Errorf("private server: %w", err)
}

// adviseLoad does the same for an error of the engine, which has said itself what to do about errors of the server.
func (c *connection) adviseLoad(err error) error {
	_, server := errors.AsType[*mysql.MySQLError](err)
	switch {
	case !server:
		return c.advise(err)
	case c.private != nil:
		return fmt.Errorf("private server: %w", cmp.Or(c.died(), err))
	}
	return fmt.Errorf("target %s: %w", c.name(), err)
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

// servers lists the targets that the run has reached, for run.json.
func (ts *targets) servers() []results.Server {
	for _, c := range ts.open {
		ts.recorded[c.place] = c.server
	}
	return slices.Clone(ts.recorded)
}

// close ends the private servers, at once where ctx is over, and removes their data, unless they are to be kept.
func (ts *targets) close(ctx context.Context) error {
	var failures *multierror.Error
	for _, c := range ts.open {
		c.lookout.Settle()
		c.lock.release()
		if c.private != nil {
			failures = collect(failures, c.private.Stop(ctx))
		}
	}
	return failures.ErrorOrNil()
}

// serverCode gives the server's error number; 0 for any other error.
func serverCode(err error) uint16 {
	if server, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return server.Number
	}
	return 0
}

func noSuchDatabase(err error) bool { return serverCode(err) == 1049 }

// unknownToServer tells that a server does not know a word of what it was given: a syntax error (1064), a system variable
// (1193) or one that it cannot change (1238), something not supported (1235), an engine (1286), a function (1305), a wrong
// (1478) or an unknown (1911) table option.
func unknownToServer(err error) bool {
	return slices.Contains([]uint16{1064, 1193, 1235, 1238, 1286, 1305, 1478, 1911}, serverCode(err))
}
