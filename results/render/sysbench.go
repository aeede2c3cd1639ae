package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"benchplan/results"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Sysbench writes one cell in the words of sysbench 1.0, so that eyes and parsers that know them go on working: queries by kind,
// transactions, ignored errors, reconnects, latency with the percentiles asked for (in percent; from the histogram of events,
// in nanoseconds), and how evenly the work fell to the clients. A figure that the record does not have is 0, as sysbench
// prints it.
//
// What is counted is ours: an event counts if it ended within the measured time, and errors that restarted an event are what
// sysbench calls ignored. With a rate, sysbench tells the queue's length and the busy threads in its intermediate reports only, and
// nothing more at the end; so does this.
func Sysbench(w io.Writer, c *results.Cell, events *hdrhistogram.Histogram, percentiles []float64) error {
	o := &c.Outcome
	var b strings.Builder
	per := func(n int64) string {
		if o.Elapsed <= 0 {
			return "0.00"
		}
		return strconv.FormatFloat(float64(n)/o.Elapsed, 'f', 2, 64)
	}
	total := int64(0)
	for _, class := range results.Classes {
		total += o.Statements[class].Count
	}
	b.WriteString("SQL statistics:\n    queries performed:\n")
	for _, class := range results.Classes {
		fmt.Fprintf(&b, "        %-32s %d\n", string(class)+":", o.Statements[class].Count)
	}
	fmt.Fprintf(&b, "        %-32s %d\n", "total:", total)
	line := func(name string, n int64) {
		fmt.Fprintf(&b, "    %-36s %-6d (%s per sec.)\n", name, n, per(n))
	}
	line("transactions:", o.Events)
	line("queries:", total)
	line("ignored errors:", countErrors(o.Errors)+countErrors(o.Restarts))
	line("reconnects:", o.Reconnects)

	b.WriteString("\nGeneral statistics:\n")
	fmt.Fprintf(&b, "    %-36s %.4fs\n", "total time:", o.Elapsed)
	fmt.Fprintf(&b, "    %-36s %d\n", "total number of events:", o.Events)

	b.WriteString("\nLatency (ms):\n")
	latency := func(name string, ms float64) { fmt.Fprintf(&b, "         %-35s%9.2f\n", name, ms) }
	latency("min:", o.Latency.Min)
	latency("avg:", o.Latency.Mean)
	latency("max:", o.Latency.Max)
	for _, p := range percentiles {
		if events != nil {
			latency(ordinal(p)+" percentile:", results.Milliseconds(events.ValueAtQuantile(p)))
		}
	}
	latency("sum:", o.Latency.Mean*float64(o.Events))

	b.WriteString("\nThreads fairness:\n")
	f := o.Fairness
	fmt.Fprintf(&b, "    %-30s %.4f/%.2f\n", "events (avg/stddev):", f.EventsMean, f.EventsStddev)
	fmt.Fprintf(&b, "    %-30s %.4f/%.2f\n", "execution time (avg/stddev):", f.BusyMean, f.BusyStddev)
	_, err := io.WriteString(w, b.String())
	return err
}

func countErrors(errors []results.ErrorCount) int64 {
	var n int64
	for _, e := range errors {
		n += e.Count
	}
	return n
}

// ordinal writes 95 as 95th and 99.9 as 99.9th.
func ordinal(p float64) string {
	text := strconv.FormatFloat(p, 'f', -1, 64)
	tail := "th"
	if !strings.HasSuffix(text, "11") && !strings.HasSuffix(text, "12") && !strings.HasSuffix(text, "13") {
		switch text[len(text)-1] {
		case '1':
			tail = "st"
		case '2':
			tail = "nd"
		case '3':
			tail = "rd"
		}
	}
	return text + tail
}
