package plan_test

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"benchplan/plan"
)

// most is a text as long as a plan may be: begin, a piece again and again, and the end.
func most(begin string, piece func(i int) string, end string) string {
	const room = 512 << 10
	var b strings.Builder
	b.WriteString(begin)
	for i := 0; ; i++ {
		p := piece(i)
		if b.Len()+len(p)+len(end) > room {
			return b.String() + end
		}
		b.WriteString(p)
	}
}

func always(s string) func(int) string { return func(int) string { return s } }
func each(format string) func(int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

// TestHostilePlans: a plan as long as plans may be, made to cost as much as it can, takes neither long nor more than 200 MB.
func TestHostilePlans(t *testing.T) {
	const end = "]\nsteps: [ { cleanup: } ]"
	wide := "matrix: { a: [1,2,3,4,5,6,7,8,9,10], b: [1,2,3,4,5,6,7,8,9,10], c: [1,2,3,4,5,6,7,8,9,10], d: [1,2,3,4,5,6,7,8,9,10], e: [1,2,3,4,5,6,7,8,9,10] }"
	for name, text := range map[string]string{
		"values":                        most("x-a: [", always(`"",`), end),
		"lists":                         most("x-a: [", always(`[],`), end),
		"anchors":                       most("x-a: [", each("&a%d a,"), end),
		"keys":                          most("x-a:\n", each("  k%d: 1\n"), end[2:]),
		"the same key":                  most("x-a: {", always("a: 1,"), "}"+end[1:]),
		"tags":                          most("x-a: [", always("!a b,"), end),
		"lines":                         most("x-a: >\n", always("  a\n"), end[2:]),
		"steps":                         most("steps:\n", always("  - wait: 1s\n"), ""),
		"cells":                         most("steps:\n", each("  - { name: a%d, run: { workload: cpu, duration: 1s } }\n"), ""),
		"ids":                           most("steps:\n", each("  - { id: a%d, wait: 1s }\n"), ""),
		"expressions":                   most("x-a: [", each(`"${{%d}}",`), end),
		"expressions in one text":       most(`x-a: ["`, always("${{1}}"), `"`+end),
		"texts of variables":            most("vars: { a0: 1", each(`, v%d: "${{ repeat('x', 4000000) }}"`), " }"+end[1:]),
		"what is the same in all cells": most("steps:\n  - "+wide+"\n    http: { put: http://a/, json: [ \"${{ matrix.a }}\"", always(",10"), "] }"),
		"variables of a matrix":         most("steps:\n  - "+wide+"\n    vars: { x: [ \"${{ matrix.a }}\"", always(",10"), "] }\n    steps: [ wait: 1s ]"),
		"steps of a matrix":             most("steps:\n  - "+wide+"\n    steps:\n", always("    - wait: 1s\n"), ""),
		"asserts of a matrix":           most("steps:\n  - "+wide+"\n    http: { get: http://a/ }\n    assert: [ ", always("status == 200,"), "]"),
		"labels of a matrix":            most("steps:\n  - "+wide+"\n    run: { workload: cpu, duration: 1s }\n    labels: { l: 1", each(`, l%d: "${{ matrix.a }}"`), "}"),
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			highest := peak(func() {
				_, _ = plan.Read(source(text), words(), plan.Options{})
			})
			if took := time.Since(begin); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
			if highest > 200<<20 {
				t.Errorf("it took %d MiB", highest>>20)
			}
		})
	}
}

// peak gives the most memory that the heap had while something was done, as seen each millisecond.
func peak(do func()) (highest uint64) {
	runtime.GC()
	var watching sync.WaitGroup
	done := make(chan struct{})
	watching.Go(func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			metrics.Read(sample)
			highest = max(highest, sample[0].Value.Uint64())
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	do()
	close(done)
	watching.Wait()
	return highest
}
