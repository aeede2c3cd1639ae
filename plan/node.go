package plan

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// The bounds of a plan's text. A matrix multiplies when it is expanded, not when it is written: real plans are far below these.
const (
	maxSourceBytes = 512 << 10
	maxNodes       = 250_000 // with aliases written out
	maxDepth       = 100     // likewise
)

// nodeKind tells what a node is.
type nodeKind uint8

const (
	nullNode nodeKind = iota
	scalarNode
	listNode
	mapNode
)

func (k nodeKind) String() string {
	return [...]string{"nothing", "a single value", "a list", "a mapping"}[k]
}

// node is a piece of a plan after YAML: aliases and merge keys are resolved, keys are strings and differ.
type node struct {
	pos    Position
	kind   nodeKind
	value  any    // of a scalar: string, bool, int64, uint64, float64 or number, as YAML reads it
	text   string // of a scalar: as it is written
	items  []*node
	fields []*field

	template *template  // of a scalar that holds ${{ }}
	style    yaml.Style // of a scalar: its notation
	dynamic  bool       // a template stands here or below
	size     int        // nodes here and below, aliases written out
	height   int        // levels below, aliases written out

	// scope, where set, is the scope in which the expressions below are worked out, whatever the reader's own: a group's
	// target is laid over the outer one field by field, and each field belongs to the place where it was written.
	scope *Scope
}

// field is one entry of a mapping.
type field struct {
	key   string
	pos   Position
	value *node
}

func (n *node) field(key string) *field {
	if n == nil || n.kind != mapNode {
		return nil
	}
	for _, f := range n.fields {
		if f.key == key {
			return f
		}
	}
	return nil
}

func (n *node) get(key string) *node {
	if f := n.field(key); f != nil {
		return f.value
	}
	return nil
}

// take counts a node that stands below.
func (n *node) take(below *node) {
	n.size += below.size
	n.height = max(n.height, below.height+1)
	n.dynamic = n.dynamic || below.dynamic
}

// mistaken makes a node one whose mistake is told already: nobody minds what it is.
func (n *node) mistaken() {
	n.kind, n.template, n.dynamic = scalarNode, &template{broken: true}, true
}

// parser turns a text into nodes. Mistakes go to the reporter.
type parser struct {
	*reporter
	origin      *text         // for the positions; nil for the plan's own
	expressions []*expression // all that were compiled
}

// parse gives the root; nil means that nothing could be read.
func (p *parser) parse() *node {
	document, err := decodeYAML(p.text.bytes)
	if err != nil {
		reportSyntax(p, err)
		return nil
	}
	if document == nil {
		p.add(p.at(1, 1), "the plan is empty: a plan has at least steps")
		return nil
	}
	w := walker{parser: p, done: map[*yaml.Node]*node{}, open: map[*yaml.Node]bool{}}
	root := w.node(document, 0)
	if w.size > maxNodes {
		return nil // walking it further is what the bound is there to prevent
	}
	return root
}

func (p *parser) at(line, column int) Position {
	return Position{Line: max(line, 1), Column: max(column, 1), origin: p.origin}
}

// walker turns YAML's nodes into ours, strictly, in this one place.
type walker struct {
	*parser
	done map[*yaml.Node]*node // an alias shares the node that its anchor became
	open map[*yaml.Node]bool  // anchors that are being read: an alias to one is a cycle
	size int
}

func (w *walker) node(y *yaml.Node, depth int) *node {
	pos := w.at(y.Line, y.Column)
	nothing := &node{pos: pos}
	if depth > maxDepth {
		w.add(pos, "nested more than %d levels deep", maxDepth)
		return nothing
	}
	if y.Kind == yaml.AliasNode {
		return w.alias(y, depth, nothing)
	}
	if w.full() || w.size > maxNodes {
		return nothing
	}
	w.open[y] = true
	n := &node{pos: pos, size: 1}
	w.grow(1, pos)
	switch y.Kind {
	case yaml.ScalarNode:
		w.scalar(y, n)
	case yaml.SequenceNode:
		n.kind = listNode
		for _, item := range y.Content {
			below := w.node(item, depth+1)
			n.items = append(n.items, below)
			n.take(below)
		}
	case yaml.MappingNode:
		n.kind = mapNode
		w.mapping(y, n, depth)
	default:
		w.add(pos, "this cannot be read as a plan")
	}
	delete(w.open, y)
	w.done[y] = n
	return n
}

