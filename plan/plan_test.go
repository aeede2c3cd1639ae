package plan_test

import (
	"testing"

	"benchplan/plan"
)

// words is a vocabulary like the real one, small enough to read here.
func words() *plan.Vocabulary {
	type httpSpec struct {
		Get     plan.Text            `key:"get" doc:"URL"`
		Put     plan.Text            `key:"put" doc:"URL"`
		JSON    any                  `key:"json" doc:"body"`
		Headers map[string]plan.Text `key:"headers" doc:"headers"`
		Status  []int                `key:"status" short:"true" doc:"statuses that are right"`
	}
	type databaseSpec struct {
		Action string `key:"action" short:"true" required:"true" enum:"create|drop|recreate" doc:"what to do"`
	}
	type threads struct {
		All   int            `key:"all" short:"true" min:"1" doc:"clients"`
		Roles map[string]int `key:"*" doc:"clients by role"`
	}
	type runSpec struct {
		Workload string        `key:"workload" required:"true" doc:"what load"`
		Threads  threads       `key:"threads" doc:"clients"`
		Duration plan.Duration `key:"duration" doc:"how long"`
		Warmup   plan.Duration `key:"warmup" doc:"not counted"`
		Events   plan.Count    `key:"events" doc:"how many"`
		Options  any           `key:"-" more:"workload"`
	}
	type randomOptions struct {
		RowsPerInsert int    `key:"rows_per_insert" default:"1" min:"1" doc:"rows"`
		Keys          string `key:"keys" default:"sliced" enum:"sliced|existing" doc:"ids"`
	}
	type nothing struct{}
	return &plan.Vocabulary{
		Kinds: map[string]plan.Kind{
			"http":     {Spec: func() any { return &httpSpec{} }, Yields: []string{"status", "json", "body", "headers"}},
			"database": {Spec: func() any { return &databaseSpec{} }},
			"prepare":  {Spec: func() any { return &nothing{} }},
			"cleanup":  {Spec: func() any { return &nothing{} }},
			"run":      {Spec: func() any { return &runSpec{} }, Load: true},
		},
		Workloads: map[string]plan.Variant{"benchyou_random": {Options: func() any { return &randomOptions{} }}},
		Schemas:   map[string]plan.Variant{"benchyou": {}},
		Metrics:   []string{"tps"},
	}
}

const fair = `
name: radon-twopc
seed: 7

vars:
  radon: 192.168.0.16
  admin: http://${{ vars.radon }}:8080
  allowip: ["192.168.0.28", "192.168.0.14"]

target:
  address: ${{ vars.radon }}:3308
  user: root
  password: ${{ secrets.RADON_PASSWORD }}
  database: sbtest

tables:
  schema: benchyou
  count: 32
  rows: 10k
  engine: innodb
  options: PARTITION BY HASH(id)

steps:
  - database: create
  - name: config
    matrix:
      config:
        - { id: plain,       twopc: false, audit: N }
        - { id: twopc,       twopc: true,  audit: N }
        - { id: twopc+audit, twopc: true,  audit: A }
    repeat: 6
    order: interleaved
    steps:
      - http:
          put: ${{ vars.admin }}/v1/radon/config
          json: { twopc-enable: "${{ matrix.config.twopc }}", audit-mode: "${{ matrix.config.audit }}", allowip: "${{ vars.allowip }}" }
      - http: { get: "${{ vars.admin }}/v1/debug/configz" }
        assert: [ 'json.proxy["twopc-enable"] == matrix.config.twopc', 'json.audit.mode == matrix.config.audit' ]
        retry: { attempts: 5, interval: 1s }
      - prepare:
      - name: mix
        matrix:
          mix:
            - { id: write, write: 64, read: 0 }
            - { id: read,  write: 0,  read: 128 }
            - { id: rw,    write: 64, read: 64 }
        run:
          workload: benchyou_random
          rows_per_insert: 10
          keys: existing
          threads: { write: "${{ matrix.mix.write }}", read: "${{ matrix.mix.read }}" }
          warmup: 30s
          duration: 5m

finally:
  - http: { put: "${{ vars.admin }}/v1/radon/config", json: { twopc-enable: false, audit-mode: N, allowip: "${{ vars.allowip }}" } }
  - cleanup:

report:
  baseline: { config: plain }
  pivot: mix
`

func TestReadTheExampleOfTheDocumentation(t *testing.T) {
	p, err := plan.Read(plan.Source{Name: "fair.yaml", Text: []byte(fair)}, words(), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Summary.Cells != 54 {
		t.Errorf("cells: %d, want 3 configs × 3 mixes × 6 repeats = 54", p.Summary.Cells)
	}
	if err := p.MissingSecrets(); err == nil {
		t.Error("a secret that is not set has to be told")
	} else {
		t.Log(err)
	}
	p.Walk(func(v plan.Visit) { t.Logf("%-10s %dx %q %+v", v.Step.Kind, v.Times, v.Scope.Identity(), v.Spec) })
}

func TestAllMistakesAtOnce(t *testing.T) {
	text := `
name: bad/name
colour: red
vars: { a: "${{ vars.b }}", n: [1,2] }
tables: { schema: benchyuo, table_size: 10k }
steps:
  - databse: create
  - database: creat
  - http: { get: "${{ vars.nope }}", josn: {} }
    assert: [ "json.proxy.twopc-enable == true", "jsn.x == 1" ]
  - http: { get: x }
    database: drop
  - matrix: { m: [1, 2, 2], k: 5 }
    run: { workload: benchyou_random, time: 60, duration: 60, threads: 0, rows_per_insrt: 4 }
  - run: { workload: benchyou_randm, num_threads: 4 }
  - name: x
    run: { workload: benchyou_random, keys: "${{ matrix.zz }}" }
    retry: { attempts: many }
report: { pivot: zz, metrics: [tsp] }
`
	_, err := plan.Read(plan.Source{Name: "bad.yaml", Text: []byte(text)}, words(), plan.Options{})
	t.Log("\n", err)
}
