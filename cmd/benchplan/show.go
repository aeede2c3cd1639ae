package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps"
	"benchplan/steps/target"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"
)

func showCommand(t *terminal) *cobra.Command {
	f := &planFlags{}
	view := &planView{}
	c := &cobra.Command{
		Use:   "show PLAN",
		Short: "Show the steps and cells of a plan, resolved",
		Long: `show prints the tree of a plan's steps and cells with the values that they will
have. Nothing is touched. Secrets are named, not needed.`,
		Args:              onePlan,
		ValidArgsFunction: completePlans,
		RunE: func(_ *cobra.Command, args []string) error {
			collectLess()
			p, err := f.read(t, args[0])
			if err != nil {
				return err
			}
			if err := checkPicks(p, view.only, view.skip); err != nil {
				return err
			}
			return showPlan(t, p, view)
		},
	}
	f.add(c)
	c.Flags().BoolVar(&view.all, "all", false, "show every cell of large matrices, and what each of them holds")
	addPicks(c, &view.only, &view.skip)
	return c
}

// planView says how a plan is shown.
type planView struct {
	all        bool
	only, skip []string
	rehearse   bool
}

// What is left out of a large plan where not all is asked for.
const (
	fewCells = 6  // cells of one matrix that are shown
	fewLines = 60 // of a whole tree: where it has more, only the first cell of a matrix shows what it holds
)

// showPlan prints the tree of a plan, on a terminal broken at its width.
func showPlan(t *terminal, p *plan.Plan, view *planView) error {
	var b strings.Builder
	columns := width(t.out)
	writeWords(&b, "", "  ", fmt.Sprintf("%s: %s", p.Name, summaryText(p, steps.Survey(p, view.only, view.skip, view.rehearse))), columns)
	if root, err := p.Scope(); err == nil {
		writeWords(&b, "", "  ", "target "+targetText(root), columns)
	}
	v := newTree(view)
	p.Walk(v.visit)
	v.root.prune()
	if !view.all {
		v.root.fold(v.root.lines() > fewLines)
	}
	v.root.write(&b, "", columns)
	_, err := fmt.Fprint(t.out, b.String())
	return err
}

// targetText says where SQL goes.
func targetText(s *plan.Scope) string {
	t, err := s.Target()
	switch {
	case err != nil:
		return "that only the run tells"
	case t.Private():
		return "private server, database " + t.Database
	}
	return fmt.Sprintf("%s, database %s, user %s%s", target.Name(t), t.Database, t.User, monitorText(t))
}

// monitorText says how the server's machine is watched, where the plan says so.
func monitorText(t *plan.Target) string {
	switch {
	case t.Monitor == nil:
		return ""
	case t.Monitor.Where == plan.MonitorNone:
		return ", its machine not watched"
	case t.Monitor.Where == plan.MonitorLocal:
		return ", watched on this machine"
	}
	return ", its machine watched over ssh"
}

// node is a line of the tree with what it holds.
type node struct {
	text   string
	kids   []*node
	matrix bool // its kids are cells
	axes   []results.Axis
	more   int  // kids that are not shown
	folded bool // its kids are not shown

	times int           // how often it runs
	least time.Duration // that all of that takes at the least; of groups and matrices that hold several that take time
	parts int           // how many these are
}

// tree gathers the nodes of a plan as its steps and cells are visited.
type tree struct {
	root   *node
	picked func(*plan.Scope) bool
	sums   bool // of the least times
	groups map[*plan.Scope]*node
	ends   map[*plan.Scope]*node // the word finally of a group
	cells  map[*plan.Scope]map[*plan.Step]*node
}

func newTree(view *planView) *tree {
	return &tree{
		root: &node{times: 1}, picked: steps.Picked(view.only, view.skip), sums: !view.rehearse,
		groups: map[*plan.Scope]*node{}, ends: map[*plan.Scope]*node{}, cells: map[*plan.Scope]map[*plan.Step]*node{},
	}
}

