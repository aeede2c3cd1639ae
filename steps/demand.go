package steps

import (
	"benchplan/plan"
	"benchplan/workloads"
	"benchplan/workloads/engine"
)

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
			d.connections = max(d.connections, spec.Threads)
		case *runSpec:
			d.add(spec, v.Scope, rehearse)
		}
	})
	return d
}

func (d *demand) add(spec *runSpec, s *plan.Scope, rehearse bool) {
	definition := workloads.Families()[spec.Workload]
	if definition.Host != nil {
		return
	}
	clients, problems := spec.clients(definition)
	order, more := spec.order(definition, clients)
	data, err := s.Tables()
	if len(problems)+len(more) > 0 || err != nil || data == nil {
		return
	}
	if rehearse {
		order = rehearsed(order)
	}
	d.connections = max(d.connections, order.Total())
	if t, err := s.Target(); err == nil {
		order.PSMode = spec.psMode(order.PSMode, t)
	}
	if order.PSMode == engine.PSDisable {
		return
	}
	workload, err := definition.New(spec.Options, *data, byRole(order.Clients))
	if err != nil {
		return
	}
	statements := 0
	for _, role := range order.Clients {
		statements += role.Count * len(workload.Templates(role.Role))
	}
	d.statements = max(d.statements, statements)
}
