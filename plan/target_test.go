package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchplan/plan"
)

// TestMonitorOfATarget: what is watched where nothing is said, what an inner group inherits, and that another server's machine is not
// taken for that of the outer one.
func TestMonitorOfATarget(t *testing.T) {
	for _, c := range []struct{ name, outer, inner, want string }{
		{"private", "", "{ database: d }", "local"},
		{"a socket", "", "{ socket: /tmp/s }", "local"},
		{"over TCP", "", "{ address: h }", "none"},
		{"a word", "", "{ address: h, monitor: local }", "local"},
		{"a mapping is of ssh", "", "{ address: h, monitor: { user: u } }", "ssh"},
		{"none", "", "{ socket: /tmp/s, monitor: none }", "none"},
		{"the same server", "target: { address: h, monitor: local }", "{ database: d }", "local"},
		{"another server", "target: { address: h, monitor: local }", "{ address: i }", "none"},
		{"another server, with its own", "target: { address: h, monitor: local }", "{ address: i, monitor: { user: u } }", "ssh"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := read(t, c.outer+"\nsteps:\n  - target: "+c.inner+"\n    steps: [ { sql: x } ]\n")
			var got string
			p.Walk(func(v plan.Visit) {
				target, err := v.Scope.Target()
				if err != nil {
					t.Fatal(err)
				}
				got = target.Watched()
			})
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]float64{"0.5": 0.5, "1000": 1000, "1_000": 1000, " 1.5k ": 1500, "2M": 2e6, "-1": -1, "1e3": 1000} {
		if got, err := plan.ParseNumber(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	var refused []string
	for _, text := range []string{"", "k", "1 k", "fast", "inf", "NaN", "1m", "1e999", "1e308T"} {
		if _, err := plan.ParseNumber(text); err != nil {
			refused = append(refused, text)
		}
	}
	if diff := cmp.Diff([]string{"", "k", "1 k", "fast", "inf", "NaN", "1m", "1e999", "1e308T"}, refused); diff != "" {
		t.Error(diff)
	}
}