func (v *tree) visit(visit plan.Visit) {
	if visit.Cells > 0 { // a matrix, whose cells follow
		over := v.holder(visit.Scope, visit.Step)
		n := &node{text: matrixText(visit), matrix: true, axes: axesOf(visit), times: over.times}
		over.kids = append(over.kids, n)
		if v.cells[visit.Scope] == nil {
			v.cells[visit.Scope] = map[*plan.Step]*node{}
		}
		v.cells[visit.Scope][visit.Step] = n
		return
	}
	outer := visit.Scope.Outer()
	if outer == nil || !inFinally(visit.Scope) && !v.picked(visit.Scope) {
		return
	}
	over := v.cells[outer][visit.Step]
	if over == nil {
		over = v.holder(outer, visit.Step)
	}
	n := &node{text: nodeText(visit), times: visit.Times}
	over.kids = append(over.kids, n)
	over.addValues(visit.Scope)
	if visit.Step.Group() {
		v.groups[visit.Scope] = n
		if visit.Step.HasTarget() {
			n.kids = append(n.kids, &node{text: "target " + targetText(visit.Scope)})
		}
	}
	if v.sums && visit.Least > 0 && !visit.Skipped {
		v.add(visit, n)
	}
}

// holder is the node under which a step of a group stands: that of the group's cell, or of the word finally in it.
func (v *tree) holder(group *plan.Scope, step *plan.Step) *node {
	over := v.groups[group]
	if over == nil { // the plan itself
		over = v.root
	}
	if step.Parent == nil || !slices.Contains(step.Parent.Finally, step) {
		return over
	}
	if v.ends[group] == nil {
		v.ends[group] = &node{text: "finally", times: over.times}
		over.kids = append(over.kids, v.ends[group])
	}
	return v.ends[group]
}

// add puts the least time of a step to those of the groups and matrices around it.
func (v *tree) add(visit plan.Visit, n *node) {
	took := visit.Least * time.Duration(visit.Times)
	n.least, n.parts = took, 1
	for at := visit.Scope; at.Outer() != nil; at = at.Outer() {
		for _, over := range []*node{v.cells[at.Outer()][at.Step()], v.groups[at.Outer()]} {
			if over != nil {
				over.least, over.parts = over.least+took, over.parts+1
			}
		}
	}
}

// inFinally tells whether a scope is of a step that finally holds: those run whatever is picked.
func inFinally(s *plan.Scope) bool {
	for at := s; at != nil; at = at.Outer() {
		if step := at.Step(); step.Parent != nil && slices.Contains(step.Parent.Finally, step) {
			return true
		}
	}
	return false
}

// prune takes out matrices of which no cell was picked.
func (n *node) prune() {
	for _, kid := range n.kids {
		kid.prune()
	}
	n.kids = slices.DeleteFunc(n.kids, func(kid *node) bool { return kid.matrix && len(kid.kids) == 0 })
}

// lines counts the lines below a node.
func (n *node) lines() int {
	count := 0
	for i, kid := range n.kids {
		if n.matrix && i == fewCells {
			return count + 1
		}
		count += 1 + kid.lines()
	}
	return count
}

// fold leaves out the cells of a matrix from the seventh on; where the tree is large also what those from the second on hold.
func (n *node) fold(large bool) {
	if n.matrix && len(n.kids) > fewCells {
		n.more = len(n.kids) - fewCells
		n.kids = n.kids[:fewCells]
	}
	for i, kid := range n.kids {
		kid.folded = large && n.matrix && i > 0 && len(kid.kids) > 0
		kid.fold(large)
	}
}

// write prints what a node holds, below lines that lead down from above.
func (n *node) write(b *strings.Builder, stem string, columns int) {
	for i, kid := range n.kids {
		branch, below := "├─ ", "│  "
		if i == len(n.kids)-1 && n.more == 0 {
			branch, below = "└─ ", "   "
		}
		under := stem + below + "  "
		if len(kid.kids) > 0 && !kid.folded {
			under = stem + below + "│ "
		}
		writeWords(b, stem+branch, under, kid.line(), columns)
		if !kid.folded {
			kid.write(b, stem+below, columns)
		}
	}
	if n.more > 0 {
		fmt.Fprintf(b, "%s└─ … %d more; --all shows them\n", stem, n.more)
	}
}

