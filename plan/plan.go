package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
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

	rehearse    *node
	rehearsing  bool
	lookup      func(string) (string, bool)
	voc         *Vocabulary
	environment []string // the variables that expressions name
	set         map[string]string
	targetText string
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
}

// Options say how a plan is read.
type Options struct {
	// Environment looks up an environment variable, for env and secrets; nil: none is set.
	Environment func(string) (string, bool)
	// Set takes the place of variables of the outermost group: vars.NAME → a value in YAML.
	Set map[string]string
	// Rehearse lays the variables of rehearse over the plan's.
	Rehearse bool
	Target string
}

// Read reads a plan and checks it whole: every cell of every step, without touching anything. The error is Diagnostics: all mistakes at once.
func Read(source Source, voc *Vocabulary, o Options) (*Plan, error) {
	r := &reading{reporter: newReporter(source), voc: voc}
	root := parse(r.reporter)
	if root == nil {
		return nil, r.err()
	}
	p := &Plan{targetText: o.Target, Source: source, voc: voc, lookup: o.Environment, rehearsing: o.Rehearse, set: o.Set}
	if p.lookup == nil {
		p.lookup = func(string) (string, bool) { return "", false }
	}
	r.plan(root, p)
	if p.Root == nil {
		return nil, r.err()
	}
	p.collectNames(r.expressions)
	c := &check{plan: p, reporter: r.reporter, identities: map[string]Position{}, values: map[string]map[string]bool{}}
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
	p.Name = strings.TrimSuffix(strings.TrimSuffix(path.Base(strings.ReplaceAll(p.Source.Name, `\`, "/")), ".yaml"), ".yml")
	s := &Step{Kind: groupKind, Pos: n.pos, keys: map[string]*node{}, Order: Declared}
	p.Root = s
	for _, f := range n.fields {
		switch {
		case slices.Contains(groupKeys, f.key):
			r.groupKey(s, f)
		case f.key == "steps":
			s.Steps = r.list(f, s)
		case f.key == "name":
			p.Name = r.word(f, p.Name)
		case f.key == "description":
			p.Description = f.value.text
		case f.key == "rehearse":
			p.rehearse = f.value
		case f.key == "seed":
			var seed struct {
				Seed int64 `key:"seed" short:"true"`
			}
			(&decoder{report: r.add}).into(f.value, nil, &seed, "seed")
			p.Seed = seed.Seed
		case f.key == "report":
			(&decoder{report: r.add}).into(f.value, nil, &p.Report, "report")
			p.Root.keys["report"] = f.value
		case strings.HasPrefix(f.key, "x-") || strings.HasPrefix(f.key, "."):
			// a place for anchors, as in Compose files
		default:
			r.add(f.pos, "a plan has no %q%s", f.key, unknownHint(f.key, slices.Concat(header, groupKeys)))
		}
	}
	if len(s.Steps) == 0 && n.get("steps") == nil {
		r.add(n.pos, "the plan has no steps")
	}
}

// word reads a plan's name: it becomes the name of a folder.
func (r *reading) word(f *field, otherwise string) string {
	name := f.value.text
	bad := func(c rune) bool { return c < ' ' || strings.ContainsRune(`/\:*?"<>|`, c) }
	if f.value.kind != scalarNode || f.value.template != nil || strings.TrimSpace(name) == "" || strings.ContainsFunc(name, bad) || strings.HasPrefix(name, ".") || len(name) > 100 {
		r.add(f.value.pos, `a plan's name is a plain word or two, at most 100 bytes, without / \ : * ? " < > | and no dot in front: it names the folder of its runs`)
		return otherwise
	}
	return name
}

// collectNames finds the secrets and the environment variables that the expressions name.
func (p *Plan) collectNames(expressions []*expression) {
	for _, e := range expressions {
		for _, ref := range e.refs {
			if len(ref.path) < 2 {
				continue
			}
			name := ref.path[1]
			switch ref.path[0] {
			case "secrets":
				if !slices.ContainsFunc(p.Secrets, func(s Secret) bool { return s.Name == name }) {
					p.Secrets = append(p.Secrets, Secret{name, e.pos})
				}
			case "env":
				if !slices.Contains(p.environment, name) {
					p.environment = append(p.environment, name)
				}
			}
		}
	}
}

// secret gives the value of a secret; false where it is not set, which only a run minds.
func (p *Plan) secret(name string) (any, bool) {
	v, ok := p.lookup(name)
	if !ok {
		if p.rehearsing {
			return SecretText("rehearsal"), true
		}
		return nil, false
	}
	return SecretText(v), true
}

// MissingSecrets tells which secrets are not set: a run needs them, checking does not. nil: all are there.
func (p *Plan) MissingSecrets() error {
	r := newReporter(p.Source)
	for _, s := range p.Secrets {
		if _, ok := p.secret(s.Name); !ok {
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
	r := newReporter(p.Source)
	s := p.scope(&decoder{report: r.add, voc: p.voc}, r.add)
	return s, r.err()
}

func (p *Plan) scope(d *decoder, report func(Position, string, ...any)) *Scope {
	root := *p.Root
	root.vars = p.overridden(report)
	s := &Scope{plan: p, step: p.Root, repeat: 1}
	s.open(&root, d)
	if p.targetText != "" {
		if n := parse(newReporter(Source{Name: "--target", Text: []byte(p.targetText)})); n != nil {
			s.laid[targetLayer] = lay(s.laid[targetLayer], n, s, "target")
		}
	}
	return s
}

// overridden gives the outermost variables with what the command line and a rehearsal put in their place.
func (p *Plan) overridden(report func(Position, string, ...any)) []*field {
	vars := slices.Clone(p.Root.vars)
	replace := func(name string, pos Position, n *node, from string) {
		i := slices.IndexFunc(vars, func(f *field) bool { return f.key == name })
		if i < 0 {
			var known []string
			for _, f := range vars {
				known = append(known, f.key)
			}
			report(pos, "%s: the plan has no variable %q%s", from, name, unknownHint(name, known))
			return
		}
		vars[i] = &field{name, vars[i].pos, n}
	}
	if p.rehearsing {
		if n := p.rehearse.get("vars"); n != nil && n.kind == mapNode {
			for _, f := range n.fields {
				replace(f.key, f.pos, f.value, "rehearse.vars")
			}
		}
	}
	for _, name := range sortedKeys(p.set) {
		r := newReporter(Source{Name: "--set vars." + name, Text: []byte(p.set[name])})
		n := &node{kind: scalarNode}
		var y yaml.Node
		if err := yaml.Unmarshal([]byte(p.set[name]), &y); err == nil && len(y.Content) == 1 {
			n = parse(r)
		} else {
			n.text, n.value = p.set[name], p.set[name]
		}
		if len(r.found) > 0 {
			report(Position{1, 1}, "%v", r.found[0])
			continue
		}
		replace(name, Position{1, 1}, n, "--set")
	}
	return vars
}
