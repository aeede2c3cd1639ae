package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The codes of the marks.
const (
	MarkErrors     = "errors"       // errors were counted
	MarkNoRows     = "no_rows"      // the reads met nothing
	MarkLittle     = "littles_law"  // clients, rate and latency do not fit together
	MarkPartial    = "partial"      // interrupted
	MarkFailed     = "failed"       // ended by an error
	MarkStopRule   = "stop_rule"    // ended by another rule than what it is compared with
	MarkDuration   = "duration"     // measured for another time than what it is compared with
	MarkTables     = "tables"       // on tables of another size than what it is compared with
	MarkUnlike     = "unlike"       // differs in something else from what it is compared with
	MarkNoRepeats  = "no_repeats"   // nothing to tell noise by
	MarkFewRepeats = "few_repeats"  // too few for an interval
	MarkChance     = "chance_alone" // how many differences are expected where there are none
)

// Tolerances of the checks.
const (
	littleTolerance   = 0.05 // Little's law, of the clients
	durationTolerance = 0.10 // measured times within a comparison
	rowsTolerance     = 0.10 // rows in the tables within a comparison
	littleMinEvents   = 100
	littleMinElapsed  = 1.0 // seconds
)

// Check holds a cell's figures against each other and gives the doubts about them.
func Check(c *Cell) []Mark {
	var marks []Mark
	add := func(m Mark, doubtful bool) {
		if doubtful {
			marks = append(marks, m)
		}
	}
	add(checkStatus(c))
	add(checkErrors(c))
	add(checkRows(c))
	return append(marks, checkLittle(c)...)
}

func checkStatus(c *Cell) (Mark, bool) {
	switch c.Status {
	case Partial:
		return Mark{MarkPartial, "", fmt.Sprintf("interrupted after %s: only what was measured until then", seconds(c.Outcome.Elapsed)),
			"benchplan run --resume executes it again"}, true
	case Failed:
		text := "ended by an error"
		if c.Error != "" {
			text += ": " + c.Error
		}
		return Mark{MarkFailed, "", text, "put the cause right and go on with benchplan run --resume"}, true
	}
	return Mark{}, false
}

func checkErrors(c *Cell) (Mark, bool) {
	if len(c.Outcome.Errors) == 0 || sumErrors(c.Outcome.Errors) == 0 {
		return Mark{}, false
	}
	var texts []string
	for _, e := range c.Outcome.Errors {
		name := fmt.Sprintf("%d × error %d", e.Count, e.Code)
		if e.Code == 0 {
			name = fmt.Sprintf("%d × connection lost", e.Count)
		}
		if e.Class != "" {
			name += " of a " + string(e.Class)
		}
		if e.Message != "" {
			name += ": " + e.Message
		}
		texts = append(texts, name)
	}
	return Mark{MarkErrors, "errors", strings.Join(texts, "; "),
		"rates and latencies are of what succeeded: find the cause before comparing them"}, true
}

func checkRows(c *Cell) (Mark, bool) {
	perRead, ok := rowsPerRead(c)
	return Mark{MarkNoRows, "rows_per_read", "the reads met no row: their latency is that of looking in vain",
		"`keys: existing` in the run step and `rows` in the tables"}, ok && perRead == 0
}

// checkLittle holds each role of a closed loop against Little's law: clients = events per second × mean latency.
func checkLittle(c *Cell) []Mark {
	o := &c.Outcome
	if c.Wanted.Rate > 0 || o.Elapsed < littleMinElapsed {
		return nil
	}
	roles := o.Roles
	if len(roles) == 0 {
		roles = []Role{{Clients: o.Clients, Events: o.Events, Latency: o.Latency}}
	}
	var texts []string
	for _, r := range roles {
		if r.Events < littleMinEvents || r.Clients == 0 {
			continue
		}
		busy := float64(r.Events) / o.Elapsed * r.Latency.Mean / 1000
		// What no latency holds, since the event was under way when the time was up, kept its client busy all the same.
		share := (busy + r.Uncounted/o.Elapsed) / float64(r.Clients)
		if math.Abs(share-1) <= littleTolerance {
			continue
		}
		name := "clients"
		if r.Name != "" {
			name = r.Name + " clients"
		}
		texts = append(texts, fmt.Sprintf("%.1f/s of %.4g ms each keep %.1f clients busy, not %d %s",
			float64(r.Events)/o.Elapsed, r.Latency.Mean, busy, r.Clients, name))
	}
	if texts == nil {
		return nil
	}
	return []Mark{{MarkLittle, "tps", "Little's law does not hold: " + strings.Join(texts, "; "),
		"clients waited outside of what was measured: look at reconnects, restarts and the generator's CPU"}}
}

