package engine

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"benchplan/results"
)

// record adds a latency, clamped to the histogram's range, never dropped.
func record(h *hdrhistogram.Histogram, latency int64) {
	_ = h.RecordValue(min(max(latency, 0), results.MaxLatency))
}

// summarize reads the figures of a report from a histogram.
func summarize(h *hdrhistogram.Histogram) results.Latency {
	if h.TotalCount() == 0 {
		return results.Latency{}
	}
	ms := results.Milliseconds
	q := h.ValueAtPercentilesSlice([]float64{50, 95, 99, 99.9})
	return results.Latency{
		Count: h.TotalCount(),
		Min:   ms(h.Min()),
		Mean:  h.Mean() / 1e6,
		P50:   ms(q[0]),
		P95:   ms(q[1]),
		P99:   ms(q[2]),
		P999:  ms(q[3]),
		Max:   ms(h.Max()),
	}
}

// shard is where some of the clients put down what they measured: histograms are too big for one each, and one for all
// would be fought over.
type shard struct {
	mu         sync.Mutex
	roles      []*hdrhistogram.Histogram // of events
	classes    []classTally              // in the order of results.Classes
	counts     [MaxCounters]int64        // of a host workload, in the order of its counters
	errors     problems
	restarts   problems
	reconnects int64
	away       time.Duration // from losing connections to having them again
	unfinished int64
	// longestUnfinished is how long the longest of them took until it ended or was given up, nanoseconds.
	longestUnfinished int64
	uncounted         []int64  // client-nanoseconds by role, see results.Role
	lastEnd           int64    // when the last event ended, counted or failed
	warm              *span    // of the warm-up, for the observer alone
	current           *span    // of the second under way
	_                 [8]int64 // keeps the next shard's mutex off this cache line
}

// addCounts adds what an event came to.
func (s *shard) addCounts(r *HostResult) {
	for i, n := range r.Counts {
		s.counts[i] += n
	}
}

type classTally struct {
	rows, affected int64
	latency        *hdrhistogram.Histogram
}

// span is what happened in about a second.
type span struct {
	events, queries, errors, restarts, reconnects int64
	latency                                       *hdrhistogram.Histogram
}

func newSpan() *span { return &span{latency: results.NewHistogram()} }

func (s *span) reset() {
	s.latency.Reset()
	*s = span{latency: s.latency}
}

// empty tells whether no client was told anything by the server.
func (s *span) empty() bool {
	return s.events+s.queries+s.errors+s.restarts+s.reconnects == 0
}

// add merges another span into this one.
func (s *span) add(other *span) {
	s.events += other.events
	s.queries += other.queries
	s.errors += other.errors
	s.restarts += other.restarts
	s.reconnects += other.reconnects
	s.latency.Merge(other.latency)
}

func newShard(roles int) *shard {
	s := &shard{
		roles:     make([]*hdrhistogram.Histogram, roles),
		uncounted: make([]int64, roles),
		classes:   make([]classTally, len(results.Classes)),
		errors:    problems{},
		restarts:  problems{},
		warm:      newSpan(),
		current:   newSpan(),
	}
	for i := range s.roles {
		s.roles[i] = results.NewHistogram()
	}
	for i := range s.classes {
		s.classes[i].latency = results.NewHistogram()
	}
	return s
}

// classIndex is the position in results.Classes; what is unknown there is other.
func classIndex(c results.Class) int {
	switch c {
	case results.Read:
		return 0
	case results.Write:
		return 1
	}
	return 2
}

// problems counts errors by code and class.
type problems map[problem]*results.ErrorCount

type problem struct {
	code  int
	class results.Class
}

func (p problems) add(f fault, class results.Class) {
	if met, ok := p[problem{f.code, class}]; ok {
		met.Count++
		return
	}
	p.merge(results.ErrorCount{Code: f.code, Class: class, Count: 1, Message: f.message})
}

func (p problems) merge(e results.ErrorCount) {
	key := problem{e.Code, e.Class}
	if met, ok := p[key]; ok {
		met.Count += e.Count
		return
	}
	p[key] = &e
}

