package plan

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Order says in which order the cells of a step run.
type Order string

// The orders. A round is one run of every cell.
const (
	Declared    Order = "declared"    // a cell's repeats together, cells as written
	Interleaved Order = "interleaved" // round by round, so that drift hits every cell alike
	Shuffled    Order = "shuffled"    // round by round, each permuted from the plan's seed
)

// shuffle gives the source of a step's permutations in this cell: the same for the same seed, another for every step, cell and repeat.
func (s *Scope) shuffle(step *Step) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(s.identity()))
	return rand.New(rand.NewPCG(uint64(s.plan.orderSeed()), h.Sum64()^step.salt^uint64(s.repeat)))
}

// inOrder multiplies cells by repeats in the order asked for.
func inOrder(cells []Cell, repeats int, order Order, random *rand.Rand) []Cell {
	out := make([]Cell, 0, len(cells)*repeats)
	add := func(c Cell, repeat int) {
		c.Repeat, c.Repeats = repeat, repeats
		out = append(out, c)
	}
	if order == Declared {
		for _, c := range cells {
			for r := range repeats {
				add(c, r+1)
			}
		}
		return out
	}
	for r := range repeats {
		round := cells
		if order == Shuffled {
			round = slices.Clone(cells)
			random.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		}
		for _, c := range round {
			add(c, r+1)
		}
	}
	return out
}
