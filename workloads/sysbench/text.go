package sysbench

import (
	"math/rand/v2"
	"strconv"

	"benchplan/workloads/engine"
)

// c and pad of sysbench 0.4 have so many numbers.
const (
	numbersOfC   = 10
	numbersOfPad = 5
)

// addNumbers is what sysbench 0.4 had in place of groups: random numbers of 31 bits, joined by hyphens.
func addNumbers(args *engine.Args, random *rand.Rand, numbers int) {
	args.Text(func(dst []byte) []byte {
		for i := range numbers {
			if i > 0 {
				dst = append(dst, '-')
			}
			dst = strconv.AppendUint(dst, random.Uint64N(1<<31), 10)
		}
		return dst
	})
}

func addConstant(args *engine.Args, text string) {
	args.Text(func(dst []byte) []byte { return append(dst, text...) })
}