// list gives the counts with the most frequent first.
func (p problems) list() []results.ErrorCount {
	var list []results.ErrorCount
	for _, e := range p {
		list = append(list, *e)
	}
	slices.SortFunc(list, func(a, b results.ErrorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code), strings.Compare(string(a.Class), string(b.Class)))
	})
	return list
}

// tally is all that a cell measures.
type tally struct {
	shards []*shard
	spare  *span // takes the place of a span that is being read
}

func newTally(shards, roles int) *tally {
	t := &tally{shards: make([]*shard, shards), spare: newSpan()}
	for i := range t.shards {
		t.shards[i] = newShard(roles)
	}
	return t
}

// collect takes away what the shards gathered since the last call, of the warm-up or of the measured part, and adds it to sum.
// It tells whether there was anything.
func (t *tally) collect(sum *span, warmup bool) (any bool) {
	for _, s := range t.shards {
		s.mu.Lock()
		place := &s.current
		if warmup {
			place = &s.warm
		}
		taken := *place
		*place = t.spare
		s.mu.Unlock()
		any = any || !taken.empty()
		sum.add(taken)
		taken.reset()
		t.spare = taken
	}
	return any
}

// fill writes the totals into an outcome. It is called when no client runs any more.
func (t *tally) fill(out *results.Outcome, clients []RoleClients) {
	events := results.NewHistogram()
	out.Histograms = map[string]*hdrhistogram.Histogram{"events": events}
	for i, role := range clients {
		if role.Count == 0 {
			continue
		}
		h := results.NewHistogram()
		var uncounted int64
		for _, s := range t.shards {
			h.Merge(s.roles[i])
			uncounted += s.uncounted[i]
		}
		events.Merge(h)
		out.Roles = append(out.Roles, results.Role{Name: role.Role, Clients: role.Count, Events: h.TotalCount(), Latency: summarize(h), Uncounted: seconds(uncounted)})
		if role.Role != "" {
			out.Histograms["role."+role.Role] = h
		}
	}
	out.Events = events.TotalCount()
	out.Latency = summarize(events)
	t.fillProblems(out)
}

// fillStatements writes what came of statements into an outcome.
func (t *tally) fillStatements(out *results.Outcome) {
	out.Statements = map[results.Class]results.Statements{}
	for i, class := range results.Classes {
		h := results.NewHistogram()
		var sum results.Statements
		for _, s := range t.shards {
			h.Merge(s.classes[i].latency)
			sum.Rows += s.classes[i].rows
			sum.Affected += s.classes[i].affected
		}
		sum.Count, sum.Latency = h.TotalCount(), summarize(h)
		out.Statements[class] = sum
		out.Histograms[string(class)] = h
	}
}

// fillCounters writes into an outcome what the events of a host workload added up.
func (t *tally) fillCounters(out *results.Outcome, names []string) {
	if len(names) == 0 {
		return
	}
	out.Counters = map[string]int64{}
	for i, name := range names {
		for _, s := range t.shards {
			out.Counters[name] += s.counts[i]
		}
	}
}

// fillProblems writes what went wrong into an outcome.
func (t *tally) fillProblems(out *results.Outcome) {
	errors, restarts := problems{}, problems{}
	var longest int64
	for _, s := range t.shards {
		for _, e := range s.errors {
			errors.merge(*e)
		}
		for _, e := range s.restarts {
			restarts.merge(*e)
		}
		out.Reconnects += s.reconnects
		out.ReconnectTime += s.away.Seconds()
		out.Unfinished += s.unfinished
		longest = max(longest, s.longestUnfinished)
	}
	out.LongestUnfinished = float64(longest) / 1e6
	out.Errors, out.Restarts = errors.list(), restarts.list()
}

// lastEnd is when the last event of the cell ended, counted or failed.
func (t *tally) lastEnd() int64 {
	var last int64
	for _, s := range t.shards {
		last = max(last, s.lastEnd)
	}
	return last
}
