package results

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// The codes of the marks.
const (
	MarkErrors     = "errors"        // errors were counted
	MarkNoRows     = "no_rows"       // the reads met nothing
	MarkLowRows    = "low_rows"      // most reads met nothing
	MarkLittle     = "littles_law"   // clients, rate and latency do not fit together
	MarkUnfinished = "unfinished"    // events that no latency holds took far longer than those that were counted
	MarkRestarts   = "restarts"      // many events had to begin anew
	MarkReconnects = "reconnects"    // connections were lost, and clients were without for long
	MarkStranded   = "stranded"      // something was left open on the server
	MarkTrend      = "trend"         // the rate rose or sank all through the cell
	MarkRate       = "rate_missed"   // an open loop did not keep its rate, or only by a queue
	MarkOverloaded = "overloaded"    // the queue of an open loop grew all through the cell
	MarkSchedule   = "schedule"      // the generator itself began events late
	MarkGenerator  = "generator"     // the generator was short of CPU
	MarkShared     = "shared_cpu"    // the generator took the server's CPUs
	MarkGC         = "gc_pauses"     // the generator's garbage collector stopped it
	MarkUnwatched  = "unwatched"     // figures of a machine or a server are of a part of the cell only
	MarkNoisy      = "noisy_host"    // the machines did something else besides
	MarkPartial    = "partial"       // interrupted
	MarkFailed     = "failed"        // ended by an error
	MarkStopRule   = "stop_rule"     // ended by another rule than what it is compared with
	MarkDuration   = "duration"      // measured for another time than what it is compared with
	MarkTables     = "tables"        // on tables of another size than what it is compared with
	MarkUnlike     = "unlike"        // differs in something else from what it is compared with
	MarkNoRepeats  = "no_repeats"    // nothing to tell noise by
	MarkFewRepeats = "few_repeats"   // too few to tell a difference from noise, or for an interval
	MarkCut        = "cut_short"     // compared with a cell that was not carried out to its end, or itself one
	MarkZero       = "zero_baseline" // a baseline of 0, of which nothing is a percentage
	MarkChance     = "chance_alone"  // how many differences are expected where there are none
	MarkOrder      = "order"         // the repeats of a scenario were executed one after the other
	MarkResumed    = "resumed"       // measured in another part of a resumed run than what it is compared with, or when things were not as they had been
)

// Tolerances of the checks.
const (
	littleTolerance   = 0.05 // Little's law, of the clients
	durationTolerance = 0.10 // measured times within a comparison
	rowsTolerance     = 0.10 // rows in the tables within a comparison
	littleMinEvents   = 100
	littleMinElapsed  = 1.0   // seconds
	littleMinMean     = 0.002 // milliseconds; histograms resolve 64 ns, which is too coarse for shorter events
	unfinishedMin     = 100   // milliseconds; what is shorter is no stall
	unfinishedFactor  = 2     // times the longest counted event
	restartShare      = 0.01
	awayShare         = 0.01 // of the clients' time, without a connection
	rowsPerReadLeast  = 0.5  // below, at least half of the reads met nothing
	trendLeast        = 0.10 // of the median, from the begin of the cell to its end
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
	add(Mark{MarkStranded, "", fmt.Sprintf("%d clients lost their connection at the end and could not roll back what they had open", c.Outcome.Stranded),
		"a prepared transaction keeps its locks: look at XA RECOVER and roll back what is there"}, c.Outcome.Stranded > 0)
	add(checkRestarts(c))
	add(checkReconnects(c))
	add(checkUnfinished(c))
	add(checkTrend(c))
	return slices.Concat(marks, checkLittle(c), checkSchedule(c), checkMachines(c))
}

func checkStatus(c *Cell) (Mark, bool) {
	switch c.Status {
	case Partial:
		return Mark{MarkPartial, "", fmt.Sprintf("interrupted after %s: only what was measured until then", seconds(c.Outcome.Elapsed)),
			"run the plan again"}, true
	case Failed:
		text := "ended by an error"
		if c.Error != "" {
			text += ": " + c.Error
		}
		return Mark{MarkFailed, "", text, "put the cause right and run the plan again"}, true
	}
	return Mark{}, false
}

func checkErrors(c *Cell) (Mark, bool) {
	if len(c.Outcome.Errors) == 0 || sumErrors(c.Outcome.Errors) == 0 {
		return Mark{}, false
	}
	var texts []string
	for _, e := range c.Outcome.Errors {
		text := errorText(e)
		if e.Message != "" {
			text += ": " + e.Message
		}
		texts = append(texts, text)
	}
	return Mark{MarkErrors, "errors", strings.Join(texts, "; "),
		"rates and latencies are of what succeeded: find the cause before comparing them"}, true
}

