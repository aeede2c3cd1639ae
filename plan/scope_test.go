package plan_test

import (
	"strings"
	"testing"

	"benchplan/plan"

	"github.com/google/go-cmp/cmp"
)

// statements lists what the sql steps of a plan say.
func statements(p *plan.Plan) []string {
	var out []string
	for _, s := range specs[sqlSpec](p) {
		for _, text := range s.Statements {
			out = append(out, text.String())
		}
	}
	return out
}

func TestVariables(t *testing.T) {
	p := read(t, `
vars:
  a: 1
  b: ${{ vars.a + 1 }}
  list: ["${{ vars.b }}", x]
  map: { deep: { b: "${{ vars.list[0] }}" } }
  nothing:
steps:
  - sql: "${{ vars.a }} ${{ vars.b }} ${{ vars.list }} ${{ vars.map }} ${{ vars.nothing ?? 'nil' }}"
  - vars: { a: 10, c: "${{ vars.a }}", d: "${{ vars.b }}" }
    steps:
      - sql: "${{ vars.a }} ${{ vars.b }} ${{ vars.c }} ${{ vars.d }}"
  - matrix: { m: [1, 2] }
    vars: { a: "${{ vars.a * 10 + matrix.m }}" }
    steps:
      - sql: ${{ vars.a }}
  - sql: ${{ vars.a }}
`)
	want := []string{`1 2 [2,"x"] {"deep":{"b":2}} nil`, "10 2 10 2", "11", "12", "1"}
	if diff := cmp.Diff(want, statements(p)); diff != "" {
		t.Error(diff)
	}
}

func TestSet(t *testing.T) {
	const text = `
vars: { rows: 10, list: [1], derived: "${{ vars.rows * 2 }}", text: a }
steps: [ { sql: "${{ vars.rows }} ${{ vars.list }} ${{ vars.derived }} ${{ vars.text }}" } ]
`
	for _, c := range []struct {
		name string
		set  map[string]string
		want string
	}{
		{"a number", map[string]string{"rows": "20"}, "20 [1] 40 a"},
		{"a list", map[string]string{"list": "[a, 2]"}, `10 ["a",2] 20 a`},
		{"an expression over earlier variables", map[string]string{"text": "${{ vars.rows + 1 }}"}, "10 [1] 20 11"},
		{"nothing", map[string]string{"text": ""}, "10 [1] 20 "},
		{"what is no YAML", map[string]string{"text": "a: b: c"}, "10 [1] 20 a: b: c"},
		{"what YAML takes for an alias", map[string]string{"text": "*"}, "10 [1] 20 *"},
		{"a notation", map[string]string{"text": "1.10"}, "10 [1] 20 1.10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := read(t, text, plan.Options{Set: c.set})
			if diff := cmp.Diff([]string{c.want}, statements(p)); diff != "" {
				t.Error(diff)
			}
		})
	}
	_, err := plan.Read(source(text), words(), plan.Options{Set: map[string]string{"row": "1", "text": "x ${{ vars.nope }}", "list": "[1, ${{ 1 }}]"}})
	want := `--set vars.list:1:5: YAML: "${{" that is not quoted: YAML takes its braces, or a ": " or " #" inside, for its own; quote it, as in "${{ … }}" (did not find expected ',' or ']')
    1 | [1, ${{ 1 }}]
      |     ^
--set vars.row: the plan has no variable "row"; did you mean "rows"?
--set vars.text:1:7: vars.nope: no such variable
    1 | x ${{ vars.nope }}
      |       ^`
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
	// A secret that only --set names is one of the plan's.
	p := read(t, text, plan.Options{Set: map[string]string{"text": "${{ secrets.PW }}"}})
	if len(p.Secrets) != 1 || p.Secrets[0].Name != "PW" {
		t.Errorf("secrets: %v", p.Secrets)
	}
}

