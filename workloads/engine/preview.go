package engine

import (
	"hash/fnv"
	"math/rand/v2"
	"strconv"
)

// Preview lists the first n statements that a client would send with this seed if every one succeeded without rows, with
// the arguments written in as text. It needs no server.
func Preview(w Workload, role string, index, clients int, seed uint64, n int) []string {
	templates := w.Templates(role)
	client := w.Client(role, index, clients, clientRandom(seed, role, index))
	var list []string
	var s Statement
	for range n {
		s.reset()
		client.Next(&s)
		text := s.Text
		if s.Template != Plain {
			text, _ = parsePattern(templates[s.Template]).render(nil, s.Args, true)
		}
		list = append(list, string(text))
		client.Done(0, 0)
	}
	return list
}

// clientRandom gives a client its own stream of random numbers.
func clientRandom(seed uint64, role string, index int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream(role, index)))
}

// stream is the second half of a client's seed: another one for each client of each role.
func stream(role string, index int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(role + "/" + strconv.Itoa(index)))
	return h.Sum64()
}
