package plan

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// check walks every cell of a plan once, without its repeats, and finds what is wrong with it.
type check struct {
	*reporter
	plan       *Plan
	identities map[string]Position
	values     map[string]map[string]bool // the labels of the cells and their values, for report
	visit      func(Visit)
	broken     bool // inside a matrix that could not be expanded: its axes are unknown
}

func (c *check) decoder() *decoder {
	return &decoder{report: c.add, check: c.reporter, voc: c.plan.voc}
}

func (c *check) run() {
	s := c.plan.scope(c.decoder(), c.add)
	for i := range layers {
		c.layer(s, i)
	}
	c.group(s, 1)
	c.excludes(c.plan.Root)
	c.report()
	c.rehearsal(s)
}

// group walks the steps of one cell of a group. times is how often the cell runs.
func (c *check) group(s *Scope, times int) {
	for _, step := range s.step.Steps {
		c.step(step, s, times)
		if step.ID != "" {
			s.results[step.ID] = unknown
		}
	}
	for _, step := range s.step.Finally {
		c.step(step, s, times)
		if step.ID != "" {
			s.results[step.ID] = unknown
		}
	}
}

func (c *check) step(step *Step, s *Scope, times int) {
	if c.full() {
		return
	}
	cells, repeats, ok := s.cells(step, c.decoder())
	if !ok {
		cells = []Cell{step.matrix.placeholder()} // so that the mistakes in what the step holds are told at once too
		defer func(broken bool) { c.broken = broken }(c.broken)
		c.broken = true
	}
	if c.visit != nil && step.matrix != nil {
		c.visit(Visit{Step: step, Scope: s, Cells: len(cells), Repeats: repeats, Times: times})
	}
	for _, cell := range cells {
		cell.Repeat, cell.Repeats = 1, repeats
		c.cell(s.enter(step, cell, c.decoder()), times*repeats)
		if c.full() {
			return
		}
	}
}

// cell checks one cell of one step.
func (c *check) cell(s *Scope, times int) {
	step := s.step
	run, sure := true, true
	if step.cond != nil && s.checkReferences(c.reporter, step.cond, nil) {
		ok, err := s.truth(step.cond, nil)
		switch {
		case errors.Is(err, errUnknown):
			sure = false
			c.plan.Summary.Open = c.plan.Summary.Open || step.hasLoad
		case err != nil:
			c.add(step.cond.pos, "if: %v", err)
		default:
			run = ok
		}
	}
	if !run {
		if c.visit != nil {
			c.visit(Visit{Step: step, Scope: s, Times: times, Skipped: true})
		}
		return
	}
	s.frame(c.decoder())
	c.asserts(s)
	if step.Group() {
		for i, n := range step.laid {
			if n != nil {
				c.layer(s, i)
			}
		}
		if c.visit != nil {
			c.visit(Visit{Step: step, Scope: s, Times: times, Unsure: !sure})
		}
		c.group(s, times)
		return
	}
	c.spec(s, times, sure)
}

func (c *check) asserts(s *Scope) {
	var yields []string
	if s.step.kind != nil {
		yields = s.step.kind.Yields
	}
	for _, e := range s.step.assert {
		s.checkReferences(c.reporter, e, yields)
	}
	if len(s.step.assert) > 0 && len(yields) == 0 && s.step.Group() {
		c.add(s.step.assert[0].pos, "a group yields nothing to assert; put the assert on a step that it holds")
	}
}

// spec checks what stands behind the kind, its identity, and adds it to the summary.
func (c *check) spec(s *Scope, times int, sure bool) {
	step := s.step
	d := c.decoder()
	d.at = map[string]Position{}
	before := len(c.found)
	spec := s.spec(d)
	if step.kind.Load && !c.broken {
		c.identity(s)
		c.plan.Summary.Cells += times
	}
	place := c.place(s)
	if len(c.found) == before && !d.unknown && step.kind.Check != nil {
		for _, p := range step.kind.Check(spec, place) {
			c.add(positionOf(p.Path, d.at, step.Pos), "%s", p.Message)
		}
	}
	var least time.Duration
	if len(c.found) == before && step.kind.Least != nil {
		least = step.kind.Least(spec)
		c.plan.Summary.Least += least * time.Duration(times)
		c.plan.Summary.Open = c.plan.Summary.Open || d.unknown && step.hasLoad
	}
	if c.visit != nil {
		c.visit(Visit{Step: step, Scope: s, Times: times, Unsure: !sure, Spec: spec, Least: least, Unknown: d.unknown})
	}
}

