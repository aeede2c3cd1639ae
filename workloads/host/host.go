// Package host is the workloads that load this machine and need no server: cpu, memory, threads, mutex and fileio, with the
// options and the work of sysbench 1.0's tests of these names. It also makes and removes the files that fileio works on.
//
// What they do is what sysbench does, in Go: each workload says where that makes a difference. Compare their figures with
// each other, not with those of the program in C.
package host

import (
	"context"
	"fmt"

	"benchplan/plan"
	"benchplan/workloads/engine"
)

// The names of the workloads.
const (
	CPUName     = "cpu"
	MemoryName  = "memory"
	ThreadsName = "threads"
	MutexName   = "mutex"
	FileIOName  = "fileio"
)

// Workloads gives the definitions of all of them.
func Workloads() []engine.Definition {
	return []engine.Definition{CPU(), Memory(), Threads(), Mutex(), FileIO()}
}

// define makes the definition of a workload that needs no files, with options of type O.
func define[O any](name, doc string, check func(*O) error, limit func(*O, *engine.Order) error, make func(*O) engine.HostWorkload) engine.Definition {
	h := &engine.Host{
		Check: func(options any, _ *plan.Files) error {
			o, err := optionsOf[O](options)
			if err != nil || check == nil {
				return err
			}
			return check(o)
		},
		New: func(options any, _ *plan.Files, _ bool) (engine.HostWorkload, error) {
			o, err := optionsOf[O](options)
			if err != nil {
				return nil, err
			}
			return make(o), nil
		},
	}
	if limit != nil {
		h.Limit = func(options any, order *engine.Order) error {
			o, err := optionsOf[O](options)
			if err != nil {
				return err
			}
			return limit(o, order)
		}
	}
	return engine.Definition{Name: name, Doc: doc, Options: func() any { return new(O) }, Host: h}
}

func optionsOf[O any](options any) (*O, error) {
	o, ok := options.(*O)
	if !ok {
		return nil, fmt.Errorf("options are %T, want %T", options, o)
	}
	return o, nil
}

// bare is the part of a workload whose clients share nothing that has to be made ready, and of which the number of events tells all.
type bare struct{}

// Counters implements engine.HostWorkload.
func (bare) Counters() []string { return nil }

// Open implements engine.HostWorkload.
func (bare) Open(context.Context, int) error { return nil }

// Close implements engine.HostWorkload.
func (bare) Close(context.Context) (map[string]int64, error) { return nil, nil }
