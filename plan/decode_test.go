package plan_test

import (
	"strings"
	"testing"

	"benchplan/plan"

	"github.com/google/go-cmp/cmp"
)

// one gives the spec of the only step of its kind.
func one[S any](t *testing.T, text string, o ...plan.Options) *S {
	t.Helper()
	all := specs[S](read(t, text, o...))
	if len(all) != 1 {
		t.Fatalf("%d steps of the kind", len(all))
	}
	return all[0]
}

func TestValuesKeepTheirType(t *testing.T) {
	got := one[httpSpec](t, `
vars: { n: 64, f: 1.5, yes: true, list: [1, "2"], text: "5", nothing: , v: 1.10, big: 18446744073709551615, date: 2024-01-01 }
steps:
  - http:
      get: http://a/${{ vars.v }}/${{ vars.n }}/${{ vars.big }}/${{ vars.date }}/${{ vars.n + 0.5 }}
      json:
        n: ${{ vars.n }}
        f: ${{ vars.f }}
        yes: "${{ vars.yes }}"
        list: "  ${{ vars.list }}  "
        text: ${{ vars.text }}
        nothing: ${{ vars.nothing }}
        v: ${{ vars.v }}
        sum: ${{ vars.n + 1 }}
        part: n=${{ vars.n }}
        literal: $${{ vars.n }} and ${{ "}}" }}
        map: "${{ {\"a\": {\"b\": vars.n}} }}"
        block: |
          ${{ vars.n }}
        spaced: " ${{ vars.n }} x "
        none: ~
        plain: [1, 1.5, true, ~, a, 010, 0x10, 1_000, .nan, on]
`)
	want := map[string]any{
		"n": int64(64), "f": 1.5, "yes": true, "list": []any{int64(1), "2"}, "text": "5", "nothing": nil, "v": 1.1, "sum": int64(65), "part": "n=64",
		"literal": "${{ vars.n }} and }}", "map": map[string]any{"a": map[string]any{"b": int64(64)}}, "block": int64(64), "spaced": " 64 x ", "none": nil,
		"plain": []any{int64(1), 1.5, true, nil, "a", int64(10), int64(16), int64(1000), ".nan", "on"},
	}
	if diff := cmp.Diff(want, got.JSON); diff != "" {
		t.Error(diff)
	}
	if got := got.Get.String(); got != "http://a/1.10/64/18446744073709551615/2024-01-01/64.5" {
		t.Errorf("a number stands in a text as it is written: %s", got)
	}
}

