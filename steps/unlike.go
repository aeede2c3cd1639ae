package steps

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/steps/target"
	"benchplan/workloads"
)

// OtherTargets says which of the cells that are there were measured elsewhere than the plan would measure them now.
func OtherTargets(p *plan.Plan, cells []results.Cell, rehearse bool) []string {
	at := map[string]results.Endpoint{}
	for i := range cells {
		if cells[i].Target != (results.Endpoint{}) {
			at[cells[i].Key()] = cells[i].Target
		}
	}
	var list []string
	told := map[string]bool{}
	p.Walk(func(v plan.Visit) {
		spec, ok := v.Spec.(*runSpec)
		if !ok || v.Skipped {
			return
		}
		if definition, _ := workloads.Family(spec.Workload); definition.Host != nil {
			return
		}
		was, there := at[results.Key(v.Scope.Path(), labelsOf(v.Scope))]
		t, err := v.Scope.Target()
		if !there || err != nil {
			return
		}
		is := results.Endpoint{Address: privateName, Database: t.Database}
		if !rehearse && !t.Private() {
			is.Address = target.Name(t)
		}
		if text := fmt.Sprintf("%s → %s", endpointText(was), endpointText(is)); was != is && !told[text] {
			told[text] = true
			list = append(list, text)
		}
	})
	return list
}

func endpointText(e results.Endpoint) string {
	if e.Database == "" {
		return e.Address
	}
	return e.Address + "/" + e.Database
}

// maxDissimilar is how many differences of one kind are listed.
const maxDissimilar = 5

// ResolvedChanges says in what a plan comes to something else than what the record of a run holds, though its text is the same: it may
// read the environment, and another benchplan may take it otherwise. An option that the other benchplan did not have is no difference.
func ResolvedChanges(recorded json.RawMessage, p *plan.Plan) []string {
	was, err := resolvedSteps(recorded)
	if err != nil || was == nil {
		return nil // a record that does not hold it
	}
	is, err := resolvedSteps(Resolve(p))
	if err != nil {
		return nil
	}
	if len(was) != len(is) {
		return []string{fmt.Sprintf("%d steps that run → %d", len(was), len(is))}
	}
	var list []string
	for i := range was {
		text := firstChange(was[i], is[i])
		if text == "" {
			continue
		}
		if len(list) == maxDissimilar {
			return append(list, "and more")
		}
		list = append(list, strings.TrimSpace(fmt.Sprint(is[i]["kind"], " ", valueOr(is[i]["cell"], "")))+": "+text)
	}
	return list
}

// resolvedSteps reads what Resolve wrote, without the places, which begin with the file's name as it was given.
func resolvedSteps(b json.RawMessage) ([]map[string]any, error) {
	var out struct {
		Steps []map[string]any `json:"steps"`
	}
	if len(b) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, err
	}
	for _, s := range out.Steps {
		delete(s, "at")
		delete(s, "does") // in words, what the rest says
	}
	return out.Steps, nil
}

// firstChange says in what two values differ first, going into mappings; empty where they do not.
func firstChange(was, is any) string {
	a, ok1 := was.(map[string]any)
	b, ok2 := is.(map[string]any)
	if !ok1 || !ok2 {
		if reflect.DeepEqual(was, is) {
			return ""
		}
		return fmt.Sprintf("%v → %v", valueOr(was, "nothing"), valueOr(is, "nothing"))
	}
	for _, key := range sortedKeys(a) {
		other, there := b[key]
		if !there {
			continue
		}
		if text := firstChange(a[key], other); text != "" {
			return key + ": " + text
		}
	}
	return ""
}

func valueOr(v any, otherwise string) any {
	if v == nil {
		return otherwise
	}
	return v
}
