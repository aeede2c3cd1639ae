package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
)

// unknownValue stands for what only the run tells: a step's result, or a secret that is not set while a plan is only checked.
type unknownValue struct{}

var unknown = unknownValue{}

// expression is one expr-lang expression of a plan, compiled once.
type expression struct {
	source  string
	pos     Position // of its first character
	oneLine bool     // positions inside it can be counted from pos
	program *vm.Program
	refs    []reference
	pure    bool // nothing but one reference: its value is passed on as it is, masks included
}

// reference is a name that an expression reads, with as much of the path behind it as is constant.
type reference struct {
	path     []string // the name first: ["vars", "radon"]
	offset   int      // of the name, in characters
	computed bool     // the path goes on with something that only evaluation tells
	guarded  bool     // under ?? or ?., where nothing is a fine answer
}

func (r reference) String() string { return strings.Join(r.path, ".") }

// template is a scalar with ${{ }} in it.
type template struct {
	parts []part
}

type part struct {
	literal string
	expr    *expression
}

// sole gives the expression of a template that is nothing else, whose value keeps its type.
func (t *template) sole() *expression {
	if len(t.parts) == 1 {
		return t.parts[0].expr
	}
	return nil
}

// parseTemplate cuts a scalar into literals and expressions. "$${{" is a literal "${{".
func parseTemplate(r *reporter, n *node) *template {
	t := &template{}
	text := n.text
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "${{") && strings.HasSuffix(trimmed, "}}") {
		text = trimmed
	}
	lines := strings.Count(n.text, "\n") + 2
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			t.parts = append(t.parts, part{literal: literal.String()})
			literal.Reset()
		}
	}
	searched := n.pos
	for {
		i := strings.Index(text, "${{")
		if i < 0 {
			break
		}
		if i > 0 && text[i-1] == '$' {
			literal.WriteString(text[:i-1] + "${{")
			text = text[i+3:]
			continue
		}
		literal.WriteString(text[:i])
		inner, rest, ok := cutExpression(text[i+3:])
		if !ok {
			r.add(r.find(searched, "${{", lines), `"${{" has no "}}"`)
			return t
		}
		flush()
		source := strings.TrimSpace(inner)
		pos := r.find(searched, "${{"+inner, lines)
		at := pos
		if lead := strings.Index(inner, source); source != "" {
			at.Column += 3 + len([]rune(inner[:lead]))
		}
		searched = Position{pos.Line, pos.Column + 1}
		if source == "" {
			r.add(pos, `"${{ }}" holds no expression`)
		} else if e := compile(r, source, at); e != nil {
			t.parts = append(t.parts, part{expr: e})
		}
		text = rest
	}
	literal.WriteString(text)
	flush()
	return t
}

// cutExpression splits at the "}}" that ends an expression: not one within quotes, and not the braces of a map.
func cutExpression(s string) (inner, rest string, ok bool) {
	depth := 0
	var quote byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == '}' && i+1 < len(s) && s[i+1] == '}':
			return s[:i], s[i+2:], true
		}
	}
	return "", "", false
}

// compile reads one expression. Mistakes go to the reporter, and nil comes back.
func compile(r *reporter, source string, at Position) *expression {
	e := &expression{source: source, pos: at, oneLine: !strings.Contains(source, "\n")}
	program, err := expr.Compile(source, expr.Optimize(false))
	if err != nil {
		var located *file.Error
		if errors.As(err, &located) {
			pos := at
			if e.oneLine {
				pos.Column += located.Column
			}
			r.add(pos, "expression: %s", located.Message)
		} else {
			r.add(at, "expression: %v", err)
		}
		return nil
	}
	e.program = program
	root := program.Node()
	c := collector{locals: map[string]bool{}}
	c.visit(root, false)
	e.refs = c.refs
	if m, ok := root.(*ast.MemberNode); ok && len(c.refs) == 1 && !c.refs[0].computed && !m.Optional {
		e.pure = true
	}
	r.expressions = append(r.expressions, e)
	return e
}