func TestConversionComesAfterEvaluation(t *testing.T) {
	got := one[runSpec](t, `
vars: { n: "64", d: 90, m: { write: "8", read: 010 }, on: on, list: [1105, 1290] }
steps:
  - run:
      workload: oltp_read_write
      threads: ${{ vars.m }}
      duration: ${{ vars.d }}s
      events: ${{ vars.n }}k
      rate: 1_000.5
      on_error: { 1105: count, 0: stop }
      skip_trx: ${{ vars.on }}
      range_size: ${{ 2.0 * 8 }}
`)
	want := &runSpec{
		Workload: "oltp_read_write", Threads: threads{All: 1, Roles: map[string]int{"write": 8, "read": 10}}, Duration: 90e9, Events: 64000, Rate: 1000.5,
		OnError: map[uint16]string{1105: "count", 0: "stop"}, Options: &oltpOptions{SkipTrx: true, RangeSize: 16, RandType: "special"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTextFieldsKeepTheirNotation(t *testing.T) {
	got := one[serverSpec](t, `
steps:
  - server:
      set: { audit: N, version: 1.10, id: 010, hex: 0x10, size: 1G, flag: on, yes: Yes, b: true, big: 123456789012345678901234567890, e: 1e3, date: 2024-01-01, empty: "", nothing: , time: 10:30, q: "'x'" }
`)
	want := map[string]string{
		"audit": "N", "version": "1.10", "id": "010", "hex": "0x10", "size": "1G", "flag": "on", "yes": "Yes", "b": "true", "big": "123456789012345678901234567890",
		"e": "1e3", "date": "2024-01-01", "empty": "", "nothing": "", "time": "10:30", "q": "'x'",
	}
	if diff := cmp.Diff(want, got.Set); diff != "" {
		t.Error(diff)
	}
}

func TestShortForms(t *testing.T) {
	p := read(t, `
steps:
  - database: create
  - database: { action: drop }
  - sql: SELECT 1
  - sql: [SELECT 1, "SELECT ${{ 2 }}"]
  - sql: { statements: SELECT 1, database: "" }
  - sql: { statements: "${{ ['a', 'b'] }}" }
  - http: { get: "http://a/", status: 204 }
  - http: { get: "http://a/", status: [200, "204"] }
  - wait: 5s
  - wait: { until: { expression: "1 == 1" } }
  - cleanup:
  - cleanup: {}
  - cleanup: ~
`)
	if got := specs[databaseSpec](p); got[0].Action != "create" || got[1].Action != "drop" {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]string{"SELECT 1", "SELECT 1", "SELECT 2", "SELECT 1", "a", "b"}, statements(p)); diff != "" {
		t.Error(diff)
	}
	if got := specs[sqlSpec](p)[2]; got.Database == nil || *got.Database != "" {
		t.Error("an empty text is not a missing one")
	}
	if got := specs[httpSpec](p); cmp.Diff([]int{204}, got[0].Status) != "" || cmp.Diff([]int{200, 204}, got[1].Status) != "" {
		t.Errorf("%+v", got)
	}
	if got := specs[waitSpec](p); got[0].For != 5e9 || got[1].Until.Expression != "1 == 1" {
		t.Errorf("%+v", got)
	}
}

func TestMergeKeys(t *testing.T) {
	got := one[httpSpec](t, `
x-config: &config { twopc: false, audit: N, list: &list [1] }
x-other: &other { audit: A, extra: "${{ 1 + 1 }}" }
steps:
  - http:
      get: http://a/
      json: { twopc: true, <<: [*config, *other], again: *list }
`)
	want := map[string]any{"twopc": true, "audit": "N", "list": []any{int64(1)}, "extra": int64(2), "again": []any{int64(1)}}
	if diff := cmp.Diff(want, got.JSON); diff != "" {
		t.Error(diff)
	}
}

func TestCheckOfAKindPointsAtTheOption(t *testing.T) {
	got := mistakes(t, `
vars: { w: 10s }
steps:
  - run:
      workload: cpu
      duration: 5s
      warmup: ${{ vars.w }}
  - prepare:`)
	want := []string{"7:7 the warm-up is longer than the measurement", "8:5 prepare needs tables"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A step without expressions is held against every place where it stands.
	got = mistakes(t, `
steps:
  - matrix: { a: [1, 2] }
    steps:
      - tables: { schema: "${{ matrix.a == 1 ? 'benchyou' : 'nope' }}" }
        steps: [ { prepare: } ]
      - prepare:`)
	want = []string{`5:27 there is no schema "nope" (known: benchyou sysbench)`, "7:9 prepare needs tables"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Texts that are none, or that would eat memory or time.
func TestTextsThatAreNoPlan(t *testing.T) {
	bomb := "x-a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += "x-" + string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+", ", 10) + "]\n"
	}
	chain := "x-a0: &a0 1\n"
	for i := range 60 {
		from, to := string(rune('a'+i/26))+string(rune('a'+i%26)), string(rune('a'+(i+1)/26))+string(rune('a'+(i+1)%26))
		if i == 0 {
			from = "a0"
		}
		chain += "x-" + to + ": &" + to + " [[*" + from + "]]\n"
	}
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "1:1 the plan is empty"},
		{"comments", "# nothing\n\n", "1:1 the plan is empty"},
		{"null", "~", "1:1 a plan is a mapping with steps, not nothing"},
		{"a word", "plan", "1:1 a plan is a mapping with steps, not a single value"},
		{"a list", "- a", "1:1 a plan is a mapping with steps, not a list"},
		{"no steps", "name: a", "1:1 the plan has no steps"},
		{"NUL", "steps:\n  - cleanup: \x00", "2:14 the character U+0000 cannot stand in YAML"},
		{"escape", "name: \x1b[31mred", "1:7 the character U+001B cannot stand in YAML"},
		{"Latin-1", "name: caf\xe9\nsteps: []", "1:10 the byte 0xe9 is not UTF-8"},
		{"UTF-16", "\xff\xfen\x00a\x00", "1:1 the text is UTF-16: save it as UTF-8"},
		{"10 MB", strings.Repeat("# comment\n", 1<<20), "1:1 the plan has 10485760 bytes, more than the 524288"},
		{"10 MB in one line", "name: " + strings.Repeat("x", 10<<20), "1:1 the plan has 10485766 bytes"},
		{"brackets", strings.Repeat("[", 100_000), "1:10001 YAML: within the '[' of line 1: exceeded max depth of 10000"},
		{"braces", strings.Repeat("{a: ", 100_000), "1:1 YAML: exceeded max depth of 10000"},
		{"values without end", "a: [" + strings.Repeat("a,", 260_000), "1:500004 the plan has more than 250000 lines and values"},
		{"dashes", strings.Repeat("- ", 100_000), "1:1 YAML: exceeded max depth of 10000"},
		{"200 levels", "x-a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "\nsteps: [ { cleanup: } ]", "1:106 nested more than 100 levels deep"},
		{"levels by aliases", chain + "steps: [ { cleanup: } ]", "51:13 nested more than 100 levels deep with *bx written out"},
		{"alias bomb", bomb + "steps: [ { cleanup: } ]", "6:14 with its aliases written out the plan has more than 250000 values"},
		{"key that is a list", "? [a]\n: b\nsteps: [ { cleanup: } ]", "1:3 a key has to be a single word"},
		{"key that is null", "~: b\nsteps: [ { cleanup: } ]", "1:1 a key has to be a single word"},
		{"merge of a word", "<<: a\nsteps: [ { cleanup: } ]", "1:5 << takes a mapping or a list of mappings, not a single value"},
		{"binary", "vars: { a: !!binary aGVsbG8= }\nsteps: [ { cleanup: } ]", "1:12 the tag !!binary is not known here"},
		{"directive", "%YAML 1.2\n---\nsteps: [ { cleanup: } ]", "1:9 YAML: leave the %YAML directive out"},
		{"a second document", "steps: [ { cleanup: } ]\n---\na: b\n", "2:1 a second document begins here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mistakes(t, c.text)
			if len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
				t.Errorf("got %.300q\nwant %s…", got, c.want)
			}
		})
	}
}

