package plan_test

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"benchplan/plan"
)

var update = flag.Bool("update", false, "write the golden files")

type httpSpec struct {
	Get     plan.Text            `key:"get" doc:"URL to GET"`
	Put     plan.Text            `key:"put" doc:"URL to PUT to"`
	JSON    any                  `key:"json" doc:"body, sent as JSON"`
	Headers map[string]plan.Text `key:"headers" doc:"headers of the request"`
	Status  []int                `key:"status" single:"true" min:"100" doc:"statuses that are right"`
}

type databaseSpec struct {
	Action string `key:"action" short:"true" required:"true" enum:"create|drop|recreate" doc:"what to do with the database"`
}

type sqlSpec struct {
	Statements []plan.Text `key:"statements" short:"true" single:"true" doc:"one statement or a list"`
	Database   *string     `key:"database" doc:"the database to select"`
}

type shellSpec struct {
	Command plan.Text            `key:"command" short:"true" required:"true" doc:"what sh executes"`
	Env     map[string]plan.Text `key:"env" doc:"environment variables"`
}

type waitSpec struct {
	For   plan.Duration `key:"for" short:"true" doc:"how long"`
	Until *until        `key:"until" doc:"what to wait for"`
}

type until struct {
	Expression string `key:"expression" doc:"what has to hold"`
}

type serverSpec struct {
	Restart map[string]string `key:"restart" doc:"options of the private server"`
	Set     map[string]string `key:"set" doc:"global variables"`
}

type threads struct {
	All   int            `key:"all" short:"true" default:"1" min:"1" doc:"clients"`
	Roles map[string]int `key:"*" doc:"clients by role"`
}

type runSpec struct {
	Workload string            `key:"workload" required:"true" doc:"what load"`
	Threads  threads           `key:"threads" doc:"clients"`
	Duration plan.Duration     `key:"duration" doc:"measured time"`
	Warmup   plan.Duration     `key:"warmup" doc:"time before anything is counted"`
	Events   plan.Count        `key:"events" doc:"number of events"`
	Rate     float64           `key:"rate" default:"0" min:"0" unit:"events/s" doc:"open loop"`
	OnError  map[uint16]string `key:"on_error" doc:"what an error does"`
	Options  any               `key:"-" more:"workload"`
}

type cpuOptions struct {
	MaxPrime plan.Count `key:"cpu_max_prime" default:"10000" min:"3" doc:"upper bound of the primes"`
	Weight   plan.Size  `key:"block" default:"1k" unit:"bytes" doc:"a size"`
}

type oltpOptions struct {
	SkipTrx   bool   `key:"skip_trx" default:"off" doc:"no transactions"`
	RangeSize int    `key:"range_size" default:"100" min:"1" max:"1000000" unit:"rows" doc:"rows of a range"`
	RandType  string `key:"rand_type" default:"special" enum:"uniform|gaussian|special|pareto|zipfian" doc:"distribution of ids"`
}

type randomOptions struct {
	RowsPerInsert int    `key:"rows_per_insert" default:"1" min:"1" unit:"rows" doc:"rows in one INSERT"`
	Keys          string `key:"keys" default:"sliced" enum:"sliced|existing" doc:"ids"`
}

type sysbenchTable struct {
	AutoInc bool `key:"auto_inc" default:"on" doc:"ids are made by the server"`
}

type nothing struct{}

func kind[S any](doc string, yields ...string) plan.Kind {
	return plan.Kind{Doc: doc, Spec: func() any { return new(S) }, Yields: yields}
}

// words is a vocabulary like the real one, small enough to read here.
func words() *plan.Vocabulary {
	wait := kind[waitSpec]("waits")
	wait.Least = func(spec any) time.Duration { return spec.(*waitSpec).For.D() }
	prepare := kind[nothing]("makes and fills the tables")
	prepare.Check = func(_ any, in plan.Place) []plan.Problem {
		if in.Tables == nil && !in.BadTables && in.Files == nil {
			return []plan.Problem{{Message: "prepare needs tables"}}
		}
		return nil
	}
	run := kind[runSpec]("runs a workload", "tps", "p95", "errors")
	run.Load = true
	run.Least = func(spec any) time.Duration { return spec.(*runSpec).Duration.D() + spec.(*runSpec).Warmup.D() }
	run.Check = func(spec any, in plan.Place) []plan.Problem {
		if s := spec.(*runSpec); s.Warmup > s.Duration && s.Duration > 0 {
			return []plan.Problem{{Path: "warmup", Message: "the warm-up is longer than the measurement"}}
		}
		return nil
	}
	return &plan.Vocabulary{
		Kinds: map[string]plan.Kind{
			"http":     kind[httpSpec]("sends one HTTP request", "status", "json", "body", "headers"),
			"sql":      kind[sqlSpec]("executes statements", "rows"),
			"shell":    kind[shellSpec]("executes a command", "stdout"),
			"server":   kind[serverSpec]("sets up the server"),
			"database": kind[databaseSpec]("creates or drops the database"),
			"cleanup":  kind[nothing]("drops the tables"),
			"wait":     wait, "prepare": prepare, "run": run,
		},
		Workloads: map[string]plan.Variant{
			"benchyou_random": {Doc: "random rows", Options: func() any { return &randomOptions{} }},
			"oltp_read_write": {Doc: "transactions", Options: func() any { return &oltpOptions{} }},
			"cpu":             {Doc: "primes", Options: func() any { return &cpuOptions{} }},
		},
		Schemas: map[string]plan.Variant{
			"benchyou": {Doc: "benchyou's tables"},
			"sysbench": {Doc: "sysbench's tables", Options: func() any { return &sysbenchTable{} }},
		},
		Metrics: []string{"tps", "p95", "errors"},
		Assert: func(e string) error {
			if strings.Contains(e, "errrors") {
				return errors.New("there is no metric errrors")
			}
			return nil
		},
	}
}

func source(text string) plan.Source { return plan.Source{Name: "plan.yaml", Text: []byte(text)} }

// read reads a plan that has to be right.
func read(t *testing.T, text string, o ...plan.Options) *plan.Plan {
	t.Helper()
	o = append(o, plan.Options{})
	p, err := plan.Read(source(text), words(), o[0])
	if err != nil {
		t.Fatalf("the plan is right, but:\n%v", err)
	}
	return p
}

// mistakes reads a plan that has to be wrong, and gives what is told: "line:col message".
func mistakes(t *testing.T, text string, o ...plan.Options) []string {
	t.Helper()
	o = append(o, plan.Options{})
	_, err := plan.Read(source(text), words(), o[0])
	var found plan.Diagnostics
	if !errors.As(err, &found) {
		t.Fatalf("no diagnostics, but %v", err)
	}
	var out []string
	for _, d := range found {
		out = append(out, fmt.Sprintf("%d:%d %s", d.Pos.Line, d.Pos.Column, d.Message))
	}
	return out
}

// environment gives the variables that a test sets.
func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

// specs lists what the steps of one kind decode to, in the order of the plan.
func specs[S any](p *plan.Plan) []*S {
	var out []*S
	p.Walk(func(v plan.Visit) {
		if s, ok := v.Spec.(*S); ok {
			out = append(out, s)
		}
	})
	return out
}
