package plan

import (
	"errors"
	"math"
	"slices"
	"time"
)

// check walks every cell of a plan once, without its repeats, and finds what is wrong with it.
type check struct {
	*reporter
	plan       *Plan
	identities map[string]Position
	values     map[string]map[string]bool // the labels of the cells and their values, for report
	noted      []Label                    // those that went into values last
	exclude    excludeFits
	partial    map[*node]bool // tables whose schema an inner group may say
	visit      func(Visit)
	budget     meter
	walked     int  // cells of all steps
	broken     bool // inside a matrix that could not be expanded: its axes are unknown
	uncertain  bool // a mistake keeps labels from being known, so that none can be missed

	specs map[*Step]*checkedSpec // of those that are the same in every cell
	place Place
	laid  [len(layers)]*node // that place was worked out of
	known bool
}

// maxValues bounds what the expressions of all cells give together, and what is read anew in each cell since expressions stand in it.
const maxValues = 20_000_000

// checkedSpec is a spec without expressions, decoded once.
type checkedSpec struct {
	spec   any
	failed bool
	laid   [len(layers)]*node // that it was held against
	loop   bool
}

func newCheck(p *Plan, r *reporter) *check {
	return &check{
		plan: p, reporter: r, identities: map[string]Position{}, values: map[string]map[string]bool{},
		exclude: excludeFits{}, partial: map[*node]bool{}, specs: map[*Step]*checkedSpec{}, budget: meter{left: maxValues},
	}
}

func (c *check) decoder() *decoder {
	d := &decoder{report: c.add, check: c.reporter, voc: c.plan.voc, exclude: c.exclude, budget: &c.budget}
	if c.broken {
		d.exclude = nil // the labels around are not known
	}
	return d
}

func (c *check) run() {
	s := c.plan.scope(c.decoder())
	c.layers(s)
	c.group(s, 1)
	c.excludes(c.plan.Root)
	c.compared()
	c.rehearsal()
}

// group walks the steps of one cell of a group. times is how often the cell runs.
func (c *check) group(s *Scope, times int) {
	for _, id := range s.step.lost {
		s.results[id] = unknown
	}
	for step := range s.step.all() {
		ran := c.step(step, s, times)
		if step.ID == "" {
			continue
		}
		s.results[step.ID] = unknown
		if !ran {
			s.results[step.ID] = nil
		}
	}
}

// step checks the cells of a step; it tells whether one of them is to run.
func (c *check) step(step *Step, s *Scope, times int) (ran bool) {
	cells, repeats, ok := s.cells(step, c.decoder())
	if !ok {
		defer func(broken bool) { c.broken = broken }(c.broken)
		c.broken, c.uncertain = true, true
		if step.matrix != nil {
			cells = []Cell{step.matrix.placeholder()} // so that the mistakes in what the step holds are told at once too
		}
	}
	if len(cells)*repeats*times > maxCells && !c.full() {
		c.add(step.Pos, "with the repeats of all levels this comes to more than %d runs of the step", maxCells)
		repeats = 1
	}
	if c.visit != nil && step.matrix != nil {
		c.visit(Visit{Step: step, Scope: s, Cells: len(cells), Repeats: repeats, Times: times})
	}
	for _, cell := range cells {
		if c.walked++; c.walked > maxCells {
			c.add(c.plan.Root.Pos, "the plan has more than %d cells", maxCells)
			return ran
		}
		if c.budget.left <= 0 && !c.full() {
			c.add(step.Pos, "what is worked out anew in each cell is too much for so many cells")
		}
		if c.full() || c.budget.left <= 0 {
			return ran
		}
		cell.Repeat, cell.Repeats = 1, repeats
		ran = c.cell(s.enter(step, cell, c.decoder()), times*repeats) || ran
	}
	return ran
}

// cell checks one cell of one step; it tells whether the cell is to run.
func (c *check) cell(s *Scope, times int) bool {
	step := s.step
	c.uncertain = c.uncertain || s.flawed
	if s.skip {
		if c.visit != nil {
			c.visit(Visit{Step: step, Scope: s, Times: times, Skipped: true})
		}
		return false
	}
	unsure := errors.Is(s.ifError, errUnknown)
	c.plan.Summary.Open = c.plan.Summary.Open || unsure && step.hasLoad
	c.budget.left -= len(step.assert) + len(step.labels) // what is looked at anew in each cell
	if len(step.frame.fields) > 0 {
		s.frame(c.decoder())
	}
	c.asserts(s)
	if !step.Group() {
		c.spec(s, times, unsure)
		return true
	}
	c.layers(s)
	if c.visit != nil {
		c.visit(Visit{Step: step, Scope: s, Times: times, Unsure: unsure})
	}
	c.group(s, times)
	return true
}

func (c *check) asserts(s *Scope) {
	if len(s.step.assert) > 0 && s.step.Group() {
		c.add(s.step.assert[0].pos, "a group yields nothing to assert; put the assert on a step that it holds")
		return
	}
	for _, e := range s.step.assert {
		s.checkReferences(c.reporter, e, s.step.kind.Yields)
	}
}