func errorText(e ErrorCount) string {
	text := fmt.Sprintf("%d × error %d", e.Count, e.Code)
	if e.Code == codeLost {
		text = fmt.Sprintf("%d × connection lost", e.Count)
	}
	if e.Class != "" {
		text += " of a " + string(e.Class)
	}
	return text
}

// The errors of which more is known than their text.
const (
	codeLost             = 0    // no number: the connection was lost
	codeSnapshotConflict = 1020 // ER_CHECKREAD
	codeDuplicateKey     = 1062 // ER_DUP_ENTRY: a row is there already
	codeLockWaitTimeout  = 1205
	codeDeadlock         = 1213
)

// checkRestarts doubts a cell whose clients spent a noticeable part of their time on what was rolled back.
func checkRestarts(c *Cell) (Mark, bool) {
	n, events := sumErrors(c.Outcome.Restarts), c.Outcome.Events
	if n == 0 || float64(n) < restartShare*float64(events) {
		return Mark{}, false
	}
	var texts, remedies []string
	for _, e := range c.Outcome.Restarts {
		text, remedy := errorText(e), ""
		switch e.Code {
		case codeLost:
			remedy = "the server's log says why connections were lost"
		case codeDeadlock, codeLockWaitTimeout, codeSnapshotConflict:
			remedy = "fewer clients or more rows get less into each other's way"
		case codeDuplicateKey:
			text += ", rows of an earlier run are in the way"
			remedy = "prepare the tables anew before the run step"
		default: // on_error said so
			if e.Message != "" {
				text += ": " + e.Message
			}
			remedy = "find the cause of what on_error has begin anew"
		}
		texts = append(texts, text)
		if !slices.Contains(remedies, remedy) {
			remedies = append(remedies, remedy)
		}
	}
	share := ""
	if events > 0 {
		share = fmt.Sprintf(" (%s %%)", plainly(100*float64(n)/float64(events)))
	}
	return Mark{MarkRestarts, "restarts",
		fmt.Sprintf("%d restarts on %d events%s, their time is in the latency: %s", n, events, share, strings.Join(texts, "; ")), strings.Join(remedies, "; ")}, true
}

// checkReconnects doubts a cell whose clients were without a server for a noticeable part of their time: the rate is the mean of a time
// with one and a time without.
func checkReconnects(c *Cell) (Mark, bool) {
	o := &c.Outcome
	whole := float64(o.Clients) * o.Elapsed
	if o.Reconnects == 0 || whole <= 0 || o.ReconnectTime < awayShare*whole {
		return Mark{}, false
	}
	return Mark{MarkReconnects, "tps", fmt.Sprintf("connections were opened again %d times: clients had none for %s %% of their time, which rate and latency hold",
		o.Reconnects, plainly(100*o.ReconnectTime/whole)), "the server's log says why they were lost, unless on_error had them dropped; the series of the cell shows when"}, true
}

// checkUnfinished doubts the latencies of a cell at whose end something hung: what did not end in time was not counted.
func checkUnfinished(c *Cell) (Mark, bool) {
	o := &c.Outcome
	if o.LongestUnfinished <= unfinishedMin || o.LongestUnfinished < unfinishedFactor*o.Latency.Max {
		return Mark{}, false
	}
	text := "1 event was under way at the end, for "
	if o.Unfinished != 1 {
		text = fmt.Sprintf("%d events were under way at the end, the longest for ", o.Unfinished)
	}
	if o.Cut > 0 {
		text += "at least "
	}
	text += seconds(o.LongestUnfinished / 1000)
	if o.Unfinished == 1 {
		text += ": it is in no latency"
	} else {
		text += ": they are in no latency"
	}
	return Mark{MarkUnfinished, "max", text, "a longer duration counts them; the series of the cell shows since when nothing came"}, true
}

// checkRows doubts reads that met less than they should. What a statement should return is not in the record, but so much is: no
// more reads can have met something than there were rows. A single lookup that finds its row makes 1.
func checkRows(c *Cell) (Mark, bool) {
	perRead, ok := rowsPerRead(c)
	const remedy = "`keys: existing` in the run step and `rows` in the tables"
	switch {
	case !ok || perRead >= rowsPerReadLeast:
		return Mark{}, false
	case perRead == 0:
		return Mark{MarkNoRows, "rows_per_read", "the reads met no row: their latency is that of looking in vain", remedy}, true
	}
	return Mark{MarkLowRows, "rows_per_read", fmt.Sprintf("%.3g rows a read: at least %.0f %% of the reads met no row, and looking in vain is another work than reading",
		perRead, math.Floor(100*(1-perRead))), remedy}, true
}

