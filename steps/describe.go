package steps

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"benchplan/plan"
	"benchplan/workloads"
	"benchplan/workloads/engine"
)

// Describe says in one line what a step of this kind will do, secrets masked.
func Describe(kind string, spec any) string {
	if s, ok := spec.(interface{ summary() string }); ok {
		if text := s.summary(); text != "" {
			return kind + " " + text
		}
	}
	return kind
}

func (h *httpSpec) summary() string {
	method, to := h.request()
	text := method + " " + shownURL(to)
	if h.JSON != nil {
		if b, err := json.Marshal(h.JSON); err == nil {
			text += " " + string(b)
		}
	}
	return text
}

func (s *sqlSpec) summary() string {
	if file := s.File.String(); file != "" {
		return "file " + file
	}
	if len(s.Statements) == 0 {
		return ""
	}
	text := shortStatement(s.Statements[0])
	if n := len(s.Statements) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

func (s *shellSpec) summary() string { return s.Command.String() }

func (w *waitSpec) summary() string {
	if w.Until == nil {
		return w.Duration.String()
	}
	return fmt.Sprintf("until %s, at most %s", w.Until.what(), w.Timeout)
}

func (s *serverSpec) summary() string {
	if s.Set != nil {
		return "set " + settingsText(s.Set)
	}
	what, options := s.action()
	if len(options) > 0 {
		what += " with " + settingsText(options)
	}
	return what
}

func settingsText(m map[string]string) string {
	var parts []string
	for _, k := range sortedKeys(m) {
		parts = append(parts, k+"="+m[k])
	}
	return strings.Join(parts, " ")
}

func (d *databaseSpec) summary() string { return d.Action }

func (p *prepareSpec) summary() string {
	if p.Reuse {
		return "reuse"
	}
	return ""
}

func (s *runSpec) summary() string {
	parts := []string{s.Workload}
	definition, _ := workloads.Family(s.Workload)
	if clients, problems := s.clients(definition); len(problems) == 0 {
		parts = append(parts, clientsText(clients))
	}
	var stops []string
	if s.Events > 0 {
		stops = append(stops, fmt.Sprintf("%d events", s.Events))
	}
	if s.Duration > 0 {
		stops = append(stops, s.Duration.String())
	}
	if len(stops) > 0 {
		parts = append(parts, strings.Join(stops, " or "))
	}
	if r := s.Rate.schedule(); r != nil {
		parts = append(parts, "at "+rateText(r))
	}
	text := strings.Join(parts, ", ")
	if s.Warmup > 0 {
		text += " after " + s.Warmup.String() + " of warm-up"
	}
	return text
}

// clientsText writes how many clients of which role: "write 64 read 64 clients".
func clientsText(clients []engine.RoleClients) string {
	var parts []string
	total := 0
	for _, c := range clients {
		total += c.Count
		if c.Count > 0 && c.Role != "" {
			parts = append(parts, fmt.Sprintf("%s %d", c.Role, c.Count))
		}
	}
	noun := " clients"
	if total == 1 {
		noun = " client"
	}
	if len(parts) > 0 {
		return strings.Join(parts, " + ") + noun
	}
	return strconv.Itoa(total) + noun
}

// maxResolved bounds how much of a resolved plan run.json holds; each cell's record tells its own part in full.
const maxResolved = 2000

// Resolve writes a plan's steps and cells with the values that they will have, without secrets, as JSON for run.json.
func Resolve(p *plan.Plan) json.RawMessage {
	type step struct {
		At      string         `json:"at"`
		Cell    string         `json:"cell,omitempty"`
		Kind    string         `json:"kind"`
		Does    string         `json:"does"`
		Spec    any            `json:"spec,omitempty"`
		Options map[string]any `json:"options,omitempty"` // of the workload
		Times   int            `json:"times"`
		Data    *plan.Tables   `json:"tables,omitempty"`
		Files   *plan.Files    `json:"files,omitempty"`
	}
	var out struct {
		Steps []step `json:"steps"`
		More  int    `json:"more,omitempty"` // steps that are not listed
	}
	p.Walk(func(v plan.Visit) {
		if v.Spec == nil || v.Skipped {
			return
		}
		if len(out.Steps) == maxResolved {
			out.More++
			return
		}
		s := step{At: v.Scope.At(), Cell: v.Scope.Identity(), Kind: v.Step.Kind, Does: Describe(v.Step.Kind, v.Spec), Spec: plan.Settings(v.Spec), Times: v.Times}
		if spec, ok := v.Spec.(*runSpec); ok {
			s.Options = plan.Settings(spec.Options)
			definition, _ := workloads.Family(spec.Workload)
			switch host := definition.Host; {
			case host == nil:
				s.Data, _ = v.Scope.Tables()
			case host.Files:
				s.Files, _ = v.Scope.Files()
			}
		}
		out.Steps = append(out.Steps, s)
	})
	b, err := json.Marshal(out)
	if err != nil {
		return nil // nothing in a spec fails to encode but a number that is none
	}
	return b
}
