//go:build unix

package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"benchplan/results/render"
)

// guarded is a secret with everything in it that some notation writes in another way.
const guarded = `it's "s3cret"\ü/&<x>+end`

// notations are ways in which others may send it back.
func notations() map[string]string {
	j, _ := json.Marshal(guarded)
	return map[string]string{
		"plain": guarded, "JSON": string(j), "query": url.QueryEscape(guarded), "path": url.PathEscape(guarded), "lower": strings.ToLower(url.PathEscape("x")) + strings.ReplaceAll(url.QueryEscape(guarded), "%C3%BC", "%c3%bc"),
		"base64": base64.StdEncoding.EncodeToString([]byte("user:" + guarded)), "hex": hex.EncodeToString([]byte(guarded)), "HTML": html.EscapeString(guarded), "quoted": strings.NewReplacer(`\`, `\\`, `'`, `\'`, `"`, `\"`).Replace(guarded),
		"doubled": strings.ReplaceAll(guarded, "'", "''"), "Go": fmt.Sprintf("%q", guarded),
	}
}

// showing finds a piece of the secret that anybody could read.
func showing(text string) string {
	pieces := []string{"s3cret", hex.EncodeToString([]byte("s3cret"))}
	for n := range 3 {
		pieces = append(pieces, base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", n) + "\"s3cret\"\\"))[4:12])
	}
	for _, p := range pieces {
		if i := strings.Index(text, p); i >= 0 {
			return text[max(0, i-60):min(len(text), i+60)]
		}
	}
	return ""
}

// TestNoSecretIsShown: whatever the steps, the server and the commands of a run do with a secret, no output in any format and no file of the run
// shows it, in no notation.
func TestNoSecretIsShown(t *testing.T) {
	target, _, _ := onServer(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Back", url.QueryEscape(guarded))
		w.Header().Set("Location", "/?t="+url.QueryEscape(guarded))
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, notations()[r.URL.Path[1:]])
	}))
	t.Cleanup(web.Close)
	t.Setenv("GUARDED", guarded)
	const secret = "${{ secrets.GUARDED }}"
	var steps strings.Builder
	step := func(s string) { steps.WriteString("  - { continue_on_error: true, " + s + " }\n") }
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range notations() {
			if !yield(name) {
				return
			}
		}
	}) {
		step(fmt.Sprintf(`http: { get: "%s/%s" }`, web.URL, name))
	}
	step(fmt.Sprintf(`http: { get: "%s/?token=%s" }`, web.URL, secret))
	step(fmt.Sprintf(`http: { get: "%s/plain", status: 418 }, assert: 'body == "" && headers["X-Back"] == "" && secrets.GUARDED == ""'`, web.URL))
	step(fmt.Sprintf(`http: { put: "%s/plain", headers: { X-A: "%s" }, auth: { basic: { user: u, password: "%s" } }, json: { a: "${{ upper(secrets.GUARDED) }}", b: [ "%s" ] } }`, web.URL, secret, secret, secret))
	step(`http: { get: "http://127.0.0.1:1/%{{ toBase64(secrets.GUARDED) }}" }`)
	step(`sql: "SELECT '` + secret + `"`)
	step(`sql: "SELECT no_such_function('${{ replace(secrets.GUARDED, \"'\", \"''\") }}')"`)
	step(`shell: { command: 'echo "$P" >&2; echo "$P" | base64; printf %s "$P" | od -An -tx1 | tr -d " \n"; exit 3', env: { P: "` + secret + `" } }`)
	step(`shell: { command: 'cat; exit 4', stdin: "` + secret + `" }`)
	step(`wait: { until: { http: "` + web.URL + `/plain?` + secret + `" }, timeout: 100ms, interval: 50ms }`)
	step(`target: { user: "` + secret + `", password: "` + secret + `" }, steps: [ sql: SELECT 1 ]`)
	plan := "vars: { note: \"\" }\n" + target + "steps:\n" + steps.String() + "  - { name: load, run: { workload: cpu, cpu_max_prime: 100, events: 10 } }\n"
	plan = strings.ReplaceAll(plan, "%{{", "${{")
	folder := filepath.Join(t.TempDir(), "run")
	file := planFile(t, "p.yaml", plan)
	for _, args := range [][]string{{"validate", file}, {"show", file}, {"run", file, "--dry-run"}, {"run", file, "--allow-shell", "--out", folder, "--set", "vars.note=" + guarded}} {
		o := benchplan(t, args...)
		if shown := showing(o.out + o.err); shown != "" {
			t.Errorf("%s shows it: …%s…", args[0], shown)
		}
		if o.status == exitUsage {
			t.Fatalf("%v\n%s", args, o.err)
		}
		if args[0] == "run" && len(args) > 4 && strings.Count(o.err, "***") < 15 {
			t.Errorf("little of it was masked:\n%s", o.err)
		}
	}
	for name := range render.Formats() {
		for _, args := range [][]string{{"report", folder}, {"compare", folder, folder}} {
			o := benchplan(t, append(args, "--format", name)...)
			if shown := showing(o.out + o.err); shown != "" {
				t.Errorf("%s --format %s shows it: …%s…", args[0], name, shown)
			}
		}
	}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if shown := showing(string(b)); shown != "" {
			t.Errorf("%s shows it: …%s…", filepath.Base(path), shown)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestShortSecretsAreTold: one that is too short to be masked in free text is named, and words of the report that happen to be the same as a
// secret stay where they are figures, names and keys.
func TestShortSecretsAreTold(t *testing.T) {
	t.Setenv("TOO_SHORT", "cpu")
	t.Setenv("A_WORD", "events")
	file := planFile(t, "p.yaml", `steps:
  - shell: { command: "true", env: { P: "${{ secrets.TOO_SHORT }}", Q: "${{ secrets.A_WORD }}" } }
  - { name: events, labels: { events: events }, run: { workload: cpu, cpu_max_prime: 100, events: 10 } }
`)
	o := benchplan(t, "run", file, "--runs", t.TempDir(), "--allow-shell").want(t, exitDone)
	if !strings.Contains(o.err, "warning: fewer than 6 characters") || !strings.Contains(o.err, "TOO_SHORT") || strings.Contains(o.err, "A_WORD") {
		t.Errorf("stderr:\n%s", o.err)
	}
	if !strings.Contains(o.out, "events/s") || strings.Contains(o.out, "***") {
		t.Errorf("stdout:\n%s", o.out)
	}
}

// TestNoPasswordInTheListOfProcesses: what a run starts gets its secrets by other ways than its command line.
func TestNoPasswordInTheListOfProcesses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("there is no /proc here")
		return
	}
	t.Setenv("GUARDED", "correct-horse-battery")
	file := planFile(t, "p.yaml", `tables: { schema: benchyou, count: 1, rows: 10 }
steps:
  - prepare:
  - shell: { command: "cat /proc/[0-9]*/cmdline | tr '\\0' ' '", env: { P: "${{ secrets.GUARDED }}" }, stdin: "${{ secrets.GUARDED }}" }
    assert: [ 'stdout contains "mariadbd" || stdout contains "mysqld"', 'stdout contains "cmdline"', '!(stdout contains secrets.GUARDED)' ]
`)
	benchplan(t, "run", file, "--runs", t.TempDir(), "--allow-shell", "--yes").want(t, exitDone)
}

