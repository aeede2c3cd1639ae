package main

import (
	"fmt"
	"slices"
	"strings"

	"benchplan/plan"
	"benchplan/steps"
	"benchplan/steps/target"

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
	c.Flags().BoolVar(&view.all, "all", false, "show every cell of large matrices")
	addPicks(c, &view.only, &view.skip)
	return c
}

// planView says how a plan is shown.
type planView struct {
	all        bool
	only, skip []string
	rehearse   bool
}

// fewCells is how many cells of one matrix are shown where not all are asked for.
const fewCells = 6

// showPlan prints the tree of a plan.
func showPlan(t *terminal, p *plan.Plan, view *planView) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", p.Name, summaryText(p, steps.Survey(p, view.only, view.skip, view.rehearse)))
	if root, err := p.Scope(); err == nil {
		fmt.Fprintf(&b, "target %s\n", targetText(root))
	}
	v := &tree{out: &b, all: view.all, picked: steps.Picked(view.only, view.skip), shown: map[*plan.Step]map[*plan.Scope]int{}}
	p.Walk(v.visit)
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

// tree prints a plan's steps and cells as they are visited.
type tree struct {
	out     *strings.Builder
	all     bool
	picked  func(*plan.Scope) bool
	shown   map[*plan.Step]map[*plan.Scope]int // cells of a step within one cell of its group
	hidden  *plan.Scope                        // a cell that is not shown, with all that it holds
	finally *plan.Scope                        // the group whose finally was announced
}

func (v *tree) visit(visit plan.Visit) {
	outer := visit.Scope.Outer()
	if visit.Cells > 0 {
		if !v.folded(visit.Scope) {
			v.line(visit.Scope, visit.Step, depth(visit.Scope), matrixText(visit))
		}
		return
	}
	if v.folded(outer) {
		return
	}
	if !v.inFinally(visit.Scope) && !v.picked(visit.Scope) || !v.all && v.tooMany(visit, outer) {
		v.hidden = visit.Scope
		return
	}
	v.line(outer, visit.Step, depth(outer), v.text(visit))
	if visit.Step.Group() && visit.Step.HasTarget() {
		fmt.Fprintf(v.out, "%starget %s\n", strings.Repeat("  ", depth(visit.Scope)), targetText(visit.Scope))
	}
}

// folded tells whether a scope is inside of a cell that is not shown.
func (v *tree) folded(s *plan.Scope) bool {
	for at := s; at != nil; at = at.Outer() {
		if at == v.hidden {
			return true
		}
	}
	return false
}

// inFinally tells whether a scope is of a step that finally holds: those run whatever is picked.
func (v *tree) inFinally(s *plan.Scope) bool {
	for at := s; at != nil; at = at.Outer() {
		if step := at.Step(); step.Parent != nil && slices.Contains(step.Parent.Finally, step) {
			return true
		}
	}
	return false
}

func (v *tree) tooMany(visit plan.Visit, outer *plan.Scope) bool {
	if v.shown[visit.Step] == nil {
		v.shown[visit.Step] = map[*plan.Scope]int{}
	}
	v.shown[visit.Step][outer]++
	n := v.shown[visit.Step][outer]
	if n == fewCells+1 {
		fmt.Fprintf(v.out, "%s… more cells like these; --all shows them\n", strings.Repeat("  ", depth(outer)))
	}
	return n > fewCells
}

func depth(s *plan.Scope) int {
	n := 0
	for at := s; at != nil; at = at.Outer() {
		n++
	}
	return n
}

// line prints one line, and before it the word finally where that begins.
func (v *tree) line(outer *plan.Scope, step *plan.Step, depth int, text string) {
	if step.Parent != nil && slices.Contains(step.Parent.Finally, step) && v.finally != outer {
		v.finally = outer
		fmt.Fprintf(v.out, "%sfinally\n", strings.Repeat("  ", depth-1))
	}
	fmt.Fprintf(v.out, "%s%s\n", strings.Repeat("  ", depth), text)
}

// matrixText announces the cells of a step: `matrix: 3 cells × 6 repeats, interleaved`.
func matrixText(visit plan.Visit) string {
	text := "matrix: " + plural(visit.Cells, "cell")
	if visit.Repeats > 1 {
		text += fmt.Sprintf(" × %d repeats", visit.Repeats)
	}
	if visit.Step.Order != plan.Declared {
		text += ", " + string(visit.Step.Order)
	}
	return text
}

func (v *tree) text(visit plan.Visit) string {
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
	return text
}

func outerLabels(s *plan.Scope) []plan.Label {
	if s.Outer() == nil {
		return nil
	}
	return s.Outer().Labels()
}