func TestRehearsal(t *testing.T) {
	const text = `
vars: { admin: "http://10.0.0.1:8080", n: 5 }
steps:
  - sql: ${{ vars.admin }} ${{ vars.n }}
  - http: { get: "${{ vars.admin }}/v1" }
rehearse:
  vars: { admin: "http://localhost/${{ vars.n }}", n: 1 }
  http:
    - { get: /v1/configz, json: { proxy: { twopc: "${{ sent['twopc-enable'] ?? false }}" } } }
    - { put: /v1/config, status: 204 }
`
	right := strings.Replace(text, "localhost/${{ vars.n }}", "localhost", 1)
	p := read(t, right)
	if got := statements(p)[0]; got != "http://10.0.0.1:8080 5" {
		t.Errorf("without a rehearsal its variables do not count: %s", got)
	}
	if got := mistakes(t, text); len(got) != 1 || !strings.Contains(got[0], "7:40 vars.n is not there yet") {
		t.Errorf("the variables of a rehearsal see those above them: %v", got)
	}
	p = read(t, right, plan.Options{Rehearse: true})
	if got := statements(p)[0]; got != "http://localhost 1" {
		t.Errorf("rehearsed: %s", got)
	}
	s, err := p.Scope()
	if err != nil {
		t.Fatal(err)
	}
	a, ok, err := s.Answer("GET", "/v1/configz", map[string]any{"twopc-enable": true})
	if err != nil || !ok || a.Status != 200 {
		t.Fatalf("%+v, %v, %v", a, ok, err)
	}
	if diff := cmp.Diff(map[string]any{"proxy": map[string]any{"twopc": true}}, a.JSON); diff != "" {
		t.Error(diff)
	}
	if a, ok, err := s.Answer("PUT", "/v1/config", nil); err != nil || !ok || a.Status != 204 {
		t.Errorf("%+v, %v, %v", a, ok, err)
	}
	if _, ok, err := s.Answer("DELETE", "/v1/config", nil); ok || err != nil {
		t.Errorf("no rule fits: %v, %v", ok, err)
	}
}

