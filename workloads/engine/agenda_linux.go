//go:build amd64 || arm64 || loong64 || ppc64le || riscv64

package engine

import "container/heap"

// agenda is the members of a loop that wait for their events, as a heap: who is due first is first.
type agenda []*member

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].session.turn.due < a[j].session.turn.due }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(m any)        { *a = append(*a, m.(*member)) }

func (a *agenda) Pop() any {
	last := len(*a) - 1
	m := (*a)[last]
	*a = (*a)[:last]
	return m
}

// add puts down a member that waits.
func (a *agenda) add(m *member) { heap.Push(a, m) }

// take takes away the member that is due first.
func (a *agenda) take() *member { return heap.Pop(a).(*member) }

// next is when the first is due.
func (a agenda) next() int64 {
	if len(a) == 0 {
		return never
	}
	return a[0].session.turn.due
}
