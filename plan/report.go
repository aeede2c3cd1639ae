package plan

import "slices"

// Report says how a run's cells are compared.
type Report struct {
	Baseline map[string]string `key:"baseline" json:"baseline,omitempty" doc:"the label values that the others are compared with, for example {config: plain}; left out: the first value of the first label that varies"`
	Pivot    string            `key:"pivot" json:"pivot,omitempty" doc:"the label by which the table is divided, a section for each of its values in the order declared"`
	Metrics  []string          `key:"metrics" single:"true" json:"metrics,omitempty" doc:"the metrics to print, in this order"`
	Assert   []string          `key:"assert" single:"true" json:"assert,omitempty" doc:"what has to hold for every cell, for example errors == 0, or for every difference to the baseline, for example change.tps > -0.05 || !significant.tps; otherwise the exit status is 3"`
}

// compared checks the names that report uses against what the cells have.
func (c *check) compared() {
	n := c.plan.report
	if n == nil || c.full() {
		return
	}
	r := &c.plan.Report
	labels := sortedKeys(c.values)
	if b := n.get("baseline"); b != nil && b.kind == mapNode && !c.uncertain {
		for _, f := range b.fields {
			values, ok := c.values[f.key]
			if v := r.Baseline[f.key]; !ok {
				c.add(f.pos, "report.baseline: no cell has the label %q%s", f.key, unknownHint(f.key, labels))
			} else if !values[v] && f.value.kind == scalarNode {
				c.add(f.value.pos, "report.baseline: no cell has %s: %s%s", f.key, v, unknownHint(v, sortedKeys(values)))
			}
		}
	}
	if r.Pivot != "" && c.values[r.Pivot] == nil && !c.uncertain {
		c.add(n.get("pivot").pos, "report.pivot: no cell has the label %q%s", r.Pivot, unknownHint(r.Pivot, labels))
	}
	c.metrics(n.get("metrics"))
	c.reportAsserts(n.get("assert"))
}

func (c *check) metrics(n *node) {
	for _, item := range itemsOf(n) {
		if item.kind == scalarNode && !slices.Contains(c.plan.voc.Metrics, item.text) {
			c.add(item.pos, "report.metrics: there is no metric %q%s", item.text, unknownHint(item.text, c.plan.voc.Metrics))
		}
	}
}

func (c *check) reportAsserts(n *node) {
	if c.plan.voc.Assert == nil {
		return
	}
	for _, item := range itemsOf(n) {
		if item.kind != scalarNode || item.template != nil {
			continue // told when the report was decoded
		}
		if err := c.plan.voc.Assert(item.text); err != nil {
			c.add(item.pos, "report.assert: %v", err)
		}
	}
}

// itemsOf gives what a list holds; of one that is written as its only element, that.
func itemsOf(n *node) []*node {
	switch {
	case n == nil || n.kind == nullNode:
		return nil
	case n.kind == listNode:
		return n.items
	}
	return []*node{n}
}
