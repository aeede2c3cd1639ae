package steps

import (
	"context"
	"fmt"

	"benchplan/plan"
	"benchplan/workloads"
	"benchplan/workloads/engine"
	"benchplan/workloads/tables"
)

// balances are the sums that loads have to leave as they were: of a column over all tables, as it was before the first such load.
type balances map[balanceKey]balance

type balanceKey struct{ server, database, schema string }

type balance struct {
	column string
	total  int64
}

func keyOfBalance(conn *connection, t *plan.Target, data *plan.Tables) balanceKey {
	return balanceKey{conn.key, t.Database, data.Schema}
}

// weigh takes the sum before a load that conserves one, where it is not known yet and a verify step will ask for it. Any other load
// may change the column, and so the sum is forgotten.
func (c *Call) weigh(ctx context.Context, conn *connection, t *plan.Target, data *plan.Tables, workload engine.Workload) error {
	key := keyOfBalance(conn, t, data)
	conserver, ok := workload.(tables.Conserver)
	if !ok {
		delete(c.run.balances, key)
		return nil
	}
	column := conserver.Conserves()
	if known, ok := c.run.balances[key]; ok && known.column == column || !c.run.verifies {
		return nil
	}
	total, err := c.total(ctx, conn, t, data, column)
	if err != nil {
		return err
	}
	c.run.balances[key] = balance{column, total}
	return nil
}

// checkBalance tells how the sum differs from what it was; empty where it does not, or where there is none to hold it against.
func (c *Call) checkBalance(ctx context.Context, conn *connection, t *plan.Target, data *plan.Tables) (string, error) {
	known, ok := c.run.balances[keyOfBalance(conn, t, data)]
	if !ok {
		return "", nil
	}
	total, err := c.total(ctx, conn, t, data, known.column)
	if err != nil || total == known.total {
		return "", err
	}
	return fmt.Sprintf("the sum of %s over all tables is %d, and was %d before the load: transactions were done by halves", known.column, total, known.total), nil
}

func (c *Call) total(ctx context.Context, conn *connection, t *plan.Target, data *plan.Tables, column string) (int64, error) {
	connector, err := conn.connector(t.Database)
	if err != nil {
		return 0, err
	}
	total, err := tables.Total(ctx, connector, workloads.Schema(data.Schema), *data, column)
	return total, conn.advise(err)
}

// holds tells whether a plan has a step of a kind, at any depth.
func holds(s *plan.Step, kind string) bool {
	for _, list := range [][]*plan.Step{s.Steps, s.Finally} {
		for _, inner := range list {
			if inner.Kind == kind || holds(inner, kind) {
				return true
			}
		}
	}
	return false
}
