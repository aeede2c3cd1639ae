package plan_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"benchplan/plan"
)

func TestMaskerMasksEveryForm(t *testing.T) {
	mask := plan.Masker([]string{`pa ss/wörd"<1>`, "root", "a-long-secret-of-many-characters", "a-long-secret-of"})
	for _, text := range []string{
		`pa ss/wörd"<1>`,
		"pa+ss%2Fw%C3%B6rd%22%3C1%3E",
		"pa%20ss%2Fw%C3%B6rd%22%3C1%3E",
		`pa ss/wörd\"\u003c1\u003e`, // Go's JSON
		`pa ss/w\u00f6rd\"<1>`,      // that of most others
		`pa ss\/w\u00F6rd\"<1>`,
		"pa ss/wörd&#34;&lt;1&gt;",
		"pa ss/wörd&quot;&lt;1&gt;",
		`pa ss/wörd\"<1>`, // SQL
		`pa ss/wörd""<1>`,
		`pa ss/w\u00f6rd\"<1>`, // Go's %+q
		"pa%20ss%2fw%c3%b6rd%22%3c1%3e",
		fmt.Sprintf("%x", `pa ss/wörd"<1>`),
		fmt.Sprintf("%X", `pa ss/wörd"<1>`),
		"a-long-secret-of-many-characters",
		"a-long-secret-of-many",
		"a-long-secret-of",
		"a-long-secre",
	} {
		if got := mask("<" + text + "> near '" + text); got != "<***> near '***" {
			t.Errorf("%s: %s", text, got)
		}
	}
	for _, tail := range []string{"&rest", "/rest", "<rest>", `"rest`, `\rest`, "+rest", " rest", "ärest"} {
		secret := "correct-horse" + tail
		if got := plan.Masker([]string{secret})("x " + secret + " y"); got != "x *** y" {
			t.Errorf("%s: %s", secret, got)
		}
	}
	for _, user := range []string{"u", "ab", "abc"} {
		encoded := base64.StdEncoding.EncodeToString([]byte(user + ":correct-horse"))
		if got := plan.Masker([]string{"correct-horse"})(encoded); len(got) > 12 || !strings.Contains(got, "***") {
			t.Errorf("basic authentication of %s: %s", user, got)
		}
	}
	for _, text := range []string{"root", "a-long-secr"} {
		if got := mask(text); got != text {
			t.Errorf("%s is too short to be masked: %s", text, got)
		}
	}
}

// TestMaskerKnowsQuotedSecrets: one with each kind of quote, as each language writes it.
func TestMaskerKnowsQuotedSecrets(t *testing.T) {
	const secret = "it's\\a \"`&*!x"
	mask := plan.Masker([]string{secret})
	for name, text := range map[string]string{
		"plain": secret, "SQL with backslashes": `it\'s\\a \"` + "`&*!x", "in single quotes": `it\'s\\a "` + "`&*!x", "SQL with doubled quotes": `it''s\a "` + "`&*!x",
		"both": `it''s\\a "` + "`&*!x", "shell": `it'\''s\a "` + "`&*!x", "XML": `it&apos;s\a &quot;` + "`&amp;*!x", "HTML": `it&#39;s\a &#34;` + "`&amp;*!x", "CSV": `it's\a ""` + "`&*!x",
		"encodeURIComponent": "it's%5Ca%20%22%60%26*!x", "query": "it%27s%5Ca+%22%60%26%2A%21x", "identifier": "it's\\a \"``&*!x",
		"base64 in URLs": base64.RawURLEncoding.EncodeToString([]byte("x" + secret))[2:],
	} {
		if got := mask("<" + text + ">"); !strings.HasPrefix(got, "<***") || len(got) > len("<***>")+1 {
			t.Errorf("%s: %s → %s", name, text, got)
		}
	}
}

// TestShortSecretsAreNamed: what is not masked in free text is told, not passed over.
func TestShortSecretsAreNamed(t *testing.T) {
	p := read(t, "vars: { a: \"${{ secrets.A }}\", b: \"${{ secrets.B }}\", c: \"${{ secrets.C }}\" }\nsteps:\n  - wait: 1s\n", plan.Options{Environment: environment("A", "äöüäö", "B", "123456")})
	if got := strings.Join(p.ShortSecrets(), " "); got != "A" {
		t.Errorf("%q", got)
	}
}
