package steps

import "benchplan/plan"

// demand is what the largest step needs of a private server.
type demand struct {
	connections int
	statements  int // prepared ones, over all connections
}

// largestDemand walks the plan for it.
func largestDemand(p *plan.Plan, rehearse bool) demand {
	var d demand
	p.Walk(func(v plan.Visit) {
		if v.Unknown || v.Skipped {
			return
		}
		switch spec := v.Spec.(type) {
		case *prepareSpec:
			d.connections = max(d.connections, spec.Threads+ownConnections)
		case *runSpec:
			if n, ok := needOfRun(spec, v.Scope, rehearse); ok {
				d.connections, d.statements = max(d.connections, n.connections()), max(d.statements, n.prepared)
			}
		}
	})
	return d
}