func TestTextsOfOtherSystems(t *testing.T) {
	const text = "name: a\nvars:\n  a: 1\nsteps:\n  - sql: >-\n      ${{ vars.a }}\n      b\n"
	for name, s := range map[string]string{
		"Unix": text, "Windows": strings.ReplaceAll(text, "\n", "\r\n"), "byte order mark": "\uFEFF" + text, "old Mac": strings.ReplaceAll(text, "\n", "\r"),
		"end marker": text + "...\n", "start marker": "---\n" + text,
	} {
		if got := statements(read(t, s)); len(got) != 1 || got[0] != "1 b" {
			t.Errorf("%s: %q", name, got)
		}
		if got := mistakes(t, strings.Replace(s, "vars.a", "vars.b", 1)); len(got) != 1 || !strings.Contains(got[0], ":11 vars.b: no such variable") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestManyMistakes(t *testing.T) {
	text := "steps:\n" + strings.Repeat("  - databse: x\n", 500)
	_, err := plan.Read(source(text), words(), plan.Options{})
	if err == nil || !strings.Contains(err.Error(), "these are 100 mistakes; more are not looked for") {
		t.Errorf("%.200v", err)
	}
}

func TestMistakesOfManyCellsAreOne(t *testing.T) {
	got := mistakes(t, `
steps:
  - matrix: { a: [1, 2, 3], b: [1, 2, 3] }
    run: { workload: cpu, threads: "${{ matrix.a - 1 }}", block: "${{ matrix.c }}" }`)
	if len(got) != 2 {
		t.Error(got)
	}
}
