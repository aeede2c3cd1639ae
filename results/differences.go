package results

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Dissimilar is something in which runs differ besides their figures.
type Dissimilar struct {
	What   string   `json:"what"`
	Values []string `json:"values"`          // one a run; empty where there is none
	Cells  []string `json:"cells,omitempty"` // the names of the cells of which it is true; empty: the run as a whole
}

// runDifferences lists in what the runs as a whole differ, besides the seed: that is drawn for each run, and so is the noise.
func runDifferences(runs []Recorded) []Dissimilar {
	var list []Dissimilar
	add := func(what string, value func(Recorded) string) {
		values := make([]string, len(runs))
		for i, r := range runs {
			values[i] = value(r)
		}
		if !allEqual(values) {
			list = append(list, Dissimilar{What: what, Values: values})
		}
	}
	add("plan", func(r Recorded) string { return r.Run.Plan })
	add("plan text (sha256)", func(r Recorded) string { return short(r.Run.PlanHash) })
	add("rehearsal", func(r Recorded) string { return strconv.FormatBool(r.Run.Rehearsal) })
	add("settings", func(r Recorded) string { return pairs(r.Run.Settings) })
	add("benchplan", func(r Recorded) string { return strings.TrimSpace(r.Run.Tool.Version + " " + short(r.Run.Tool.Commit)) })
	add("Go", func(r Recorded) string { return r.Run.Tool.Go })
	hosts := make([]*Host, len(runs))
	for i, r := range runs {
		hosts[i] = &r.Run.Host
	}
	list = append(list, hostDifferences("host", hosts)...)
	add("GOMAXPROCS", func(r Recorded) string { return strconv.Itoa(r.Run.Host.GOMAXPROCS) })
	targets := 0
	for _, r := range runs {
		targets = max(targets, len(r.Run.Targets))
	}
	for n := range targets {
		list = append(list, serverDifferences(runs, n)...)
	}
	return list
}

// hostDifferences compares machines. What one of them does not show, and what an older record does not hold, is no difference; nor is a
// machine that was not watched (nil).
func hostDifferences(prefix string, hosts []*Host) []Dissimilar {
	if slices.Contains(hosts, nil) {
		return nil
	}
	var list []Dissimilar
	for _, fact := range []struct {
		what string
		of   func(*Host) string
	}{
		{"", func(h *Host) string { return h.Name }},
		{" kernel", func(h *Host) string { return h.Kernel }},
		{" CPU", func(h *Host) string { return h.CPU }},
		{" CPUs", func(h *Host) string { return strconv.Itoa(h.CPUs) }},
		{" memory", func(h *Host) string { return strconv.FormatInt(h.Memory, 10) }},
		{" CPU governor", func(h *Host) string { return h.Governor }},
		{" disk", func(h *Host) string { return h.Disk }},
		{" virtualization", virtualization},
	} {
		values := make([]string, len(hosts))
		for i, h := range hosts {
			values[i] = fact.of(h)
		}
		if !allEqual(values) && !slices.Contains(values, "") && !slices.Contains(values, "0") {
			list = append(list, Dissimilar{What: prefix + fact.what, Values: values})
		}
	}
	return list
}

// virtualization is none on bare metal; a record that holds no disk either is older and does not tell.
func virtualization(h *Host) string {
	if h.Virtual == "" && h.Disk != "" {
		return "none"
	}
	return h.Virtual
}

// volatile are global variables whose value is a state or a place, not a setting.
var volatile = []string{
	"datadir", "general_log_file", "gtid_binlog_pos", "gtid_binlog_state", "gtid_current_pos", "gtid_executed", "gtid_purged", "gtid_slave_pos",
	"log_error", "pid_file", "server_uuid", "slave_load_tmpdir", "replica_load_tmpdir", "slow_query_log_file", "socket", "timestamp", "tmpdir",
}

// Volatile tells that a global variable, by its name in lower case, is a state or a place and no setting: it differs between runs of
// the same server.
func Volatile(name string) bool { return slices.Contains(volatile, name) }

