package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"benchplan/results"
)

// failure is an error that was met, or that made events begin anew, in the repeats of one scenario.
type failure struct {
	Cell    string
	Code    string
	Kind    string // error, or restart
	Class   string
	Count   string
	Message string
}

// failures adds up what went wrong by scenario, kind and code, in the order in which it was met.
func failures(runs []results.Recorded) []failure {
	type id struct {
		cell, kind string
		code       int
		class      results.Class
	}
	var order []id
	counts, messages := map[id]int64{}, map[id]string{}
	for n, run := range runs {
		for i := range run.Cells {
			c := &run.Cells[i]
			name := cellName(c)
			if len(runs) > 1 {
				name = runSuffix(n) + " " + name
			}
			for _, list := range []struct {
				kind   string
				errors []results.ErrorCount
			}{{"error", c.Outcome.Errors}, {"restart", c.Outcome.Restarts}} {
				for _, e := range list.errors {
					k := id{name, list.kind, e.Code, e.Class}
					if _, seen := counts[k]; !seen {
						order = append(order, k)
						messages[k] = e.Message
					}
					counts[k] += e.Count
				}
			}
		}
	}
	list := make([]failure, len(order))
	for i, k := range order {
		code := strconv.Itoa(k.code)
		if k.code == 0 {
			code = "connection lost"
		}
		list[i] = failure{k.cell, code, k.kind, string(k.class), thousands(strconv.FormatInt(counts[k], 10)), messages[k]}
	}
	return list
}

// cellName calls a cell by its labels, and by its step where it has none.
func cellName(c *results.Cell) string {
	var parts []string
	for _, l := range c.Labels {
		parts = append(parts, l.Name+"="+l.Value)
	}
	if parts == nil {
		return strings.Join(c.Path, "/")
	}
	return strings.Join(parts, " ")
}

// differences is what runs differ in besides their figures.
type differences struct {
	Runs []string
	Rows []results.Dissimilar
}

// newDifferences gives nil where there are none.
func newDifferences(c *results.Comparison) *differences {
	if len(c.Differences) == 0 {
		return nil
	}
	d := &differences{}
	for n := range c.Runs {
		d.Runs = append(d.Runs, runSuffix(n))
	}
	for _, row := range c.Differences {
		if len(row.Cells) == len(c.Rows) {
			row.Cells = nil
		}
		if len(row.Cells) > mostNames {
			row.Cells = append(slices.Clone(row.Cells[:mostNames]), fmt.Sprintf("and %d more", len(row.Cells)-mostNames))
		}
		d.Rows = append(d.Rows, row)
	}
	return d
}

// mostNames is how many cells are named where all of a list are alike.
const mostNames = 6

// planText is a plan as it was written, and the runs that were made by it.
type planText struct {
	Title string
	Lines []string
}

// planTexts gives the plan of each run, one that several have once.
func planTexts(runs []results.Recorded) []planText {
	var list []planText
	at := map[string]int{}
	for n, r := range runs {
		if r.Run == nil || r.Run.PlanText == "" {
			continue
		}
		i, seen := at[r.Run.PlanText]
		if !seen {
			i = len(list)
			at[r.Run.PlanText] = i
			list = append(list, planText{Title: "The plan: " + r.Run.PlanFile, Lines: planLines(r.Run.PlanText)})
			if len(runs) > 1 {
				list[i].Title += " of"
			}
		}
		if len(runs) > 1 {
			list[i].Title += " " + runSuffix(n)
		}
	}
	return list
}

func planLines(text string) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(strings.ReplaceAll(l, "\t", "    "), "\r")
	}
	return lines
}

// environment is what runs were made with: a column a run.
type environment struct {
	Runs   []string
	Groups []factGroup
}

// factGroup is facts of one kind; Long: so many that one looks for some.
type factGroup struct {
	Title string
	Long  bool
	Rows  []fact
}

// fact is a name with its value in each run.
type fact struct {
	Name   string
	Values []string
	Differ bool
}

func newEnvironment(runs []results.Recorded) environment {
	var e environment
	runs = slices.DeleteFunc(slices.Clone(runs), func(r results.Recorded) bool { return r.Run == nil })
	if len(runs) == 0 {
		return e
	}
	for n, r := range runs {
		name := r.Name
		if len(runs) > 1 {
			name = runSuffix(n) + " " + name
		}
		e.Runs = append(e.Runs, name)
	}
	e.add("Run", false, runs, runFacts)
	e.add("Machine that drove the load", false, runs, func(r results.Recorded) map[string]string { return hostFacts(&r.Run.Host) })
	targets := 0
	for _, r := range runs {
		targets = max(targets, len(r.Run.Targets))
	}
	for n := range targets {
		title := "Server"
		if targets > 1 {
			title = fmt.Sprintf("Server %d", n+1)
		}
		of := func(facts func(*results.Server) map[string]string) func(results.Recorded) map[string]string {
			return func(r results.Recorded) map[string]string {
				if n >= len(r.Run.Targets) {
					return nil
				}
				return facts(&r.Run.Targets[n])
			}
		}
		e.add(title, false, runs, of(serverFacts))
		e.add(title+": machine", false, runs, of(func(s *results.Server) map[string]string { return hostFacts(s.Host) }))
		e.add(title+": variables", true, runs, of(func(s *results.Server) map[string]string { return s.Variables }))
	}
	return e
}

