package plan

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

// minMasked is the length from which a secret is masked in free text: shorter ones stand in it by chance.
const minMasked = 6

// minCut is the length from which the beginning of a secret is masked: servers cut what they quote.
const minCut = 12

// Masker gives a function that masks secrets wherever they stand in free text: plain, as JSON, URLs and HTML write them, and
// where a server has cut what it quotes, the part that is left. Values of fewer than 6 characters are left alone there; where
// a value stands as a secret, Text masks it whatever its length.
func Masker(values []string) func(string) string {
	var pairs, long []string
	values = slices.Clone(values)
	// The longest first: of two secrets one of which begins the other, the whole is masked.
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	for _, v := range values {
		if len([]rune(v)) < minMasked {
			continue
		}
		for _, form := range forms(v) {
			pairs = append(pairs, form, Mask)
			if len(form) >= minCut {
				long = append(long, form)
			}
		}
	}
	if len(pairs) == 0 {
		return func(s string) string { return s }
	}
	whole := strings.NewReplacer(pairs...)
	return func(s string) string {
		for _, form := range long {
			s = maskBeginnings(s, form)
		}
		return whole.Replace(s)
	}
}

// forms are the ways in which a value is written inside of other texts.
func forms(v string) []string {
	out := []string{v, url.QueryEscape(v), url.PathEscape(v), url.UserPassword("", v).String()[1:], html.EscapeString(v)}
	if b, err := json.Marshal(v); err == nil {
		out = append(out, string(b[1:len(b)-1]))
	}
	for _, hex := range []string{"%04x", "%04X"} {
		ascii := asciiJSON(v, hex)
		out = append(out, ascii, strings.ReplaceAll(ascii, "/", `\/`))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// asciiJSON writes a text as the inside of a JSON string of ASCII characters alone, as most libraries but Go's do. Unlike them
// Go also escapes <, > and &.
func asciiJSON(v, hex string) string {
	var b strings.Builder
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}
	for _, r := range v {
		switch {
		case short[r] != "":
			b.WriteString(short[r])
		case r >= ' ' && r < 0x7f:
			b.WriteRune(r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u`+hex, unit)
			}
		}
	}
	return b.String()
}

// maskBeginnings masks the beginnings of a secret, of at least minCut bytes.
func maskBeginnings(s, secret string) string {
	head := secret[:minCut]
	for from := 0; ; {
		i := strings.Index(s[from:], head)
		if i < 0 {
			return s
		}
		i += from
		n := minCut
		for n < len(secret) && i+n < len(s) && s[i+n] == secret[n] {
			n++
		}
		s = s[:i] + Mask + s[i+n:]
		from = i + len(Mask)
	}
}
