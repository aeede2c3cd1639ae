package render

import (
	"encoding/json"
	"io"

	"benchplan/results"
)

// JSON writes a report as one JSON document. Its schema is results.Report: "v" is its version, "kind" is "report";
// sections[].rows[] hold an identity each, with values.<metric> {center, interval {lo, hi}, interval_by, samples} and, against
// the row whose key is baseline, changes.<metric> {method, ratio, interval, pairs, tested, decidable, p, p_adjusted, significant,
// better, against}; geometric_means[].metrics.<metric> {ratio, cells} are over the rows of a scenario. Times are RFC 3339,
// latencies milliseconds, ratios fractions. A metric that does not apply to a row is missing there.
func JSON(w io.Writer, r *results.Report, _ Options) error { return writeJSON(w, r) }

// JSONCompare writes a comparison as one JSON document. Its schema is results.Comparison: "v" is its version, "kind" is
// "comparison"; rows[].runs[] has for each run a row as in a report, or null, with changes to the first run; plan_diffs[]
// {run, lines} are the unified differences of the plans' texts.
func JSONCompare(w io.Writer, c *results.Comparison, _ Options) error { return writeJSON(w, c) }

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