// positionOf gives the place of an option, or of the nearest thing around it.
func positionOf(path string, at map[string]Position, otherwise Position) Position {
	for path != "" {
		if p, ok := at[path]; ok {
			return p
		}
		i := strings.LastIndexByte(path, '.')
		path = path[:max(i, 0)]
	}
	return otherwise
}

// place works out the layers for a kind's Check. What is wrong with them is reported where they were laid.
func (c *check) place(s *Scope) Place {
	p := Place{InLoop: s.repeat > 1 || len(s.cell.Labels) > 0}
	quiet := func(Position, string, ...any) {}
	target := &Target{}
	s.decodeLayer(targetLayer, target, &decoder{report: quiet, voc: c.plan.voc})
	p.Target = target
	if s.laid[tablesLayer] != nil {
		failed := false
		tables := &Tables{}
		s.decodeLayer(tablesLayer, tables, &decoder{report: func(Position, string, ...any) { failed = true }, voc: c.plan.voc})
		if !failed {
			p.Tables = tables
		}
		p.BadTables = failed
	}
	if s.laid[filesLayer] != nil {
		p.Files = &Files{}
		s.decodeLayer(filesLayer, p.Files, &decoder{report: quiet, voc: c.plan.voc})
	}
	return p
}

func (c *check) layer(s *Scope, i int) {
	if s.laid[i] == nil {
		return
	}
	switch i {
	case targetLayer:
		s.decodeLayer(i, &Target{}, c.decoder())
	case tablesLayer:
		s.decodeLayer(i, &Tables{}, c.decoder())
	case filesLayer:
		s.decodeLayer(i, &Files{}, c.decoder())
	}
}

// identity refuses two cells that nothing tells apart.
func (c *check) identity(s *Scope) {
	id := s.Identity()
	if at, twice := c.identities[id]; twice {
		where := "this cell"
		if id != "" {
			where += " (" + id + ")"
		}
		if at == s.step.Pos {
			c.add(s.step.Pos, "%s has the same identity as another cell of the same step; give the group around it a name, labels or a matrix", where)
		} else {
			c.add(s.step.Pos, "%s has the same identity as the one at line %d; give one of them a name or labels", where, at.Line)
		}
	}
	c.identities[id] = s.step.Pos
	for _, l := range s.labels {
		if c.values[l.Name] == nil {
			c.values[l.Name] = map[string]bool{}
		}
		c.values[l.Name][l.Value] = true
	}
}

// excludes reports the entries of exclude that took nothing out, in any cell around.
func (c *check) excludes(step *Step) {
	if m := step.matrix; m != nil && len(c.found) == 0 {
		for _, e := range m.excludes {
			if !e.met {
				c.add(e.pos, "this exclude meets no cell")
			}
		}
	}
	for _, s := range slices.Concat(step.Steps, step.Finally) {
		c.excludes(s)
	}
}

// report checks the names that report uses against what the cells have.
func (c *check) report() {
	n := c.plan.Root.keys["report"]
	if n == nil || c.full() {
		return
	}
	r := &c.plan.Report
	labels := sortedKeys(c.values)
	if len(labels) == 0 && len(c.found) > 0 {
		return // what has the labels is what is mistaken
	}
	if b := n.get("baseline"); b != nil && b.kind == mapNode {
		for _, f := range b.fields {
			values, ok := c.values[f.key]
			if !ok {
				c.add(f.pos, "report.baseline: no cell has the label %q%s", f.key, labelHint(f.key, labels))
			} else if v := r.Baseline[f.key]; !values[v] {
				c.add(f.value.pos, "report.baseline: no cell has %s: %s%s", f.key, v, labelHint(v, sortedKeys(values)))
			}
		}
	}
	if r.Pivot != "" && c.values[r.Pivot] == nil {
		c.add(n.get("pivot").pos, "report.pivot: no cell has the label %q%s", r.Pivot, labelHint(r.Pivot, labels))
	}
	c.metrics(n.get("metrics"))
	c.reportAsserts(n.get("assert"))
}

