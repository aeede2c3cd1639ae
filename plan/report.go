package plan

// Report says how a run's cells are compared.
type Report struct {
	Baseline map[string]string `key:"baseline" json:"baseline,omitempty" doc:"the label values that the others are compared with, for example {config: plain}"`
	Pivot    string            `key:"pivot" json:"pivot,omitempty" doc:"the label by which the table is divided"`
	Metrics  []string          `key:"metrics" json:"metrics,omitempty" doc:"the metrics to print, in this order"`
	Assert   []string          `key:"assert" json:"assert,omitempty" doc:"what has to hold for every cell, for example errors == 0; otherwise the exit status is 3"`
}

// Rehearse says how a plan is to be tried without its servers.
type Rehearse struct {
	Vars map[string]any `key:"vars" doc:"variables that take other values in a rehearsal"`
	HTTP []Answer       `key:"http" doc:"how the stand-in answers HTTP steps; the first rule that fits counts"`
}

// Answer is a rule of the stand-in that answers HTTP steps in a rehearsal. One of the methods names the path.
type Answer struct {
	Get     string            `key:"get" doc:"path"`
	Put     string            `key:"put" doc:"path"`
	Post    string            `key:"post" doc:"path"`
	Patch   string            `key:"patch" doc:"path"`
	Delete  string            `key:"delete" doc:"path"`
	Status  int               `key:"status" default:"200" min:"100" max:"599" doc:"status of the answer"`
	JSON    any               `key:"json" doc:"body of the answer; sent holds what was PUT, POSTed or PATCHed so far, merged"`
	Body    string            `key:"body" doc:"body of the answer as text"`
	Headers map[string]string `key:"headers" doc:"headers of the answer"`
}

// Route gives the method in capitals and the path of the rule; both empty where it names none.
func (a Answer) Route() (method, path string) {
	for _, r := range [...]struct{ method, path string }{{"GET", a.Get}, {"PUT", a.Put}, {"POST", a.Post}, {"PATCH", a.Patch}, {"DELETE", a.Delete}} {
		if r.path != "" {
			return r.method, r.path
		}
	}
	return "", ""
}
