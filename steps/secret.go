package steps

import (
	"regexp"
	"slices"
	"strings"

	"benchplan/plan"
)

// hidden is an error whose text goes without the secrets in it. What it wraps can be told apart by errors.Is and As.
type hidden struct {
	text string
	err  error
}

func (h *hidden) Error() string { return h.text }
func (h *hidden) Unwrap() error { return h.err }

// hide takes the secrets of texts out of an error of a library or a server, which quotes parts of what it was given. They are
// hidden whatever their length: they stood in what the error is about.
func hide(err error, texts ...plan.Text) error {
	if err == nil {
		return nil
	}
	var secrets []string
	for _, t := range texts {
		secrets = append(secrets, secretsIn(t)...)
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return rewrite(err, func(s string) string {
		for _, secret := range secrets {
			s = strings.ReplaceAll(s, secret, plan.Mask)
		}
		if len(secrets) > 0 {
			s = quotedNear.ReplaceAllString(s, "near "+plan.Mask)
		}
		return s
	})
}

// quotedNear finds what a server quotes of a statement from the place of a mistake on: any part of a secret can stand there.
var quotedNear = regexp.MustCompile(`(?s)near '.*'`)

// masked takes the secrets of the plan out of an error, as out of any free text.
func (r *run) masked(err error) error { return rewrite(err, r.Mask) }

func rewrite(err error, change func(string) string) error {
	before := err.Error()
	if after := change(before); after != before {
		return &hidden{after, err}
	}
	return err
}

// secretsIn gives what stands in a text where its masked form has a mask.
func secretsIn(t plan.Text) []string {
	if !t.Secret() || t.Reveal() == "" {
		return nil
	}
	whole := []string{t.Reveal()}
	literals := strings.Split(t.String(), plan.Mask)
	last := len(literals) - 1
	rest, begins := strings.CutPrefix(t.Reveal(), literals[0])
	rest, ends := strings.CutSuffix(rest, literals[last])
	if last == 0 || !begins || !ends {
		return whole
	}
	var out []string
	add := func(secret string) {
		if secret != "" {
			out = append(out, secret)
		}
	}
	for _, literal := range literals[1:last] {
		i := strings.Index(rest, literal)
		if i < 0 {
			return whole
		}
		if literal != "" {
			add(rest[:i])
			rest = rest[i+len(literal):]
		}
	}
	add(rest)
	return out
}
