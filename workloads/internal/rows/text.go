package rows

import (
	"math/rand/v2"

	"benchplan/workloads/engine"
)

// c and pad are groups of eleven random digits, joined by hyphens: 119 and 59 characters.
const (
	groupsOfC     = 10
	groupsOfPad   = 5
	digitsInGroup = 11
)

// AddC appends a value for the column c.
func AddC(args *engine.Args, random *rand.Rand) { addGroups(args, random, groupsOfC) }

// AddPad appends a value for the column pad.
func AddPad(args *engine.Args, random *rand.Rand) { addGroups(args, random, groupsOfPad) }

func addGroups(args *engine.Args, random *rand.Rand, groups int) {
	args.Text(func(dst []byte) []byte { return appendGroups(dst, random, groups) })
}

func appendGroups(dst []byte, random *rand.Rand, groups int) []byte {
	for g := range groups {
		if g > 0 {
			dst = append(dst, '-')
		}
		var digits [digitsInGroup]byte
		v := random.Uint64N(100_000_000_000)
		for i := digitsInGroup - 1; i >= 0; i-- {
			digits[i] = '0' + byte(v%10)
			v /= 10
		}
		dst = append(dst, digits[:]...)
	}
	return dst
}
