package plan

import (
	"errors"
	"math"
	"reflect"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// An expression is metered: expr-lang bounds the memory of some operations, but not the time of loops within loops nor
// the size of texts. What every operator, function and loop takes is charged by its size against one budget.

// maxExpressionCost is that budget, in values, and in pieces of texts of 64 bytes.
const maxExpressionCost = 1_000_000

// maxHeld bounds, by the same measure, the variables that a step can see: they are in memory at once.
const maxHeld = 500_000

var errCost = errors.New("the expression takes too much time or memory")

// meterName is what the budget is called in an expression's names: nothing that an expression can say.
const meterName = "\x00meter"

type meter struct{ left int }

// charge takes the size of a tree off the budget.
func (m *meter) charge(v any) error {
	m.left--
	switch v := v.(type) {
	case nil, bool, int, int64, float64:
	case string:
		m.left -= len(v) / 64
	case []any:
		for i := 0; i < len(v) && m.left > 0; i++ {
			if err := m.charge(v[i]); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, item := range v {
			if err := m.charge(item); err != nil {
				return err
			}
		}
	default: // what expr-lang makes beside: []int of 1..3, maps of groupBy
		if r := reflect.ValueOf(v); r.Kind() == reflect.Slice || r.Kind() == reflect.Map {
			m.left -= r.Len()
		}
	}
	if m.left <= 0 {
		return errCost
	}
	return nil
}

// runMetered runs a program with a new budget. names is changed.
func runMetered(program *vm.Program, names map[string]any) (any, error) {
	m := &meter{maxExpressionCost}
	names[meterName] = m
	value, err := expr.Run(program, names)
	if err != nil {
		return nil, err
	}
	return value, m.charge(value)
}

// expressionOptions are those of every expression. There is no optimizer: it would work out constants without the budget.
var expressionOptions = []expr.Option{
	expr.Optimize(false),
	expr.Patch(metering{}),
	expr.Patch(lenient{}),
	expr.Function(chargeName, func(args ...any) (any, error) { return args[1], args[0].(*meter).charge(args[1]) }),
	// These multiply what they take, so their result is reckoned beforehand.
	expr.Function("repeat", repeatText, new(func(string, int) string)),
	expr.Function("join", joinTexts, new(func([]any) string), new(func([]any, string) string)),
	expr.Function("replace", replaceText, new(func(string, string, string) string), new(func(string, string, string, int) string)),
}

const chargeName = "\x00charge"

// metering puts a charge around what operators, functions and loops take.
type metering struct{}

// Visit is called by expr-lang for every node of a tree, inner ones first.
func (metering) Visit(n *ast.Node) {
	switch n := (*n).(type) {
	case *ast.BinaryNode:
		charged(&n.Left)
		charged(&n.Right)
	case *ast.BuiltinNode:
		chargeAll(n.Arguments)
	case *ast.CallNode:
		chargeAll(n.Arguments)
	case *ast.PredicateNode:
		charged(&n.Node)
	case *ast.ArrayNode:
		chargeAll(n.Nodes)
	case *ast.PairNode:
		charged(&n.Value)
	}
}

func chargeAll(nodes []ast.Node) {
	for i := range nodes {
		charged(&nodes[i])
	}
}

func charged(n *ast.Node) {
	switch (*n).(type) {
	case *ast.PredicateNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.NilNode, *ast.ConstantNode:
		return // a loop's body is charged by itself, and constants are as long as they are written
	}
	ast.Patch(n, &ast.CallNode{
		Callee:    &ast.IdentifierNode{Value: chargeName},
		Arguments: []ast.Node{&ast.IdentifierNode{Value: meterName}, *n},
	})
}

// lenient lets nothing have nothing below it: what a skipped step would have yielded is nil, however deep it is read.
type lenient struct{}

// Visit is called by expr-lang for every node of a tree, inner ones first.
func (lenient) Visit(n *ast.Node) {
	if m, ok := (*n).(*ast.MemberNode); ok && !m.Method {
		m.Optional = true
		ast.Patch(n, &ast.ChainNode{Node: m})
	}
}

func repeatText(args ...any) (any, error) {
	s, ok := args[0].(string)
	n, whole := wholeNumber(args[1])
	if !ok || !whole || n < 0 {
		return nil, errors.New("repeat takes a text and a whole number, at least 0")
	}
	if n > 0 && len(s) > maxText/n {
		return nil, errCost
	}
	return strings.Repeat(s, n), nil
}

func joinTexts(args ...any) (any, error) {
	list, ok := args[0].([]any)
	glue := ""
	if len(args) > 1 {
		glue, _ = args[1].(string)
	}
	texts, length := make([]string, len(list)), 0
	for i, item := range list {
		s, isText := item.(string)
		texts[i], ok, length = s, ok && isText, length+len(s)+len(glue)
	}
	switch {
	case !ok:
		return nil, errors.New("join takes a list of texts; map(list, string(#)) makes texts of other values")
	case length > maxText:
		return nil, errCost
	}
	return strings.Join(texts, glue), nil
}

func replaceText(args ...any) (any, error) {
	var texts [3]string
	ok := true
	for i := range texts {
		s, isText := args[i].(string)
		texts[i], ok = s, ok && isText
	}
	n := -1
	if len(args) > 3 {
		var whole bool
		n, whole = wholeNumber(args[3])
		ok = ok && whole
	}
	switch s, before, after := texts[0], texts[1], texts[2]; {
	case !ok:
		return nil, errors.New("replace takes three texts, and how many times at most")
	case strings.Count(s, before)*len(after) > maxText:
		return nil, errCost
	default:
		return strings.Replace(s, before, after, n), nil
	}
}

// maxText bounds the texts that expressions make, in bytes.
const maxText = 4 << 20

func wholeNumber(v any) (int, bool) {
	switch v := v.(type) {
	case int:
		return v, true
	case int64:
		return int(v), true
	case float64:
		return int(v), v == math.Trunc(v) && math.Abs(v) < 1e15
	}
	return 0, false
}
