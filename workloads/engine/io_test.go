package engine_test

import (
	"testing"

	"benchplan/workloads/engine"
)

var ioModes = []engine.IOMode{engine.IOLoop, engine.IODriver}

// everyIO runs a test with the clients' sockets driven by the engine, and again by the driver: what comes out has to be the same.
func everyIO(t *testing.T, test func(t *testing.T, io engine.IOMode)) {
	t.Helper()
	for _, io := range ioModes {
		t.Run(string(io), func(t *testing.T) { test(t, io) })
	}
}

// everyIOAtOnce does so for a test that may run beside others.
func everyIOAtOnce(t *testing.T, test func(t *testing.T, io engine.IOMode)) {
	t.Helper()
	t.Parallel()
	for _, io := range ioModes {
		t.Run(string(io), func(t *testing.T) {
			t.Parallel()
			test(t, io)
		})
	}
}
