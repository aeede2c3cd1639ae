package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchplan/plan"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// An expression about results has as its names the metrics, labels as a map, and, where a cell is compared with another, of
// each metric
//
//	baseline.tps     the value of what it is compared with
//	change.tps       the difference as a fraction: -0.05 is 5 % less
//	significant.tps  whether that difference is significant
//	p.tps            the p of its test
//
// One without these is held against each execution of a cell. One with them is held against each cell that is compared, over its
// repeats: there a metric is its median. What a cell does not have (read_p95 without reads, significant.tps with too few repeats
// for any test) leaves the expression without an answer for it, where it decides.

// The names before the metric.
const (
	ofBaseline    = "baseline"
	ofChange      = "change"
	ofSignificant = "significant"
	ofP           = "p"
)

var relations = []string{ofBaseline, ofChange, ofSignificant, ofP}

// AssertFailure is an expression that did not hold or, of those that are to fail, did.
type AssertFailure struct {
	Expr   string
	Holds  bool   // it does, and should not
	Cell   string // its name, and its repeat where there are several; empty where the expression applies to no cell
	Values []Figure
	Err    error // why it could not be worked out; nil: it was
}

// Figure is a metric with its value.
type Figure struct {
	Name  string
	Value float64 // of significant: 1 or 0
}

// String says what did not hold, where, and with which values.
func (f AssertFailure) String() string {
	var b strings.Builder
	switch {
	case f.Holds:
		fmt.Fprintf(&b, "%s holds", f.Expr)
	case f.Err != nil && f.Cell == "":
		b.WriteString(f.Expr)
	default:
		fmt.Fprintf(&b, "%s does not hold", f.Expr)
	}
	if f.Cell != "" {
		fmt.Fprintf(&b, " for %s", f.Cell)
	}
	for i, v := range f.Values {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(v.Name + " = " + figureText(v))
	}
	if f.Err != nil {
		fmt.Fprintf(&b, ": %v", f.Err)
	}
	return b.String()
}

func figureText(f Figure) string {
	switch of, _, _ := strings.Cut(f.Name, "."); of {
	case ofSignificant:
		return strconv.FormatBool(f.Value != 0)
	case ofChange:
		return fmt.Sprintf("%+.2f %%", 100*f.Value)
	}
	return rounded(f.Value)
}

