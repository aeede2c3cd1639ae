package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"benchplan/plan"

	"github.com/google/go-cmp/cmp"
)

// cells walks the run steps of a plan as an executor would, and gives "labels #repeat" of each.
func cells(t *testing.T, p *plan.Plan) []string {
	t.Helper()
	root, err := p.Scope()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	var group func(s *plan.Scope)
	group = func(s *plan.Scope) {
		for _, step := range s.Step().Steps {
			list, err := s.Cells(step)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range list {
				in, err := s.Enter(step, c)
				if err != nil {
					t.Fatal(err)
				}
				if ok, err := in.If(); err != nil || !ok {
					continue
				}
				if step.Group() {
					group(in)
				} else if step.Load() {
					var labels []string
					for _, l := range in.Labels() {
						labels = append(labels, l.Value)
					}
					out = append(out, fmt.Sprintf("%s#%d", strings.Join(labels, " "), in.Repeat()))
				}
			}
		}
	}
	group(root)
	return out
}

func TestMatrix(t *testing.T) {
	const run = "\n    run: { workload: cpu, duration: 1s }\n"
	for _, c := range []struct{ name, plan, want string }{
		{"the first axis turns slowest", `steps: [ { matrix: { a: [1, 2], b: [x, y] }, run: { workload: cpu } } ]`, "1 x#1,1 y#1,2 x#1,2 y#1"},
		{"exclude is a partial match", `steps: [ { matrix: { a: [1, 2], b: [x, y], exclude: [ { a: 2 } ] }, run: { workload: cpu } } ]`, "1 x#1,1 y#1"},
		{"exclude sees outer axes", `
steps:
  - matrix: { disk: [ssd, hdd] }
    steps:
      - matrix: { threads: [1, 64], exclude: [ { disk: hdd, threads: 64 } ] }
        run: { workload: cpu }`, "ssd 1#1,ssd 64#1,hdd 1#1"},
		{"exclude may empty a matrix for one outer cell", `
steps:
  - matrix: { disk: [ssd, hdd] }
    steps:
      - matrix: { threads: [1, 64], exclude: [ { disk: hdd } ] }
        run: { workload: cpu }`, "ssd 1#1,ssd 64#1"},
		{"exclude names a value by its id, and may be an expression", `
vars: { slow: hdd }
steps: [ { matrix: { disk: [ { id: ssd }, { id: hdd, x: 1 } ], exclude: [ { disk: "${{ vars.slow }}" } ] }, run: { workload: cpu } } ]`, "ssd#1"},
		{"include adds after exclude", `steps: [ { matrix: { a: [1, 2], b: [x, y], exclude: [ { b: y } ], include: [ { a: 2, b: y }, { a: 3, b: z } ] }, run: { workload: cpu } } ]`, "1 x#1,2 x#1,2 y#1,3 z#1"},
		{"include alone", `steps: [ { matrix: { include: [ { a: 1, b: x }, { b: y, a: 2 } ] }, run: { workload: cpu } } ]`, "1 x#1,2 y#1"},
		{"an axis from an expression", "vars: { list: [ { id: p, x: 1 }, 2 ] }\nsteps: [ { matrix: { a: \"${{ vars.list }}\" }, run: { workload: cpu } } ]", "p#1,2#1"},
		{"an axis from an outer axis", `
steps:
  - matrix: { host: [ { id: small, threads: [1, 2] }, { id: large, threads: [8] } ] }
    steps:
      - matrix: { threads: "${{ matrix.host.threads }}" }
        run: { workload: cpu }`, "small 1#1,small 2#1,large 8#1"},
		{"labels keep their notation", `steps: [ { matrix: { v: [1.10, 010, 0x1F, 1_000, 1e3, on, N, true] }, run: { workload: cpu } } ]`, "1.10#1,010#1,0x1F#1,1_000#1,1e3#1,on#1,N#1,true#1"},
		{"declared keeps a cell's repeats together", "steps:\n  - matrix: { a: [x, y, z] }\n    repeat: 2" + run, "x#1,x#2,y#1,y#2,z#1,z#2"},
		{"interleaved runs rounds", "steps:\n  - matrix: { a: [x, y, z] }\n    repeat: 2\n    order: interleaved" + run, "x#1,y#1,z#1,x#2,y#2,z#2"},
		{"nested repeats multiply", `
steps:
  - repeat: 2
    steps:
      - { repeat: 3, matrix: { a: [x] }, run: { workload: cpu } }`, "x#1,x#2,x#3,x#4,x#5,x#6"},
		{"repeat may be an expression", "vars: { n: 2 }\nsteps: [ { repeat: \"${{ vars.n + 1 }}\", run: { workload: cpu } } ]", "#1,#2,#3"},
		{"labels of groups and steps are labels as axes are", `
steps:
  - labels: { config: twopc }
    steps:
      - { labels: { mix: "${{ labels.config }}/rw", n: "${{ labels.mix }}!" }, run: { workload: cpu } }`, "twopc twopc/rw twopc/rw!#1"},
		{"if keeps a cell out", `steps: [ { matrix: { a: [1, 2, 3] }, if: matrix.a != 2, run: { workload: cpu } } ]`, "1#1,3#1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := read(t, c.plan)
			got := cells(t, p)
			if diff := cmp.Diff(c.want, strings.Join(got, ",")); diff != "" {
				t.Error(diff)
			}
			if p.Summary.Cells != len(got) {
				t.Errorf("the summary counts %d cells", p.Summary.Cells)
			}
		})
	}
}