// collector finds the names that an expression reads.
type collector struct {
	locals map[string]bool
	refs   []reference
}

func (c *collector) visit(n ast.Node, guarded bool) {
	switch n := n.(type) {
	case nil:
	case *ast.IdentifierNode:
		c.add(reference{path: []string{n.Value}, offset: n.Location().From, guarded: guarded})
	case *ast.MemberNode:
		if ref, ok := c.path(n); ok {
			ref.guarded = ref.guarded || guarded
			c.add(ref)
			return
		}
		c.visit(n.Node, guarded)
		c.visit(n.Property, false)
	case *ast.ChainNode:
		c.visit(n.Node, true)
	case *ast.UnaryNode:
		c.visit(n.Node, guarded)
	case *ast.BinaryNode:
		c.visit(n.Left, guarded || n.Operator == "??")
		c.visit(n.Right, guarded)
	case *ast.SliceNode:
		c.visit(n.Node, guarded)
		c.visit(n.From, false)
		c.visit(n.To, false)
	case *ast.CallNode:
		c.visit(n.Callee, guarded)
		c.all(n.Arguments)
	case *ast.BuiltinNode:
		c.all(n.Arguments)
	case *ast.PredicateNode:
		c.visit(n.Node, false)
	case *ast.ConditionalNode:
		c.visit(n.Cond, false)
		c.visit(n.Exp1, guarded)
		c.visit(n.Exp2, guarded)
	case *ast.VariableDeclaratorNode:
		c.visit(n.Value, false)
		before := c.locals[n.Name]
		c.locals[n.Name] = true
		c.visit(n.Expr, guarded)
		c.locals[n.Name] = before
	case *ast.SequenceNode:
		c.all(n.Nodes)
	case *ast.ArrayNode:
		c.all(n.Nodes)
	case *ast.MapNode:
		c.all(n.Pairs)
	case *ast.PairNode:
		c.visit(n.Key, false)
		c.visit(n.Value, false)
	}
}

func (c *collector) all(nodes []ast.Node) {
	for _, n := range nodes {
		c.visit(n, false)
	}
}

func (c *collector) add(r reference) {
	if !c.locals[r.path[0]] {
		c.refs = append(c.refs, r)
	}
}

// path flattens a.b["c"] to a reference; it visits the properties that are not constant.
func (c *collector) path(m *ast.MemberNode) (reference, bool) {
	var ref reference
	switch base := m.Node.(type) {
	case *ast.IdentifierNode:
		ref = reference{path: []string{base.Value}, offset: base.Location().From}
	case *ast.MemberNode:
		var ok bool
		if ref, ok = c.path(base); !ok {
			return ref, false
		}
	default:
		return ref, false
	}
	ref.guarded = ref.guarded || m.Optional
	if ref.computed {
		if _, constant := m.Property.(*ast.StringNode); !constant {
			c.visit(m.Property, false)
		}
		return ref, true
	}
	switch p := m.Property.(type) {
	case *ast.StringNode:
		ref.path = append(ref.path, p.Value)
	case *ast.IntegerNode:
		ref.path = append(ref.path, strconv.Itoa(p.Value))
	default:
		ref.computed = true
		c.visit(m.Property, false)
	}
	return ref, true
}

