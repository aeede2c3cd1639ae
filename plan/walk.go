package plan

import "time"

// Visit is one cell of a step as Walk meets it.
type Visit struct {
	Step    *Step
	Scope   *Scope
	Spec    any           // the decoded spec, of steps that are no group; cells whose spec is the same share it
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
	c := newCheck(&copied, p.reporter())
	c.visit = visit
	c.group(copied.scope(c.decoder()), 1)
}
