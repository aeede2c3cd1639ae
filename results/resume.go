package results

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Resumption is one time that a run which had ended early was gone on with.
type Resumption struct {
	At     time.Time `json:"at"`               // UTC
	Ended  time.Time `json:"ended"`            // UTC: when the part before it had ended; of one that was killed, its last cell
	After  RunStatus `json:"after"`            // how that part had ended
	Errors []string  `json:"errors,omitempty"` // what had gone wrong in it
	// NotPutBack is what that part should have put back and had not. A group that is gone on with runs its finally again.
	NotPutBack []NotPutBack `json:"not_put_back,omitempty"`
	Changed    []string     `json:"changed,omitempty"` // in what things were not as when the run began: "host CPUs: 8 → 4"
}

// Unset is a global variable of a server that a step has set, and that is not put back yet. Who was killed leaves it so.
type Unset struct {
	Address  string  `json:"address"` // as that of the target
	Variable string  `json:"variable"`
	Before   *string `json:"before"` // what it was; null where it was NULL
}

// Resume makes of the record of a run that ended early, with the cells that it has, that of the run going on. Changed is in what things are
// not as when the run began.
func (r *Run) Resume(at time.Time, cells []Cell, changed []string) {
	r.Resumed = append(slices.Clip(r.Resumed), Resumption{At: at, Ended: r.ended(cells), After: r.Status, Errors: r.Errors, NotPutBack: r.NotPutBack, Changed: changed})
	r.Status, r.Finished, r.Errors, r.NotPutBack = Running, time.Time{}, nil, nil
}

// begun is when the last part of the run began.
func (r *Run) begun() time.Time {
	if n := len(r.Resumed); n > 0 {
		return r.Resumed[n-1].At
	}
	return r.Started
}

// ended is when the last part of the run ended: of one that did not say so, its last cell, or, where it has none, its begin.
func (r *Run) ended(cells []Cell) time.Time {
	if !r.Finished.IsZero() {
		return r.Finished
	}
	end := r.begun()
	for i := range cells {
		if cells[i].Resumed == len(r.Resumed) && cells[i].Finished.After(end) {
			end = cells[i].Finished
		}
	}
	return end
}

// elapsed is how long the run took until its end or its last cell, without the pauses before it was resumed. A clock that was put back
// makes no part shorter than nothing.
func (r *Run) elapsed(cells []Cell) time.Duration {
	var sum time.Duration
	begin := r.Started
	for _, p := range r.Resumed {
		sum += max(0, p.Ended.Sub(begin))
		begin = p.At
	}
	return sum + max(0, r.ended(cells).Sub(begin))
}

// HostChanges says in what a machine, called name, is not what it was. What one of the two does not show is no difference.
func HostChanges(name string, before, now *Host) []string {
	list := changesOf(hostDifferences(name, []*Host{before, now}))
	if before.GOMAXPROCS > 0 && now.GOMAXPROCS > 0 && before.GOMAXPROCS != now.GOMAXPROCS {
		list = append(list, fmt.Sprintf("GOMAXPROCS: %d → %d", before.GOMAXPROCS, now.GOMAXPROCS))
	}
	return list
}

// ToolChanges says in what benchplan itself is not the one that it was.
func ToolChanges(before, now Tool) []string {
	name := func(t Tool) string { return strings.TrimSpace(t.Version + " " + short(t.Commit)) }
	var list []string
	if name(before) != name(now) {
		list = append(list, change("benchplan", name(before), name(now)))
	}
	if before.Go != now.Go {
		list = append(list, change("Go", before.Go, now.Go))
	}
	return list
}

// identity are the global variables that tell one server from another. Without its own id a server is known by its machine and port.
var identity = [][]string{{"server_uuid"}, {"hostname", "port"}}

// OtherServer says in what a server is another one than that which was met under the same address: in product, version or identity. nil:
// it is the same, as far as it tells.
func OtherServer(before, now *Server) []string {
	var list []string
	add := func(what, was, is string) {
		if was != is {
			list = append(list, change(what, was, is))
		}
	}
	if before.Version != "" && now.Version != "" { // else it could not be asked
		add("version", before.Version, now.Version)
		add("version_comment", before.VersionComment, now.VersionComment)
	}
	if before.Name != "" && before.Name == now.Name {
		return list // a private server is a new one each time
	}
	for _, names := range identity {
		known := false
		for _, name := range names {
			was, is := before.Variables[name], now.Variables[name]
			if was != "" && is != "" {
				known = true
				add(name, was, is)
			}
		}
		if known {
			break
		}
	}
	return list
}

// ServerChanges says in what else a server is not what it was: its settings, its topology, its machine.
func ServerChanges(before, now *Server) []string {
	side := func(s *Server) Recorded { return Recorded{Run: &Run{Targets: []Server{*s}}} }
	return changesOf(serverDifferences([]Recorded{side(before), side(now)}, 0))
}

func changesOf(list []Dissimilar) []string {
	texts := make([]string, len(list))
	for i, d := range list {
		texts[i] = change(d.What, d.Values[0], d.Values[1])
	}
	return texts
}

func change(what, was, is string) string {
	quoted := func(v string) string {
		if strings.TrimSpace(v) != v || v == "" {
			return fmt.Sprintf("%q", v)
		}
		return v
	}
	return fmt.Sprintf("%s: %s → %s", what, quoted(was), quoted(is))
}

// MarkOfChanges doubts a cell of a resumed run that was measured when things were not as when the run began.
func MarkOfChanges(changed []string) Mark {
	const most = 4
	if more := len(changed) - most; more > 1 {
		changed = append(slices.Clone(changed[:most]), fmt.Sprintf("and %d more", more))
	}
	return Mark{Code: MarkResumed, Text: "measured after the run was resumed, when not all was as it had been: " + strings.Join(changed, "; "),
		Remedy: "compare only what was measured in the same part, or run the plan anew"}
}
