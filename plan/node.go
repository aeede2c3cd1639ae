package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// The bounds of a plan's text. A matrix multiplies when it is expanded, not when it is written: real plans are far below these.
const (
	maxSourceBytes = 4 << 20
	maxNodes       = 500_000 // with aliases written out
	maxDepth       = 100
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
	value  any    // of a scalar: string, bool, int64, uint64 or float64, as YAML reads it
	text   string // of a scalar: as it is written
	items  []*node
	fields []*field

	template *template // of a scalar that holds ${{ }}
	dynamic  bool      // a template stands here or below
	size     int       // nodes here and below, aliases written out

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

func (n *node) get(key string) *node {
	if n == nil || n.kind != mapNode {
		return nil
	}
	for _, f := range n.fields {
		if f.key == key {
			return f.value
		}
	}
	return nil
}

// parse turns the text into nodes. Mistakes go to the reporter; nil means that nothing could be read.
func parse(r *reporter) *node {
	if len(r.source.Text) > maxSourceBytes {
		r.add(Position{1, 1}, "the plan has %d bytes, more than the %d that a plan may have", len(r.source.Text), maxSourceBytes)
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(r.source.Text))
	var document yaml.Node
	if err := decodeYAML(decoder, &document); err != nil {
		if errors.Is(err, io.EOF) {
			r.add(Position{1, 1}, "the plan is empty: a plan has at least steps")
			return nil
		}
		reportSyntax(r, err)
		return nil
	}
	var next yaml.Node
	if err := decodeYAML(decoder, &next); err == nil {
		r.add(Position{next.Line, max(next.Column, 1)}, "a second document begins here: a file holds one plan")
		return nil
	} else if !errors.Is(err, io.EOF) {
		reportSyntax(r, err)
		return nil
	}
	if len(document.Content) == 0 {
		r.add(Position{1, 1}, "the plan is empty: a plan has at least steps")
		return nil
	}
	w := walker{reporter: r, done: map[*yaml.Node]*node{}, open: map[*yaml.Node]bool{}}
	root := w.node(document.Content[0], 0)
	if w.size > maxNodes {
		return nil // walking it further is what the bound is there to prevent
	}
	return root
}

// decodeYAML guards against a panic in the YAML library, which is then a syntax error like another.
func decodeYAML(d *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: the text cannot be read (%v)", p)
		}
	}()
	return d.Decode(into)
}

var (
	yamlLine     = regexp.MustCompile(`line (\d+): (.*)`)
	bareTemplate = regexp.MustCompile(`(^|[^"'\w])\$\{\{`)
)

// reportSyntax says what the YAML library says, with a place and, for the traps of this language, the way out.
func reportSyntax(r *reporter, err error) {
	message, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = m[2]
	}
	// The library counts some lines from 0 and often names the line after; the trap is looked for around it.
	for n := max(line-1, 1); n <= line+1; n++ {
		text := r.line(n)
		if at := bareTemplate.FindStringIndex(withoutQuoted(text)); at != nil && !strings.HasPrefix(strings.TrimSpace(text), "#") {
			column := len([]rune(text[:strings.Index(text[at[0]:], "${{")+at[0]])) + 1
			r.add(Position{n, column}, `a "${{" that is not quoted: YAML takes its braces for its own; quote it, as in "${{ … }}" (%s)`, message)
			return
		}
	}
	text := r.line(line)
	column := len([]rune(text)) - len([]rune(strings.TrimLeft(text, " "))) + 1
	switch {
	case strings.Contains(message, "cannot start any token") && strings.Contains(text, "\t"):
		message = "a tab stands where YAML wants blanks: indent with spaces"
		column = len([]rune(text[:strings.Index(text, "\t")])) + 1
	case strings.Contains(message, "unknown anchor"):
		if name := strings.Trim(strings.TrimPrefix(message, "unknown anchor"), " '\"") + ""; name != "" {
			name = strings.TrimSuffix(strings.TrimSpace(name), " referenced")
			name = strings.Trim(name, "' ")
			for i, l := range r.lines {
				if at := strings.Index(l, "*"+name); at >= 0 {
					line, column = i+1, len([]rune(l[:at]))+1
					break
				}
			}
			message = fmt.Sprintf("the anchor &%s that *%s refers to is not there", name, name)
		}
	}
	r.add(Position{line, column}, "YAML: %s", message)
}

