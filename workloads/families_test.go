package workloads_test

import (
	"reflect"
	"testing"

	"benchplan/plan"
	"benchplan/workloads"
)

func TestEveryWorkloadIsWhole(t *testing.T) {
	schemas := workloads.Schemas()
	for name, d := range workloads.Families() {
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
			if f.Tag.Get(tag) == "" {
				t.Errorf("%s: option %s has no %s", name, f.Name, tag)
			}
		}
	}
}
