package render

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"benchplan/results"
)

// TestEveryFormatIsDocumented, and every field of the JSON documents; nothing is documented that is not there.
func TestEveryFormatIsDocumented(t *testing.T) {
	for name := range Formats() {
		if About(name) == "" {
			t.Errorf("nothing is told about --format %s", name)
		}
	}
	var fields []string
	for _, typ := range JSONTypes() {
		for _, f := range typ.Fields {
			fields = append(fields, typ.Name+"."+f.Name)
		}
	}
	for _, f := range fields {
		if _, ok := jsonDocs[f]; !ok {
			t.Errorf("the field %s has no documentation", f)
		}
	}
	for f := range maps.Keys(jsonDocs) {
		if !slices.Contains(fields, f) {
			t.Errorf("there is documentation of %s, which is no field", f)
		}
	}
}

// TestJSONHasItsFields: what a document holds is what is documented, and what is said to be always there is.
func TestJSONHasItsFields(t *testing.T) {
	types := map[string]JSONType{}
	for _, typ := range JSONTypes() {
		types[typ.Name] = typ
	}
	c, err := results.Compare(twoRuns())
	if err != nil {
		t.Fatal(err)
	}
	mixed, cells := machineRun(1)
	for name, document := range map[string]any{"report": report(mixed, cells), "comparison": c} {
		b, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal(b, &tree); err != nil {
			t.Fatal(err)
		}
		checkFields(t, types, name, tree)
	}
}

func checkFields(t *testing.T, types map[string]JSONType, of string, tree any) {
	t.Helper()
	if inner, ok := strings.CutPrefix(of, "list of "); ok {
		list, _ := tree.([]any)
		for _, v := range list {
			checkFields(t, types, inner, v)
		}
		return
	}
	object, _ := tree.(map[string]any)
	if inner, ok := strings.CutPrefix(of, "map of "); ok {
		for _, v := range object {
			checkFields(t, types, inner, v)
		}
		return
	}
	typ, ok := types[of]
	if !ok || tree == nil {
		return
	}
	for name := range object {
		if !slices.ContainsFunc(typ.Fields, func(f JSONField) bool { return f.Name == name }) {
			t.Errorf("%s has %s, which is not documented", of, name)
		}
	}
	for _, f := range typ.Fields {
		value, ok := object[f.Name]
		if !ok && !f.Some {
			t.Errorf("%s has no %s", of, f.Name)
		}
		checkFields(t, types, f.Type, value)
	}
}