// eval works an expression out in a scope with the names of local beside it. The value may be unknown; a value that a
// secret went into comes as Text.
func (e *expression) eval(s *Scope, local map[string]any) (any, error) {
	secret := false
	for _, ref := range e.refs {
		tree, ok := s.lookup(ref.path, local)
		if !ok {
			continue // found by Check, or nil at the run
		}
		holdsSecret, holdsUnknown := inspect(tree)
		if holdsUnknown {
			return unknown, nil
		}
		if e.pure {
			return tree, nil
		}
		secret = secret || holdsSecret
	}
	env := s.env()
	if len(local) > 0 {
		env = maps.Clone(env)
		for k, v := range local {
			env[k] = Reveal(v)
		}
	}
	value, err := expr.Run(e.program, env)
	if err != nil {
		var located *file.Error
		if errors.As(err, &located) {
			err = errors.New(located.Message)
		}
		if secret {
			err = errors.New("it cannot be worked out (what went wrong is not shown, since a secret is part of it)")
		}
		return nil, fmt.Errorf("${{ %s }}: %w", e.source, err)
	}
	value = normalise(value)
	if secret {
		value = conceal(value)
	}
	return value, nil
}

// eval works a template out: one expression keeps its type, several parts become a text.
func (t *template) eval(s *Scope, local map[string]any) (any, error) {
	if e := t.sole(); e != nil {
		return e.eval(s, local)
	}
	var out Text
	for _, p := range t.parts {
		if p.expr == nil {
			out.value, out.shown = out.value+p.literal, out.shown+p.literal
			continue
		}
		v, err := p.expr.eval(s, local)
		if err != nil {
			return nil, err
		}
		if v == any(unknown) {
			return unknown, nil
		}
		piece, err := textOf(v)
		if err != nil {
			return nil, fmt.Errorf("${{ %s }}: %w", p.expr.source, err)
		}
		out.value, out.shown, out.secret = out.value+piece.value, out.shown+piece.shown, out.secret || piece.secret
	}
	if !out.secret {
		return out.value, nil
	}
	return out, nil
}

// textOf writes a value as it stands within a text: lists and mappings as JSON.
func textOf(v any) (Text, error) {
	switch v := v.(type) {
	case nil:
		return Text{}, errors.New("it is nil (nothing); a text needs a value: write `?? \"…\"` behind it for one")
	case Text:
		return v, nil
	case string:
		return PlainText(v), nil
	case bool, int, int64, uint64, float64:
		return PlainText(scalarText(v)), nil
	}
	open, err := json.Marshal(Reveal(v))
	if err != nil {
		return Text{}, err
	}
	shown, err := json.Marshal(v)
	if err != nil {
		return Text{}, err
	}
	secret, _ := inspect(v)
	return Text{value: string(open), shown: string(shown), secret: secret}, nil
}

