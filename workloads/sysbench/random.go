package sysbench

import (
	"strings"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
)

// RandomPointsOptions are the options of select_random_points.
type RandomPointsOptions struct {
	RandomPoints int `key:"random_points" default:"10" min:"1" max:"10000" unit:"values" doc:"values of k that a select has"`
	Distribution
}

// RandomRangesOptions are the options of select_random_ranges.
type RandomRangesOptions struct {
	NumberOfRanges int   `key:"number_of_ranges" default:"10" min:"1" max:"10000" unit:"ranges" doc:"ranges of k that a select has"`
	Delta          int64 `key:"delta" default:"5" min:"0" max:"1000000000" unit:"values" doc:"from the lower to the upper end of a range"`
	Distribution
}

func randomPoints() engine.Definition {
	return definition[RandomPointsOptions]{
		name: "select_random_points", schema: SchemaName, mode: engine.PSAuto,
		doc:   "sysbench select_random_points: a select of the rows with one of some values of k, from the first table; each client draws from its own part of the values",
		check: func(_ *RandomPointsOptions, tables plan.Tables) error { return needRows(tables) },
		build: func(o *RandomPointsOptions, tables plan.Tables, _ int) (engine.Workload, error) {
			list := strings.Repeat("?, ", o.RandomPoints-1) + "?"
			return onFirstTable(&operation{
				format: "SELECT id, k, c, pad FROM %s WHERE k IN (" + list + ")", class: results.Read,
				fill: func(c *client, args *engine.Args) {
					for range o.RandomPoints {
						args.Int(c.id())
					}
				},
			}, &o.Distribution, tables), nil
		},
	}.definition()
}

func randomRanges() engine.Definition {
	return definition[RandomRangesOptions]{
		name: "select_random_ranges", schema: SchemaName, mode: engine.PSAuto,
		doc:   "sysbench select_random_ranges: a count of the rows in some ranges of k, in the first table; each client draws from its own part of the values",
		check: func(_ *RandomRangesOptions, tables plan.Tables) error { return needRows(tables) },
		build: func(o *RandomRangesOptions, tables plan.Tables, _ int) (engine.Workload, error) {
			const between = "k BETWEEN ? AND ?"
			return onFirstTable(&operation{
				format: "SELECT count(k) FROM %s WHERE " + strings.Repeat(between+" OR ", o.NumberOfRanges-1) + between, class: results.Read,
				fill: func(c *client, args *engine.Args) {
					for range o.NumberOfRanges {
						k := c.id()
						args.Int(k)
						args.Int(k + o.Delta)
					}
				},
			}, &o.Distribution, tables), nil
		},
	}.definition()
}

// onFirstTable makes the workload of one statement on the first table, in which each client draws from a part of the values as
// wide as the others', so that they don't meet: client i of n from rows·i/n to rows·(i+1)/n.
func onFirstTable(op *operation, d *Distribution, tables plan.Tables) *workload {
	w := newWorkload(names(tables)[:1], sampler{})
	w.part = func(i, n int) sampler {
		width := float64(tables.Rows) / float64(n)
		low := width * float64(i)
		return d.sampler(int64(low), int64(low+width))
	}
	return w.doing(event{}.group(1, op))
}