func labelHint(word string, known []string) string {
	if len(known) == 0 {
		return ": no cell has any label"
	}
	return unknownHint(word, known)
}

func (c *check) metrics(n *node) {
	if n == nil {
		return
	}
	for _, item := range n.items {
		if !slices.Contains(c.plan.voc.Metrics, item.text) {
			c.add(item.pos, "report.metrics: there is no metric %q%s", item.text, unknownHint(item.text, c.plan.voc.Metrics))
		}
	}
}

func (c *check) reportAsserts(n *node) {
	if n == nil || c.plan.voc.Assert == nil {
		return
	}
	for _, item := range n.items {
		if err := c.plan.voc.Assert(item.text); err != nil {
			c.add(item.pos, "report.assert: %v", err)
		}
	}
}

// rehearsal checks what rehearse says.
func (c *check) rehearsal(s *Scope) {
	n := c.plan.rehearse
	if n == nil {
		return
	}
	var r Rehearse
	d := c.decoder()
	d.local = map[string]any{"sent": unknown}
	d.into(n, s, &r, "rehearse")
	rules := n.get("http")
	for i, a := range r.HTTP {
		if method, path := a.Route(); method == "" || !strings.HasPrefix(path, "/") {
			c.add(rules.items[i].pos, "a rule of rehearse.http begins with get, put, post, patch or delete and a path that begins with /")
		}
	}
	if vars := n.get("vars"); vars != nil && vars.kind == mapNode && !c.plan.rehearsing {
		for _, f := range vars.fields {
			if _, ok := s.vars[f.key]; !ok {
				c.add(f.pos, "rehearse.vars: the plan has no variable %q%s", f.key, didYouMean(f.key, sortedKeys(s.vars)))
			}
		}
	}
}

// Visit is one cell of a step as Walk meets it.
type Visit struct {
	Step    *Step
	Scope   *Scope
	Spec    any           // the decoded spec, of steps that are no group
	Times   int           // how often the cell runs, repeats of all levels included
	Least   time.Duration // that one of them takes at the least
	Skipped bool          // its if is false
	Unsure  bool          // its if is decided by the run
	Unknown bool          // a part of the spec is told by the run

	// Cells and Repeats are set on the visit that announces a step with a matrix, before its cells; Spec is nil there.
	Cells, Repeats int
}

// Walk visits every cell of every step in the order in which a plan runs, each once whatever its repeats.
func (p *Plan) Walk(visit func(Visit)) {
	copied := *p
	c := &check{plan: &copied, reporter: newReporter(p.Source), identities: map[string]Position{}, values: map[string]map[string]bool{}, visit: visit}
	c.group(copied.scope(c.decoder(), c.add), 1)
}

// Answer works out how a rehearsal's stand-in answers a request: by the first rule that fits. sent is the merge of what was sent so far.
func (s *Scope) Answer(method, path string, sent map[string]any) (Answer, bool, error) {
	rules := s.plan.rehearse.get("http")
	if rules == nil {
		return Answer{}, false, nil
	}
	r := newReporter(s.plan.Source)
	d := &decoder{report: r.add, local: map[string]any{"sent": normalise(sent)}}
	for _, n := range rules.items {
		if rule := n.get(strings.ToLower(method)); rule == nil || rule.text != path {
			continue
		}
		var a Answer
		d.into(n, s, &a, "rehearse.http")
		return a, true, r.err()
	}
	return Answer{}, false, nil
}
