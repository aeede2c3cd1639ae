package steps

import (
	"math"

	"benchplan/plan"
	"benchplan/workloads"
	"benchplan/workloads/engine"
	"benchplan/workloads/tables"
)

// need is what one step asks of a server and of this machine.
type need struct {
	clients  int // connections that work: of the load, or of those that fill tables
	prepared int // prepared statements of all clients
	tables   int
	rows     int64 // that are filled into the tables
	bytes    int64 // that these take on the disk of the server, as expected; 0: nothing is filled
}

// ownConnections are those that benchplan has beside the clients: the one that reads the server's status, and the one that holds the
// lock of the tables.
const ownConnections = 2

func (n need) connections() int { return n.clients + ownConnections }

// needOfRun gives what a load needs of a server; false where that cannot be told, or where it is a load on this machine.
func needOfRun(spec *runSpec, s *plan.Scope, rehearse bool) (need, bool) {
	definition, _ := workloads.Family(spec.Workload)
	if definition.Host != nil {
		return need{}, false
	}
	clients, problems := spec.clients(definition)
	order, more := spec.order(definition, clients)
	data, err := s.Tables()
	if len(problems)+len(more) > 0 || err != nil || data == nil {
		return need{}, false
	}
	if rehearse {
		order = rehearsed(order)
	}
	if t, err := s.Target(); err == nil {
		order.PSMode = spec.psMode(order.PSMode, t)
	}
	workload, err := definition.New(spec.Options, *data, byRole(order.Clients))
	if err != nil {
		return need{clients: order.Total(), tables: data.Count}, true
	}
	return needOfLoad(order, workload, data), true
}

// needOfLoad gives what a load needs that is ready to run.
func needOfLoad(order engine.Order, workload engine.Workload, data *plan.Tables) need {
	n := need{clients: order.Total(), tables: data.Count}
	if order.PSMode == engine.PSDisable {
		return n
	}
	for _, role := range order.Clients {
		n.prepared += role.Count * len(workload.Templates(role.Role))
	}
	return n
}

// needOfPrepare gives what filling tables needs.
func needOfPrepare(spec *prepareSpec, data *plan.Tables) need {
	n := need{clients: spec.Threads, tables: data.Count, rows: int64(min(float64(data.Rows)*float64(data.Count), math.MaxInt64/2))}
	if n.clients == 0 {
		n.clients = tables.DefaultThreads()
	}
	if schema := workloads.Schema(data.Schema); schema != nil {
		n.bytes = int64(min(float64(n.rows)*rowBytes(schema, *data)+float64(data.Count)*emptyTable, math.MaxInt64/2))
	}
	return n
}

// emptyTable is about what a table without rows takes on the disk: InnoDB begins with seven pages of 16 KiB.
const emptyTable = 128 << 10

// rowBytes is how many bytes of disk a row is expected to take, its part of the indexes included. The columns c and pad count with
// their full width and every other with 8 bytes; a record has 25 bytes of its own (header, transaction, roll pointer, slot of the
// page's directory), and one of a secondary index 26 with both of its columns. On top come three tenths, for pages are never full.
// A row of the tables with c and pad is 321 bytes then; MariaDB 10.11 took 268 for one of sbtest and 305 for one of benchyou, whose k
// comes in no order.
func rowBytes(schema tables.Schema, spec plan.Tables) float64 {
	const record, indexRecord, number = 25, 26, 8
	size := float64(record)
	for _, column := range schema.Columns(spec) {
		switch column {
		case "c":
			size += 120
		case "pad":
			size += 60 + indexRecord
		default:
			size += number
		}
	}
	return size * 1.3
}