// TestTerminalIsSentText: what servers, plans and records say is text, and cannot move the cursor, name the window or write over a line.
func TestTerminalIsSentText(t *testing.T) {
	const nasty = "\x1b[31mred\x1b]0;window\x07\rover\x9b2J\u202eback\x00"
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, nasty)
	}))
	t.Cleanup(web.Close)
	target, _, _ := onServer(t)
	named := `"\e[31m\u009b2J\r\u202e<script>alert(1)</script>|x"`
	file := planFile(t, "p.yaml", `description: `+named+`
vars: { v: `+named+` }
`+target+`steps:
  - { continue_on_error: true, http: { get: "`+web.URL+`/" } }
  - { continue_on_error: true, name: `+named+`, sql: "SELECT nonsense FROM `+"`${{ vars.v }}`"+`" }
  - { continue_on_error: true, shell: { command: "printf '\\033[31m\\r\\007'; exit 3" } }
  - { name: `+named+`, labels: { l: `+named+` }, run: { workload: cpu, cpu_max_prime: 100, events: 10 } }
`)
	folder := filepath.Join(t.TempDir(), "run")
	for _, args := range [][]string{
		{"validate", file}, {"show", file}, {"run", file, "--dry-run"}, {"run", file, "--allow-shell", "--out", folder}, {"report", folder}, {"report", folder, "--format", "markdown"}, {"report", folder, "--format", "csv"},
		{"report", folder, "--format", "html"}, {"report", folder, "--format", "junit"}, {"report", folder, "--format", "benchfmt"}, {"report", folder, "--format", "sysbench"}, {"compare", folder, folder}, {"runs", "--runs", filepath.Dir(filepath.Dir(folder))},
		{"report", folder, "--cell", "\x1b[31m"}, {"report", "\x1b[31m"}, {"run", "\x1b[31m.yaml"}, {"nonsense\x1b[31m"}, {"run", file, "--only", "\x1b[31m"}, {"report", folder, "--format", "\x1b[31m"},
	} {
		o := benchplan(t, args...)
		for stream, text := range map[string]string{"stdout": o.out, "stderr": o.err} {
			if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\u202e' }); i >= 0 {
				t.Errorf("%q: %s holds %q", args[:min(2, len(args))], stream, text[max(0, i-40):min(len(text), i+40)])
			}
		}
		if strings.Contains(o.out, "<script>alert") && slices.Contains([]string{"markdown", "html", "junit"}, args[len(args)-1]) {
			t.Errorf("%q holds a script", args)
		}
	}
}

// TestRunFoldersAreForTheirOwnerAlone: whatever the umask lets through.
func TestRunFoldersAreForTheirOwnerAlone(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	runs := filepath.Join(t.TempDir(), "runs")
	file := planFile(t, "p.yaml", "tables: { schema: benchyou, count: 1, rows: 10 }\nsteps:\n  - prepare:\n  - { name: load, run: { workload: benchyou_random, threads: { write: 1 }, duration: 2s } }\n")
	benchplan(t, "run", file, "--runs", runs, "--yes").want(t, exitDone)
	entries, err := filepath.Glob(filepath.Join(runs, "p", "*"))
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	benchplan(t, "runs", "pin", "p", "base", "--runs", runs).want(t, exitDone)
	files := 0
	err = filepath.WalkDir(runs, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		} else {
			files++
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s is %v, want %v", path, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil || files < 6 {
		t.Errorf("%d files, %v", files, err)
	}
}