// serverName calls one of several targets by its address, and by its database where others have the same address.
func serverName(targets []Server, n int) string {
	alike := func(same func(Server) bool) bool {
		return slices.ContainsFunc(slices.Concat(targets[:n], targets[n+1:]), same)
	}
	t := targets[n]
	switch name := t.Address; {
	case !alike(func(s Server) bool { return s.Address == t.Address }):
		return name
	case t.Database != "" && !alike(func(s Server) bool { return s.Endpoint == t.Endpoint }):
		return name + "/" + t.Database
	default:
		return fmt.Sprintf("%s (target %d)", name, n+1)
	}
}

// serverDifferences compares the n-th target of each run, down to its machine and its global variables.
func serverDifferences(runs []Recorded, n int) []Dissimilar {
	servers := make([]Server, len(runs))
	prefix := "server"
	for i, r := range slices.Backward(runs) {
		if n < len(r.Run.Targets) {
			servers[i] = r.Run.Targets[n]
		}
		if len(r.Run.Targets) > 1 && n < len(r.Run.Targets) {
			prefix = serverName(r.Run.Targets, n)
		}
	}
	var list []Dissimilar
	add := func(what string, value func(Server) string) {
		values := make([]string, len(servers))
		for i, s := range servers {
			values[i] = value(s)
		}
		if !allEqual(values) {
			list = append(list, Dissimilar{What: prefix + " " + what, Values: values})
		}
	}
	add("address", func(s Server) string { return s.Address })
	add("database", func(s Server) string { return s.Database })
	add("version", func(s Server) string { return s.Version })
	add("version_comment", func(s Server) string { return s.VersionComment })
	hosts := make([]*Host, len(servers))
	for i, s := range servers {
		hosts[i] = s.Host
	}
	list = append(list, hostDifferences(prefix+" machine", hosts)...)
	names := map[string]bool{}
	for _, s := range servers {
		if len(s.Variables) == 0 {
			return list // nothing was asked there, so nothing can be said
		}
		for name := range s.Variables {
			names[name] = name != "version" && name != "version_comment" && !Volatile(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if names[name] {
			add("variable "+name, func(s Server) string { return s.Variables[name] })
		}
	}
	parts := map[string]bool{}
	for _, s := range servers {
		for name := range s.Topology {
			_, variable := names[name]
			parts[name] = !variable && name != "product" // which the version tells
		}
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if parts[name] {
			add("topology "+name, func(s Server) string { return s.Topology[name] })
		}
	}
	return list
}

// cellDifferences lists in which attributes cells of the same identity differ.
func cellDifferences(rows []CompareRow) []Dissimilar {
	return differencesOf(rows, func(row CompareRow) []map[string]string {
		attributes := make([]map[string]string, len(row.Sides)) // nil: there is no such cell
		for i, side := range row.Sides {
			if side != nil {
				attributes[i] = cellAttributes(side.cells[0])
			}
		}
		return attributes
	})
}

// differencesOf lists in which of their facts cells of the same identity differ, one entry for all cells alike in it. Of a cell that
// some of the runs do not have, the others are held against each other: a run without it has no value. Facts gives those of each
// side, nil for one that is not there.
func differencesOf(rows []CompareRow, facts func(CompareRow) []map[string]string) []Dissimilar {
	var list []Dissimilar
	at := map[string]int{}
	for _, row := range rows {
		sides := facts(row)
		names := map[string]bool{}
		for _, side := range sides {
			for name := range side {
				names[name] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			values := make([]string, len(sides))
			var there []string
			id := name
			for i, side := range sides {
				if side != nil {
					there = append(there, side[name])
				}
				values[i] = side[name]
				id += fmt.Sprintf("\x00%v %s", side != nil, side[name])
			}
			if allEqual(there) {
				continue
			}
			n, seen := at[id]
			if !seen {
				n = len(list)
				at[id] = n
				list = append(list, Dissimilar{What: name, Values: values})
			}
			list[n].Cells = append(list[n].Cells, row.Name)
		}
	}
	return list
}

// variableDifferences lists the global variables that something changed on a server while a run went on, and that so were not the same
// for cells of the same identity. In what the servers differed from the begin of the runs, runDifferences lists; what the plan set
// is among the attributes of the cells.
func variableDifferences(runs []Recorded, rows []CompareRow) []Dissimilar {
	return differencesOf(rows, func(row CompareRow) []map[string]string {
		changed := map[string]bool{}
		for _, side := range row.present() {
			for name := range changedVariables(side.cells[0]) {
				changed[name] = true
			}
		}
		for _, side := range row.present() {
			maps.DeleteFunc(changed, func(name string, _ bool) bool { return setByPlan(side.cells[0], name) })
		}
		values := make([]map[string]string, len(row.Sides))
		for i, side := range row.Sides {
			if side == nil {
				continue
			}
			values[i] = map[string]string{}
			for name := range changed {
				value, known := variableOf(runs[i].Run, side.cells[0], name)
				if !known {
					return nil
				}
				values[i]["variable "+name] = value
			}
		}
		return values
	})
}

// changedVariables are the settings of its server that were not what they had been when the run began.
func changedVariables(c *Cell) map[string]string {
	if c.Server == nil {
		return nil
	}
	changed := maps.Clone(c.Server.Variables)
	maps.DeleteFunc(changed, func(name, _ string) bool { return Volatile(name) })
	return changed
}

// variableOf is what a global variable was when the cell began; false where that is not known.
func variableOf(run *Run, c *Cell, name string) (string, bool) {
	if c.Server == nil {
		return "", false
	}
	if value, changed := c.Server.Variables[name]; changed {
		return value, true
	}
	i := slices.IndexFunc(run.Targets, func(s Server) bool { return s.Address == c.Target.Address })
	if i < 0 || len(run.Targets[i].Variables) == 0 {
		return "", false
	}
	return run.Targets[i].Variables[name], true
}

// The attributes of a cell that say what its plan did to the server.
const (
	attributeVariable = "variable " // set by a step
	attributeOption   = "option "   // that a private server was started with
)

// setByPlan tells whether the plan set a global variable for a cell.
func setByPlan(c *Cell, name string) bool {
	for attribute := range c.Attributes {
		set, ok := strings.CutPrefix(attribute, attributeVariable)
		if !ok {
			set, ok = strings.CutPrefix(attribute, attributeOption)
		}
		if ok && strings.ReplaceAll(strings.ToLower(set), "-", "_") == name {
			return true
		}
	}
	return false
}

// cellAttributes is what a cell was run with, as text, besides its identity.
func cellAttributes(c *Cell) map[string]string {
	a := map[string]string{
		"workload":        c.Workload,
		"clients":         ClientsText(roleClients(c)),
		"wanted duration": c.Wanted.Duration.String(),
		"wanted events":   strconv.FormatInt(c.Wanted.Events, 10),
		"warmup":          c.Wanted.Warmup.String(),
		"rate":            strconv.FormatFloat(c.Wanted.Rate, 'g', -1, 64),
		"rate at the end": strconv.FormatFloat(c.Wanted.RateTo, 'g', -1, 64),
		"arrivals":        c.Wanted.Arrivals,
		"stopped by":      string(c.Outcome.Stopped),
		"io":              c.Outcome.IO,
		"tables schema":   c.Tables.Schema,
		"tables count":    strconv.Itoa(c.Tables.Count),
		"tables rows":     strconv.FormatInt(int64(c.Tables.Rows), 10),
		"tables engine":   c.Tables.Engine,
		"tables options":  c.Tables.Options,
		"order":           "declared", // the record names the others only
	}
	if c.Files != nil {
		a["files count"] = strconv.Itoa(c.Files.Count)
		a["files total size"] = strconv.FormatInt(int64(c.Files.TotalSize), 10)
		a["files dir"] = c.Files.Dir
	}
	if more, ok := c.Tables.More.(map[string]any); ok {
		for name, v := range more {
			a["tables "+name] = fmt.Sprint(v)
		}
	}
	maps.Copy(a, c.Attributes) // what the plan set on the server, the order of its cells
	for name, v := range c.Options {
		if name != "seed" { // follows from the run's, which is drawn anew for each run unless the plan fixes it
			a["option "+name] = fmt.Sprint(v)
		}
	}
	return a
}

func allEqual(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
}

func short(hash string) string { return hash[:min(12, len(hash))] }

func pairs(m map[string]string) string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, k+"="+m[k])
	}
	return strings.Join(list, " ")
}