// withoutQuoted blanks out what stands in quotes, so that the rest can be searched.
func withoutQuoted(s string) string {
	b := []byte(s)
	var quote byte
	for i, c := range b {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
			b[i] = '"'
		case c == '"' || c == '\'':
			quote = c
		}
	}
	return string(b)
}

// walker turns YAML's nodes into ours, strictly, in this one place.
type walker struct {
	*reporter
	done map[*yaml.Node]*node // an alias shares the node that its anchor became
	open map[*yaml.Node]bool  // anchors that are being read: an alias to one is a cycle
	size int
}

func (w *walker) node(y *yaml.Node, depth int) *node {
	pos := Position{y.Line, y.Column}
	if depth > maxDepth {
		w.add(pos, "nested more than %d levels deep", maxDepth)
		return &node{pos: pos}
	}
	if y.Kind == yaml.AliasNode {
		if w.open[y.Alias] {
			w.add(pos, "*%s stands inside the value that it refers to", y.Value)
			return &node{pos: pos}
		}
		n := w.done[y.Alias]
		if n == nil {
			return &node{pos: pos}
		}
		w.grow(n.size, pos)
		return n
	}
	if w.full() {
		return &node{pos: pos}
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
			n.take(w.node(item, depth+1))
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

func (n *node) take(item *node) {
	n.items = append(n.items, item)
	n.size += item.size
	n.dynamic = n.dynamic || item.dynamic
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
	at := map[string]Position{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		pos := Position{key.Line, key.Column}
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			if m := w.node(value, depth+1); m.kind == listNode {
				merges = append(merges, m.items...)
			} else {
				merges = append(merges, m)
			}
			continue
		}
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" {
			w.add(pos, "a key has to be a single word")
			continue
		}
		if before, twice := at[key.Value]; twice {
			w.add(pos, "%q stands here a second time; the first is at line %d", key.Value, before.Line)
			w.node(value, depth+1)
			continue
		}
		at[key.Value] = pos
		v := w.node(value, depth+1)
		n.fields = append(n.fields, &field{key: key.Value, pos: pos, value: v})
		n.size += v.size
		n.dynamic = n.dynamic || v.dynamic
	}
	for _, m := range merges {
		if m.kind != mapNode {
			w.add(m.pos, "<< takes a mapping or a list of mappings, not %s", m.kind)
			continue
		}
		for _, f := range m.fields {
			if _, own := at[f.key]; own {
				continue
			}
			at[f.key] = f.pos
			n.fields = append(n.fields, f)
			n.size += f.value.size
			n.dynamic = n.dynamic || f.value.dynamic
		}
	}
}

func (w *walker) scalar(y *yaml.Node, n *node) {
	n.text = y.Value
	n.kind = scalarNode
	switch y.ShortTag() {
	case "!!null":
		n.kind = nullNode
		return
	case "!!bool", "!!int", "!!float":
		if err := y.Decode(&n.value); err != nil {
			n.value = y.Value
		}
		if i, ok := n.value.(int); ok {
			n.value = int64(i)
		}
		return
	case "!!str", "!!timestamp", "!!merge":
		n.value = y.Value
	default:
		w.add(n.pos, "the tag %s is not known here", y.Tag)
		n.value = y.Value
	}
	if strings.Contains(y.Value, "${{") {
		n.template = parseTemplate(w.reporter, n)
		n.dynamic = true
	}
}