// scalarText writes a number or a boolean as a plan would.
func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// normalise brings what expr-lang gives into the few types that the rest knows: nil, bool, int64, float64, string, []any, map[string]any, Text.
func normalise(v any) any {
	switch v := v.(type) {
	case nil, bool, int64, float64, string, Text, unknownValue:
		return v
	case int:
		return int64(v)
	case uint64:
		return v
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = normalise(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = normalise(v[k])
		}
		return out
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	var out any
	if json.Unmarshal(b, &out) != nil {
		return string(b)
	}
	return out
}

// inspect tells whether a tree holds a secret, and whether it holds something unknown.
func inspect(v any) (secret, unknowns bool) {
	switch v := v.(type) {
	case Text:
		return v.secret, false
	case unknownValue:
		return false, true
	case []any:
		for _, item := range v {
			s, u := inspect(item)
			secret, unknowns = secret || s, unknowns || u
		}
	case map[string]any:
		for _, item := range v {
			s, u := inspect(item)
			secret, unknowns = secret || s, unknowns || u
		}
	}
	return secret, unknowns
}

// Reveal gives a tree of values with its secrets open, for sending it to where it belongs and nowhere else.
func Reveal(v any) any {
	switch v := v.(type) {
	case Text:
		return v.value
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Reveal(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = Reveal(v[k])
		}
		return out
	}
	return v
}

// conceal makes every scalar of a tree a secret.
func conceal(v any) any {
	switch v := v.(type) {
	case nil, Text:
		return v
	case []any:
		for i := range v {
			v[i] = conceal(v[i])
		}
		return v
	case map[string]any:
		for k := range v {
			v[k] = conceal(v[k])
		}
		return v
	}
	return SecretText(scalarText(v))
}

// minusName is an expression that reads json.proxy.twopc-enable, which subtracts.
var minusName = regexp.MustCompile(`([\w.]*)\.(\w+(?:-\w+)+)`)

// checkReferences reports the names that an expression reads and that are not there; it tells whether all are.
func (s *Scope) checkReferences(r *reporter, e *expression, local []string) bool {
	all := true
	for _, ref := range e.refs {
		if ref.guarded && ref.path[0] == "env" {
			continue
		}
		pos := e.pos
		if e.oneLine {
			pos.Column += ref.offset
		}
		if problem := s.missing(ref, local); problem != "" {
			if m := minusName.FindStringSubmatch(e.source); m != nil && len(ref.path) == 1 && strings.Contains(m[2], ref.path[0]) {
				problem = fmt.Sprintf(`%s.%s is a subtraction; write %s["%s"]`, m[1], m[2], m[1], m[2])
			}
			r.add(pos, "%s", problem)
			all = false
		}
	}
	return all
}

// missing says what is wrong with a reference, or nothing.
func (s *Scope) missing(ref reference, local []string) string {
	root := ref.path[0]
	if slices.Contains(local, root) {
		return ""
	}
	names := append([]string{"vars", "env", "secrets", "matrix", "labels", "steps"}, local...)
	if !slices.Contains(names, root) {
		return fmt.Sprintf("the name %q is not known here (known: %s)%s", root, strings.Join(names, " "), didYouMean(root, names))
	}
	if len(ref.path) == 1 {
		if root == "secrets" || root == "env" && ref.computed {
			return root + ": name the one that is meant, as in " + root + ".NAME"
		}
		return ""
	}
	name := ref.path[1]
	known := s.names(root)
	switch root {
	case "secrets":
		return ""
	case "env":
		if _, ok := s.lookup(ref.path[:2], nil); !ok {
			return fmt.Sprintf("the environment variable %s is not set; set it, or write `env.%s ?? \"…\"`", name, name)
		}
		return ""
	}
	tree, ok := s.lookup(ref.path[:2], nil)
	if !ok {
		if root == "steps" && !slices.Contains(known, name) && s.laterStep(name) {
			return fmt.Sprintf("steps.%s is not there yet: only what ran before can be read", name)
		}
		what := map[string]string{"vars": "no such variable", "matrix": "no axis of that name is around this step", "labels": "no label of that name is here", "steps": "no earlier step of this group has that id"}[root]
		return fmt.Sprintf("%s.%s: %s%s", root, name, what, didYouMean(name, known))
	}
	if root == "steps" {
		if yields, isStep := s.yields(name); isStep && len(ref.path) > 2 && !slices.Contains(yields, ref.path[2]) {
			return fmt.Sprintf("steps.%s has no %q (it has: %s)%s", name, ref.path[2], strings.Join(yields, " "), didYouMean(ref.path[2], yields))
		}
		return ""
	}
	return missingField(ref, 2, tree)
}

// missingField follows the rest of a reference's path through a value that is there.
func missingField(ref reference, from int, tree any) string {
	for i := from; i < len(ref.path); i++ {
		switch v := tree.(type) {
		case map[string]any:
			next, ok := v[ref.path[i]]
			if !ok {
				if ref.guarded {
					return ""
				}
				keys := slices.Sorted(maps.Keys(v))
				return fmt.Sprintf("%s has no %q%s", strings.Join(ref.path[:i], "."), ref.path[i], didYouMean(ref.path[i], keys))
			}
			tree = next
		case []any, unknownValue, nil:
			return "" // the run tells
		default:
			return fmt.Sprintf("%s is a single value and has no %q", strings.Join(ref.path[:i], "."), ref.path[i])
		}
	}
	return ""
}
