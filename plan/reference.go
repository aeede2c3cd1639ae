package plan

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// reference is a name that an expression reads, with as much of the path behind it as is constant.
type reference struct {
	path     []string // the name first: ["vars", "radon"]
	offset   int      // of the name, in characters
	computed bool     // the path goes on with something that only evaluation tells
	guarded  bool     // under ?? or ?., where nothing is a fine answer
}

func (r reference) String() string { return strings.Join(r.path, ".") }

// collector finds the names that an expression reads and the keys of the mappings that it writes out.
type collector struct {
	locals map[string]bool
	refs   []reference
	keys   []string
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
		if key, ok := n.Key.(*ast.StringNode); ok {
			c.keys = append(c.keys, key.Value)
		}
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
	base := m.Node
	if chain, ok := base.(*ast.ChainNode); ok {
		base, ref.guarded = chain.Node, true
	}
	switch base := base.(type) {
	case *ast.IdentifierNode:
		ref.path, ref.offset = []string{base.Value}, base.Location().From
	case *ast.MemberNode:
		inner, ok := c.path(base)
		if !ok {
			return ref, false
		}
		inner.guarded = inner.guarded || ref.guarded
		ref = inner
	default:
		return ref, false
	}
	ref.guarded = ref.guarded || m.Optional
	switch p := m.Property.(type) {
	case *ast.StringNode:
		if !ref.computed {
			ref.path = append(ref.path, p.Value)
		}
	case *ast.IntegerNode:
		if !ref.computed {
			ref.path = append(ref.path, strconv.Itoa(p.Value))
		}
	default:
		ref.computed = true
		c.visit(m.Property, false)
	}
	return ref, true
}

// roots are the names that expressions may read everywhere.
var roots = []string{"vars", "env", "secrets", "matrix", "labels", "steps"}

// minusName is an expression that reads json.proxy.twopc-enable, which subtracts.
var minusName = regexp.MustCompile(`([\w.]*)\.(\w+(?:-\w+)+)`)

// checkReferences reports the names that an expression reads and that are not there; it tells whether all are.
func (s *Scope) checkReferences(r *reporter, e *expression, local []string) bool {
	all := true
	for _, ref := range e.refs {
		problem := s.missing(ref, local)
		if problem == "" {
			continue
		}
		if m := minusName.FindStringSubmatch(e.source); m != nil && len(ref.path) == 1 && slices.Contains(strings.Split(m[2], "-"), ref.path[0]) {
			problem = fmt.Sprintf(`%s.%s is a subtraction; write %s["%s"]`, m[1], m[2], m[1], m[2])
		}
		r.add(e.at(ref.offset), "%s", problem)
		all = false
	}
	return all
}

// missing says what is wrong with a reference, or nothing.
func (s *Scope) missing(ref reference, local []string) string {
	root := ref.path[0]
	if slices.Contains(local, root) {
		return ""
	}
	if !slices.Contains(roots, root) {
		known := slices.Concat(roots, local)
		for _, under := range []string{"vars", "matrix"} {
			if _, ok := s.lookup([]string{under, root}, nil); ok {
				return fmt.Sprintf("the name %q is not known here; did you mean \"%s.%s\"?", root, under, root)
			}
		}
		return fmt.Sprintf("the name %q is not known here (known: %s)%s", root, strings.Join(known, " "), didYouMean(root, known))
	}
	if len(ref.path) == 1 {
		if root == "secrets" || root == "env" {
			return root + ": name the one that is meant, as in " + root + ".NAME"
		}
		return ""
	}
	name := ref.path[1]
	tree, ok := s.lookup(ref.path[:2], nil)
	switch {
	case root == "secrets":
		return ""
	case ok && root == "steps":
		return s.missingResult(ref)
	case ok:
		return missingField(ref, 2, tree)
	case root == "env":
		if ref.guarded {
			return ""
		}
		return fmt.Sprintf("the environment variable %s is not set; set it, or write `env.%s ?? \"…\"`", name, name)
	case root == "steps" && s.laterStep(name):
		return fmt.Sprintf("steps.%s is not there yet: only what ran before can be read", name)
	case root == "vars" && s.laterVariable(name):
		return fmt.Sprintf("vars.%s is not there yet: a variable may use those above it, and a group's own are seen by what the group holds", name)
	}
	what := map[string]string{
		"vars":   "no such variable",
		"matrix": "no axis of that name is around this step",
		"labels": "no label of that name is here",
		"steps":  "no earlier step of this group has that id",
	}[root]
	return fmt.Sprintf("%s.%s: %s%s", root, name, what, didYouMean(name, sortedKeys(s.all(root))))
}

// missingResult says what a step's result does not have.
func (s *Scope) missingResult(ref reference) string {
	name := ref.path[1]
	if yields, isStep := s.yields(name); isStep && len(ref.path) > 2 && !slices.Contains(yields, ref.path[2]) {
		if len(yields) == 0 {
			return fmt.Sprintf("steps.%s yields nothing that could be read", name)
		}
		return fmt.Sprintf("steps.%s has no %q (it has: %s)%s", name, ref.path[2], strings.Join(yields, " "), didYouMean(ref.path[2], yields))
	}
	return ""
}

// missingField follows the rest of a reference's path through a value that is there.
func missingField(ref reference, from int, tree any) string {
	for i := from; i < len(ref.path); i++ {
		above := strings.Join(ref.path[:i], ".")
		switch v := tree.(type) {
		case map[string]any:
			next, ok := v[ref.path[i]]
			if !ok && ref.guarded {
				return ""
			}
			if !ok {
				return fmt.Sprintf("%s has no %q%s", above, ref.path[i], didYouMean(ref.path[i], slices.Sorted(maps.Keys(v))))
			}
			tree = next
		case []any:
			n, err := strconv.Atoi(ref.path[i])
			if err != nil {
				return fmt.Sprintf("%s is a list and has no %q", above, ref.path[i])
			}
			if n < 0 {
				n += len(v) // expr-lang counts from the end
			}
			if n < 0 || n >= len(v) {
				if ref.guarded {
					return ""
				}
				return fmt.Sprintf("%s has %d values; there is none at %s", above, len(v), ref.path[i])
			}
			tree = v[n]
		case unknownValue, nil:
			return "" // the run tells
		default:
			return fmt.Sprintf("%s is a single value and has no %q", above, ref.path[i])
		}
	}
	return ""
}
