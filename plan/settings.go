package plan

import "reflect"

// Settings gives the options of a spec (a pointer to an options struct) by their keys, for a record: numbers, counts and sizes as
// numbers, durations and texts as a plan writes them, secrets masked.
func Settings(spec any) map[string]any {
	v := reflect.ValueOf(spec)
	if !v.IsValid() || v.Kind() != reflect.Pointer || v.IsNil() {
		return nil
	}
	out := map[string]any{}
	for _, o := range Describe(spec) {
		if o.Key == "*" {
			continue
		}
		out[o.Key] = v.Elem().FieldByIndex(o.index).Interface()
	}
	return out
}