// rounded writes whole numbers as they are and others with six significant digits, without zeros at their end.
func rounded(v float64) string {
	if v == math.Trunc(v) || math.IsNaN(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	decimals := max(0, 5-int(math.Floor(math.Log10(math.Abs(v)))))
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// CheckAssert tells whether an expression can be asserted: its names are those above, and it is true or false.
func CheckAssert(source string) error {
	_, err := compileAssert(source)
	return err
}

// JudgedMetrics gives the metrics of which one of the expressions asks for significant.<metric> or p.<metric>, each once; an expression
// that CheckAssert refuses has none.
func JudgedMetrics(sources []string) []string {
	var list []string
	for _, source := range sources {
		a, err := compileAssert(source)
		if err != nil {
			continue
		}
		for _, name := range a.names {
			of, metric, _ := strings.Cut(name, ".")
			if (of == ofSignificant || of == ofP) && !slices.Contains(list, metric) {
				list = append(list, metric)
			}
		}
	}
	return list
}

// Assert holds expressions against cells alone, without what their plan says of the baseline: see Report.Assert.
func Assert(cells []Cell, sources []string) ([]AssertFailure, error) {
	return NewReport("", &Run{}, cells, nil).Assert(sources)
}

// Assert gives the cells for which one of the expressions does not hold. One that has an answer for no cell at all fails: it
// guards nothing. The error is that of an expression which CheckAssert refuses.
func (r *Report) Assert(sources []string) ([]AssertFailure, error) {
	failures, _, err := hold(sources, r.subjects, true)
	return failures, err
}

// FailOn gives the cells for which one of the expressions holds, each a failure. One that has an answer for no cell at all is a
// failure too. Silent says for how many cells each of the others had none, since that is easily taken for all being well.
func (r *Report) FailOn(sources []string) (failures []AssertFailure, silent []string, err error) {
	return hold(sources, r.subjects, false)
}

// FailOn is that of a report, for the cells of all runs but the first; what they are compared with is the first.
func (c *Comparison) FailOn(sources []string) (failures []AssertFailure, silent []string, err error) {
	return hold(sources, c.subjects, false)
}

// Rehearsed tells that the run is a rehearsal, whose figures nothing is to be judged by.
func (r *Report) Rehearsed() bool { return r.Run.Rehearsal }

// Rehearsed tells that one of the runs is a rehearsal: no difference to it, or of it, is to be judged.
func (c *Comparison) Rehearsed() bool {
	return slices.ContainsFunc(c.Runs, func(h Head) bool { return h.Rehearsal })
}

// subject is what an expression is held against.
type subject struct {
	name   string
	labels []Label
	figure func(of, metric string) (float64, bool) // of is empty for the metric itself
}

// subjects gives the executions of the report's cells, or the cells that are compared.
func (r *Report) subjects(compared bool) []subject {
	var list []subject
	if !compared {
		for _, row := range r.Rows() {
			list = append(list, executions(row, "")...)
		}
		return list
	}
	for _, t := range r.Tables() {
		byKey := map[string]*Row{}
		for _, row := range t.Rows() {
			byKey[row.Key] = row
		}
		for _, row := range t.Rows() {
			if base := byKey[row.Baseline]; base != nil {
				list = append(list, comparedSubject(row, base, ""))
			}
		}
	}
	return list
}

func (c *Comparison) subjects(compared bool) []subject {
	var list []subject
	for i := range c.Rows {
		first := c.Rows[i].Sides[0]
		for n, side := range c.Rows[i].Sides {
			run := ""
			if len(c.Runs) > 2 {
				run = " in " + c.Runs[n].Name
			}
			switch {
			case n == 0 || side == nil:
			case !compared:
				list = append(list, executions(side, run)...)
			case first != nil:
				list = append(list, comparedSubject(side, first, run))
			}
		}
	}
	return list
}

// executions gives each execution of a row's cell, whatever its status.
func executions(row *Row, run string) []subject {
	var list []subject
	for _, c := range row.all {
		name := c.name()
		if len(row.all) > 1 {
			name += fmt.Sprintf(" repeat %d", c.Repeat)
		}
		list = append(list, subject{name + run, c.Labels, func(_, metric string) (float64, bool) {
			m, _ := MetricByName(metric)
			return m.Value(c)
		}})
	}
	return list
}

func comparedSubject(row, base *Row, run string) subject {
	return subject{row.cells[0].name() + run, row.Labels, func(of, metric string) (float64, bool) {
		c, compared := row.Changes[metric]
		switch of {
		case ofBaseline:
			v, ok := base.Values[metric]
			return v.Center, ok
		case ofChange:
			return c.Ratio, compared
		case ofP:
			return c.P, compared && c.Tested
		case ofSignificant:
			if c.Significant {
				return 1, compared && c.Decidable
			}
			return 0, compared && c.Decidable
		}
		v, ok := row.Values[metric]
		return v.Center, ok
	}}
}

// hold works out each expression for each of its subjects; it is a failure where it comes to other than what is wanted.
func hold(sources []string, subjects func(compared bool) []subject, wanted bool) (failures []AssertFailure, silent []string, err error) {
	for _, source := range sources {
		a, err := compileAssert(source)
		if err != nil {
			return nil, nil, err
		}
		list := subjects(a.compares)
		without, missing := 0, ""
		for _, s := range list {
			holds, values, lacks, err := a.run(s)
			switch {
			case lacks != "":
				without, missing = without+1, lacks
			case err != nil || holds != wanted:
				failures = append(failures, AssertFailure{source, err == nil && holds, s.name, values, err})
			}
		}
		switch {
		case without == len(list) && len(list) == 0 && !a.compares && wanted:
			// no cell was measured, which whoever asserts tells
		case without == len(list):
			failures = append(failures, AssertFailure{Expr: source, Err: a.appliesToNone(len(list), missing)})
		case without > 0:
			silent = append(silent, fmt.Sprintf("%s: no answer for %d of %d cells: %s", source, without, len(list), whyMissing(missing)))
		}
	}
	return failures, silent, nil
}

// appliesToNone says why an expression says nothing about any cell.
func (a *assertion) appliesToNone(subjects int, missing string) error {
	switch {
	case subjects == 0 && a.compares:
		return fmt.Errorf("it applies to no cell: none is compared with another")
	case subjects == 0:
		return fmt.Errorf("it applies to no cell: there is none")
	}
	return fmt.Errorf("it applies to no cell: %s", whyMissing(missing))
}

func whyMissing(name string) string {
	switch of, metric, related := strings.Cut(name, "."); {
	case related && (of == ofSignificant || of == ofP):
		return fmt.Sprintf("none has %s, which takes %d complete repeats on both sides", name, TestRepeats)
	case related:
		return "none has " + name + takes(metric)
	default:
		return "none has " + name + takes(name)
	}
}

func (c *Cell) name() string {
	names := slices.DeleteFunc(slices.Clone(c.Path), func(s string) bool { return s == "" })
	switch {
	case len(c.Labels) > 0 && len(names) > 0:
		return Key(names, c.Labels)
	case len(c.Labels) > 0:
		return strings.Trim(Key(nil, c.Labels), "{}")
	case len(names) > 0:
		return strings.TrimSuffix(Key(names, nil), "{}")
	}
	return cmp.Or(c.Workload, "the cell")
}

// assertion is a compiled expression. Figures are read through functions, so that one that a cell does not have is noticed only
// where the expression comes to it.
type assertion struct {
	program  *vm.Program
	names    []string // the figures in it: tps, change.tps
	compares bool     // one of them is of a comparison
}

// The functions that figures are read through.
const (
	figureFunc = "__figure"
	claimFunc  = "__claim"
)

func compileAssert(source string) (*assertion, error) {
	a := &assertion{}
	names := &figurePatcher{assertion: a}
	program, err := expr.Compile(source,
		expr.Env(map[string]any{
			"labels":   map[string]string{},
			figureFunc: func(string) (float64, error) { return 0, nil },
			claimFunc:  func(string) (bool, error) { return false, nil },
		}),
		expr.Patch(names), expr.AsBool())
	if len(names.unknown) > 0 {
		return nil, fmt.Errorf("%q: %s", source, unknownName(names.unknown[0]))
	}
	if len(names.bare) > 0 {
		return nil, fmt.Errorf("%q: %s is of a metric: write %s.tps", source, names.bare[0], names.bare[0])
	}
	if err != nil {
		return nil, fmt.Errorf("%q is not an assertion about a cell: %w", source, err)
	}
	a.program = program
	return a, nil
}

// figurePatcher turns the names of figures into calls and notes the names that nothing has.
type figurePatcher struct {
	assertion *assertion
	unknown   []string
	bare      []string // change and the like, without a metric
}

// Visit is called for each node, inner ones first.
func (p *figurePatcher) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.VariableDeclaratorNode:
		declared := func(name string) bool { return name == n.Name }
		p.unknown, p.bare = slices.DeleteFunc(p.unknown, declared), slices.DeleteFunc(p.bare, declared)
	case *ast.MemberNode:
		p.member(node, n)
	case *ast.IdentifierNode:
		p.identifier(node, n.Value)
	}
}

