package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unique"
)

// Duration is a length of time as a plan writes it: Go's notation, "90s" or "1h30m". It is never negative.
type Duration time.Duration

// D gives the value as the standard library's type.
func (d Duration) D() time.Duration { return time.Duration(d) }

// String writes the duration in Go's notation without zero tails: "1h", not "1h0m0s".
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalJSON writes the notation that a plan uses.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads the notation that a plan uses.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := ParseDuration(s)
	*d = v
	return err
}

var bareNumber = regexp.MustCompile(`^[-+]?[0-9][0-9_.]*$`)

// ParseDuration reads Go's notation. A bare number is refused: "60" could be seconds or milliseconds.
func ParseDuration(s string) (Duration, error) {
	t := strings.TrimSpace(s)
	if t == "0" {
		return 0, nil
	}
	if bareNumber.MatchString(t) {
		return 0, fmt.Errorf("%q is a duration without a unit: write %ss, %sm or %sms", s, t, t, t)
	}
	d, err := time.ParseDuration(t)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration: write it as 90s, 5m or 1h30m", s)
	}
	if d < 0 {
		return 0, fmt.Errorf("%q is negative: a duration is at least 0s", s)
	}
	return Duration(d), nil
}

// Count is a whole number, at least 0; a plan may write it with decimal suffixes: 10k, 1M, 2G, 1_000.
type Count int64

// ParseCount reads a whole number, also as 1e6, with an optional decimal suffix (k, M, G, T) and underscores between digits.
func ParseCount(s string) (Count, error) {
	n, err := parseScaled(s, decimalSuffixes)
	if err != nil {
		return 0, fmt.Errorf("%q %w: write it as 10000, 1_000, 10k or 1M", s, err)
	}
	return Count(n), nil
}

// decimalSuffixes are those of counts and of numbers.
var decimalSuffixes = map[byte]int64{'k': 1e3, 'K': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12}

// ParseNumber reads a number, which may have a fraction and a sign, with the suffixes and underscores of a count: 0.5, 1.5k.
func ParseNumber(s string) (float64, error) {
	t, scale := strings.TrimSpace(s), 1.0
	if n := len(t); n > 1 && decimalSuffixes[t[n-1]] != 0 {
		scale, t = float64(decimalSuffixes[t[n-1]]), t[:n-1]
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(t, "_", ""), 64)
	if f *= scale; err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return f, nil
}

// Size is a number of bytes, at least 0; a plan may write it with binary suffixes: 8k is 8192, 3G is 3·2³⁰.
type Size int64

// ParseSize reads a whole number of bytes with an optional binary suffix (k, M, G, T in either case, as MySQL takes them; "KiB", "MB" and the like are the same).
func ParseSize(s string) (Size, error) {
	t := strings.ToLower(strings.TrimSpace(s))
	if c, found := strings.CutSuffix(t, "b"); found && c != "" {
		t = strings.TrimSuffix(c, "i")
	}
	n, err := parseScaled(t, map[byte]int64{'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30, 't': 1 << 40})
	if err != nil {
		return 0, fmt.Errorf("%q %w: write it as 4096, 8k, 64M or 3G", s, err)
	}
	return Size(n), nil
}

var (
	errNotWhole = errors.New("is not a whole number")
	errNegative = errors.New("is negative, and at least 0 is needed")
	errTooLarge = errors.New("is too large")

	scaled = regexp.MustCompile(`^[-+]?[0-9]+(_[0-9]+)*(\.[0-9]+)?([eE]\+?[0-9]{1,3})?$`)
)

// parseScaled reads digits with underscores between them, an optional fraction or power of ten, and one suffix; the product has to be whole and to fit an int64.
func parseScaled(s string, suffixes map[byte]int64) (int64, error) {
	t, scale := strings.TrimSpace(s), int64(1)
	if n, err := strconv.ParseUint(t, 10, 62); err == nil {
		return int64(n), nil
	}
	if t == "" {
		return 0, errNotWhole
	}
	if f, ok := suffixes[t[len(t)-1]]; ok {
		scale, t = f, t[:len(t)-1]
	}
	if !scaled.MatchString(t) {
		return 0, errNotWhole
	}
	r, ok := new(big.Rat).SetString(strings.ReplaceAll(t, "_", ""))
	if !ok {
		return 0, errNotWhole
	}
	switch r.Mul(r, new(big.Rat).SetInt64(scale)); {
	case !r.IsInt():
		return 0, errNotWhole
	case r.Sign() < 0:
		return 0, errNegative
	case !r.Num().IsInt64():
		return 0, errTooLarge
	}
	return r.Num().Int64(), nil
}

// Text is a string that may hold a secret. What it holds is reached only by Reveal; printed, encoded or formatted in
// any way it shows *** where the secret stands. The zero value is the empty text. Two texts are equal (==) when value and
// masked value are.
type Text struct {
	shown  string // the value, secrets masked
	secret bool
	// hidden is the value of a text with a secret. It stands behind a pointer, since fmt prints the fields of what lies in
	// unexported fields of others without asking for String.
	hidden unique.Handle[string]
}

// PlainText is a text without a secret.
func PlainText(s string) Text { return Text{shown: s} }

// SecretText is a text that is a secret from end to end.
func SecretText(s string) Text { return partlySecret(s, Mask) }

func partlySecret(value, shown string) Text {
	return Text{shown: shown, secret: true, hidden: unique.Make(value)}
}

// Mask is what is printed in place of a secret.
const Mask = "***"

// Reveal gives the true value, for sending it to where it belongs and nowhere else.
func (t Text) Reveal() string {
	if !t.secret {
		return t.shown
	}
	return t.hidden.Value()
}

// Secret tells whether the text holds a secret.
func (t Text) Secret() bool { return t.secret }

// Equal tells whether value and masked value are the same.
func (t Text) Equal(other Text) bool { return t == other }

// String gives the value with its secrets masked.
func (t Text) String() string { return t.shown }

// GoString masks too, so that %#v gives nothing away.
func (t Text) GoString() string { return strconv.Quote(t.shown) }

// MarshalText masks too, so that JSON, YAML and the like give nothing away.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.shown), nil }

// Hide replaces the true value by the masked one wherever it stands in s; errors of libraries quote what they were given.
func (t Text) Hide(s string) string {
	if value := t.Reveal(); t.secret && value != "" {
		return strings.ReplaceAll(s, value, t.shown)
	}
	return s
}