// add appends a group of facts; those that no run knows are left out. A name may begin with a digit and a space, by which it is sorted.
func (e *environment) add(title string, long bool, runs []results.Recorded, facts func(results.Recorded) map[string]string) {
	values := make([]map[string]string, len(runs))
	names := map[string]bool{}
	for i, r := range runs {
		values[i] = facts(r)
		for name, v := range values[i] {
			if v != "" || long {
				names[name] = true
			}
		}
	}
	g := factGroup{Title: title, Long: long}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f := fact{Name: name}
		if _, rest, ok := strings.Cut(name, "\x00"); ok {
			f.Name = rest
		}
		for _, v := range values {
			f.Values = append(f.Values, v[name])
		}
		f.Differ = !allSame(f.Values) && f.Name != "began" && f.Name != "ended"
		g.Rows = append(g.Rows, f)
	}
	if g.Rows != nil {
		e.Groups = append(e.Groups, g)
	}
}

func allSame(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
}

// inOrder makes facts that keep their order: a name follows its place.
func inOrder(pairs ...[2]string) map[string]string {
	m := map[string]string{}
	for i, p := range pairs {
		m[fmt.Sprintf("%02d\x00%s", i, p[0])] = p[1]
	}
	return m
}

// pairsText writes names with their values, in the order of the names.
func pairsText(m map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, name+"="+m[name])
	}
	return strings.Join(parts, ", ")
}

func runFacts(r results.Recorded) map[string]string {
	run := r.Run
	finished := ""
	if !run.Finished.IsZero() {
		finished = run.Finished.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	rehearsal := ""
	if run.Rehearsal {
		rehearsal = "yes"
	}
	return inOrder(
		[2]string{"plan", run.Plan},
		[2]string{"file", run.PlanFile},
		[2]string{"SHA-256 of its text", run.PlanHash},
		[2]string{"settings", pairsText(run.Settings)},
		[2]string{"seed", strconv.FormatUint(run.Seed, 10)},
		[2]string{"began", run.Started.UTC().Format("2006-01-02 15:04:05 UTC")},
		[2]string{"ended", finished},
		[2]string{"resumed", resumptionsText(run.Resumed)},
		[2]string{"status", string(run.Status)},
		[2]string{"rehearsal", rehearsal},
		[2]string{"benchplan", strings.TrimSpace(run.Tool.Version + " " + run.Tool.Commit)},
		[2]string{"Go", run.Tool.Go},
	)
}

// resumptionsText lists when a run was resumed, and what was not as it had been.
func resumptionsText(list []results.Resumption) string {
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = fmt.Sprintf("%s (%s %s)", r.At.UTC().Format("2006-01-02 15:04:05 UTC"), r.After, r.Ended.UTC().Format("2006-01-02 15:04:05 UTC"))
		if len(r.Changed) > 0 {
			texts[i] += ": " + strings.Join(r.Changed, ", ")
		}
	}
	return strings.Join(texts, "; ")
}

func hostFacts(h *results.Host) map[string]string {
	if h == nil {
		return nil
	}
	return inOrder(
		[2]string{"name", h.Name},
		[2]string{"system", h.OS},
		[2]string{"kernel", h.Kernel},
		[2]string{"processor", h.CPU},
		[2]string{"CPUs", positive(int64(h.CPUs))},
		[2]string{"GOMAXPROCS", positive(int64(h.GOMAXPROCS))},
		[2]string{"governor", h.Governor},
		[2]string{"memory", memoryText(h.Memory)},
		[2]string{"disk", h.Disk},
		[2]string{"virtual", h.Virtual},
	)
}

func positive(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func memoryText(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

func serverFacts(s *results.Server) map[string]string {
	return inOrder(
		[2]string{"name", s.Name},
		[2]string{"address", s.Address},
		[2]string{"database", s.Database},
		[2]string{"version", s.Version},
		[2]string{"build", s.VersionComment},
		[2]string{"engines", pairsText(s.Engines)},
		[2]string{"topology", pairsText(s.Topology)},
		[2]string{"not known", strings.Join(s.Unknown, "; ")},
	)
}