func (w *walker) alias(y *yaml.Node, depth int, nothing *node) *node {
	if w.open[y.Alias] {
		w.add(nothing.pos, "*%s stands inside the value that it refers to", y.Value)
		return nothing
	}
	n := w.done[y.Alias]
	if n == nil {
		return w.node(y.Alias, depth) // the anchor of a key
	}
	if depth+n.height > maxDepth {
		w.add(nothing.pos, "nested more than %d levels deep with *%s written out", maxDepth, y.Value)
		return nothing
	}
	w.grow(n.size, nothing.pos)
	return n
}

// grow counts nodes with aliases written out, which is what an alias bomb multiplies.
func (w *walker) grow(by int, pos Position) {
	before := w.size
	w.size += by
	if before <= maxNodes && w.size > maxNodes {
		w.add(pos, "with its aliases written out the plan has more than %d values", maxNodes)
	}
}

func (w *walker) mapping(y *yaml.Node, n *node, depth int) {
	var merges []*node
	at := make(map[string]Position, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		pos := w.at(key.Line, key.Column)
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			if m := w.node(value, depth+1); m.kind == listNode {
				merges = append(merges, m.items...)
			} else {
				merges = append(merges, m)
			}
			continue
		}
		v := w.node(value, depth+1)
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch before, twice := at[key.Value]; {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null":
			w.add(pos, "a key has to be a single word")
			continue
		case strings.Contains(key.Value, "${{"):
			w.add(pos, `a key cannot hold an expression; if a value was meant, quote it: YAML takes the ": " inside for the end of a key`)
			n.mistaken()
			continue
		case twice:
			w.add(pos, "%q stands here a second time; the first is at line %d", key.Value, before.Line)
			continue
		}
		at[key.Value] = pos
		n.fields = append(n.fields, &field{key: key.Value, pos: pos, value: v})
		n.take(v)
	}
	for _, m := range merges {
		w.merge(n, m, at)
	}
}

// merge adds the fields of a << that the mapping does not have by itself.
func (w *walker) merge(n, m *node, at map[string]Position) {
	if m.kind != mapNode {
		w.add(m.pos, "<< takes a mapping or a list of mappings, not %s", m.kind)
		return
	}
	for _, f := range m.fields {
		if _, there := at[f.key]; there {
			continue
		}
		at[f.key] = f.pos
		n.fields = append(n.fields, f)
		n.take(f.value)
	}
}

func (w *walker) scalar(y *yaml.Node, n *node) {
	n.kind, n.text, n.value, n.style = scalarNode, y.Value, y.Value, y.Style
	switch tag := y.ShortTag(); tag {
	case "!!null":
		n.kind = nullNode
	case "!!bool":
		n.value = strings.EqualFold(y.Value, "true")
	case "!!int", "!!float":
		n.value = numberOf(y)
	case "!!str", "!!timestamp", "!!merge":
	default:
		if strings.HasPrefix(tag, "!") && !strings.HasPrefix(tag, "!!") {
			w.add(n.pos, "YAML takes a ! in front for a tag: quote the value")
		} else {
			w.add(n.pos, "the tag %s is not known here", tag)
		}
		n.mistaken()
		return
	}
	if strings.Contains(y.Value, "${{") {
		n.template = w.template(n)
		n.dynamic = true
	}
}

var leadingZero = regexp.MustCompile(`^[-+]?0[0-9_]*$`)

// numberOf reads a number. One whose notation says more than its value keeps the notation; what is none stays a text.
func numberOf(y *yaml.Node) any {
	var value any
	if err := y.Decode(&value); err != nil {
		return y.Value
	}
	if leadingZero.MatchString(y.Value) { // YAML 1.1 takes 010 for eight, everybody else for ten
		if i, err := strconv.ParseInt(strings.ReplaceAll(y.Value, "_", ""), 10, 64); err == nil {
			value = i
		}
	}
	switch v := value.(type) {
	case int:
		value = int64(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return y.Value
		}
	case int64, uint64:
	default:
		return y.Value
	}
	if scalarText(value) != y.Value {
		return number{value, y.Value}
	}
	return value
}
