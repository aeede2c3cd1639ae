package results

import (
	"fmt"
	"math"
	"strings"
)

// What makes the figures of an open loop doubtful.
const (
	// begunLeast is the share of the events due that has to be begun: the engine holds a rate within 1 % where the server can.
	begunLeast = 0.99
	// lateMost is the share of the events that may find all clients busy: where most of them do, the latencies are those of the queue,
	// and follow from the number of clients.
	lateMost = 0.5
	// queueGrowth is by how much of its median a queue has to grow to be called growing, besides by a place for each client: what is
	// shorter than that is gone within one event's time.
	queueGrowth = 0.5
	// oversleptMost is the share of a percentile of the latency that may come from the generator's own lateness, and oversleptLeast,
	// in milliseconds, what is never counted as late: no timer of a general-purpose system is better.
	oversleptMost  = 0.10
	oversleptLeast = 0.1
)

// checkSchedule doubts an open loop whose events were not begun when they were due.
func checkSchedule(c *Cell) []Mark {
	s := c.Outcome.Schedule
	if s == nil || s.Due == 0 {
		return nil
	}
	var marks []Mark
	for _, check := range []func(*Cell) (Mark, bool){checkRate, checkQueue, checkOverslept} {
		if m, doubtful := check(c); doubtful {
			marks = append(marks, m)
		}
	}
	return marks
}

// checkRate doubts a cell that did not get through what was due, or in which most events waited for a client.
func checkRate(c *Cell) (Mark, bool) {
	s := c.Outcome.Schedule
	if missed(s) {
		text := fmt.Sprintf("the rate was not kept: of %d events due (%s/s), %d were begun (%.3g %%); the queue grew up to %d",
			s.Due, rounded(s.Rate), s.Begun, 100*float64(s.Begun)/float64(s.Due), s.QueueMax)
		if s.Dropped > 0 {
			text += fmt.Sprintf("; %d were still in it at the end and are in no latency", s.Dropped)
		}
		return Mark{MarkRate, "tps", text, "a lower rate; or, where the server was not busy, more threads"}, true
	}
	if s.Begun >= littleMinEvents && float64(s.Late) >= lateMost*float64(s.Begun) {
		return Mark{MarkRate, "mean", fmt.Sprintf("%.3g %% of the events found all clients busy: the latencies hold a wait for one, %s ms on average, that more clients shorten",
			100*float64(s.Late)/float64(s.Begun), plainly(s.Wait.Mean)), "more threads, or a lower rate"}, true
	}
	return Mark{}, false
}

func missed(s *Schedule) bool { return float64(s.Begun) < begunLeast*float64(s.Due) }

// checkQueue doubts a cell whose queue grew all the time: it kept the rate only as long as it lasted.
func checkQueue(c *Cell) (Mark, bool) {
	t := c.Outcome.Trend
	if t == nil || t.Figure != TrendQueue || !t.significant() || missed(c.Outcome.Schedule) {
		return Mark{}, false
	}
	if t.Change < max(float64(c.Outcome.Clients), queueGrowth*t.Median) {
		return Mark{}, false
	}
	return Mark{MarkOverloaded, "p95", fmt.Sprintf("the queue grew by %.0f events within the cell (Mann-Kendall %s): more is due than is done, and the longer the cell, the longer the latencies",
		t.Change, pText(t.P)), "a lower rate; or, where the server was not busy, more threads"}, true
}

// checkOverslept doubts latencies a part of which is that the generator was late by itself.
func checkOverslept(c *Cell) (Mark, bool) {
	o := c.Outcome.Schedule.Overslept
	if o.Count < littleMinEvents {
		return Mark{}, false
	}
	var texts []string
	metric := ""
	for _, q := range []struct {
		metric, name  string
		late, latency float64
	}{{"p50", "half of", o.P50, c.Outcome.Latency.P50}, {"p99", "1 % of", o.P99, c.Outcome.Latency.P99}} {
		if q.late <= max(oversleptLeast, oversleptMost*q.latency) {
			continue
		}
		if metric == "" {
			metric = q.metric
		}
		texts = append(texts, fmt.Sprintf("%s them by %s ms and more, where %s is %s ms", q.name, plainly(q.late), q.metric, plainly(q.latency)))
	}
	if texts == nil {
		return Mark{}, false
	}
	return Mark{MarkSchedule, metric, "the generator began events late though a client was free: " + strings.Join(texts, ", "),
		"give the generator more CPU or a machine of its own"}, true
}

// pText writes a probability.
func pText(p float64) string {
	if p < 0.0001 {
		return "p < 0.0001"
	}
	return fmt.Sprintf("p = %.*f", min(4, max(2, 1-int(math.Floor(math.Log10(p))))), p)
}
