package plan_test

import (
	"strings"
	"testing"
	"time"

	"benchplan/plan"
)

func TestExpressions(t *testing.T) {
	for expression, want := range map[string]string{
		`vars.n * 2`:                               "8",
		`vars.map.a.b`:                             "deep",
		`vars.map["dash-ed"]`:                      "yes",
		`vars.map?.none?.deeper ?? "x"`:            "x",
		`vars.list[1]`:                             "two",
		`vars.list[vars.n - 4]`:                    "1",
		`len(vars.list)`:                           "3",
		`join(map(vars.list, string(#)),"-")`:      "1-two-3.5",
		`filter(vars.list, # != 1)`:                `["two",3.5]`,
		`let x = vars.n; x + x`:                    "8",
		`vars.n > 3 ? "many" : "few"`:              "many",
		`"a}}b" + '{{'`:                            "a}}b{{",
		`{"a": {"b": 1}}.a`:                        `{"b":1}`,
		`{"a": {"b": 1}}`:                          `{"a":{"b":1}}`,
		`repeat("ab", 3)`:                          "ababab",
		`replace("aXbX", "X", "--")`:               "a--b--",
		`replace("aXbX", "X", "-", 1)`:             "a-bX",
		`split("a,b", ",")`:                        `["a","b"]`,
		`upper(vars.list[1])`:                      "TWO",
		`env.HOME + "/x"`:                          "/home/me/x",
		`env.NONE ?? "default"`:                    "default",
		`1.10`:                                     "1.1",
		`vars.version`:                             "1.10",
		`vars.version + 1`:                         "2.1",
		`vars.n in [1, 4]`:                         "true",
		`all(vars.list, # != nil) and vars.n == 4`: "true",
		"`raw ${x}`":                               "raw ${x}",
		`1..3`:                                     "[1,2,3]",
		`vars.n // a comment`:                      "4",
		`toJSON({"a": 1}) | trim()`:                "{\n  \"a\": 1\n}",
	} {
		text := "vars: { n: 4, map: { a: { b: deep }, dash-ed: yes }, list: [1, two, 3.5], version: 1.10 }\nsteps:\n  - sql:\n    - |-\n      <${{ " + expression + " }}>"
		got := statements(read(t, text, plan.Options{Environment: environment("HOME", "/home/me")}))
		if len(got) != 1 || got[0] != "<"+want+">" {
			t.Errorf("%s gives %q, want %s", expression, got, want)
		}
	}
}

func TestMistakenExpressions(t *testing.T) {
	for expression, want := range map[string]string{
		``:                  "an expression is missing here",
		`vars.n +`:          "unexpected token EOF",
		`vars.n = 4`:        "equality is written ==",
		`"open`:             "literal not terminated",
		`vars.list[7]`:      "vars.list has 3 values; there is none at 7",
		`vars.list.x`:       `vars.list is a list and has no "x"`,
		`vars.list[vars.n]`: "index out of range",
		`vars.n.x`:          `vars.n is a single value and has no "x"`,
		`var.n`:             `the name "var" is not known here`,
		`n`:                 `the name "n" is not known here`,
		`vars.map.nope`:     `vars.map has no "nope"`,
		`int("x")`:          "invalid",
		`nope(1)`:           "nope",
		`$env.secrets`:      `the name "$env" is not known here`,
		`$env["secrets"]`:   `the name "$env" is not known here`,
		`env["A"+"B"]`:      "env: name the one that is meant",
		`get(secrets, "A")`: "secrets: name the one that is meant",
		`repeat(1, 2)`:      "repeat",
		`vars.nothing`:      "it is nil (nothing)",
		`join(vars.list)`:   "join takes a list of texts",
	} {
		text := "vars: { n: 4, map: { a: 1 }, list: [1, two, 3.5], nothing: }\nsteps:\n  - sql: |-\n      <${{ " + expression + " }}>"
		got := mistakes(t, text)
		if len(got) != 1 || !strings.HasPrefix(got[0], "4:") || !strings.Contains(got[0], want) {
			t.Errorf("%s says %q, want …%s…", expression, got, want)
		}
	}
}

