package steps

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"

	"benchplan/plan"
	"benchplan/workloads"

	"github.com/hashicorp/go-multierror"
)

// candidate is a step that may need more than there is.
type candidate struct {
	scope *plan.Scope
	need  need
	data  *plan.Tables
	load  bool
}

// stage is a target with the steps that need the most of it in some way.
type stage struct {
	target     *plan.Target
	candidates []*candidate
	largest    [4]*candidate          // by each of need.sizes
	databases  map[string]*plan.Scope // whose tables are worked on, with the first step that does
}

func (s *stage) add(c *candidate) {
	kept := false
	for i, size := range c.need.sizes() {
		if size > 0 && (s.largest[i] == nil || size > s.largest[i].need.sizes()[i]) {
			s.largest[i], kept = c, true
		}
	}
	if kept {
		s.candidates = append(s.candidates, c)
	}
}

// openTables is the place of the tables that are open at once among the sizes.
const openTables = 2

// sizes are the ways in which one step needs more than another.
func (n need) sizes() [4]int64 {
	open := int64(0)
	if n.bytes == 0 { // who fills tables is not measured
		open = int64(n.clients) * int64(n.tables)
	}
	return [4]int64{int64(n.clients), int64(n.prepared), open, n.bytes}
}

// stages lists the targets of a plan with what is needed of them by the steps that nothing goes before which may change a server: a
// shell command may start it, and a server step set it up.
func (r *run) stages() []*stage {
	var list []*stage
	at := map[string]*stage{}
	picked, changed := Picked(r.Only, r.Skip), false
	r.Plan.Walk(func(v plan.Visit) {
		if changed || v.Step.Group() || v.Spec == nil || v.Skipped || !picked(v.Scope) {
			return
		}
		if changed = r.mayChangeServer(v); changed || v.Unknown {
			return
		}
		c := candidateOf(v)
		t, err := v.Scope.Target()
		if c == nil || err != nil {
			return
		}
		key := targetKey(t) + "\x00" + t.Watched()
		if at[key] == nil {
			at[key] = &stage{target: t, databases: map[string]*plan.Scope{}}
			list = append(list, at[key])
		}
		at[key].add(c)
		if at[key].databases[t.Database] == nil {
			at[key].databases[t.Database] = v.Scope
		}
	})
	return list
}

// candidateOf gives what a step needs; nil for one that needs nothing of a server but to be there.
func candidateOf(v plan.Visit) *candidate {
	switch spec := v.Spec.(type) {
	case *runSpec:
		if n, ok := needOfRun(spec, v.Scope, false); ok {
			return &candidate{scope: v.Scope, need: n, load: true}
		}
	case *prepareSpec:
		if data, err := v.Scope.Tables(); err == nil && data != nil && workloads.Schema(data.Schema) != nil {
			return &candidate{scope: v.Scope, need: needOfPrepare(spec, data), data: data}
		}
	}
	return nil
}

// setsGlobal finds a statement that changes the settings of a server.
var setsGlobal = regexp.MustCompile(`(?i)\bset\s+(global|persist)\b|@@(global|persist)\.`)

// mayChangeServer tells whether what comes after a step may meet another server, or other settings, than there are now.
func (r *run) mayChangeServer(v plan.Visit) bool {
	switch spec := v.Spec.(type) {
	case *shellSpec, *serverSpec:
		return true
	case *sqlSpec:
		if file := spec.File.Reveal(); file != "" {
			script, err := readScript(fromFolder(planFolder(r.Plan), file))
			return err != nil || setsGlobal.Match(script)
		}
		return slices.ContainsFunc(spec.Statements, func(s plan.Text) bool { return setsGlobal.MatchString(s.Reveal()) })
	}
	return false
}

