package host

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
)

// MemoryOptions are the options of memory.
type MemoryOptions struct {
	BlockSize  plan.Size `key:"memory_block_size" default:"1K" min:"8" unit:"bytes" doc:"an event passes once over a block of this size, in words of 8 bytes; what is smaller than some 64K measures the calls more than the memory"`
	TotalSize  plan.Size `key:"memory_total_size" default:"100G" min:"8" unit:"bytes" doc:"the load ends when all threads together have passed over so much"`
	Scope      string    `key:"memory_scope" default:"global" enum:"global|local" doc:"global: all threads pass over one block; local: each over one of its own"`
	Operation  string    `key:"memory_oper" default:"write" enum:"read|write|none" doc:"what is done to each word; none: nothing, which is what the rest costs"`
	AccessMode string    `key:"memory_access_mode" default:"seq" enum:"seq|rnd" doc:"seq: word after word; rnd: as many words, at random"`
}

const (
	wordSize    = 8
	scopeLocal  = "local"
	memoryWrite = "write"
	memoryNone  = "none"
	accessRnd   = "rnd"
)

// Memory is the memory: each event passes once over a block. As sysbench does it reads and writes a word at a time, by
// plain loads and stores (eight to a turn of the loop, since Go's compiler does not unroll); other than there, the measuring of an event (the clock, the
// histogram) is in the rate, which small blocks show.
func Memory() engine.Definition {
	return define(MemoryName, "sysbench memory: an event reads or writes each word of a block of memory", (*MemoryOptions).check,
		func(o *MemoryOptions, order *engine.Order) error {
			blocks := plan.Count((o.TotalSize + o.BlockSize - 1) / o.BlockSize)
			if order.Events == 0 || blocks < order.Events {
				order.Events = blocks
			}
			return nil
		},
		func(o *MemoryOptions) engine.HostWorkload { return &memory{options: *o} })
}

func (o *MemoryOptions) check() error {
	if o.Operation == memoryNone && o.AccessMode == accessRnd {
		return errors.New("memory_oper none touches no word, so memory_access_mode rnd means nothing; leave one of them out")
	}
	if o.BlockSize%wordSize != 0 {
		return fmt.Errorf("memory_block_size is a multiple of %d bytes, and %d is not", wordSize, o.BlockSize)
	}
	return nil
}

type memory struct {
	options MemoryOptions
	shared  []uint64 // the block of all threads
}

// Counters implements engine.HostWorkload.
func (m *memory) Counters() []string {
	if m.options.Operation == memoryNone {
		return nil
	}
	return []string{results.CountMemoryBytes}
}

// Open implements engine.HostWorkload.
func (m *memory) Open(_ context.Context, clients int) error {
	blocks := 1
	if m.options.Scope == scopeLocal {
		blocks = clients
	}
	if total := totalMemory(); total > 0 && int64(m.options.BlockSize) > total/int64(blocks) {
		return fmt.Errorf("%d × memory_block_size of %s is more than the memory of this machine, %s", blocks, SizeText(int64(m.options.BlockSize)), SizeText(total))
	}
	if m.options.Scope != scopeLocal {
		m.shared = m.block()
	}
	return nil
}

// block makes a block whose pages are there.
func (m *memory) block() []uint64 {
	block := make([]uint64, m.options.BlockSize/wordSize)
	for i := range block {
		block[i] = uint64(i) + 1
	}
	return block
}

// Close implements engine.HostWorkload.
func (m *memory) Close(context.Context) (map[string]int64, error) {
	m.shared = nil
	return nil, nil
}

// Client implements engine.HostWorkload.
func (m *memory) Client(_, _ int, random *rand.Rand) engine.HostClient {
	c := &memoryClient{block: m.shared, state: random.Uint64() | 1}
	if c.block == nil {
		c.block = m.block()
	}
	write, rnd := m.options.Operation == memoryWrite, m.options.AccessMode == accessRnd
	switch {
	case m.options.Operation == memoryNone:
		c.pass = (*memoryClient).passOver
	case write && rnd:
		c.pass = (*memoryClient).writeRandomly
	case write:
		c.pass = (*memoryClient).write
	case rnd:
		c.pass = (*memoryClient).readRandomly
	default:
		c.pass = (*memoryClient).read
	}
	if m.options.Operation != memoryNone {
		c.result.Counts[0] = int64(m.options.BlockSize)
	}
	return c
}

type memoryClient struct {
	block  []uint64
	pass   func(*memoryClient)
	result engine.HostResult
	events uint64
	sum    uint64 // of the words read by the last event; that it is kept makes the reading one that has to be done
	state  uint64 // of the random numbers; never 0
}

// Do implements engine.HostClient.
func (c *memoryClient) Do(context.Context) (engine.HostResult, error) {
	c.events++
	c.pass(c)
	return c.result, nil
}

// The threads of a global block meet on its words by intent, as sysbench's do: nobody reads what comes of that.

//go:norace
func (c *memoryClient) write() {
	v, block := c.events, c.block
	for ; len(block) >= 8; block = block[8:] {
		b := block[:8:8]
		b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7] = v, v, v, v, v, v, v, v
	}
	for i := range block {
		block[i] = v
	}
}

//go:norace
func (c *memoryClient) read() {
	var s0, s1, s2, s3 uint64
	block := c.block
	for ; len(block) >= 8; block = block[8:] {
		b := block[:8:8]
		s0, s1, s2, s3 = s0+b[0]+b[4], s1+b[1]+b[5], s2+b[2]+b[6], s3+b[3]+b[7]
	}
	for _, v := range block {
		s0 += v
	}
	c.sum = s0 + s1 + s2 + s3
}

//go:norace
func (c *memoryClient) writeRandomly() {
	v := c.events
	for range c.block {
		c.block[c.index()] = v
	}
}

//go:norace
func (c *memoryClient) readRandomly() {
	var sum uint64
	for range c.block {
		sum += c.block[c.index()]
	}
	c.sum = sum
}

// passOver does all but touch the memory.
func (c *memoryClient) passOver() {
	var sum uint64
	for block := c.block; len(block) >= 8; block = block[8:] {
		sum += uint64(len(block))
	}
	c.sum = sum
}

// index draws a word of the block by a xorshift generator: one of math/rand would take longer than the memory.
func (c *memoryClient) index() uint64 {
	c.state ^= c.state << 13
	c.state ^= c.state >> 7
	c.state ^= c.state << 17
	high, _ := bits.Mul64(c.state, uint64(len(c.block)))
	return high
}
