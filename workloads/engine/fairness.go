package engine

import (
	"math"

	"benchplan/results"
)

// fairness tells how evenly the events fell to the clients.
func (r *run) fairness() results.Fairness {
	events, busy := make([]float64, len(r.runners)), make([]float64, len(r.runners))
	for i, client := range r.runners {
		events[i], busy[i] = float64(client.session.events), seconds(client.session.busy)
	}
	var f results.Fairness
	f.EventsMean, f.EventsStddev = meanAndDeviation(events)
	f.BusyMean, f.BusyStddev = meanAndDeviation(busy)
	return f
}

// meanAndDeviation gives the mean and the standard deviation of a population; 0 and 0 of none.
func meanAndDeviation(values []float64) (mean, deviation float64) {
	if len(values) == 0 {
		return 0, 0
	}
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}
