package plan

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// minMasked is the length from which a secret is masked in free text: shorter ones stand in it by chance.
const minMasked = 6

// minCut is the length from which the beginning of a secret is masked: servers cut what they quote.
const minCut = 12

// Masker gives a function that masks secrets wherever they stand in free text: plain, as SQL, JSON, URLs, HTML, hexadecimal digits and base64
// write them, and where a server has cut what it quotes, the part that is left. Values of fewer than 6 characters are left alone there,
// see ShortSecrets; where a value stands as a secret, Text masks it whatever its length.
func Masker(values []string) func(string) string {
	var all formsByByte
	none := true
	for _, v := range values {
		if !short(v) {
			all.add(forms(v))
			none = false
		}
	}
	if none {
		return func(s string) string { return s }
	}
	return all.mask
}

// short tells that a secret is too short to be masked in free text.
func short(v string) bool { return utf8.RuneCountInString(v) < minMasked }

// ShortSecrets names the secrets that are set and too short to be masked in free text: messages of servers and commands show them as they
// are, since anything can be the same as so few characters by chance.
func (p *Plan) ShortSecrets() []string {
	var out []string
	for _, s := range p.Secrets {
		if v, ok := p.lookup(s.Name); ok && v != "" && short(v) {
			out = append(out, s.Name)
		}
	}
	return out
}

// formsByByte are the forms of all secrets by the byte that they begin with.
type formsByByte [256][]string

func (f *formsByByte) add(forms []string) {
	for _, form := range forms {
		f[form[0]] = append(f[form[0]], form)
	}
}

// mask masks at each place as much as the form has that fits best there: all of it, or of a long one the beginning.
func (f *formsByByte) mask(s string) string {
	var out strings.Builder
	done := 0
	for i := 0; i < len(s); {
		best := 0
		for _, form := range f[s[i]] {
			if n := commonLength(s[i:], form); n > best && (n == len(form) || n >= minCut) {
				best = n
			}
		}
		if best == 0 {
			i++
			continue
		}
		out.WriteString(s[done:i])
		out.WriteString(Mask)
		i += best
		done = i
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
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
	out := []string{v, html.EscapeString(v)}
	for _, escaped := range []string{url.QueryEscape(v), url.PathEscape(v), url.UserPassword("", v).String()[1:], lessEscaped.Replace(url.QueryEscape(v))} {
		out = append(out, escaped, percent.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	for _, escaped := range otherEscapes {
		out = append(out, escaped.Replace(v))
	}
	if b, err := json.Marshal(v); err == nil {
		out = append(out, string(b[1:len(b)-1]))
	}
	for _, quoted := range []string{strconv.Quote(v), strconv.QuoteToASCII(v)} {
		out = append(out, quoted[1:len(quoted)-1])
	}
	for _, digits := range []string{"%04x", "%04X"} {
		ascii := asciiJSON(v, digits)
		out = append(out, ascii, strings.ReplaceAll(ascii, "/", `\/`))
	}
	out = append(out, hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v))))
	out = append(out, base64Forms(v)...)
	slices.Sort(out)
	return slices.Compact(out)
}

var (
	percent = regexp.MustCompile(`%[0-9A-F]{2}`)
	// lessEscaped gives what encodeURIComponent, which browsers and scripts call, makes of a text.
	lessEscaped = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")
	// otherEscapes are the ways of SQL, with backslashes or with quotes doubled (as in YAML and CSV), of a shell, and of HTML and XML
	// with other names for the same characters.
	otherEscapes = []*strings.Replacer{
		strings.NewReplacer(`\`, `\\`, `'`, `\'`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\x00", `\0`, "\x1a", `\Z`),
		strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\x00", `\0`, "\x1a", `\Z`),
		strings.NewReplacer(`'`, `''`), strings.NewReplacer(`"`, `""`), strings.NewReplacer("`", "``"),
		strings.NewReplacer(`\`, `\\`, `'`, `''`),
		strings.NewReplacer(`'`, `'\''`),
		strings.NewReplacer(`&`, `&amp;`, `<`, `&lt;`, `>`, `&gt;`, `"`, `&quot;`, `'`, `&#39;`),
		strings.NewReplacer(`&`, `&amp;`, `<`, `&lt;`, `>`, `&gt;`, `"`, `&quot;`, `'`, `&apos;`),
		strings.NewReplacer(`&`, `&amp;`, `<`, `&lt;`, `>`, `&gt;`, `"`, `&quot;`),
		strings.NewReplacer(`&`, `&amp;`, `<`, `&lt;`, `>`, `&gt;`),
		strings.NewReplacer(`&`, `&amp;`, `<`, `&lt;`, `>`, `&gt;`, `"`, `&#34;`, `'`, `&#39;`, "\t", "&#x9;", "\n", "&#xA;", "\r", "&#xD;"),
	}
)

// base64Forms are what every base64 text has that holds the value, wherever it stands in what was encoded: basic authentication
// sends user:password so. In URLs two of the characters are others.
func base64Forms(v string) []string {
	var out []string
	for before, begin := range []int{0, 2, 3} { // characters that also depend on what stands before
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + v))
		end := len(encoded)
		if (before+len(v))%3 != 0 {
			end-- // the last character also depends on what follows
		}
		if end-begin >= minMasked {
			out = append(out, encoded[begin:end], strings.NewReplacer("+", "-", "/", "_").Replace(encoded[begin:end]))
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
