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

// AssertFailure is an assertion that did not hold.
type AssertFailure struct {
	Expr   string
	Cell   string // its key, and its repeat where there are several; empty where no cell has the metric
	Values []Figure
	Err    error // why it could not be worked out; nil: it was, and is false
}

// Figure is a metric with its value.
type Figure struct {
	Name  string
	Value float64
}

// String says what did not hold, where, and with which values.
func (f AssertFailure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s does not hold", f.Expr)
	if f.Cell != "" {
		fmt.Fprintf(&b, " for %s", f.Cell)
	}
	for i, v := range f.Values {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(v.Name + " = " + rounded(v.Value))
	}
	if f.Err != nil {
		fmt.Fprintf(&b, ": %v", f.Err)
	}
	return b.String()
}

// rounded writes whole numbers as they are and others with six significant digits, without zeros at their end.
func rounded(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	decimals := max(0, 5-int(math.Floor(math.Log10(math.Abs(v)))))
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// CheckAssert tells whether an expression can be asserted of a cell: its names are metrics or labels, and it is true or
// false.
func CheckAssert(source string) error {
	_, err := compileAssert(source)
	return err
}

// Assert works out each expression for each cell, with the metrics by name and labels as a map. Where a cell does not
// have a metric that decides (read_p95 without reads) the expression says nothing about it; where that is so for all
// cells, it fails. The error is that of an expression which CheckAssert refuses.
func Assert(cells []Cell, sources []string) ([]AssertFailure, error) {
	var failures []AssertFailure
	for _, source := range sources {
		a, err := compileAssert(source)
		if err != nil {
			return nil, err
		}
		applied := false
		for i := range cells {
			holds, values, applies, err := a.run(&cells[i])
			applied = applied || applies
			if applies && !holds {
				failures = append(failures, AssertFailure{source, cellName(cells, i), values, err})
			}
		}
		if !applied && len(cells) > 0 {
			failures = append(failures, AssertFailure{Expr: source, Err: fmt.Errorf("it applies to no cell: none has %s", strings.Join(a.names, ", "))})
		}
	}
	return failures, nil
}

// cellName is how a message calls a cell: by its identity; where that is empty, by its workload.
func cellName(cells []Cell, i int) string {
	key := cells[i].Key()
	name := cells[i].name()
	same := 0
	for n := range cells {
		if cells[n].Key() == key {
			same++
		}
	}
	if same > 1 {
		return fmt.Sprintf("%s repeat %d", name, cells[i].Repeat)
	}
	return name
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

// assertion is a compiled expression. Metrics are read through a function, so that one that a cell does not have is
// noticed only where the expression comes to it.
type assertion struct {
	program *vm.Program
	names   []string // the metrics in it
}

const metricFunc = "__metric"

func compileAssert(source string) (*assertion, error) {
	a := &assertion{}
	names := &metricPatcher{assertion: a}
	program, err := expr.Compile(source,
		expr.Env(map[string]any{"labels": map[string]string{}, metricFunc: func(string) (float64, error) { return 0, nil }}),
		expr.Patch(names), expr.AsBool())
	if len(names.unknown) > 0 {
		return nil, fmt.Errorf("%q: %s", source, unknownName(names.unknown[0]))
	}
	if err != nil {
		return nil, fmt.Errorf("%q is not an assertion about a cell: %w", source, err)
	}
	a.program = program
	return a, nil
}

// metricPatcher turns the names of metrics into calls and notes the names that nothing has.
type metricPatcher struct {
	assertion *assertion
	unknown   []string
}

// Visit is called for each node, inner ones first.
func (p *metricPatcher) Visit(node *ast.Node) {
	if let, ok := (*node).(*ast.VariableDeclaratorNode); ok {
		p.unknown = slices.DeleteFunc(p.unknown, func(name string) bool { return name == let.Name })
	}
	id, ok := (*node).(*ast.IdentifierNode)
	if !ok || id.Value == "labels" || id.Value == metricFunc {
		return
	}
	if _, ok := MetricByName(id.Value); !ok {
		if !slices.Contains(p.unknown, id.Value) {
			p.unknown = append(p.unknown, id.Value)
		}
		return
	}
	if !slices.Contains(p.assertion.names, id.Value) {
		p.assertion.names = append(p.assertion.names, id.Value)
	}
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: metricFunc}, Arguments: []ast.Node{&ast.StringNode{Value: id.Value}}})
}

// run works the expression out for a cell. It does not apply where it came to a metric that the cell does not have.
func (a *assertion) run(c *Cell) (holds bool, values []Figure, applies bool, err error) {
	labels := map[string]string{}
	for _, l := range c.Labels {
		labels[l.Name] = l.Value
	}
	missing := false
	metric := func(name string) (float64, error) {
		m, _ := MetricByName(name)
		v, ok := m.Value(c)
		if !ok {
			missing = true
			return 0, fmt.Errorf("%s does not apply", name)
		}
		return v, nil
	}
	out, err := expr.Run(a.program, map[string]any{"labels": labels, metricFunc: metric})
	if missing {
		return false, nil, false, nil
	}
	for _, name := range a.names {
		m, _ := MetricByName(name)
		if v, ok := m.Value(c); ok {
			values = append(values, Figure{name, v})
		}
	}
	holds, _ = out.(bool)
	return holds, values, true, err
}

func unknownName(name string) string {
	names := append(metricNames(), "labels")
	if near := plan.Suggest(name, names); near != "" {
		return fmt.Sprintf("there is no metric %q; did you mean %q?", name, near)
	}
	return fmt.Sprintf("there is no metric %q: there are %s", name, strings.Join(names, ", "))
}
