package plan

import "strings"

// Rehearse says how a plan is to be tried without its servers.
type Rehearse struct {
	Vars map[string]any `key:"vars" doc:"variables that take other values in a rehearsal"`
	HTTP []Answer       `key:"http" doc:"how the stand-in answers HTTP steps; the first rule that fits counts"`
}

// Answer is a rule of the stand-in that answers HTTP steps in a rehearsal. One of the methods names the path.
type Answer struct {
	Get     string            `key:"get" doc:"path"`
	Put     string            `key:"put" doc:"path"`
	Post    string            `key:"post" doc:"path"`
	Patch   string            `key:"patch" doc:"path"`
	Delete  string            `key:"delete" doc:"path"`
	Status  int               `key:"status" default:"200" min:"100" max:"599" doc:"status of the answer"`
	JSON    any               `key:"json" doc:"body of the answer; sent holds what was PUT, POSTed or PATCHed so far, merged"`
	Body    string            `key:"body" doc:"body of the answer as text"`
	Headers map[string]string `key:"headers" doc:"headers of the answer"`
}

// Route gives the method in capitals and the path of the rule; both empty where it names none.
func (a Answer) Route() (method, path string) {
	for _, r := range [...]struct{ method, path string }{{"GET", a.Get}, {"PUT", a.Put}, {"POST", a.Post}, {"PATCH", a.Patch}, {"DELETE", a.Delete}} {
		if r.path != "" {
			return r.method, r.path
		}
	}
	return "", ""
}

// methods are the keys of a rule that name its method.
var methods = []string{"get", "put", "post", "patch", "delete"}

// rehearsal checks what rehearse says.
func (c *check) rehearsal() {
	n := c.plan.rehearse
	if n == nil {
		return
	}
	d := c.decoder()
	root := *c.plan.Root
	root.vars = c.plan.rehearsed
	s := &Scope{plan: c.plan, step: &root, repeat: 1}
	s.openGroup(&root, d)
	d.local = map[string]any{"sent": unknown}
	var r Rehearse
	d.into(n, s, &r, "rehearse")
	rules := n.get("http")
	if rules == nil || rules.kind != listNode {
		return
	}
	for i, a := range r.HTTP {
		rule := rules.items[i]
		if rule.kind != mapNode {
			continue
		}
		var named []*field
		for _, m := range methods {
			if f := rule.field(m); f != nil {
				named = append(named, f)
			}
		}
		_, path := a.Route()
		switch {
		case len(named) == 0:
			c.add(rule.pos, "a rule of rehearse.http needs get, put, post, patch or delete with a path")
		case len(named) > 1:
			c.add(named[1].pos, "a rule of rehearse.http has one method; this one has %s and %s", named[0].key, named[1].key)
		case !strings.HasPrefix(path, "/") && !named[0].value.dynamic:
			c.add(named[0].value.pos, "a rule of rehearse.http names a path, which begins with /; %q does not", path)
		}
	}
}

// Answer works out how a rehearsal's stand-in answers a request: by the first rule that fits. sent is the merge of what was sent so far.
func (s *Scope) Answer(method, path string, sent map[string]any) (Answer, bool, error) {
	r := s.plan.reporter()
	d := &decoder{report: r.add, local: normaliseNames(map[string]any{"sent": sent})}
	for _, n := range itemsOf(s.plan.rehearse.get("http")) {
		rule := n.get(strings.ToLower(method))
		if rule == nil {
			continue
		}
		if at, ok := d.tree(rule, s); !ok || at != any(path) {
			continue
		}
		var a Answer
		d.into(n, s, &a, "rehearse.http")
		return a, true, r.err()
	}
	return Answer{}, false, r.err()
}