// checkTrend doubts the rate of a cell that had not come to rest: its mean depends on when it was begun and ended.
func checkTrend(c *Cell) (Mark, bool) {
	t := c.Outcome.Trend
	if t == nil || t.Figure != TrendRate || !t.significant() || t.Median <= 0 || math.Abs(t.Change) < trendLeast*t.Median || c.Status == Failed {
		return Mark{}, false
	}
	share := 100 * math.Abs(t.Change) / t.Median
	if t.Change > 0 {
		return Mark{MarkTrend, "tps", fmt.Sprintf("the rate rose by %.0f %% from begin to end (Mann-Kendall %s): the warm-up was not over", share, pText(t.P)),
			"a longer warmup"}, true
	}
	return Mark{MarkTrend, "tps", fmt.Sprintf("the rate sank by %.0f %% from begin to end (Mann-Kendall %s)", share, pText(t.P)),
		"a longer warmup and duration show where it comes to rest; what grows meanwhile (tables, log, dirty pages, heat) is in the series"}, true
}

// checkLittle holds each role of a closed loop against Little's law: clients = events per second × mean latency.
func checkLittle(c *Cell) []Mark {
	o := &c.Outcome
	if c.open() || o.Elapsed < littleMinElapsed {
		return nil
	}
	roles := o.Roles
	if len(roles) == 0 {
		roles = []Role{{Clients: o.Clients, Events: o.Events, Latency: o.Latency}}
	}
	var texts []string
	for _, r := range roles {
		if r.Events < littleMinEvents || r.Clients == 0 || r.Latency.Mean < littleMinMean {
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
		texts = append(texts, fmt.Sprintf("%.1f/s of %s ms each keep %.1f clients busy, not %d %s",
			float64(r.Events)/o.Elapsed, rounded(r.Latency.Mean), busy, r.Clients, name))
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

// checkPair gives what makes a row's repeats unlike those of the row that it is compared with, besides its labels; other names
// that one. Each repeat is held against the one of its round; tables that grow are held by their medians, since in interleaved rounds
// they grow for both.
func checkPair(cells, base []*Cell, other string) []Mark {
	var marks []Mark
	for _, p := range byRound(base, cells) {
		marks = mergeMarks(marks, checkAgainst(p.cell, p.base, other))
	}
	if a, b := medianRows(cells), medianRows(base); unlikeRows(a, b) {
		marks = mergeMarks(marks, []Mark{{MarkTables, "change.tps", fmt.Sprintf("began with %.0f rows, %s with %.0f", a, other, b), samePrepare}})
	}
	return marks
}

// checkParts doubts rounds of one run that a resume has cut in two: what changed in between is in the difference.
func checkParts(cells, base []*Cell, other string) []Mark {
	pairs := byRound(base, cells)
	apart := slices.DeleteFunc(slices.Clone(pairs), func(p cellPair) bool { return p.cell.Resumed == p.base.Resumed })
	if len(apart) == 0 {
		return nil
	}
	text := "the run was resumed between this and " + other
	if len(pairs) > 1 {
		text = fmt.Sprintf("%s, in %d of %d rounds: these are not compared pair by pair", text, len(apart), len(pairs))
	}
	return []Mark{{MarkResumed, "change.tps", text, "what has changed meanwhile is in the difference: run the plan anew where that matters"}}
}

// byRound pairs the repeats of two rows that are of the same round, so that one that failed leaves the others with those that were run
// with them. Where no round is common to both, the first of either is a pair.
func byRound(base, cells []*Cell) []cellPair {
	var pairs []cellPair
	for _, c := range cells {
		if i := slices.IndexFunc(base, func(b *Cell) bool { return b.Round == c.Round }); i >= 0 {
			pairs = append(pairs, cellPair{base[i], c})
		}
	}
	if pairs == nil {
		return []cellPair{{base[0], cells[0]}}
	}
	return pairs
}

// checkRepeats doubts repeats that were not run on the same data: they are no samples of one thing. Of one with 0 rows that is not known.
func checkRepeats(cells []*Cell) []Mark {
	if cells = slices.DeleteFunc(slices.Clone(cells), func(c *Cell) bool { return c.RowsAtStart == 0 }); len(cells) == 0 {
		return nil
	}
	first := slices.MinFunc(cells, func(a, b *Cell) int { return cmp.Compare(a.RowsAtStart, b.RowsAtStart) })
	last := slices.MaxFunc(cells, func(a, b *Cell) int { return cmp.Compare(a.RowsAtStart, b.RowsAtStart) })
	if !unlikeRows(float64(first.RowsAtStart), float64(last.RowsAtStart)) {
		return nil
	}
	return []Mark{{MarkTables, "tps", fmt.Sprintf("repeat %d began with %d rows, repeat %d with %d", first.Repeat, first.RowsAtStart, last.Repeat, last.RowsAtStart), samePrepare}}
}

const samePrepare = "a prepare step before each of them makes the same tables"

// unlikeRows tells whether so many rows in the tables are too different; 0 is unknown.
func unlikeRows(a, b float64) bool {
	return a > 0 && b > 0 && math.Abs(a-b) > rowsTolerance*max(a, b)
}

// medianRows is the median of the rows with which the cells began, where that is known of all; else 0.
func medianRows(cells []*Cell) float64 {
	var rows []float64
	for _, c := range cells {
		if c.RowsAtStart == 0 {
			return 0
		}
		rows = append(rows, float64(c.RowsAtStart))
	}
	return Summarize(rows).Center
}

// checkAgainst gives what makes a cell unlike one that it is compared with, besides its labels and the rows it began with.
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
	if a, b := c.Tables, base.Tables; a.Count != b.Count || a.Rows != b.Rows {
		marks = append(marks, Mark{MarkTables, "change.tps",
			fmt.Sprintf("on %d × %d rows, %s on %d × %d", a.Count, a.Rows, other, b.Count, b.Rows), samePrepare})
	}
	if a, b := c.Files, base.Files; a != nil && b != nil && (a.Count != b.Count || a.TotalSize != b.TotalSize) {
		marks = append(marks, Mark{MarkTables, "change.tps",
			fmt.Sprintf("on %d files of %d bytes together, %s on %d of %d", a.Count, a.TotalSize, other, b.Count, b.TotalSize), "a prepare step before each of them makes the same files"})
	}
	if c.Workload != base.Workload {
		marks = append(marks, Mark{MarkUnlike, "change.tps", fmt.Sprintf("workload %s, %s %s", c.Workload, other, base.Workload),
			"give them different labels if they are not meant to be compared"})
	}
	return marks
}

// checkVariables gives the global variables in which the server was not the same for cells of one run that are compared: something but
// the plan changed them between the two, as far as the record tells. Servers that were started with other options differ in what
// follows from these.
func checkVariables(cells, base []*Cell, other string) []Mark {
	seen := map[string]bool{}
	var texts []string
	for _, p := range byRound(base, cells) {
		b, c := p.base, p.cell
		if c.Server == nil || b.Server == nil || c.Target.Address != b.Target.Address || !sameOptions(c, b) {
			continue
		}
		here, there := changedVariables(c), changedVariables(b)
		names := slices.AppendSeq(slices.Collect(maps.Keys(here)), maps.Keys(there))
		slices.Sort(names)
		for _, name := range names {
			v, w := valueOrFirst(here, name), valueOrFirst(there, name)
			if v != w && !seen[name] && !setByPlan(c, name) && !setByPlan(b, name) {
				seen[name] = true
				texts = append(texts, fmt.Sprintf("%s was %s, for %s %s", name, v, other, w))
			}
		}
	}
	if texts == nil {
		return nil
	}
	if more := len(texts) - noteLines; more > 1 {
		texts = append(texts[:noteLines], fmt.Sprintf("and %d more", more))
	}
	return []Mark{{MarkUnlike, "change.tps", "the server's variable " + strings.Join(texts, "; "),
		"what else has access to the server may have changed it; where a step of the plan did, `server: { set: … }` puts it into the record"}}
}

func valueOrFirst(changed map[string]string, name string) string {
	if v, ok := changed[name]; ok {
		return cmp.Or(v, `""`)
	}
	return "as the run began"
}

// sameOptions tells whether the servers of two cells were started with the same options, as far as the plan gave them.
func sameOptions(a, b *Cell) bool {
	options := func(c *Cell) map[string]string {
		list := maps.Clone(c.Attributes)
		maps.DeleteFunc(list, func(name, _ string) bool { return !strings.HasPrefix(name, attributeOption) })
		return list
	}
	return maps.Equal(options(a), options(b))
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

// plainly writes a number with three significant digits; whole from 1000 on, as people write no exponents.
func plainly(v float64) string {
	if math.Abs(v) >= 999.5 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
