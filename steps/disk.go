package steps

import (
	"context"
	"database/sql"
	"fmt"
	"os"

	"benchplan/plan"
	"benchplan/workloads"
	"benchplan/workloads/host"
	"benchplan/workloads/tables"
)

// diskShortage tells that the disk of a server has less room than filling its tables takes; nil where there is enough, and where that
// cannot be told: of a machine that is not watched.
func (r *run) diskShortage(ctx context.Context, conn *connection, t *plan.Target, n need, data *plan.Tables) *shortage {
	folder := conn.dataFolder()
	if folder == "" || !t.CheckLimits {
		return nil
	}
	machine, err := r.machines.of(ctx, t)
	if err != nil || machine == nil {
		return nil
	}
	if machine == r.machines.here {
		if _, err := os.Stat(folder); err != nil {
			return nil // a server in a container has folders of its own
		}
	}
	free, err := machine.Free(ctx, folder)
	if err != nil {
		r.Writer.Log().Warn("free disk", "error", err.Error())
		return nil
	}
	if n.bytes <= free {
		return nil
	}
	return n.diskShortage(conn.name(), folder, free+r.sizeOf(ctx, conn, t, data))
}

// diskShortage holds what filling tables takes against what is free.
func (n need) diskShortage(server, folder string, free int64) *shortage {
	if n.bytes <= free {
		return nil
	}
	return &shortage{"disk", n.bytes, fmt.Sprintf("%s: %d rows in %d tables take about %s of disk (%d bytes a row, indexes included), and %s are free under %s: make room, or lower rows; check_limits: off of the target goes on all the same",
		server, n.rows, n.tables, host.SizeText(n.bytes), n.bytes/max(n.rows, 1), host.SizeText(free), folder)}
}

// sizeOf is what the tables take that are there already and will be dropped or kept, as the server counts it.
func (r *run) sizeOf(ctx context.Context, conn *connection, t *plan.Target, data *plan.Tables) int64 {
	db, err := conn.db(ctx, "")
	if err != nil {
		return 0
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT table_name, data_length + index_length FROM information_schema.tables WHERE table_schema = ?", t.Database)
	if err != nil {
		return 0
	}
	defer rows.Close()
	wanted := map[string]bool{}
	for _, name := range tables.Names(workloads.Schema(data.Schema), *data) {
		wanted[name] = true
	}
	sum := int64(0)
	for rows.Next() {
		var name string
		var size sql.NullInt64
		if rows.Scan(&name, &size) == nil && wanted[name] {
			sum += size.Int64
		}
	}
	return sum
}
