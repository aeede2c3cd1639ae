package workloads_test

import (
	"reflect"
	"testing"

	"benchplan/plan"
	"benchplan/workloads"
	"benchplan/workloads/engine"
)

func TestEveryWorkloadIsWhole(t *testing.T) {
	schemas := workloads.Schemas()
	for name, d := range workloads.Families() {
		if d.Host != nil {
			checkHost(t, name, d)
			continue
		}
		if d.Name != name || d.Doc == "" || d.PSMode == "" || d.Options == nil || d.Check == nil || d.New == nil {
			t.Errorf("%s: something is missing: %+v", name, d)
		}
		if schemas[d.Schema] == nil {
			t.Errorf("%s: its schema %q is not registered", name, d.Schema)
		}
		checkOptions(t, name, d.Options())
		if _, err := d.New(struct{}{}, plan.Tables{Count: 1}, nil); err == nil {
			t.Errorf("%s: takes options of another type", name)
		}
		for _, role := range d.Roles {
			if role.Name == "" || role.Doc == "" {
				t.Errorf("%s: role %+v", name, role)
			}
		}
	}
	for name, s := range schemas {
		if s.Doc() == "" {
			t.Errorf("schema %s has no description", name)
		}
	}
}

// checkHost sees that a workload which needs no server has what such a one has, and nothing else.
func checkHost(t *testing.T, name string, d engine.Definition) {
	t.Helper()
	if d.Name != name || d.Doc == "" || d.Options == nil || d.Host.Check == nil || d.Host.New == nil || d.Host.Files != (d.Host.SmallestFile != nil) {
		t.Errorf("%s: something is missing: %+v, %+v", name, d, d.Host)
	}
	if d.Schema != "" || d.PSMode != "" || d.Roles != nil || d.Check != nil || d.New != nil {
		t.Errorf("%s: it needs no server: %+v", name, d)
	}
	checkOptions(t, name, d.Options())
	if _, err := d.Host.New(struct{}{}, &plan.Files{Count: 1, TotalSize: 1 << 20}, false); err == nil {
		t.Errorf("%s: takes options of another type", name)
	}
	if d.Host.Check(struct{}{}, nil) == nil {
		t.Errorf("%s: checks options of another type", name)
	}
}

// checkOptions sees that every field says how it is written and what it means.
func checkOptions(t *testing.T, name string, options any) {
	t.Helper()
	v := reflect.ValueOf(options)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		t.Fatalf("%s: options are %T, want a pointer to a struct", name, options)
	}
	for _, f := range reflect.VisibleFields(v.Elem().Type()) {
		if f.Anonymous {
			continue // its fields are options by themselves
		}
		for _, tag := range []string{"key", "doc", "default"} {
			optional := tag == "default" && (f.Tag.Get("required") != "" || f.Type.Kind() == reflect.Slice) // none, or an empty list
			if f.Tag.Get(tag) == "" && !optional {
				t.Errorf("%s: option %s has no %s", name, f.Name, tag)
			}
		}
	}
}
