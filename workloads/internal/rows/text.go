package rows

import (
	"encoding/binary"
	"math/rand/v2"

	"benchplan/workloads/engine"
)

// c and pad are groups of eleven random digits, joined by hyphens: 119 and 59 characters.
const (
	groupsOfC     = 10
	groupsOfPad   = 5
	digitsInGroup = 11
	mostOfGroup   = 100_000_000_000 // a group is a number below
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
		dst = appendGroup(dst, random.Uint64N(mostOfGroup))
	}
	return dst
}

// appendGroup writes a number below mostOfGroup with eleven digits.
func appendGroup(dst []byte, v uint64) []byte {
	top, rest := uint32(v/1e8), uint32(v%1e8)
	dst = append(dst, byte('0'+top/100), byte('0'+top/10%10), byte('0'+top%10))
	return binary.LittleEndian.AppendUint64(dst, eightDigits(rest))
}

// eightDigits gives a number below 100,000,000 as eight digits, the first in the lowest byte. It halves all of its parts at once: into
// two numbers of four digits, four of two, and eight of one. x/100 is 10486·x/2²⁰ for x below 10,000, and x/10 is 103·x/2¹⁰ below 100.
func eightDigits(v uint32) uint64 {
	x := uint64(v/1e4) | uint64(v%1e4)<<32
	q := (x * 10486 >> 20) & 0x0000007f_0000007f
	x = q | (x-q*100)<<16
	q = (x * 103 >> 10) & 0x000f_000f_000f_000f
	x = q | (x-q*10)<<8
	return x | 0x3030303030303030
}
