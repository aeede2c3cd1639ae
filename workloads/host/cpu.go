package host

import (
	"context"
	"math"
	"math/rand/v2"

	"benchplan/workloads/engine"
)

// CPUOptions are the options of cpu.
type CPUOptions struct {
	MaxPrime int `key:"cpu_max_prime" default:"10000" min:"1" max:"1000000000" doc:"an event finds the primes below this number"`
}

// CPU is arithmetic: each event finds the primes below a number by trial division with 64-bit integers, as sysbench's test
// does. The division is nearly all of the work, so the processor decides and hardly the compiler.
func CPU() engine.Definition {
	return define(CPUName, "sysbench cpu: an event finds the primes below cpu_max_prime by trial division", nil, nil,
		func(o *CPUOptions) engine.HostWorkload { return &cpu{maxPrime: uint64(o.MaxPrime)} })
}

type cpu struct {
	bare
	maxPrime uint64
}

// Client implements engine.HostWorkload.
func (c *cpu) Client(int, int, *rand.Rand) engine.HostClient { return &cpuClient{maxPrime: c.maxPrime} }

type cpuClient struct {
	maxPrime uint64
	found    uint64 // by the last event; that it is kept makes the work one that has to be done
}

// Do implements engine.HostClient.
func (c *cpuClient) Do(ctx context.Context) (result engine.HostResult, err error) {
	c.found, err = countPrimes(ctx, c.maxPrime)
	return result, err
}

// countPrimes counts the primes below a limit. 2 counts without being tried; sysbench leaves it out.
func countPrimes(ctx context.Context, limit uint64) (uint64, error) {
	var found uint64
	if limit > 2 {
		found = 1
	}
	for c := uint64(3); c < limit; c++ {
		if c%1024 == 0 && ctx.Err() != nil {
			return found, ctx.Err()
		}
		root := uint64(math.Sqrt(float64(c)))
		divisor := uint64(2)
		for divisor <= root && c%divisor != 0 {
			divisor++
		}
		if divisor > root {
			found++
		}
	}
	return found, nil
}
