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

// displaced tells whether an outer field makes no sense beside the inner ones: another way to the server, the monitor of another
// server's machine, or an option of another schema.
func displaced(f *field, outer, inner *node, layer int) bool {
	switch layer {
	case targetLayer:
		return (slices.Contains(ways, f.key) || f.key == "monitor") && slices.ContainsFunc(inner.fields, func(i *field) bool { return slices.Contains(ways, i.key) })
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
	checkMonitor(n, t, d)
	if scheme, _, found := strings.Cut(t.Address, "://"); found {
		d.report(n.get("address").pos, "an address is host:port, without %q", scheme+"://")
	} else if strings.Contains(t.Address, "/") {
		d.report(n.get("address").pos, "an address is host:port; the path of a Unix socket is written socket: %s", t.Address)
	} else if _, port, err := net.SplitHostPort(t.Address); err == nil {
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			d.report(n.get("address").pos, "%q is no port: it is a number from 1 to 65535", port)
		}
	}
}

// checkMonitor says what of a monitor does not go together, or not with the target. What only the run tells is left to it.
func checkMonitor(target *node, t *Target, d *decoder) {
	n, m := target.get("monitor"), t.Monitor
	if m == nil {
		return
	}
	if m.Where != MonitorSSH {
		for _, f := range n.fields {
			if f.key != "where" && f.value.kind != nullNode {
				d.report(f.pos, "monitor: %s is an option of ssh, and this monitor is %s; leave it out, or write where: ssh", f.key, m.Where)
			}
		}
		return
	}
	host := m.Address
	if name, port, err := net.SplitHostPort(m.Address); err == nil {
		host = name
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			d.report(positionOf("address", n, n.pos), "monitor: %q is no port: it is a number from 1 to 65535", port)
		}
	}
	computed := func(in *node, key string) bool { v := in.get(key); return v != nil && v.template != nil }
	switch {
	case computed(n, "where"):
	case t.Private() && !computed(target, "address") && !computed(target, "socket"):
		d.report(n.pos, "a private server runs on this machine: its monitor is local or none")
	case host == "" && t.Socket != "" && !computed(n, "address"):
		d.report(n.pos, "monitor: ssh needs an address here; but the server of a socket is on this machine as a rule: write monitor: local")
	}
}
