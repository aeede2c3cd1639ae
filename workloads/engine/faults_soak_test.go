//go:build soak

package engine_test

import (
	"testing"

	"benchplan/workloads/engine"
)

// TestSoakConnectionsThatBreakAtEveryByte is TestConnectionsThatBreakAfterSomeBytes at all places.
func TestSoakConnectionsThatBreakAtEveryByte(t *testing.T) {
	everyIO(t, func(t *testing.T, io engine.IOMode) { breakAfterSomeBytes(t, io, 1) })
}