// What an expression may cost is bounded, in time and in memory.
func TestExpressionsThatEatTimeOrMemory(t *testing.T) {
	double := func(first, again string) string {
		var b strings.Builder
		b.WriteString("let a0 = " + first + "; ")
		for i := range 60 {
			n := func(i int) string { return "a" + strings.Repeat("x", i) + "0" }
			if i == 0 {
				b.WriteString("let " + n(1) + " = " + strings.ReplaceAll(again, "#", "a0") + "; ")
				continue
			}
			b.WriteString("let " + n(i+1) + " = " + strings.ReplaceAll(again, "#", n(i)) + "; ")
		}
		return b.String() + "a" + strings.Repeat("x", 60) + "0"
	}
	for name, expression := range map[string]string{
		"loops":             `let a = 1..100000; all(a, all(a, all(a, # > 0)))`,
		"ranges":            `1..1000000000`,
		"sums":              `let a = 1..10000; sum(map(a, reduce(a, #acc + #, 0)))`,
		"repeat":            `repeat(repeat("x", 1000000), 1000000)`,
		"join":              `join(map(1..100000, "x"), repeat("y", 1000000))`,
		"replace":           `replace(repeat("x", 1000000), "x", repeat("y", 1000000))`,
		"doubled texts":     double(`"0123456789"`, "# + #"),
		"doubled lists":     double(`[1, 2]`, "[#, #]"),
		"doubled maps":      double(`{"a": 1}`, `{"a": #, "b": #}`),
		"compared":          `let a = 1..50000; all(a, a == a)`,
		"contained":         `let a = 1..50000; all(a, not (60000 in a))`,
		"concatenated":      double(`[1, 2]`, "concat(#, #)"),
		"matched":           `let s = repeat("a", 1000000); all(1..1000000, s matches "(a|b)*c")`,
		"sorted in a loop":  `let a = 1..50000; all(a, len(sort(a)) > 0)`,
		"to JSON in a loop": `let a = 1..50000; all(a, toJSON(a) != "")`,
		"nested maps":       `let a = 1..1000; map(a, map(a, map(a, #)))`,
		"split in a loop":   `let s = repeat("a,", 100000); all(1..100000, len(split(s, ",")) > 0)`,
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			got := mistakes(t, "steps:\n  - sql: |-\n      ${{ "+expression+" }}")
			if len(got) != 1 || !strings.Contains(got[0], "too much time or memory") && !strings.Contains(got[0], "memory budget exceeded") {
				t.Errorf("%.300q", got)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestTextsThatGrow(t *testing.T) {
	text := "vars:\n  a0: " + strings.Repeat("x", 100) + "\n"
	for i := range 40 {
		text += "  b" + strings.Repeat("x", i) + ": \"${{ vars." + map[bool]string{true: "a0", false: "b" + strings.Repeat("x", max(i-1, 0))}[i == 0] + " }}${{ vars." + map[bool]string{true: "a0", false: "b" + strings.Repeat("x", max(i-1, 0))}[i == 0] + " }}\"\n"
	}
	got := mistakes(t, text+"steps: [ { cleanup: } ]")
	if len(got) != 1 || !strings.Contains(got[0], "the text becomes longer than 4194304 bytes") {
		t.Errorf("%.300q", got)
	}
	text = "vars:\n  a: [1, 2]\n"
	for i := range 40 {
		from := "a"
		if i > 0 {
			from = "b" + strings.Repeat("x", i-1)
		}
		text += "  b" + strings.Repeat("x", i) + ": [\"${{ vars." + from + " }}\", \"${{ vars." + from + " }}\"]\n"
	}
	start := time.Now()
	got = mistakes(t, text+"steps: [ { http: { get: \"${{ vars."+"b"+strings.Repeat("x", 39)+" }}\" } } ]")
	if len(got) != 1 || !strings.HasSuffix(got[0], "the variables that are known here are too large together") || time.Since(start) > 5*time.Second {
		t.Errorf("%.300q after %v", got, time.Since(start))
	}
}

func TestCheckExpressionAndHolds(t *testing.T) {
	if err := plan.CheckExpression("rows[0] > "); err == nil {
		t.Error("a mistake in the syntax is not found")
	}
	p := read(t, "vars: { n: 3 }\nsteps: [ { cleanup: } ]")
	s, _ := p.Scope()
	if ok, err := s.Holds("rows[0][0] == vars.n", map[string]any{"rows": []any{[]any{3}}}); err != nil || !ok {
		t.Errorf("%v, %v", ok, err)
	}
	if _, err := s.Holds("row == 1", map[string]any{"rows": nil}); err == nil || !strings.Contains(err.Error(), `did you mean "rows"?`) {
		t.Errorf("%v", err)
	}
}

// TestExpressionsAreBounded: what is nested deeply or written without end is refused before it is read.
func TestExpressionsAreBounded(t *testing.T) {
	for name, expression := range map[string]string{
		"calls": strings.Repeat("len(", 100_000), "brackets": strings.Repeat("(", 100_000), "lists": strings.Repeat("[", 100_000), "not": strings.Repeat("!", 100_000) + "true",
		"signs": strings.Repeat("- ", 100_000) + "1", "choices": strings.Repeat("1?2:", 100_000) + "1", "members": "vars" + strings.Repeat(".a", 100_000), "names": strings.Repeat("let a=1;", 50_000) + "1",
	} {
		if got := mistakes(t, "steps:\n  - sql: ${{ "+expression+" }}"); len(got) != 1 || !strings.HasPrefix(got[0], "2:14 the expression has ") {
			t.Errorf("%s: %.300q", name, got)
		}
		short := expression[:maxDeep]
		if got := mistakes(t, "steps:\n  - sql: ${{ "+short+" }}"); len(got) == 0 {
			t.Errorf("%s: nothing is wrong with it", name)
		}
	}
	if got := mistakes(t, "x-a: ["+strings.Repeat("'${{ 1 }}',", 20_001)+"]\nsteps:\n  - wait: 1s"); len(got) != 1 || !strings.Contains(got[0], "the plan has more than 20000 expressions") {
		t.Errorf("%.300q", got)
	}
}

const maxDeep = 16_000
