package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	exprparser "github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// The bounds of what is compiled: expr-lang reads what is nested by recursion, and a compiled expression takes some kilobytes.
const (
	maxExpression  = 16 << 10 // bytes
	maxExpressions = 20_000
)

// expression is one expr-lang expression of a plan, compiled once.
type expression struct {
	source  string
	pos     Position // of its first character
	where   locator  // of the scalar that holds it
	base    int      // the expression's offset in the scalar, in characters
	program *vm.Program
	refs    []reference
	roots   []string // the names that it reads, each once
	keys    []string // of the mappings that it writes out
	pure    bool     // nothing but one reference: its value is passed on as it is, masks included
}

// at gives the place of a character of the expression.
func (e *expression) at(offset int) Position {
	where := e.where
	if where.text == nil || offset == 0 {
		return e.pos
	}
	return where.find(e.base + offset)
}

// compile reads one expression. Mistakes go to the reporter, and nil comes back. where is moved to the expression.
func (p *parser) compile(source string, where *locator, base int) *expression {
	lead := utf8.RuneCountInString(source[:len(source)-len(strings.TrimLeft(source, " \t\r\n"))])
	e := &expression{source: strings.TrimSpace(source), base: base + lead}
	e.pos = where.find(e.base)
	e.where = *where
	if e.source == "" {
		p.add(e.pos, "an expression is missing here")
		return nil
	}
	switch {
	case len(e.source) > maxExpression:
		p.add(e.pos, "the expression has %d bytes, more than %d", len(e.source), maxExpression)
		return nil
	case len(p.expressions) == maxExpressions:
		p.add(e.pos, "the plan has more than %d expressions", maxExpressions)
		return nil
	}
	tree, err := parseExpression(e.source)
	if err == nil {
		c := collector{locals: map[string]bool{}}
		c.visit(tree, false)
		e.refs, e.keys = c.refs, c.keys
		for _, ref := range e.refs {
			if !slices.Contains(e.roots, ref.path[0]) {
				e.roots = append(e.roots, ref.path[0])
			}
		}
		_, member := tree.(*ast.MemberNode)
		e.pure = member && len(c.refs) == 1 && !c.refs[0].computed && !c.refs[0].guarded
		e.program, err = expr.Compile(e.source, expressionOptions...)
	}
	if err != nil {
		pos, message := e.pos, err.Error()
		var located *file.Error
		if errors.As(err, &located) {
			pos, message = e.at(located.From), located.Message
		}
		p.add(pos, "expression: %s%s", message, operatorHint(e.source, message))
		return nil
	}
	p.expressions = append(p.expressions, e)
	return e
}

// short is the source for messages.
func (e *expression) short() string {
	if runes := []rune(e.source); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return e.source
}

// parseExpression reads the tree of an expression as it is written.
func parseExpression(source string) (ast.Node, error) {
	tree, err := exprparser.Parse(source)
	if err != nil {
		return nil, err
	}
	return tree.Node, nil
}

// operatorHint knows what people of other languages write.
func operatorHint(source, message string) string {
	if strings.Contains(message, `Operator("=")`) && !strings.Contains(source, "==") {
		return "; equality is written =="
	}
	return ""
}

// failure is what went wrong when an expression was worked out, with its place.
type failure struct {
	pos Position
	err error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// placeOf gives the place that an error knows.
func placeOf(err error, otherwise Position) Position {
	var f *failure
	if errors.As(err, &f) {
		return f.pos
	}
	return otherwise
}

// eval works an expression out in a scope with the names of local beside it. The value may be unknown; a value that a
// secret went into comes as Text.
func (e *expression) eval(s *Scope, local map[string]any) (any, error) {
	secret, unknowns := false, false
	for _, ref := range e.refs {
		tree, ok := s.lookup(ref.path, local)
		if e.pure {
			return tree, nil // nil where it is not there: a check has told that
		}
		if ok {
			holdsSecret, holdsUnknown := inspect(tree)
			secret, unknowns = secret || holdsSecret, unknowns || holdsUnknown
		}
	}
	if unknowns {
		return unknownValue{secret}, nil
	}
	value, err := runMetered(e.program, s.names(e, local))
	if err == nil {
		value = normalise(value)
		if !secret {
			return value, nil
		}
		if err = e.ownKeys(value, s, local); err == nil {
			return conceal(value), nil
		}
	}
	pos := e.pos
	var located *file.Error
	if errors.As(err, &located) {
		pos, err = e.at(located.From), errors.New(located.Message)
		if secret {
			err = errors.New("it cannot be worked out (what went wrong is not shown, since a secret is part of it)")
		}
	}
	return nil, &failure{pos, fmt.Errorf("${{ %s }}: %w", e.short(), err)}
}

// ownKeys refuses mappings whose keys an expression with a secret has made up: a key is printed as it is.
func (e *expression) ownKeys(value any, s *Scope, local map[string]any) error {
	known := map[string]bool{}
	for _, k := range e.keys {
		known[k] = true
	}
	var collect func(v any, each func(key string) bool) bool
	collect = func(v any, each func(key string) bool) bool {
		switch v := v.(type) {
		case []any:
			return !slices.ContainsFunc(v, func(item any) bool { return !collect(item, each) })
		case map[string]any:
			for k, item := range v {
				if !each(k) || !collect(item, each) {
					return false
				}
			}
		}
		return true
	}
	for _, ref := range e.refs {
		tree, _ := s.lookup(ref.path, local)
		collect(tree, func(k string) bool { known[k] = true; return true })
	}
	if !collect(value, func(k string) bool { return known[k] }) {
		return errors.New("a secret cannot become the key of a mapping: keys are printed and stored")
	}
	return nil
}
