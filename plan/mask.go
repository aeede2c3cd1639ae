package plan

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// minMasked is the length from which a secret is masked in free text: shorter ones stand in it by chance.
const minMasked = 6

// Masker gives a function that masks secrets wherever they stand in free text, plain or as JSON and URLs write them.
// Values of fewer than 6 characters are left alone there; where a value stands as a secret, Text masks it whatever its length.
func Masker(values []string) func(string) string {
	var pairs []string
	values = slices.Clone(values)
	// The longest first: of two secrets one of which begins the other, the whole is masked.
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	for _, v := range values {
		if len([]rune(v)) < minMasked {
			continue
		}
		forms := []string{v, url.QueryEscape(v), url.PathEscape(v), url.UserPassword("", v).String()[1:]}
		if b, err := json.Marshal(v); err == nil {
			forms = append(forms, string(b[1:len(b)-1]))
		}
		for _, f := range forms {
			pairs = append(pairs, f, Mask)
		}
	}
	if len(pairs) == 0 {
		return func(s string) string { return s }
	}
	return strings.NewReplacer(pairs...).Replace
}