// spec checks what stands behind the kind, its identity, and adds it to the summary.
func (c *check) spec(s *Scope, times int, unsure bool) {
	step := s.step
	if step.kind.Load && !c.broken {
		if !s.flawed {
			c.identity(s)
		}
		c.plan.Summary.Cells += times
	}
	d := c.decoder()
	spec, ok := c.decoded(s, d)
	var least time.Duration
	if ok && step.kind.Least != nil {
		least = step.kind.Least(spec)
		c.plan.Summary.Least = addTime(c.plan.Summary.Least, least, times)
		c.plan.Summary.Open = c.plan.Summary.Open || d.unknown && step.hasLoad
	}
	if c.visit != nil {
		c.visit(Visit{Step: step, Scope: s, Times: times, Unsure: unsure, Spec: spec, Least: least, Unknown: d.unknown})
	}
}

// decoded decodes a spec and holds it against where it stands. One without expressions is decoded once, and held against
// the same place once. false: there are mistakes in it.
func (c *check) decoded(s *Scope, d *decoder) (any, bool) {
	step := s.step
	before := len(c.found)
	known := c.specs[step]
	if known == nil {
		d.spend(step.spec)
		known = &checkedSpec{spec: s.spec(d), failed: len(c.found) > before}
		if !step.spec.dynamic {
			c.specs[step] = known
		}
	} else if known.laid == s.laid && known.loop == s.loop {
		return known.spec, !known.failed
	}
	known.laid, known.loop = s.laid, s.loop
	if d.unknown || step.kind.Check == nil {
		return known.spec, !known.failed
	}
	mistaken := slices.Clone(c.found[before:])
	for _, p := range step.kind.Check(known.spec, c.placeOf(s)) {
		pos := positionOf(p.Path, step.spec, step.Pos)
		// Beside mistakes in single keys only what is said of another key stands: the whole cannot be judged.
		if len(mistaken) > 0 && (p.Path == "" || slices.ContainsFunc(mistaken, func(d Diagnostic) bool { return d.Pos == pos })) {
			continue
		}
		c.add(pos, "%s", p.Message)
		known.failed = true
	}
	return known.spec, !known.failed
}

// addTime adds a time that passes times times; a sum beyond 292 years stays there.
func addTime(sum, each time.Duration, times int) time.Duration {
	if each > 0 && times > int((math.MaxInt64-sum)/each) {
		return math.MaxInt64
	}
	return sum + each*time.Duration(times)
}

// placeOf works out the layers for a kind's Check. What is wrong with them is reported where they were laid.
func (c *check) placeOf(s *Scope) Place {
	if !c.known || c.laid != s.laid {
		c.place, c.laid, c.known = c.layersOf(s), s.laid, true
	}
	place := c.place
	place.InLoop = s.loop
	return place
}

func (c *check) layersOf(s *Scope) Place {
	failed := false
	d := &decoder{report: func(Position, string, ...any) { failed = true }, voc: c.plan.voc}
	p := Place{Target: &Target{}}
	s.decodeLayer(targetLayer, p.Target, d)
	if s.laid[tablesLayer] != nil {
		tables := &Tables{}
		failed, d.partial = false, c.partial[s.laid[tablesLayer]]
		s.decodeLayer(tablesLayer, tables, d)
		p.BadTables = failed
		if !failed && !(d.partial && tables.Schema == "") {
			p.Tables = tables
		}
	}
	if s.laid[filesLayer] != nil {
		p.Files = &Files{}
		s.decodeLayer(filesLayer, p.Files, d)
	}
	return p
}

// layers checks what a group lays over the outer layers.
func (c *check) layers(s *Scope) {
	for i, n := range s.laid {
		if n == nil || s.parent != nil && n == s.parent.laid[i] {
			continue
		}
		d := c.decoder()
		if i == tablesLayer && laysSchema(s.step) {
			d.partial = true
			c.partial[n] = true
		}
		s.decodeLayer(i, [...]any{&Target{}, &Tables{}, &Files{}}[i], d)
	}
}

// laysSchema tells whether a group inside this one says the schema of the tables.
func laysSchema(step *Step) bool {
	for inner := range step.all() {
		if inner.laid[tablesLayer].get("schema") != nil || laysSchema(inner) {
			return true
		}
	}
	return false
}

// identity refuses two cells that nothing tells apart.
func (c *check) identity(s *Scope) {
	id := s.identity()
	if at, twice := c.identities[id]; twice {
		where := "this cell"
		if shown := s.Identity(); shown != "" {
			where += " (" + shown + ")"
		}
		if at == s.step.Pos {
			c.add(s.step.Pos, "%s has the same identity as another cell of the same step; give the step, or the group around it, a name or labels that differ", where)
		} else {
			c.add(s.step.Pos, "%s has the same identity as the one at line %d; give one of them another name, or labels", where, at.Line)
		}
	} else {
		c.identities[id] = s.step.Pos
	}
	for i, l := range s.labels {
		if i < len(c.noted) && c.noted[i] == l {
			continue // most labels are those of the cell before
		}
		if c.values[l.Name] == nil {
			c.values[l.Name] = map[string]bool{}
		}
		c.values[l.Name][l.Value] = true
	}
	c.noted = s.labels
}

// excludes reports the entries of exclude that took nothing out, in any cell around.
func (c *check) excludes(step *Step) {
	if m := step.matrix; m != nil {
		for _, e := range m.excludes {
			if fit := c.exclude[e]; fit != nil && fit.tried && !fit.met && (!fit.spoiled || fit.unknown != "") {
				c.add(e.pos, "this exclude meets no cell%s", fit.unknown)
			}
		}
	}
	for inner := range step.all() {
		c.excludes(inner)
	}
}
