package plan

import (
	"encoding/base64"
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

// Masker gives a function that masks secrets wherever they stand in free text: plain, as JSON, URLs, HTML and base64 write them,
// and where a server has cut what it quotes, the part that is left. Values of fewer than 6 characters are left alone there;
// where a value stands as a secret, Text masks it whatever its length.
func Masker(values []string) func(string) string {
	var all []string
	for _, v := range values {
		if len([]rune(v)) >= minMasked {
			all = append(all, forms(v)...)
		}
	}
	if len(all) == 0 {
		return func(s string) string { return s }
	}
	return func(s string) string { return maskForms(s, all) }
}

// maskForms masks at each place as much as the form has that fits best there: all of it, or of a long one the beginning.
func maskForms(s string, forms []string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		best := 0
		for _, form := range forms {
			if n := commonLength(s[i:], form); n > best && (n == len(form) || n >= minCut) {
				best = n
			}
		}
		if best == 0 {
			out.WriteByte(s[i])
			i++
			continue
		}
		out.WriteString(Mask)
		i += best
	}
	return out.String()
}

// commonLength is how many bytes two texts begin with alike.
func commonLength(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
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
	out = append(out, base64Forms(v)...)
	slices.Sort(out)
	return slices.Compact(out)
}

// base64Forms are what every base64 text has that holds the value, wherever it stands in what was encoded: basic authentication
// sends user:password so.
func base64Forms(v string) []string {
	var out []string
	for before, begin := range []int{0, 2, 3} { // characters that also depend on what stands before
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + v))
		end := len(encoded)
		if (before+len(v))%3 != 0 {
			end-- // the last character also depends on what follows
		}
		if end-begin >= minMasked {
			out = append(out, encoded[begin:end])
		}
	}
	return out
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