func TestShuffledIsReproducible(t *testing.T) {
	plan := func(seed int) []string {
		return cells(t, read(t, fmt.Sprintf(`
seed: %d
steps:
  - repeat: 6
    steps:
      - name: inner
        matrix: { a: [a, b, c, d, e, f, g, h] }
        repeat: 2
        order: shuffled
        run: { workload: cpu }`, seed)))
	}
	one := plan(7)
	if diff := cmp.Diff(one, plan(7)); diff != "" {
		t.Errorf("the same seed gives another order:\n%s", diff)
	}
	if slices.Equal(one, plan(8)) {
		t.Error("another seed gives the same order")
	}
	orders := map[string]bool{}
	for round := range slices.Chunk(one, 8) {
		var names []string
		for _, c := range round {
			names = append(names, c[:1])
		}
		orders[strings.Join(names, "")] = true
		slices.Sort(names)
		if strings.Join(names, "") != "abcdefgh" {
			t.Errorf("a round runs every cell once, not %v", round)
		}
	}
	if len(orders) < 10 {
		t.Errorf("12 rounds have only %d orders", len(orders))
	}
}

func TestIdentity(t *testing.T) {
	p := read(t, `
steps:
  - name: config
    matrix: { config: [plain, twopc] }
    steps:
      - { name: "mix ${{ matrix.config }}", labels: { mix: rw }, run: { workload: cpu } }
      - { labels: { mix: rw }, run: { workload: cpu } }`)
	var got []string
	p.Walk(func(v plan.Visit) {
		if v.Step.Load() {
			got = append(got, v.Scope.Identity())
		}
	})
	want := []string{"config / mix plain config=plain mix=rw", "config config=plain mix=rw", "config / mix twopc config=twopc mix=rw", "config config=twopc mix=rw"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Labels that read alike are not alike.
	read(t, `
steps:
  - { labels: { a: "1 b=2" }, run: { workload: cpu } }
  - { labels: { a: 1, b: 2 }, run: { workload: cpu } }`)
	got = mistakes(t, `
steps:
  - repeat: 2
    matrix: { a: [1, 2] }
    run: { workload: cpu }
  - steps:
      - { labels: { a: 2 }, run: { workload: cpu } }`)
	if len(got) != 1 || !strings.HasPrefix(got[0], "7:29 this cell (a=2) has the same identity as the one at line 5") {
		t.Errorf("two runs with the same identity: %v", got)
	}
}

func TestExcludeThatMeetsNothing(t *testing.T) {
	// It has to meet a cell somewhere, not in every outer cell.
	read(t, `
steps:
  - matrix: { disk: [ssd, hdd] }
    steps:
      - matrix: { threads: [1, 64], exclude: [ { disk: hdd, threads: 64 } ] }
        run: { workload: cpu }`)
	got := mistakes(t, `
colour: red
steps:
  - matrix: { disk: [ssd, hdd] }
    steps:
      - matrix: { threads: [1, 64], exclude: [ { disk: nvme, threads: 64 } ] }
        run: { workload: cpu }`)
	if len(got) != 2 || got[1] != "6:48 this exclude meets no cell" {
		t.Errorf("another mistake does not hide it: %v", got)
	}
}

func TestSizeOfAMatrix(t *testing.T) {
	list := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d,", i)
		}
		return "[" + b.String() + "]"
	}
	axes := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ", x%d: [1]", i)
		}
		return b.String()
	}
	wants := map[string]string{
		"the exclusions": "the matrix has 193600 cells and 200 entries of exclude", "the axes": "the matrix has 193600 cells with 22 axes each", "the labels": "more than 100 labels",
	}
	for name, text := range map[string]string{
		"the product":     "steps: [ { matrix: { a: " + list(1200) + ", b: " + list(1200) + " }, run: { workload: cpu } } ]",
		"the exclusions":  "steps: [ { matrix: { a: " + list(440) + ", b: " + list(440) + ", exclude: [" + strings.Repeat("{ a: 1 },", 200) + "] }, run: { workload: cpu } } ]",
		"the axes":        "steps: [ { matrix: { a: " + list(440) + ", b: " + list(440) + axes(20) + " }, run: { workload: cpu } } ]",
		"the labels":      "steps: [ { labels: { z: 1" + strings.NewReplacer("[", "", "]", "").Replace(axes(100)) + " }, run: { workload: cpu, duration: 1s } } ]",
		"the repeats":     "steps: [ { matrix: { a: " + list(1200) + " }, repeat: 1000, run: { workload: cpu } } ]",
		"nested repeats":  "steps: [ { repeat: 200_000, steps: [ { repeat: 200_000, run: { workload: cpu } } ] } ]",
		"nested matrices": "steps: [ { matrix: { a: " + list(1200) + " }, steps: [ { matrix: { b: " + list(1200) + " }, cleanup: } ] } ]",
	} {
		if got := mistakes(t, text); len(got) != 1 || !strings.Contains(got[0], "more than 200000") && (wants[name] == "" || !strings.Contains(got[0], wants[name])) || name == "the product" && !strings.HasPrefix(got[0], "1:20 the matrix has 1440000 = 1200 × 1200 cells, more than 200000") {
			t.Errorf("%s: %v", name, got)
		}
	}
}
