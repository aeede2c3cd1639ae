package results

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Row is one identity with its repeats summed up.
type Row struct {
	Key     string           `json:"key"`
	Name    string           `json:"name"`           // what tells it from the other rows, for texts
	Step    string           `json:"step"`           // what tells its path from the other rows'; all of the path where they are alike
	Load    string           `json:"load,omitempty"` // what kind of load: see Cell
	Path    []string         `json:"path"`
	Labels  []Label          `json:"labels"`
	Clients []RoleClients    `json:"clients"`
	Status  CellStatus       `json:"status"`
	Repeats int              `json:"repeats"` // that the values are from
	Values  map[string]Value `json:"values"`  // by metric; those that do not apply are missing

	Baseline   string            `json:"baseline,omitempty"` // the key of the row that it is compared with
	IsBaseline bool              `json:"is_baseline,omitempty"`
	Changes    map[string]Change `json:"changes,omitempty"` // by metric
	Notes      []NoteRef         `json:"notes,omitempty"`

	cells []*Cell // that the values are from, by repeat
	all   []*Cell
}

// RoleClients is how many clients a role had.
type RoleClients struct {
	Role    string `json:"role"`
	Clients int    `json:"clients"`
}

// Label gives the value of the label of that name and whether there is one.
func (r *Row) Label(name string) (string, bool) { return labelValue(r.Labels, name) }

// Axis is a label with its values in the order in which they came.
type Axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// groupRows makes one row of each identity, in the order in which they were first executed.
func groupRows(cells []Cell) []*Row {
	ordered := make([]*Cell, len(cells))
	for i := range cells {
		ordered[i] = &cells[i]
	}
	slices.SortStableFunc(ordered, func(a, b *Cell) int { return cmp.Compare(a.Seq, b.Seq) })
	var rows []*Row
	byKey := map[string]*Row{}
	for _, c := range ordered {
		key := c.Key()
		row := byKey[key]
		if row == nil {
			row = &Row{Key: key, Load: c.Load, Path: c.Path, Labels: c.Labels}
			byKey[key] = row
			rows = append(rows, row)
		}
		row.all = append(row.all, c)
	}
	inParallel(len(rows), func(i int) { rows[i].sumUp() })
	return rows
}

// sumUp takes the complete repeats; where there is none, what there is.
func (r *Row) sumUp() {
	for _, status := range []CellStatus{Complete, Partial, Failed} {
		for _, c := range r.all {
			if c.Status == status {
				r.cells = append(r.cells, c)
			}
		}
		if r.Status = status; r.cells != nil {
			break
		}
	}
	if r.cells == nil { // a status of a later format
		r.cells, r.Status = r.all, r.all[0].Status
	}
	slices.SortStableFunc(r.cells, func(a, b *Cell) int { return cmp.Compare(a.Repeat, b.Repeat) })
	r.Repeats = len(r.cells)
	r.Clients = roleClients(r.cells[0])
	r.Values = make(map[string]Value, len(metrics))
	for _, m := range metrics {
		var samples []float64
		for _, c := range r.cells {
			if v, ok := m.Value(c); ok {
				samples = append(samples, v)
			}
		}
		if samples != nil {
			r.Values[m.Name] = Summarize(samples)
		}
	}
}

// roleClients lists the clients that a cell had, in the order of its workload's roles.
func roleClients(c *Cell) []RoleClients {
	var list []RoleClients
	seen := map[string]bool{}
	for _, r := range c.Outcome.Roles {
		list, seen[r.Name] = append(list, RoleClients{r.Name, r.Clients}), true
	}
	for _, name := range slices.Sorted(maps.Keys(c.Clients)) {
		if !seen[name] {
			list = append(list, RoleClients{name, c.Clients[name]})
		}
	}
	if list == nil {
		list = []RoleClients{{"", c.Outcome.Clients}}
	}
	return slices.DeleteFunc(list, func(r RoleClients) bool { return r.Clients == 0 && len(list) > 1 })
}

// axes lists the labels of the rows: those whose value varies (or that not all have), and those that are alike.
func axes(rows []*Row) (varying []Axis, constant []Label) {
	var names []string
	values := map[string][]string{}
	count := map[string]int{}
	for _, r := range rows {
		for _, l := range r.Labels {
			if count[l.Name]++; count[l.Name] == 1 {
				names = append(names, l.Name)
			}
			if !slices.Contains(values[l.Name], l.Value) {
				values[l.Name] = append(values[l.Name], l.Value)
			}
		}
	}
	for _, n := range names {
		if len(values[n]) == 1 && count[n] == len(rows) {
			constant = append(constant, Label{n, values[n][0]})
		} else {
			varying = append(varying, Axis{n, values[n]})
		}
	}
	return varying, constant
}

// nameRows gives each row its Step and Name, and tells whether the steps differ.
func nameRows(rows []*Row, varying []Axis) (stepsDiffer bool) {
	head, tail := commonEnds(rows)
	for _, r := range rows {
		if middle := stepText(r.Path[head : len(r.Path)-tail]); middle != "" {
			r.Step, stepsDiffer = middle, true
		} else {
			r.Step = stepText(r.Path)
		}
	}
	for _, r := range rows {
		var parts []string
		if r.Step != "" && (stepsDiffer || len(varying) == 0) {
			parts = append(parts, r.Step)
		}
		for _, a := range varying {
			if v, ok := r.Label(a.Name); ok {
				parts = append(parts, a.Name+"="+v)
			}
		}
		if r.Name = strings.Join(parts, " "); r.Name == "" {
			r.Name = r.cells[0].name()
		}
	}
	return stepsDiffer
}

// stepText writes a path for a reader; steps without a name are not in it.
func stepText(path []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(path), func(name string) bool { return name == "" }), " / ")
}

// commonEnds counts the names that all paths begin and end with; they do not overlap in any.
func commonEnds(rows []*Row) (head, tail int) {
	if len(rows) == 0 {
		return 0, 0
	}
	shortest := len(rows[0].Path)
	for _, r := range rows {
		shortest = min(shortest, len(r.Path))
	}
	same := func(at func([]string) string) bool {
		return !slices.ContainsFunc(rows, func(r *Row) bool { return at(r.Path) != at(rows[0].Path) })
	}
	for head < shortest && same(func(p []string) string { return p[head] }) {
		head++
	}
	for head+tail < shortest && same(func(p []string) string { return p[len(p)-1-tail] }) {
		tail++
	}
	return head, tail
}

// ClientsText writes the clients of a row: 64, or 64w 128r where roles have them.
func ClientsText(list []RoleClients) string {
	initials := map[string]bool{}
	full := false
	for _, r := range list {
		if r.Role != "" {
			full = full || initials[r.Role[:1]]
			initials[r.Role[:1]] = true
		}
	}
	parts := make([]string, len(list))
	for i, r := range list {
		n := strconv.Itoa(r.Clients)
		switch {
		case r.Role == "":
			parts[i] = n
		case full:
			parts[i] = n + " " + r.Role
		default:
			parts[i] = n + r.Role[:1]
		}
	}
	return strings.Join(parts, " ")
}
