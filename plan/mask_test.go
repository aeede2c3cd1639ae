package plan_test

import (
	"encoding/base64"
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
