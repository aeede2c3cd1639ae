package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"time"
)

// Plan is a plan that was read and checked.
type Plan struct {
	Source      Source
	Name        string
	Description string
	Seed        int64
	Root        *Step // the outermost group
	Report      Report
	Secrets     []Secret
	Summary     Summary

	text       *text
	report     *node
	rehearse   *node
	rehearsed  []*field // the outermost variables of a rehearsal
	rehearsing bool
	target     *node // of the command line; nil: none
	lookup     func(string) (string, bool)
	voc        *Vocabulary
	drawn      int64 // see Draw
}

// Draw gives a plan without a seed the one that a run has drawn, for the order of shuffled cells.
func (p *Plan) Draw(seed int64) { p.drawn = seed }

// orderSeed decides the order of shuffled cells.
func (p *Plan) orderSeed() int64 {
	if p.Seed != 0 {
		return p.Seed
	}
	return p.drawn
}

// Secret is an environment variable that the plan reads as a secret, and where it does so first.
type Secret struct {
	Name string
	Pos  Position
}

// Summary is what a plan comes to, as far as that is known before it runs.
type Summary struct {
	Cells int           // cells of the comparison, repeats included
	Least time.Duration // the least time that they and the waits take
	Open  bool          // an `if` that only the run decides, or a duration that it tells, makes the figures a guess
	Done  int           // of the cells, those that a run which is resumed has already
}

// Options say how a plan is read.
type Options struct {
	// Environment looks up an environment variable, for env and secrets; nil: none is set.
	Environment func(string) (string, bool)
	// Set takes the place of variables of the outermost group: from the variable's name to a value in YAML.
	Set map[string]string
	// Target is a mapping in YAML that is laid over the outermost target; empty: none is.
	Target string
	// Rehearse lays the variables of rehearse over the plan's.
	Rehearse bool
}