// preflight holds what the steps need against what the servers and this machine have, before anything is touched, and reports all
// that is too little at once. It takes the locks of the tables: two runs are not to switch the same server to and fro either. A target that is not reached is none of its errors: the step that wants it will tell.
func (r *run) preflight(ctx context.Context) error {
	if r.Rehearse {
		return nil
	}
	r.tell("clock", clockCostWarning(clockCost()))
	var failures *multierror.Error
	told := map[string]bool{}
	for _, s := range r.stages() {
		for _, f := range r.inspect(ctx, s) {
			if text := f.Error(); !told[text] {
				told[text] = true
				failures = collect(failures, f)
			}
		}
	}
	if ctx.Err() != nil {
		return nil // interrupted: the steps are not begun then, and finally runs
	}
	return failures.ErrorOrNil()
}

// finding is a shortage and the step that meets it.
type finding struct {
	*candidate
	shortage
}

// inspect tells what a target has too little of, each thing once, for the step that needs the most of it.
func (r *run) inspect(ctx context.Context, s *stage) []error {
	short, failed := r.lookAt(ctx, s)
	var found []finding
	for _, c := range s.candidates {
		for _, one := range short(c) {
			i := slices.IndexFunc(found, func(f finding) bool { return f.what == one.what })
			switch {
			case i < 0:
				found = append(found, finding{c, one})
			case one.needed > found[i].needed:
				found[i] = finding{c, one}
			}
		}
	}
	for _, f := range found {
		failed = append(failed, r.fault(f.scope, errors.New(f.text)))
	}
	return failed
}

// lookAt reaches a target, and gives what tells of a step what there is too little of. It also tells that the machine of the server
// cannot be watched.
func (r *run) lookAt(ctx context.Context, s *stage) (short func(*candidate) []shortage, failed []error) {
	here := thisMachine()
	if s.target.Private() {
		return func(c *candidate) []shortage {
			return append(c.need.shortages(here, nil), r.privateDisk(ctx, s.target, c)...)
		}, nil
	}
	onlyHere := func(c *candidate) []shortage { return c.need.shortages(here, nil) }
	if i := slices.IndexFunc(s.candidates, func(c *candidate) bool { return c.load }); i >= 0 {
		if _, err := r.machines.of(ctx, s.target); err != nil {
			failed = append(failed, r.fault(s.candidates[i].scope, err))
		}
	}
	conn, err := r.targets.reach(ctx, s.target)
	if err != nil {
		r.Writer.Log().Info("target not reached before the first step", "error", err.Error())
		return onlyHere, failed
	}
	db, err := conn.db(ctx, "")
	if err != nil {
		return onlyHere, failed
	}
	defer db.Close()
	for _, database := range sortedKeys(s.databases) {
		if err := r.hold(ctx, conn, database); err != nil {
			failed = append(failed, r.fault(s.databases[database], err))
		}
	}
	var l *limits
	if conn.server.Variables != nil {
		l = serverLimits(ctx, db, conn, s.target, conn.server.Variables)
	}
	r.tell("clock of "+conn.key, r.clockWarning(ctx, conn, db))
	if largest := s.largest[openTables]; largest != nil {
		r.tell("table_open_cache of "+conn.key, largest.need.warning(l))
	}
	return func(c *candidate) []shortage {
		list := c.need.shortages(here, l)
		if c.data != nil {
			if disk := r.diskShortage(ctx, conn, s.target, c.need, c.data); disk != nil {
				list = append(list, *disk)
			}
		}
		return list
	}, failed
}

// privateDisk tells that there is less room than tables take where a private server will have its data. Data of an earlier run are
// not looked into.
func (r *run) privateDisk(ctx context.Context, t *plan.Target, c *candidate) []shortage {
	folder := os.TempDir()
	if t.Local != nil && t.Local.Data != "" {
		folder = fromFolder(planFolder(r.Plan), t.Local.Data)
		if _, err := os.Stat(folder); err == nil {
			return nil
		}
	}
	free, err := r.machines.here.Free(ctx, folder)
	if err != nil || !t.CheckLimits {
		return nil
	}
	if disk := c.need.diskShortage("private server", folder, free); disk != nil {
		return []shortage{*disk}
	}
	return nil
}