func (p *figurePatcher) identifier(node *ast.Node, name string) {
	switch {
	case name == "labels" || name == figureFunc || name == claimFunc:
	case slices.Contains(relations, name):
		p.bare = append(p.bare, name)
	case !known(name):
		if !slices.Contains(p.unknown, name) {
			p.unknown = append(p.unknown, name)
		}
	default:
		p.call(node, figureFunc, name)
	}
}

// member turns change.tps into a call.
func (p *figurePatcher) member(node *ast.Node, n *ast.MemberNode) {
	of, ok1 := n.Node.(*ast.IdentifierNode)
	metric, ok2 := n.Property.(*ast.StringNode)
	if !ok1 || !ok2 || !slices.Contains(p.bare, of.Value) {
		return
	}
	p.bare = slices.Delete(p.bare, slices.Index(p.bare, of.Value), slices.Index(p.bare, of.Value)+1)
	if !known(metric.Value) {
		p.unknown = append(p.unknown, metric.Value)
		return
	}
	function := figureFunc
	if of.Value == ofSignificant {
		function = claimFunc
	}
	p.assertion.compares = true
	p.call(node, function, of.Value+"."+metric.Value)
}

func known(metric string) bool { _, ok := MetricByName(metric); return ok }

func (p *figurePatcher) call(node *ast.Node, function, name string) {
	if !slices.Contains(p.assertion.names, name) {
		p.assertion.names = append(p.assertion.names, name)
	}
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: function}, Arguments: []ast.Node{&ast.StringNode{Value: name}}})
}

// figureOf reads a figure of a subject; one that is no finite number is none.
func figureOf(s subject, name string) (float64, bool) {
	of, metric, related := strings.Cut(name, ".")
	if !related {
		of, metric = "", name
	}
	v, ok := s.figure(of, metric)
	return v, ok && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// run works the expression out for a subject. Lacks is the name of a figure that it came to and that the subject does not have;
// then it has no answer.
func (a *assertion) run(s subject) (holds bool, values []Figure, lacks string, err error) {
	labels := map[string]string{}
	for _, l := range s.labels {
		labels[l.Name] = l.Value
	}
	figure := func(name string) (float64, error) {
		v, ok := figureOf(s, name)
		if !ok {
			lacks = name
			return 0, fmt.Errorf("there is no %s", name)
		}
		return v, nil
	}
	claim := func(name string) (bool, error) { v, err := figure(name); return v != 0, err }
	out, err := expr.Run(a.program, map[string]any{"labels": labels, figureFunc: figure, claimFunc: claim})
	if lacks != "" {
		return false, nil, lacks, nil
	}
	for _, name := range a.names {
		if v, ok := figureOf(s, name); ok {
			values = append(values, Figure{name, v})
		}
	}
	holds, _ = out.(bool)
	return holds, values, "", err
}

func unknownName(name string) string {
	names := append(metricNames(), append([]string{"labels"}, relations...)...)
	if near := plan.Suggest(name, names); near != "" {
		return fmt.Sprintf("there is no metric %q; did you mean %q?", name, near)
	}
	return fmt.Sprintf("there is no metric %q: there are %s", name, strings.Join(names, ", "))
}

// takes tells what a plan has to say for its cells to have a metric; empty for one that they have by themselves.
func takes(name string) string {
	is := func(m Metric) bool { return m.Name == name }
	switch {
	case slices.ContainsFunc(openMetrics, is):
		return ", which takes a rate in the run step"
	case slices.ContainsFunc(machineMetrics, is):
		return ", which takes a monitor in the target"
	}
	return ""
}
