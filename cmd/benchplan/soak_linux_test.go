//go:build soak

package main

import (
	"flag"
	"testing"
)

var soakMoments = flag.Int("soak.moments", 200, "how often runs are killed")

// TestSoakKilledRunsAreResumed takes about twenty minutes; make soak runs it.
func TestSoakKilledRunsAreResumed(t *testing.T) { killRuns(t, *soakMoments) }