// line is the text of a node, with the least time of one of its runs where that is a sum.
func (n *node) line() string {
	text := n.text
	if n.matrix {
		text = strings.TrimSpace("matrix "+n.axesText()) + ": " + text
	}
	if n.parts > 1 {
		text += ", at least " + plan.Duration(n.least/time.Duration(max(1, n.times))).String()
	}
	if n.folded {
		text += "  …"
	}
	return text
}

// writeWords prints a line; where it is wider than the columns it goes on, at a space if there is one, below another beginning.
// With 0 columns it may have any width.
func writeWords(b *strings.Builder, first, next, text string, columns int) {
	room := columns - runewidth.StringWidth(first) - 1
	for columns > 0 && runewidth.StringWidth(text) > max(room, 10) {
		head := runewidth.Truncate(text, max(room, 10), "")
		if i := strings.LastIndexByte(head, ' '); i > len(head)/2 {
			head = head[:i]
		}
		b.WriteString(first + strings.TrimRight(head, " ") + "\n")
		text = strings.TrimLeft(text[len(head):], " ")
		first, room = next, columns-runewidth.StringWidth(next)-1
	}
	b.WriteString(first + text + "\n")
}

// matrixText counts the cells of a step: `2 cells × 6 repeats, interleaved`.
func matrixText(visit plan.Visit) string {
	text := plural(visit.Cells, "cell")
	if visit.Repeats > 1 {
		text += fmt.Sprintf(" × %d repeats", visit.Repeats)
	}
	if visit.Step.Order != plan.Declared {
		text += ", " + string(visit.Step.Order)
	}
	return text
}

// axesOf names the axes of a matrix. Their values come with the cells, which are not visited in the order in which they may run.
func axesOf(visit plan.Visit) []results.Axis {
	cells, err := visit.Scope.Cells(visit.Step)
	if err != nil || len(cells) == 0 {
		return nil
	}
	var axes []results.Axis
	for _, l := range cells[0].Labels {
		axes = append(axes, results.Axis{Name: l.Name})
	}
	return axes
}

// addValues adds those of a cell to the axes of its matrix.
func (n *node) addValues(s *plan.Scope) {
	for _, l := range s.Labels()[len(outerLabels(s)):] {
		i := slices.IndexFunc(n.axes, func(a results.Axis) bool { return a.Name == l.Name })
		if i >= 0 && !slices.Contains(n.axes[i].Values, l.Value) {
			n.axes[i].Values = append(n.axes[i].Values, l.Value)
		}
	}
}

// axesText writes the axes of a matrix with their values: `config (plain, twopc) × mix (write, read)`.
func (n *node) axesText() string {
	var parts []string
	for _, a := range n.axes {
		list := a.Values
		if len(list) > fewCells+1 {
			list = append(slices.Clone(list[:fewCells-1]), "…", list[len(list)-1])
		}
		parts = append(parts, plainText(a.Name+" ("+strings.Join(list, ", ")+")"))
	}
	return strings.Join(parts, " × ")
}

// nodeText says what a cell of a step is, or does.
func nodeText(visit plan.Visit) string {
	s := visit.Scope
	var parts []string
	if name := s.Name(); name != "" {
		parts = append(parts, name)
	}
	for _, l := range s.Labels()[len(outerLabels(s)):] {
		parts = append(parts, l.Name+"="+l.Value)
	}
	text := strings.Join(parts, " ")
	if !visit.Step.Group() {
		if text != "" {
			text += ": "
		}
		text += steps.Describe(visit.Step.Kind, visit.Spec)
	} else if text == "" {
		text = "group"
	}
	for _, a := range visit.Step.Asserts() {
		text += "  assert " + a
	}
	switch {
	case visit.Skipped:
		text += "  (skipped: its if is false)"
	case visit.Unsure:
		text += "  (if the run says so)"
	}
	if visit.Times > 1 && visit.Step.Load() {
		text += fmt.Sprintf("  × %d", visit.Times)
	}
	return plainText(text)
}

func outerLabels(s *plan.Scope) []plan.Label {
	if s.Outer() == nil {
		return nil
	}
	return s.Outer().Labels()
}
