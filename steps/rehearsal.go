package steps

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"time"

	"benchplan/plan"
	"benchplan/workloads"
	"benchplan/workloads/engine"
)

// The bounds of a rehearsal: it tries a plan, it measures nothing.
const (
	rehearsedTime    = time.Second
	rehearsedRows    = 1000
	rehearsedClients = 64
	rehearsedRate    = 1000 // events per second
)

// rehearsedCount cuts a number of events or rows to a thousandth, at most 1,000 and at least 1 where there were any.
func rehearsedCount(n plan.Count) plan.Count {
	if n == 0 {
		return 0
	}
	return min(max(n/1000, 1), rehearsedRows)
}

func rehearsedDuration(d plan.Duration) plan.Duration {
	return min(d, plan.Duration(rehearsedTime))
}

// rehearsed cuts an order to what trying a plan needs. Every role that has clients keeps some.
func rehearsed(o engine.Order) engine.Order {
	o.Duration, o.Warmup = rehearsedDuration(o.Duration), rehearsedDuration(o.Warmup)
	o.Events = rehearsedCount(o.Events)
	if o.Rate != nil {
		slower := *o.Rate
		slower.From, slower.To = min(slower.From, rehearsedRate), min(slower.To, rehearsedRate)
		o.Rate = &slower
	}
	total := o.Total()
	if total <= rehearsedClients {
		return o
	}
	largest := 0
	for i := range o.Clients {
		n := &o.Clients[i].Count
		if *n > 0 {
			*n = max(1, *n*rehearsedClients/total)
		}
		if *n > o.Clients[largest].Count {
			largest = i
		}
	}
	o.Clients[largest].Count -= max(0, o.Total()-rehearsedClients)
	return o
}

// rehearsedFiles cuts files to a thousandth of their size, in whole blocks of the largest kind that the plan's loads have, and to
// one such block at the least.
func rehearsedFiles(f plan.Files, smallest plan.Size) plan.Files {
	smallest = max(smallest, 1)
	each := f.TotalSize / plan.Size(f.Count)
	small := max(each/1000, smallest)
	f.TotalSize = min(each, small-small%smallest) * plan.Size(f.Count)
	return f
}

// smallestFile is the size that a file has to have for every load of the plan.
func smallestFile(p *plan.Plan) plan.Size {
	var smallest plan.Size
	p.Walk(func(v plan.Visit) {
		spec, ok := v.Spec.(*runSpec)
		if !ok || v.Unknown || v.Skipped {
			return
		}
		definition, _ := workloads.Family(spec.Workload)
		if host := definition.Host; host != nil && host.Files {
			smallest = max(smallest, host.SmallestFile(spec.Options))
		}
	})
	return smallest
}

// standIn answers HTTP steps in a rehearsal: a server that takes everything and gives it back. It is no server of any
// kind, so what it answers proves nothing. Secrets do not get as far as here: it works on their masks.
type standIn struct {
	merged map[string]any    // what was sent to any path, merged
	last   map[string][]byte // what was last sent to a URL
}

func newStandIn() *standIn {
	return &standIn{merged: map[string]any{}, last: map[string][]byte{}}
}

// answer works by the plan's rehearse.http, else with 200 and what was last sent to that URL; asserts then count as not checked.
func (s *standIn) answer(c *Call, spec *httpSpec) (*answer, error) {
	method, to := spec.request()
	u, err := url.Parse(to.String())
	if err != nil {
		return nil, err
	}
	if err := s.take(method, u, spec); err != nil {
		return nil, err
	}
	rule, found, err := c.Scope.Answer(method, u.Path, s.merged)
	if err != nil {
		return nil, err
	}
	a := &answer{status: http.StatusOK, headers: map[string]any{}}
	if !found {
		c.unchecked = true
		a.body = s.last[u.Host+u.Path]
		return a, nil
	}
	a.status, a.body = rule.Status, []byte(rule.Body)
	for name, value := range rule.Headers {
		a.setHeader(name, value)
	}
	if rule.JSON != nil {
		a.body, err = json.Marshal(rule.JSON)
	}
	return a, err
}

// take keeps what a request sends.
func (s *standIn) take(method string, u *url.URL, spec *httpSpec) error {
	if method == http.MethodGet {
		return nil
	}
	if sent, ok := spec.JSON.(map[string]any); ok {
		maps.Copy(s.merged, sent)
	}
	switch {
	case spec.JSON != nil:
		b, err := json.Marshal(spec.JSON)
		if err != nil {
			return err
		}
		s.last[u.Host+u.Path] = b
	case spec.Body != nil:
		s.last[u.Host+u.Path] = []byte(spec.Body.String())
	}
	return nil
}
