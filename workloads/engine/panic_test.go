package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/guard"
	"benchplan/workloads/internal/testdb"
)

// TestPanicOfAClientEndsTheCell: as an error with its place, with what the others measured, and not the program.
func TestPanicOfAClientEndsTheCell(t *testing.T) {
	d := testdb.Shared(t)
	begin := time.Now()
	w := load{event: func(index int, _ *rand.Rand) []engine.Statement {
		if index == 2 && time.Since(begin) > 500*time.Millisecond {
			panic("no statement is left")
		}
		return []engine.Statement{plain("DO SLEEP(0.001)", results.Other)}
	}}
	out, err := engine.Run(t.Context(), d.Connector(), w, engine.Order{Workload: "w", Clients: clients(4), Duration: 3600 * second}, nil, nil)
	p, ok := errors.AsType[*guard.Panic](err)
	if !ok || !strings.Contains(err.Error(), "no statement is left, at workloads/engine_test.") || !strings.Contains(string(p.Stack), "panic_test.go") {
		t.Fatal(err)
	}
	if out.Stopped != results.ByError || out.Events < 4 {
		t.Errorf("%d events, stopped %s", out.Events, out.Stopped)
	}
}

// TestPanicOfAnObserverEndsTheClients: it goes on to the caller once nobody is at work any more.
func TestPanicOfAnObserverEndsTheClients(t *testing.T) {
	d := testdb.Shared(t)
	for name, order := range map[string]engine.Order{
		"closed loop": {Workload: "w", Clients: clients(4), Duration: 3600 * second},
		"open loop":   {Workload: "w", Clients: clients(4), Duration: 3600 * second, Rate: rate(100)},
	} {
		t.Run(name, func(t *testing.T) {
			err := guard.Call(func() error {
				_, err := engine.Run(t.Context(), d.Connector(), sleeps("0.001"), order, func(engine.Snapshot) { panic("blind") }, nil)
				return err
			})
			if _, ok := errors.AsType[*guard.Panic](err); !ok || !strings.Contains(err.Error(), "blind") {
				t.Error(err)
			}
		})
	}
}

// TestPanicOfALoadOnThisMachine ends its cell likewise.
func TestPanicOfALoadOnThisMachine(t *testing.T) {
	w := &calls{do: func(context.Context, int) error { panic("out of order") }}
	_, err := engine.RunHost(t.Context(), w, engine.Order{Workload: "w", Clients: clients(2), Duration: 3600 * second}, nil, nil)
	if _, ok := errors.AsType[*guard.Panic](err); !ok {
		t.Error(err)
	}
}
