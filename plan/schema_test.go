package plan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchplan/plan"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	b, err := plan.Schema(words())
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("plan.schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("plan.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// held holds a plan against the schema as an editor does: YAML first.
func held(t *testing.T, schema *jsonschema.Schema, text string) error {
	t.Helper()
	var tree any
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(withTextKeys(tree))
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(document)
}

func withTextKeys(v any) any {
	switch v := v.(type) {
	case map[any]any:
		out := map[string]any{}
		for k, item := range v {
			b, _ := yaml.Marshal(k)
			out[strings.TrimSpace(string(b))] = withTextKeys(item)
		}
		return out
	case map[string]any:
		for k := range v {
			v[k] = withTextKeys(v[k])
		}
	case []any:
		for i := range v {
			v[i] = withTextKeys(v[i])
		}
	}
	return v
}

// The schema takes every plan that the language takes: the fixtures, and the notations.
func TestSchemaTakesPlans(t *testing.T) {
	schema := compiledSchema(t)
	files, _ := filepath.Glob("testdata/plans/*.yaml")
	if len(files) == 0 {
		t.Fatal("no plans")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		read(t, string(text))
		if err := held(t, schema, string(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, steps := range []string{
		"- cleanup:", "- cleanup: {}", "- wait: 5s", "- wait: \"${{ vars.d }}\"", "- sql: SELECT 1", "- sql: [SELECT 1, 2]", "- sql: { statements: x, database: \"\" }",
		"- database: create", "- database: { action: drop }", "- database: ${{ vars.a }}", "- http: { get: \"http://a/\", status: 204 }", "- http: { get: \"http://a/\", status: [200, \"204\"], headers: { a: 1, b: \"${{ vars.a }}\" } }",
		"- run: { workload: cpu, threads: 4, duration: 1m30s, events: 10k, cpu_max_prime: 1_000, block: 8k }",
		"- run: { workload: cpu, threads: \"4\", duration: \"${{ vars.d }}\", events: 1e6, rate: 1.5 }",
		"- run: { workload: oltp_read_write, threads: { write: 4, read: \"${{ vars.a }}\" }, skip_trx: on, on_error: { 1105: count } }",
		"- run: { workload: \"${{ vars.a }}\", skip_trx: on }",
		"- { cleanup: , if: vars.a > 1, assert: [ \"true\" ], retry: 5, timeout: 10s, continue_on_error: yes, repeat: 1k, order: shuffled, labels: { a: 1, b: x } }",
		"- { cleanup: , if: true, assert: status == 200, retry: { attempts: 3, interval: 500ms } }",
		"- { matrix: { a: [1, x, true, { id: y, z: [1] }], b: \"${{ vars.l }}\", exclude: [ { a: 1 } ], include: [ { a: 2, b: 3 } ] }, steps: [ { cleanup: } ] }",
		"- { vars: { a: 1 }, target: { address: \"a:1\", tls: true, password: \"${{ secrets.A }}\" }, tables: { engine: myisam }, files: { total_size: 3G }, finally: [ { cleanup: } ], steps: [ { cleanup: } ] }",
		"- { tables: { schema: sysbench, auto_inc: off, rows: 10k, count: \"${{ vars.a }}\" }, steps: [ { cleanup: } ] }",
		"- server: { set: { a: N, b: 1.10, c: on, d: \"${{ vars.a }}\" } }",
	} {
		if err := held(t, schema, "steps:\n  "+steps); err != nil {
			t.Errorf("%s: %v", steps, err)
		}
	}
}

func TestSchemaFindsMistakes(t *testing.T) {
	schema := compiledSchema(t)
	for text, where := range map[string]string{
		"name: a":                                                               "",
		"colour: red\nsteps: [ { cleanup: } ]":                                  "",
		"steps: []":                                                             "/steps",
		"steps: [ { name: a } ]":                                                "/steps/0",
		"steps: [ { cleanup: , prepare: } ]":                                    "/steps/0",
		"steps: [ { databse: create } ]":                                        "/steps/0",
		"steps: [ { database: creat } ]":                                        "/steps/0/database",
		"steps: [ { database: } ]":                                              "/steps/0/database",
		"steps: [ { wait: 5 } ]":                                                "/steps/0/wait",
		"steps: [ { cleanup: , vars: { a: 1 } } ]":                              "/steps/0",
		"steps: [ { run: { threads: 4 } } ]":                                    "/steps/0/run",
		"steps: [ { run: { workload: oltp } } ]":                                "/steps/0/run/workload",
		"steps: [ { run: { workload: cpu, time: 60 } } ]":                       "/steps/0/run",
		"steps: [ { run: { workload: cpu, skip_trx: on } } ]":                   "/steps/0/run",
		"steps: [ { run: { workload: cpu, duration: 60 } } ]":                   "/steps/0/run/duration",
		"steps: [ { run: { workload: cpu, threads: 0 } } ]":                     "/steps/0/run/threads",
		"steps: [ { run: { workload: cpu, events: many } } ]":                   "/steps/0/run/events",
		"steps: [ { run: { workload: oltp_read_write, rand_type: paretto } } ]": "/steps/0/run/rand_type",
		"steps: [ { cleanup: , order: random } ]":                               "/steps/0/order",
		"steps: [ { cleanup: , matrix: { a: 5 } } ]":                            "/steps/0/matrix/a",
		"steps: [ { cleanup: , matrix: { a: [ { x: 1 } ] } } ]":                 "/steps/0/matrix/a/0",
		"steps: [ { cleanup: , retry: { attempts: 0 } } ]":                      "/steps/0/retry",
		"tables: { schema: nope }\nsteps: [ { cleanup: } ]":                     "/tables/schema",
		"tables: { schema: benchyou, auto_inc: on }\nsteps: [ { cleanup: } ]":   "/tables",
		"tables: { rows: -1 }\nsteps: [ { cleanup: } ]":                         "/tables/rows",
		"target: { adress: a }\nsteps: [ { cleanup: } ]":                        "/target",
		"target: { tls: sometimes }\nsteps: [ { cleanup: } ]":                   "/target/tls",
		"report: { metrics: [tsp] }\nsteps: [ { cleanup: } ]":                   "/report/metrics",
		"report: { charts: on }\nsteps: [ { cleanup: } ]":                       "/report",
	} {
		err := held(t, schema, text)
		var invalid *jsonschema.ValidationError
		if !errors.As(err, &invalid) {
			t.Errorf("%s: the schema says %v", text, err)
			continue
		}
		if got := deepest(invalid); !strings.HasPrefix(got, where) {
			t.Errorf("%s: the mistake is at %s, the schema says %s", text, where, got)
		}
	}
}

// deepest gives the place that all causes of an error share.
func deepest(e *jsonschema.ValidationError) string {
	at := "/" + strings.Join(e.InstanceLocation, "/")
	if len(e.InstanceLocation) == 0 {
		at = ""
	}
	for _, c := range e.Causes {
		if d := deepest(c); strings.HasPrefix(d, at) {
			at = d
		}
	}
	return at
}

// Every key and every kind is explained: that is what an editor shows.
func TestSchemaExplains(t *testing.T) {
	b, err := plan.Schema(words())
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, b, "", "  "); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/plan.schema.json", indented.String()+"\n")
	var s struct {
		Definitions map[string]struct {
			Properties map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	step := s.Definitions["step"].Properties
	for key, property := range step {
		if property.Description == "" {
			t.Errorf("the key %s of a step is not explained", key)
		}
	}
	for name := range words().Kinds {
		if _, there := step[name]; !there {
			t.Errorf("a step cannot be %s", name)
		}
	}
}
