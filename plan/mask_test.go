package plan_test

import (
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
	for _, text := range []string{"root", "a-long-secr"} {
		if got := mask(text); got != text {
			t.Errorf("%s is too short to be masked: %s", text, got)
		}
	}
}
