package plan_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"benchplan/plan"
)

// tooLong is what no reading takes, on a machine that does other things too.
const tooLong = 5 * time.Second

// FuzzRead: no text makes reading a plan panic or hang, every mistake has its place in the text, and a plan that is right can be walked and described.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/diagnostics/*.yaml", "testdata/plans/*.yaml", "../plans/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		p, err := plan.Read(source(text), words(), plan.Options{Environment: environment("HOME", "/root")})
		if took := time.Since(start); took > tooLong {
			t.Errorf("it took %v", took)
		}
		if err == nil {
			p.Walk(func(plan.Visit) {})
			return
		}
		var found plan.Diagnostics
		if !errors.As(err, &found) || len(found) == 0 {
			t.Fatalf("%T: %v", err, err)
		}
		_ = found.Error()
		if utf8.ValidString(text) {
			lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(strings.TrimPrefix(text, "\uFEFF")), "\n")
			for _, d := range found {
				if d.Pos.Line < 1 || d.Pos.Line > len(lines) || d.Pos.Column < 1 || d.Pos.Column > utf8.RuneCountInString(lines[d.Pos.Line-1])+1 {
					t.Errorf("%d:%d is not in the text: %s", d.Pos.Line, d.Pos.Column, d.Message)
				}
			}
		}
	})
}

// FuzzExpression: no template makes reading panic, hang, or show a secret.
func FuzzExpression(f *testing.F) {
	for _, s := range []string{
		"${{ vars.n + 1 }}", "a ${{ vars.list[0] }} b ${{ env.HOME }}", "$${{ x }}", "${{ {\"a\": {\"b\": 1}}} }}", "${{ \"}}\" }}", "${{ let x = vars.n; x * x }}",
		"${{ map(vars.list, # * 2) }}", "${{ vars.map?.a?.b ?? 'none' }}", "${{ secrets.PW + \"x\" }}", "${{ secrets.PW matches \"h.*\" }}", "${{ `raw` }}", "${{ vars.map[\"a-b\"] }}",
		"${{", "}}", "${{ }}", "${{ vars.n", "${{ 'it''s' }}", "${{ 1..3 }}", "${{ {(secrets.PW): 1} }}", "${{ vars.n ? 1 : 2 }}", "${{ filter(1..100, # % 2 == 0) | len() }}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || strings.ContainsFunc(s, func(c rune) bool {
			return c < ' ' || c >= 0x7f && c < 0xa0 || c > 0xfff0 || c == '\u2028' || c == '\u2029' || c == '\uFEFF'
		}) {
			t.Skip("a plan cannot hold this text between single quotes: YAML has to escape it, and FuzzRead has such plans")
		}
		text := "vars: { n: 4, list: [1, two], map: { a: { b: 1 } } }\nsteps:\n  - http:\n      get: http://a/\n      json: '" + strings.ReplaceAll(s, "'", "''") + "'\n"
		start := time.Now()
		p, err := plan.Read(source(text), words(), plan.Options{Environment: environment("HOME", "/root", "PW", password)})
		if took := time.Since(start); took > tooLong {
			t.Errorf("it took %v", took)
		}
		if err != nil {
			if leaks(err.Error()) {
				t.Error(err)
			}
			var found plan.Diagnostics
			if !errors.As(err, &found) || found[0].Pos.Line != 5 {
				t.Errorf("%v", err)
			}
			return
		}
		if shown := showAll(specs[httpSpec](p)[0].JSON); leaks(shown) && !strings.Contains(s, password) {
			t.Errorf("%s", shown)
		}
	})
}
