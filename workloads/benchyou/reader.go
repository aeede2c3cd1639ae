package benchyou

import (
	"math/rand/v2"

	"benchplan/results"
	"benchplan/workloads/engine"
)

// reader is a client that selects.
type reader struct {
	workload *workload
	keys     keys
	random   *rand.Rand
}

// Next implements engine.Client.
func (r *reader) Next(s *engine.Statement) {
	s.Template = r.random.IntN(r.workload.tables)
	s.Class = results.Read
	s.Last = true
	if r.workload.ranges != "" {
		lower, upper := r.keys.between(r.random)
		s.Args.Int(lower)
		s.Args.Int(upper)
		return
	}
	s.Args.Int(r.keys.one(r.random))
}

// Done implements engine.Client.
func (r *reader) Done(int64, int64) {}

// Undo implements engine.Client: a select leaves nothing open.
func (r *reader) Undo(*engine.Statement, bool) bool { return false }
