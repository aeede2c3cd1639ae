package plan

import (
	"net"
	"slices"
	"strconv"
	"strings"
)

// layers are the parts of a scope that a group lays over the outer one field by field.
var layers = [...]string{"target", "tables", "files"}

const (
	targetLayer = iota
	tablesLayer
	filesLayer
)

// ways are the keys of a target of which an inner one takes the place of all the outer ones.
var ways = []string{"address", "socket", "local"}

// lay puts the fields of an inner mapping over those of an outer one. Each keeps the scope that it was written in.
func lay(outer, inner *node, s *Scope, layer int) *node {
	out := &node{pos: inner.pos, kind: mapNode}
	if outer != nil {
		for _, f := range outer.fields {
			if inner.get(f.key) == nil && !displaced(f, outer, inner, layer) {
				out.fields = append(out.fields, f)
			}
		}
	}
	for _, f := range inner.fields {
		value := *f.value
		value.scope = s
		out.fields = append(out.fields, &field{f.key, f.pos, &value})
	}
	return out
}

// displaced tells whether an outer field makes no sense beside the inner ones: another way to the server, or an option of another schema.
func displaced(f *field, outer, inner *node, layer int) bool {
	switch layer {
	case targetLayer:
		return slices.Contains(ways, f.key) && slices.ContainsFunc(inner.fields, func(i *field) bool { return slices.Contains(ways, i.key) })
	case tablesLayer:
		before, now := outer.get("schema"), inner.get("schema")
		return before != nil && now != nil && before.text != now.text && optionOf(Describe(&Tables{}), f.key) == nil
	}
	return false
}

// Target gives the target that holds here. Without one in the plan it is a private local server.
func (s *Scope) Target() (*Target, error) {
	t := &Target{}
	return t, s.layer(targetLayer, t)
}

// Tables gives the tables that hold here; nil where there are none.
func (s *Scope) Tables() (*Tables, error) {
	if s.laid[tablesLayer] == nil {
		return nil, nil
	}
	t := &Tables{}
	return t, s.layer(tablesLayer, t)
}

// Files gives the files that hold here; nil where there are none.
func (s *Scope) Files() (*Files, error) {
	if s.laid[filesLayer] == nil {
		return nil, nil
	}
	f := &Files{}
	return f, s.layer(filesLayer, f)
}

func (s *Scope) layer(i int, into any) error {
	r := s.plan.reporter()
	s.decodeLayer(i, into, &decoder{report: r.add, voc: s.plan.voc})
	return r.err()
}

func (s *Scope) decodeLayer(i int, into any, d *decoder) {
	n := s.laid[i]
	if n == nil {
		n = &node{pos: Position{Line: 1, Column: 1}, kind: mapNode}
	}
	d.into(n, s, into, layers[i])
	if t, ok := into.(*Target); ok {
		checkTarget(n, t, d)
	}
}

// checkTarget says what is wrong with a target that is right key by key.
func checkTarget(n *node, t *Target, d *decoder) {
	var set []string
	for _, way := range ways {
		if v := n.get(way); v != nil && v.kind != nullNode {
			set = append(set, way)
		}
	}
	if len(set) > 1 {
		d.report(n.field(set[1]).pos, "a target has one of address, socket and local; this one has %s", strings.Join(set, " and "))
	}
	if scheme, _, found := strings.Cut(t.Address, "://"); found {
		d.report(n.get("address").pos, "an address is host:port, without %q", scheme+"://")
	} else if _, port, err := net.SplitHostPort(t.Address); err == nil {
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			d.report(n.get("address").pos, "%q is no port: it is a number from 1 to 65535", port)
		}
	}
}
