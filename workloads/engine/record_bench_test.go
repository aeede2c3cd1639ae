package engine

import (
	"errors"
	"math/rand/v2"
	"testing"

	"benchplan/results"
)

// recorder gives a session in the measured part of a cell, with as much of it as putting down needs.
func recorder(r *run) *session {
	s := &session{cell: &r.cell, shard: r.tally.shards[0], client: &lookup{}, ticket: true}
	s.statement.Class, s.statement.Last = results.Read, true
	return s
}

// BenchmarkRecord measures what it takes to put down what a query came to: histograms, series and errors, without the clock. Of an event
// of one statement everything is put down with that; of the twenty statements of oltp_read_write the event is with the last.
func BenchmarkRecord(b *testing.B) {
	latencies := make([]int64, 1<<12)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range latencies {
		latencies[i] = int64(50_000 * (1 + random.ExpFloat64()))
	}
	deadlock := fault{code: codeDeadlock, err: errors.New("deadlock"), message: "Deadlock found when trying to get lock"}
	cases := []struct {
		name string
		put  func(s *session, i int, now int64)
	}{
		{"event", func(s *session, _ int, now int64) { s.count(now, 1, 0) }},
		{"statement", func(s *session, i int, now int64) {
			s.statement.Last = i%20 == 19
			s.count(now, 1, 0)
		}},
		{"error", func(s *session, _ int, now int64) { s.countError(now, deadlock, true, results.Write) }},
	}
	for _, c := range cases {
		order := Order{Clients: []RoleClients{{Count: 1}}, Events: 1}
		b.Run(c.name, func(b *testing.B) {
			s := recorder(newCell(order))
			b.ReportAllocs()
			now := int64(1)
			for i := 0; b.Loop(); i++ {
				s.statementStart, s.eventStart = now, now
				now += latencies[i%len(latencies)]
				c.put(s, i, now)
			}
		})
	}
}