// Read reads a plan and checks it whole: every cell of every step, without touching anything. The error is Diagnostics: all mistakes at once.
func Read(source Source, voc *Vocabulary, o Options) (*Plan, error) {
	text := newText(source)
	r := &reading{parser: &parser{reporter: newReporter(text)}, voc: voc}
	root := r.parse()
	if root == nil {
		return nil, r.err()
	}
	p := &Plan{Source: source, text: text, voc: voc, lookup: o.Environment, rehearsing: o.Rehearse}
	if p.lookup == nil {
		p.lookup = func(string) (string, bool) { return "", false }
	}
	r.plan(root, p)
	if p.Root == nil {
		return nil, r.err()
	}
	r.override(p, o.Set)
	if o.Target != "" {
		p.target = r.argument("--target", o.Target)
	}
	p.Secrets = secretsOf(r.expressions)
	c := newCheck(p, r.reporter)
	c.uncertain = r.lost
	c.run()
	if err := r.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// header is the plan's keys that are worked out in the outermost scope alone.
var header = []string{"name", "description", "seed", "report", "rehearse", "steps"}

// plan reads the outermost mapping. It is a group with a name, a seed, a report and a rehearsal.
func (r *reading) plan(n *node, p *Plan) {
	if n.kind != mapNode {
		r.add(n.pos, "a plan is a mapping with steps, not %s", n.kind)
		return
	}
	file := path.Base(strings.ReplaceAll(p.Source.Name, `\`, "/"))
	p.Name = strings.TrimSuffix(strings.TrimSuffix(file, ".yaml"), ".yml")
	s := &Step{Kind: groupKind, Pos: n.pos, keys: map[string]*node{}, Order: Declared}
	p.Root = s
	for _, f := range n.fields {
		switch {
		case slices.Contains(groupKeys, f.key):
			r.groupKey(s, f)
		case slices.Contains(header, f.key):
			r.header(f, p)
		case strings.HasPrefix(f.key, "x-") || strings.HasPrefix(f.key, "."):
			// a place for anchors, as in Compose files
		case slices.Contains(r.kinds(), f.key) || slices.Contains(besides, f.key):
			r.add(f.pos, "%q belongs to a step: put it below steps, behind a dash", f.key)
		default:
			r.add(f.pos, "a plan has no %q%s", f.key, unknownHint(f.key, slices.Concat(header, groupKeys)))
		}
	}
	r.idsOnce(s)
	if n.get("steps") == nil {
		r.add(n.pos, "the plan has no steps")
	}
}

func (r *reading) header(f *field, p *Plan) {
	d := &decoder{report: r.add}
	switch f.key {
	case "steps":
		p.Root.Steps = r.list(f, p.Root)
	case "name":
		p.Name = r.word(f, p.Name)
	case "description":
		var description struct {
			Text string `key:"description" short:"true"`
		}
		d.into(f.value, nil, &description, "description")
		p.Description = description.Text
	case "seed":
		var seed struct {
			Seed int64 `key:"seed" short:"true" min:"-9223372036854775808"`
		}
		d.into(f.value, nil, &seed, "seed")
		p.Seed = seed.Seed
	case "report":
		d.into(f.value, nil, &p.Report, "report")
		p.report = f.value
	case "rehearse":
		p.rehearse = f.value
	}
}

// word reads a plan's name: it becomes the name of a folder.
func (r *reading) word(f *field, otherwise string) string {
	name := f.value.text
	bad := func(c rune) bool { return c < ' ' || strings.ContainsRune(`/\:*?"<>|`, c) }
	if f.value.kind != scalarNode || f.value.template != nil || strings.TrimSpace(name) != name || name == "" || strings.ContainsFunc(name, bad) ||
		strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || len(name) > 100 {
		r.add(f.value.pos, `a plan's name is a plain word or two, at most 100 bytes, without / \ : * ? " < > | and no dot at its ends: it names the folder of its runs`)
		return otherwise
	}
	return name
}

// override puts what a rehearsal and the command line say in the place of the outermost variables.
func (r *reading) override(p *Plan, set map[string]string) {
	var over []*field
	if rehearse := p.rehearse.get("vars"); rehearse != nil && rehearse.kind == mapNode {
		over = rehearse.fields
	}
	p.rehearsed = r.replaced(p, p.Root.vars, over, "rehearse.vars: ")
	over = nil
	for _, name := range sortedKeys(set) {
		flag := "--set vars." + name
		over = append(over, &field{name, Position{origin: &text{name: flag}}, r.argument(flag, set[name])})
	}
	given := p.Root.vars
	if p.rehearsing {
		given = p.rehearsed
	}
	p.rehearsed = r.replaced(p, p.rehearsed, over, "")
	p.Root.vars = r.replaced(p, given, over, "")
}

// replaced gives variables with the values of others in the place of their own.
func (r *reading) replaced(p *Plan, vars, over []*field, from string) []*field {
	out := slices.Clone(vars)
	for _, f := range over {
		i := slices.IndexFunc(out, func(v *field) bool { return v.key == f.key })
		switch {
		case i >= 0:
			out[i] = &field{f.key, out[i].pos, f.value}
		case !p.Root.badVars:
			var known []string
			for _, v := range vars {
				known = append(known, v.key)
			}
			r.add(f.pos, "%sthe plan has no variable %q%s", from, f.key, unknownHint(f.key, known))
		}
	}
	return out
}

// argument reads YAML that the command line gives. What is no YAML is a text as it is.
func (r *reading) argument(name, value string) *node {
	t := newText(Source{Name: name, Text: []byte(value)})
	plain := &node{kind: scalarNode, pos: Position{Line: 1, Column: 1, origin: t}, text: value, value: value}
	if strings.TrimSpace(value) == "" {
		return plain
	}
	p := &parser{reporter: newReporter(t), origin: t}
	n := p.parse()
	if n == nil && !strings.Contains(value, "${{") {
		return plain
	}
	for _, d := range p.found {
		r.add(d.Pos, "%s", d.Message)
	}
	r.expressions = append(r.expressions, p.expressions...)
	if n == nil {
		return plain
	}
	return n
}

// secretsOf finds the secrets that expressions name.
func secretsOf(expressions []*expression) []Secret {
	var out []Secret
	seen := map[string]bool{}
	for _, e := range expressions {
		for _, ref := range e.refs {
			if len(ref.path) > 1 && ref.path[0] == "secrets" && !seen[ref.path[1]] {
				seen[ref.path[1]] = true
				out = append(out, Secret{ref.path[1], e.at(ref.offset)})
			}
		}
	}
	return out
}

// secret gives the value of a secret. One that is not set is unknown, which only a run minds.
func (p *Plan) secret(name string) any {
	if v, ok := p.lookup(name); ok {
		return SecretText(v)
	}
	if p.rehearsing {
		return SecretText("rehearsal")
	}
	return unknownValue{secret: true}
}

// MissingSecrets tells which secrets are not set: a run needs them, checking does not. nil: all are there.
func (p *Plan) MissingSecrets() error {
	r := p.reporter()
	for _, s := range p.Secrets {
		if isUnknown(p.secret(s.Name)) {
			r.add(s.Pos, "the secret %s is not set: put it into the environment variable %s", s.Name, s.Name)
		}
	}
	return r.err()
}

// SecretValues gives the values of the secrets that are set, so that they can be masked in free text.
func (p *Plan) SecretValues() []string {
	var out []string
	for _, s := range p.Secrets {
		if v, ok := p.lookup(s.Name); ok && v != "" {
			out = append(out, v)
		}
	}
	return out
}

// Hash is the SHA-256 of the plan's text, in hex.
func (p *Plan) Hash() string {
	sum := sha256.Sum256(p.Source.Text)
	return hex.EncodeToString(sum[:])
}

// Scope makes the outermost scope, in which a run begins.
func (p *Plan) Scope() (*Scope, error) {
	r := p.reporter()
	s := p.scope(&decoder{report: r.add, voc: p.voc})
	return s, r.err()
}

func (p *Plan) scope(d *decoder) *Scope {
	s := &Scope{plan: p, step: p.Root, repeat: 1}
	s.openGroup(p.Root, d)
	if p.target != nil {
		s.laid[targetLayer] = lay(s.laid[targetLayer], p.target, s, targetLayer)
	}
	return s
}

func (p *Plan) reporter() *reporter { return newReporter(p.text) }
