package results

import (
	"fmt"
	"slices"
	"strings"
)

// chooseMetrics takes the plan's columns; without them, those that suit what was run.
func chooseMetrics(rows []*Row, wanted []string) []string {
	if len(wanted) > 0 {
		return slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { _, ok := MetricByName(name); return !ok })
	}
	names := []string{"tps", "qps", "writes", "reads", "errors", "restarts", "reconnects", "rows_per_read", "p50", "p95", "p99", "max"}
	switch {
	case len(rows) > 0 && rows[0].Load != "":
		return chooseHostMetrics(rows)
	case hasRoles(rows):
		names = []string{"tps", "writes", "reads", "errors", "restarts", "reconnects", "rows_per_read",
			"write_p50", "write_p95", "write_p99", "write_max", "read_p50", "read_p95", "read_p99", "read_max"}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		applies := slices.ContainsFunc(rows, func(r *Row) bool { _, ok := r.Values[name]; return ok })
		switch name {
		case "tps", "errors":
			return false
		case "qps", "writes", "reads":
			return !applies || sameEverywhere(rows, name, "tps")
		case "restarts", "reconnects":
			return !slices.ContainsFunc(rows, func(r *Row) bool {
				return slices.ContainsFunc(r.Values[name].Samples, func(v float64) bool { return v > 0 })
			})
		}
		return !applies
	})
}

// briefest is the latency, in milliseconds, below which a figure of it says nothing: histograms resolve 64 ns.
const briefest = 0.001

// chooseHostMetrics takes the columns that suit a load on this machine.
func chooseHostMetrics(rows []*Row) []string {
	names := []string{"tps", "elapsed", "mib_memory", "file_reads", "file_writes", "fsyncs", "mib_read", "mib_written", "errors", "p50", "p95", "p99", "max"}
	return slices.DeleteFunc(names, func(name string) bool {
		switch name {
		case "tps", "errors":
			return false
		case "elapsed": // where all had the same to do, the time that it took tells
			return slices.ContainsFunc(rows, func(r *Row) bool { return r.cells[0].Outcome.Stopped != ByEvents })
		}
		m, _ := MetricByName(name)
		return !slices.ContainsFunc(rows, func(r *Row) bool {
			v, ok := r.Values[name]
			return ok && (m.Unit != "ms" || v.Center >= briefest)
		})
	})
}

func hasRoles(rows []*Row) bool {
	return slices.ContainsFunc(rows, func(r *Row) bool {
		return slices.ContainsFunc(r.Clients, func(c RoleClients) bool { return c.Role != "" })
	})
}

// mixesRoles tells whether the rate of some row is of writing and of reading clients together.
func mixesRoles(rows []*Row) bool {
	return hasRoles(rows) && slices.ContainsFunc(rows, func(r *Row) bool {
		_, writes := r.Values["writes"]
		_, reads := r.Values["reads"]
		return writes && reads
	})
}

// sameEverywhere tells whether a metric only says again what another does.
func sameEverywhere(rows []*Row, a, b string) bool {
	return !slices.ContainsFunc(rows, func(r *Row) bool {
		va, okA := r.Values[a]
		vb, okB := r.Values[b]
		return okA != okB || va.Center != vb.Center
	})
}

// chooseChanges picks the metrics whose differences are worth a column: of a plan's own columns all that are better
// one way, otherwise the rate and the 95th percentiles; where the rate adds up what clients of different roles do, also
// the rates of writes and reads.
func chooseChanges(rows []*Row, names []string, own bool) []string {
	var list []string
	for _, name := range worthChange(rows, names, own) {
		if slices.ContainsFunc(rows, func(r *Row) bool { _, ok := r.Changes[name]; return ok }) {
			list = append(list, name)
		}
	}
	return list
}

// worthChange is chooseChanges, also of metrics that turn out to have no differences.
func worthChange(rows []*Row, names []string, own bool) []string {
	var list []string
	mixed := mixesRoles(rows)
	for _, name := range names {
		m, _ := MetricByName(name)
		switch {
		case m.Better == Neither, name == "errors", name == "restarts", name == "reconnects":
			continue
		case own, name == "tps", strings.HasSuffix(name, "p95"), mixed && (name == "writes" || name == "reads"), m.Unit == "MiB/s":
		default:
			continue
		}
		list = append(list, name)
	}
	return list
}

// emptyColumns warns of metrics that are wanted as columns and that no row has: they are left out.
func emptyColumns(rows []*Row, wanted []string) []string {
	var warnings []string
	has := applying(rows, wanted)
	for _, name := range wanted {
		if _, known := MetricByName(name); known && len(rows) > 0 && !slices.Contains(has, name) {
			warnings = append(warnings, fmt.Sprintf("no cell has %s%s: the column is left out", name, takes(name)))
		}
	}
	return warnings
}

// applying gives those of the metrics that some row has.
func applying(rows []*Row, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !slices.ContainsFunc(rows, func(r *Row) bool { _, ok := r.Values[name]; return ok })
	})
}

// compared leaves out the metrics of which a difference is no merit, and counts of what should not be there.
func compared(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		m, _ := MetricByName(name)
		return m.Better == Neither || name == "errors" || name == "restarts" || name == "reconnects"
	})
}

// compareMetrics takes the plan's columns; without them, the rate, the 95th percentiles, and errors where there are any;
// where the rate adds up what clients of different roles do, also the rates of writes and reads.
func compareMetrics(rows []*Row, wanted []string) []string {
	names := chooseMetrics(rows, wanted)
	if len(wanted) > 0 {
		return names
	}
	mixed := mixesRoles(rows)
	return slices.DeleteFunc(names, func(name string) bool {
		switch name {
		case "errors":
			return !slices.ContainsFunc(rows, func(r *Row) bool { return r.Values[name].Center > 0 })
		case "writes", "reads":
			return !mixed
		}
		m, _ := MetricByName(name)
		return name != "tps" && m.Unit != "MiB/s" && !strings.HasSuffix(name, "p95")
	})
}
