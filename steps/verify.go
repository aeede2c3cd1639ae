package steps

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads"
	"benchplan/workloads/tables"
)

type verifySpec struct{}

func verifyKind() Kind {
	return checked(define("checks that the tables hold the rows that were loaded and those that the server acknowledged, and after transfer that no amount was lost", doVerify), func(_ *verifySpec, in plan.Place) []plan.Problem {
		return checkTables(in)
	})
}

func doVerify(ctx context.Context, c *Call, _ *verifySpec) (map[string]any, error) {
	conn, t, wanted, err := c.data(ctx)
	if err != nil {
		return nil, err
	}
	connector, err := conn.connector(t.Database)
	if err != nil {
		return nil, err
	}
	counted, err := tables.Count(ctx, connector, workloads.Schema(wanted.Schema), *wanted)
	if err != nil {
		return nil, conn.advise(err)
	}
	var wrong, unknown []string
	for _, table := range counted {
		sum, known := c.run.expected[tableKey{conn.key, t.Database, table.Table}]
		if !known {
			unknown = append(unknown, table.Table)
		} else if text := differs(table, sum); text != "" {
			wrong = append(wrong, text)
		}
	}
	if len(unknown) > 0 {
		wrong = append(wrong, fmt.Sprintf("nothing is known to hold these tables against: %s; put a prepare step before", someOf(unknown)))
	}
	text, err := c.checkBalance(ctx, conn, t, wanted)
	if err != nil {
		return nil, err
	}
	if text != "" {
		wrong = append(wrong, text)
	}
	if len(wrong) > 0 {
		return nil, errors.New(strings.Join(wrong, "; "))
	}
	return nil, nil
}

// differs tells how a table differs from what it has to hold; empty where it does not.
func differs(table tables.TableRows, sum results.Changes) string {
	rows := sum.Inserted - sum.Deleted
	if diff := table.Rows - rows; diff <= sum.Unsure && -diff <= sum.Unsure {
		return ""
	}
	text := fmt.Sprintf("table %s has %d rows, expected %d (%d inserted, %d deleted", table.Table, table.Rows, rows, sum.Inserted, sum.Deleted)
	if sum.Unsure > 0 {
		text += fmt.Sprintf(", give or take %d whose answer was lost", sum.Unsure)
	}
	return text + ")"
}
