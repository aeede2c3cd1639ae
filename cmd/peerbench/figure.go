package main

import "fmt"

// target is what a figure is to reach; the zero value is none.
type target struct {
	bound float64
	least bool // the figure is to be the bound at least; else at most
	set   bool
}

func atLeast(bound float64) target { return target{bound, true, true} }
func atMost(bound float64) target  { return target{bound, false, true} }

// met tells whether a value reaches the target.
func (t target) met(value float64) bool {
	if t.least {
		return value >= t.bound
	}
	return value <= t.bound
}

// MarshalText writes the target as tables have it.
func (t target) MarshalText() ([]byte, error) { return []byte(t.text(-1)), nil }

// text writes the target; decimals below 0 are as many as it takes.
func (t target) text(decimals int) string {
	switch {
	case !t.set:
		return ""
	case t.least:
		return "≥ " + number(t.bound, decimals)
	}
	return "≤ " + number(t.bound, decimals)
}

// figure is one that is held against a target.
type figure struct {
	Table string `json:"table"` // the heading that it stands under
	Name  string `json:"name"`  // within its table
	// Theirs and Ours are the medians of sysbench and of benchplan, in Unit; where benchplan is compared with nobody, Theirs is 0.
	Theirs float64 `json:"sysbench,omitempty"`
	Ours   float64 `json:"benchplan"`
	Unit   string  `json:"unit"`
	// Held is what Target is about: the ratio of the medians, or benchplan's own median.
	Held   spread `json:"held"`
	Runs   int    `json:"runs"` // of each
	Target target `json:"target"`
	Met    *bool  `json:"met,omitempty"` // nil where there is no target

	decimals int // of Theirs and Ours
}

// compared makes a figure that is a ratio.
func compared(table, name, unit string, decimals int, c comparison, t target) figure {
	return figure{
		Table: table, Name: name, Unit: unit, decimals: decimals, Theirs: median(c.theirs), Ours: median(c.ours), Held: c.ratio(), Runs: len(c.ours), Target: t,
	}.judged()
}

// alone makes a figure of benchplan's own.
func alone(table, name, unit string, decimals int, values []float64, t target) figure {
	s := spreadOf(values)
	return figure{Table: table, Name: name, Unit: unit, decimals: decimals, Ours: s.Value, Held: s, Runs: len(values), Target: t}.judged()
}

func (f figure) judged() figure {
	if f.Target.set {
		met := f.Target.met(f.Held.Value)
		f.Met = &met
	}
	return f
}

// verdict says whether the target is met.
func (f figure) verdict() string {
	switch {
	case f.Met == nil:
		return ""
	case *f.Met:
		return "yes"
	}
	return "NO"
}

// ratioText writes the ratio with two decimals, or as many as show on which side of the target it is.
func (f figure) ratioText() string {
	decimals := 2
	for decimals < 4 && f.verdict() == "NO" && number(f.Held.Value, decimals) == number(f.Target.bound, decimals) {
		decimals++
	}
	return number(f.Held.Value, decimals)
}

// throughputTarget is what throughput over sysbench's is to reach.
func throughputTarget(clients int) target {
	if clients >= manyClients {
		return atLeast(1.2)
	}
	return atLeast(1)
}

// cpuTarget is what processor time a query over sysbench's is to reach. One client alone leaves most of the time to the kernel's
// wake-ups, which are the same for both.
func cpuTarget(clients int) target {
	switch {
	case clients >= manyClients:
		return atMost(0.5)
	case clients >= severalClients:
		return atMost(1)
	}
	return target{}
}

const (
	severalClients = 8
	manyClients    = 64
)

// counted writes a number of things.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return number(float64(n), 0) + " " + thing
}

// number writes a number with a comma at each thousand; decimals below 0 are as many as it takes.
func number(v float64, decimals int) string {
	if decimals < 0 {
		return fmt.Sprint(v)
	}
	text := fmt.Sprintf("%.*f", decimals, v)
	whole := len(text)
	if decimals > 0 {
		whole -= decimals + 1
	}
	first := 0
	if v < 0 {
		first = 1
	}
	for i := whole - 3; i > first; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
