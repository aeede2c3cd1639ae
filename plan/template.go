package plan

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// template is a scalar with ${{ }} in it.
type template struct {
	parts  []part
	broken bool // a mistake in it is told already
}

type part struct {
	literal string
	expr    *expression
}

// sole gives the expression of a template that is nothing else, whose value keeps its type.
func (t *template) sole() *expression {
	if len(t.parts) == 1 {
		return t.parts[0].expr
	}
	return nil
}

// template cuts a scalar into literals and expressions. "$${{" is a literal "${{".
func (p *parser) template(n *node) *template {
	t := &template{}
	where := newLocator(p.text, n.pos, n.style, n.text)
	rest, offset := n.text, 0 // offset of rest, in characters
	var literal strings.Builder
	pass := func(bytes int) string {
		passed := rest[:bytes]
		rest, offset = rest[bytes:], offset+utf8.RuneCountInString(passed)
		return passed
	}
	flush := func() {
		if literal.Len() > 0 {
			t.parts = append(t.parts, part{literal: literal.String()})
			literal.Reset()
		}
	}
	for {
		i := strings.Index(rest, "${{")
		if i < 0 {
			break
		}
		if i > 0 && rest[i-1] == '$' {
			literal.WriteString(pass(i - 1))
			pass(1)
			literal.WriteString(pass(3))
			continue
		}
		literal.WriteString(pass(i))
		inner, ok := cutExpression(rest[3:])
		if !ok {
			p.add(where.find(offset), `"${{" has no "}}"%s`, commentHint(p.text.line(where.find(offset).Line)))
			t.broken = true
			return t
		}
		flush()
		if e := p.compile(inner, &where, offset+3); e != nil {
			t.parts = append(t.parts, part{expr: e})
		} else {
			t.broken = true
		}
		pass(3 + len(inner) + 2)
	}
	literal.WriteString(rest)
	flush()
	t.trim()
	return t
}

// trim lets one expression with white space around it, as in a block scalar, be one expression.
func (t *template) trim() {
	var sole *expression
	for _, p := range t.parts {
		if p.expr == nil && strings.TrimSpace(p.literal) == "" {
			continue
		}
		if p.expr == nil || sole != nil {
			return
		}
		sole = p.expr
	}
	if sole != nil {
		t.parts = []part{{expr: sole}}
	}
}

func commentHint(line string) string {
	if strings.Contains(line, " #") {
		return `; where a " #" follows that is not quoted, YAML takes the rest of the line for a comment`
	}
	return ""
}

// cutExpression gives what stands before the "}}" that ends an expression: not one within quotes, and not the braces of a map.
func cutExpression(s string) (inner string, ok bool) {
	depth := 0
	var quote byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == '}' && i+1 < len(s) && s[i+1] == '}':
			return s[:i], true
		}
	}
	// A quote or a brace that is not closed: the expression's own syntax error says more than a missing end.
	if i := strings.Index(s, "}}"); i >= 0 {
		return s[:i], true
	}
	return "", false
}

// eval works a template out: one expression keeps its type, several parts become a text.
func (t *template) eval(s *Scope, local map[string]any) (any, error) {
	if t.broken {
		return unknown, nil
	}
	if e := t.sole(); e != nil {
		return e.eval(s, local)
	}
	var value, shown strings.Builder
	secret, unknowns := false, false
	for _, p := range t.parts {
		if p.expr == nil {
			value.WriteString(p.literal)
			shown.WriteString(p.literal)
			continue
		}
		v, err := p.expr.eval(s, local)
		if err != nil {
			return nil, err
		}
		s, u := inspect(v)
		secret, unknowns = secret || s, unknowns || u
		if u {
			continue
		}
		piece, err := textOf(v)
		if err != nil {
			return nil, &failure{p.expr.pos, fmt.Errorf("${{ %s }}: %w", p.expr.short(), err)}
		}
		value.WriteString(piece.Reveal())
		shown.WriteString(piece.String())
		if value.Len() > maxText {
			return nil, &failure{p.expr.pos, fmt.Errorf("the text becomes longer than %d bytes", maxText)}
		}
	}
	switch {
	case unknowns:
		return unknownValue{secret}, nil
	case secret:
		return partlySecret(value.String(), shown.String()), nil
	}
	return value.String(), nil
}
