package steps

import (
	"context"
	"errors"
	"maps"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads"
	"benchplan/workloads/engine"
	"benchplan/workloads/guard"
	"benchplan/workloads/tables"
)

// load is what a run step has made ready to be measured.
type load struct {
	order    engine.Order
	watching *watching // nil: nothing is read beside it
	measure  func(context.Context) (results.Outcome, error)
	describe func(*results.Cell)   // writes into the record what it runs on
	advise   func(err error) error // says where an error of measure is from, and what to do
}

// load makes the load of a run step ready.
func (c *Call) load(ctx context.Context, spec *runSpec) (*load, error) {
	definition, _ := workloads.Family(spec.Workload)
	clients, problems := spec.clients(definition)
	order, more := spec.order(definition, clients)
	if problems = append(problems, more...); len(problems) > 0 {
		return nil, errors.New(problems[0].Message) // told by the check, unless a value came from an earlier step
	}
	if c.run.Rehearse {
		order = rehearsed(order)
	}
	order.Seed = c.run.cellSeed(c.Scope)
	if definition.Host != nil {
		return c.hostLoad(ctx, spec, definition, order)
	}
	return c.serverLoad(ctx, spec, definition, order)
}

// serverLoad is a load on the tables of the target.
func (c *Call) serverLoad(ctx context.Context, spec *runSpec, definition engine.Definition, order engine.Order) (*load, error) {
	conn, t, data, err := c.data(ctx)
	if err != nil {
		return nil, err
	}
	order.PSMode = spec.psMode(order.PSMode, t)
	workload, err := definition.New(spec.Options, *data, byRole(order.Clients))
	if err != nil {
		return nil, err
	}
	connector, err := conn.loadConnector(t.Database)
	if err != nil {
		return nil, err
	}
	if err := c.weigh(ctx, conn, t, data, workload); err != nil {
		return nil, err
	}
	watching, err := c.watchServer(ctx, conn, t, needOfLoad(order, workload, data))
	if err != nil {
		return nil, err
	}
	return &load{
		order:    order,
		watching: watching,
		measure: func(ctx context.Context) (results.Outcome, error) {
			limited, stop := conn.whileAlive(ctx)
			defer stop()
			out, err := engine.Run(limited, connector, workload, order, c.run.Observer.Load, watching.meter())
			c.run.expected.changed(conn, t.Database, out.Ledger)
			return out, err
		},
		describe: func(cell *results.Cell) { c.describeServer(cell, conn, t, data) },
		advise: func(err error) error {
			if _, panicked := errors.AsType[*guard.Panic](err); panicked {
				return err // the target has nothing to do with it
			}
			return conn.adviseLoad(err)
		},
	}, nil
}

// describeServer writes into the record on which server and tables the cell runs. The settings that the plan gave the server are
// attributes.
func (c *Call) describeServer(cell *results.Cell, conn *connection, t *plan.Target, data *plan.Tables) {
	cell.Tables = *data
	if data.More != nil {
		cell.Tables.More = plan.Settings(data.More)
	}
	cell.RowsAtStart = c.run.expected.rows(conn, t.Database, tables.Names(workloads.Schema(data.Schema), *data))
	cell.Target, cell.ServerVersion = conn.endpoint(t.Database), conn.server.Version
	maps.Copy(cell.Attributes, conn.settings)
}

// hostLoad is a load on this machine: no target is reached, and no private server started.
func (c *Call) hostLoad(ctx context.Context, spec *runSpec, definition engine.Definition, order engine.Order) (*load, error) {
	var files *plan.Files
	if definition.Host.Files {
		var err error
		if files, err = c.files(); err != nil {
			return nil, err
		}
	}
	if c.run.Rehearse {
		// One event may take as long as its options say.
		order.Grace = plan.Duration(rehearsedTime)
		if order.Duration == 0 {
			order.Duration = order.Grace
		}
	}
	workload, err := definition.Host.New(spec.Options, files, c.run.Force)
	if err != nil {
		return nil, err
	}
	watching := c.watchHost(ctx)
	return &load{
		order:    order,
		watching: watching,
		measure: func(ctx context.Context) (results.Outcome, error) {
			return engine.RunHost(ctx, workload, order, c.run.Observer.Load, watching.meter())
		},
		describe: func(cell *results.Cell) { cell.Load, cell.Files = definition.Name, files },
		advise:   func(err error) error { return err },
	}, nil
}

// whileAlive gives a context that also ends when the connection's private server ends by itself: then there is nobody to wait for.
func (c *connection) whileAlive(ctx context.Context) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancel(ctx)
	if c.private == nil {
		return limited, cancel
	}
	exited := c.private.Exited()
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-exited:
			cancel()
		case <-limited.Done():
		}
	}()
	return limited, func() { cancel(); <-done }
}
