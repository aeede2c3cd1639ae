package tables

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"golang.org/x/sync/errgroup"

	"benchplan/plan"
	"benchplan/workloads/guard"
)

// Conserver is what a workload (engine.Workload) can be beside: one that leaves the sum of a column over all its tables as it
// was, whatever happens to its transactions. See Total.
type Conserver interface {
	// Conserves names the column.
	Conserves() (column string)
}

// Total is the sum of a column of whole numbers over all tables of the spec.
func Total(ctx context.Context, connector driver.Connector, schema Schema, spec plan.Tables, column string) (int64, error) {
	db, err := open(ctx, connector, DefaultThreads())
	if err != nil {
		return 0, err
	}
	defer db.Close()
	sums := make([]sql.NullInt64, spec.Count) // NULL: there are no rows
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(DefaultThreads())
	for i, name := range Names(schema, spec) {
		group.Go(guard.Func(func() error {
			err := db.QueryRowContext(ctx, fmt.Sprintf("SELECT SUM(%s) FROM %s", Quote(column), Quote(name))).Scan(&sums[i])
			if err != nil {
				return fmt.Errorf("sum up column %s of table %s: %w", column, name, err)
			}
			return nil
		}))
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	var total int64
	for _, s := range sums {
		total += s.Int64
	}
	return total, nil
}