// sameEvents tells whether both cells were given the same number of events to do, and did them: their times differ by right.
func sameEvents(c, base *Cell) bool {
	return c.Outcome.Stopped == ByEvents && base.Outcome.Stopped == ByEvents && c.Wanted.Events == base.Wanted.Events
}

// checkAgainst gives what makes a cell unlike the one that it is compared with, besides its labels; other names that one.
func checkAgainst(c, base *Cell, other string) []Mark {
	var marks []Mark
	if a, b := c.Outcome.Stopped, base.Outcome.Stopped; a != b && ranToEnd(c) && ranToEnd(base) {
		marks = append(marks, Mark{MarkStopRule, "change.tps",
			fmt.Sprintf("ended by %s after %s, %s by %s after %s", a, seconds(c.Outcome.Elapsed), other, b, seconds(base.Outcome.Elapsed)),
			"give all of them the same rule: a duration that ends each before its events do"})
	} else if a, b := c.Outcome.Elapsed, base.Outcome.Elapsed; ranToEnd(c) && ranToEnd(base) && !sameEvents(c, base) && math.Abs(a-b) > durationTolerance*max(a, b) {
		marks = append(marks, Mark{MarkDuration, "change.tps",
			fmt.Sprintf("measured for %s, %s for %s", seconds(a), other, seconds(b)), "give all of them the same duration"})
	}
	const samePrepare = "a prepare step before each of them makes the same tables"
	if a, b := c.Tables, base.Tables; a.Count != b.Count || a.Rows != b.Rows {
		marks = append(marks, Mark{MarkTables, "change.tps",
			fmt.Sprintf("on %d × %d rows, %s on %d × %d", a.Count, a.Rows, other, b.Count, b.Rows), samePrepare})
	} else if a, b := float64(c.RowsAtStart), float64(base.RowsAtStart); a > 0 && b > 0 && math.Abs(a-b) > rowsTolerance*max(a, b) {
		marks = append(marks, Mark{MarkTables, "change.tps",
			fmt.Sprintf("began with %d rows, %s with %d", c.RowsAtStart, other, base.RowsAtStart), samePrepare})
	}
	if c.Workload != base.Workload {
		marks = append(marks, Mark{MarkUnlike, "change.tps", fmt.Sprintf("workload %s, %s %s", c.Workload, other, base.Workload),
			"give them different labels if they are not meant to be compared"})
	}
	return marks
}

// ranToEnd tells whether a cell was ended by one of its own rules.
func ranToEnd(c *Cell) bool {
	return c.Status == Complete && (c.Outcome.Stopped == ByDuration || c.Outcome.Stopped == ByEvents)
}

// mergeMarks adds to the marks those with a code that is not there yet.
func mergeMarks(marks, more []Mark) []Mark {
	merged := slices.Clone(marks)
	for _, m := range more {
		if !slices.ContainsFunc(merged, func(have Mark) bool { return have.Code == m.Code }) {
			merged = append(merged, m)
		}
	}
	return merged
}

// seconds writes a time as people do: 0.42 s, 42 s, 5 min, 1 h 0 min.
func seconds(s float64) string {
	switch whole := int64(math.Round(s)); {
	case s < 10:
		return fmt.Sprintf("%.3g s", s)
	case whole < 120:
		return fmt.Sprintf("%d s", whole)
	case whole < 3600:
		if whole%60 == 0 {
			return fmt.Sprintf("%d min", whole/60)
		}
		return fmt.Sprintf("%d min %d s", whole/60, whole%60)
	default:
		return fmt.Sprintf("%d h %d min", whole/3600, whole%3600/60)
	}
}