func TestResults(t *testing.T) {
	p := read(t, `
steps:
  - id: first
    sql: SELECT 1
  - id: skipped
    if: off
    http: { get: "http://a/" }
  - matrix: { m: [1] }
    steps:
      - id: inner
        sql: SELECT ${{ steps.first.rows[0][0] }}
      - if: steps.skipped != nil
        sql: never ${{ steps.skipped.json.a }}
      - sql: ${{ steps.skipped.json.deep.value ?? "nothing" }} ${{ steps.inner.rows[0].a ?? 0 }}
  - name: '${{ steps.skipped == nil ? "known" : "?" }}'
    run: { workload: cpu, duration: 1s }
finally:
  - sql: ${{ steps.first.rows[0][0] ?? "not run" }}
`)
	root, err := p.Scope()
	if err != nil {
		t.Fatal(err)
	}
	enter := func(s *plan.Scope, i int) *plan.Scope {
		t.Helper()
		c, err := s.Cells(s.Step().Steps[i])
		if err != nil {
			t.Fatal(err)
		}
		in, err := s.Enter(s.Step().Steps[i], c[0])
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	sql := func(s *plan.Scope) string {
		t.Helper()
		spec, err := s.Spec()
		if err != nil {
			t.Fatal(err)
		}
		return spec.(*sqlSpec).Statements[0].String()
	}
	finally, err := root.Enter(root.Step().Finally[0], plan.Cell{})
	if err != nil {
		t.Fatal(err)
	}
	if got := sql(finally); got != "not run" {
		t.Errorf("what did not run is nil in finally: %s", got)
	}
	root.Result("first", map[string]any{"rows": [][]any{{int(7)}}})
	root.Result("skipped", nil)
	if ok, err := enter(root, 1).If(); ok || err != nil {
		t.Errorf("if: off is %v, %v", ok, err)
	}
	group := enter(root, 2)
	if got := sql(enter(group, 0)); got != "SELECT 7" {
		t.Error(got)
	}
	group.Result("inner", map[string]any{"rows": []map[string]any{{"a": 1.5}}})
	if ok, err := enter(group, 1).If(); ok || err != nil {
		t.Errorf("what was skipped is nil: %v, %v", ok, err)
	}
	if got := sql(enter(group, 2)); got != "nothing 1.5" {
		t.Error(got)
	}
	if got := enter(root, 3).Name(); got != "known" {
		t.Errorf("a step that is never run is nil before the run: %q", got)
	}
	// Results belong to a group cell.
	if got := mistakes(t, `
steps:
  - steps: [ { id: a, sql: SELECT 1 } ]
  - sql: ${{ steps.a.rows }}`); len(got) != 1 || !strings.HasPrefix(got[0], "4:14 steps.a: no earlier step") {
		t.Error(got)
	}
}

func TestAssert(t *testing.T) {
	p := read(t, `
vars: { want: 3 }
steps:
  - http: { get: "http://a/" }
    assert: [ "status == 200", "json.a.b == vars.want", "len(json.list) > 0", "json.c == nil || json.c > json.d" ]
`)
	s, _ := p.Scope()
	in, err := s.Enter(s.Step().Steps[0], plan.Cell{})
	if err != nil {
		t.Fatal(err)
	}
	yields := func(b any, list ...any) map[string]any {
		return map[string]any{"status": 200, "json": map[string]any{"a": map[string]any{"b": b}, "list": list}}
	}
	if err := in.Assert(yields(3.0, 1)); err != nil {
		t.Error(err)
	}
	for want, yielded := range map[string]map[string]any{
		"plan.yaml:5:33: assert does not hold: json.a.b == vars.want (json.a.b = 4, vars.want = 3)":     yields(4, 1),
		"plan.yaml:5:33: assert does not hold: json.a.b == vars.want (json.a.b = \"3\", vars.want = 3)": yields("3", 1),
		"plan.yaml:5:33: assert does not hold: json.a.b == vars.want (json.a.b = nil, vars.want = 3)":   {"status": 200, "json": nil},
		"plan.yaml:5:58: assert does not hold: len(json.list) > 0 (json.list = [])":                     yields(3),
		"plan.yaml:5:104: assert: ${{ json.c == nil || json.c > json.d }}: invalid operation: int64 > <nil> (json.c = 4, json.d = nil)": {
			"status": 200, "json": map[string]any{"a": map[string]any{"b": 3}, "list": []any{1}, "c": 4, "d": nil}},
	} {
		if err := in.Assert(yielded); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestIf(t *testing.T) {
	for condition, want := range map[string]int{
		"true": 1, "false": 0, "on": 1, "off": 0, "vars.yes": 1, "vars.text": 0, "${{ vars.n > 2 }}": 1, `"vars.n > 5"`: 0, "env.FLAG": 1, "not vars.yes": 0, "matrix.a == 1": 1, "labels.l == '1'": 1,
		`'secrets.PW == "x"'`: 1, // unknown: it counts
	} {
		p := read(t, "vars: { yes: true, text: off, n: 3 }\nsteps:\n  - matrix: { a: [1] }\n    labels: { l: \"${{ matrix.a }}\" }\n    run: { workload: cpu }\n    if: "+condition,
			plan.Options{Environment: environment("FLAG", "on")})
		if p.Summary.Cells != want {
			t.Errorf("if: %s counts %d cells, want %d", condition, p.Summary.Cells, want)
		}
	}
	for condition, want := range map[string]string{
		"vars.n": "6:9 if: vars.n is the value 3, neither true nor false", "[1]": "6:9 if takes an expression, not a list", "": "6:8 if takes an expression, not nothing",
		"vars.nothing": "6:9 if: vars.nothing is nil (nothing), neither true nor false", "vars.n >": "6:16 expression: unexpected token EOF",
	} {
		got := mistakes(t, "vars: { n: 3, nothing: }\nsteps:\n  - matrix: { a: [1] }\n    labels: { l: 1 }\n    run: { workload: cpu }\n    if: "+condition)
		if len(got) != 1 || got[0] != want {
			t.Errorf("if: %s says %v, want %s", condition, got, want)
		}
	}
}

func TestLayers(t *testing.T) {
	p := read(t, `
vars: { port: 3306, where: outer }
target: { address: "proxy:${{ vars.port }}", user: "${{ vars.where }}", password: "${{ secrets.PW }}", params: { a: 1 } }
tables: { schema: sysbench, auto_inc: off, rows: 10k, options: "${{ vars.where }}" }
files: { total_size: 8k }
steps:
  - cleanup:
  - matrix: { engine: [innodb, rocksdb] }
    vars: { where: inner, port: 1 }
    target: { socket: /tmp/db.sock, database: other }
    tables: { engine: "${{ matrix.engine }}", count: 2 }
    files: { dir: "/data/${{ vars.where }}" }
    steps:
      - cleanup:
      - tables: { schema: benchyou }
        target: { local: { options: { innodb_buffer_pool_size: 1G } } }
        steps: [ { cleanup: } ]
`)
	var targets []*plan.Target
	var tables []*plan.Tables
	var files []*plan.Files
	p.Walk(func(v plan.Visit) {
		if v.Step.Kind != "cleanup" {
			return
		}
		a, err1 := v.Scope.Target()
		b, err2 := v.Scope.Tables()
		c, err3 := v.Scope.Files()
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		targets, tables, files = append(targets, a), append(tables, b), append(files, c)
	})
	if len(targets) != 5 {
		t.Fatalf("%d cleanups", len(targets))
	}
	outer, inner, innermost := targets[0], targets[1], targets[2]
	if outer.Address != "proxy:3306" || outer.User.String() != "outer" || outer.Database != "sbtest" {
		t.Errorf("outer target: %+v", outer)
	}
	if inner.Address != "" || inner.Socket != "/tmp/db.sock" || inner.Database != "other" || inner.User.String() != "outer" || !inner.Password.Secret() || inner.Params["a"] != "1" {
		t.Errorf("field by field, each worked out where it was written: %+v", inner)
	}
	if !innermost.Private() || innermost.Local.Options["innodb_buffer_pool_size"] != "1G" || innermost.Database != "other" {
		t.Errorf("an inner way to the server takes the place of the outer ones: %+v", innermost)
	}
	if got := tables[1]; got.Engine != "innodb" || got.Count != 2 || got.Rows != 10000 || got.Options != "outer" || got.More.(*sysbenchTable).AutoInc {
		t.Errorf("inner tables: %+v", got)
	}
	if got := tables[3]; got.Engine != "rocksdb" {
		t.Errorf("the group's own matrix is seen: %+v", got)
	}
	if got := tables[2]; got.Schema != "benchyou" || got.More != nil || got.Rows != 10000 {
		t.Errorf("another schema does not have the options of the outer one: %+v", got)
	}
	if files[0].TotalSize != 8192 || files[0].Dir != "." || files[1].Dir != "/data/inner" || files[1].TotalSize != 8192 {
		t.Errorf("files: %+v %+v", files[0], files[1])
	}
}

func TestTablesThatInnerGroupsComplete(t *testing.T) {
	const text = `
tables: { rows: 10k }
steps:
  - tables: { schema: sysbench }
    steps: [ { prepare: } ]
  - tables: { schema: benchyou }
    steps: [ { prepare: } ]
`
	read(t, text)
	if diff := cmp.Diff([]string{"8:5 prepare needs tables"}, mistakes(t, text+"  - prepare:\n")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`2:9 tables needs "schema": which family's tables: the columns, the names and how rows are made`}, mistakes(t, "\ntables: { rows: 10k }\nsteps: [ { prepare: } ]")); diff != "" {
		t.Error(diff)
	}
}

func TestTargetOfTheCommandLine(t *testing.T) {
	const text = "target: { socket: /tmp/a.sock, password: \"${{ secrets.PW }}\" }\nsteps:\n  - cleanup:\n  - target: { address: b }\n    steps: [ { cleanup: } ]"
	p := read(t, text, plan.Options{Target: `{ address: "c:1", user: u }`, Environment: environment("PW", password)})
	var got []string
	p.Walk(func(v plan.Visit) {
		if target, err := v.Scope.Target(); err == nil && v.Step.Kind == "cleanup" {
			got = append(got, target.Address+" "+target.Socket+" "+target.User.String()+" "+target.Password.Reveal())
		}
	})
	if diff := cmp.Diff([]string{"c:1  u " + password, "b  u " + password}, got); diff != "" {
		t.Error(diff)
	}
	if got := mistakes(t, text, plan.Options{Target: "{ adress: b }"}); len(got) != 1 || !strings.HasPrefix(got[0], `1:3 target has no "adress"`) {
		t.Error(got)
	}
}

func TestFrame(t *testing.T) {
	p := read(t, `
vars: { n: 5 }
steps:
  - { cleanup: , timeout: 10s, retry: "${{ vars.n }}", continue_on_error: on }
  - { steps: [ { cleanup: } ], timeout: 1m, retry: { attempts: 2, interval: 0s }, continue_on_error: yes }
  - cleanup:
`)
	s, _ := p.Scope()
	var got []plan.Frame
	for _, step := range s.Step().Steps {
		in, err := s.Enter(step, plan.Cell{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := in.Frame()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f)
	}
	want := []plan.Frame{
		{Timeout: 10e9, Retry: &plan.Retry{Attempts: 5, Interval: 1e9}, ContinueOnError: true},
		{Timeout: 60e9, Retry: &plan.Retry{Attempts: 2}, ContinueOnError: true},
		{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSummary(t *testing.T) {
	p := read(t, `
steps:
  - repeat: 3
    steps:
      - wait: 10s
      - matrix: { a: [1, 2] }
        run: { workload: cpu, duration: 1m, warmup: 5s }
      - if: off
        wait: 1h
`)
	if got := p.Summary; got.Cells != 6 || got.Least.String() != "7m0s" || got.Open {
		t.Errorf("%+v", got)
	}
	p = read(t, "steps:\n  - repeat: 200k\n    steps: [ { wait: 2000000h } ]")
	if p.Summary.Least < 0 {
		t.Error("the time overflows")
	}
	p = read(t, "steps:\n  - { id: a, sql: x }\n  - { run: { workload: cpu, duration: \"${{ steps.a.rows[0] }}s\" } }")
	if !p.Summary.Open {
		t.Error("a duration that the run tells leaves the sum open")
	}
}
