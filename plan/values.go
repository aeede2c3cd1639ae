package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
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

// ParseDuration reads Go's notation. A bare number is refused: "60" could be seconds or milliseconds.
func ParseDuration(s string) (Duration, error) {
	t := strings.TrimSpace(s)
	if t == "0" {
		return 0, nil
	}
	if _, err := strconv.ParseFloat(t, 64); err == nil {
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

// ParseCount reads a whole number with an optional decimal suffix (k, M, G, T) and underscores between digits.
func ParseCount(s string) (Count, error) {
	n, err := parseScaled(s, map[byte]float64{'k': 1e3, 'K': 1e3, 'M': 1e6, 'm': 0, 'G': 1e9, 'T': 1e12})
	if err != nil {
		return 0, fmt.Errorf("%q is not a count: write it as 10000, 1_000, 10k or 1M", s)
	}
	return Count(n), nil
}

// Size is a number of bytes, at least 0; a plan may write it with binary suffixes: 8k is 8192, 3G is 3·2³⁰.
type Size int64

// ParseSize reads a whole number of bytes with an optional binary suffix (k, M, G, T; "KiB", "MB" and the like are taken as the same).
func ParseSize(s string) (Size, error) {
	t := strings.TrimSpace(s)
	for _, tail := range []string{"iB", "ib", "B", "b"} {
		if strings.HasSuffix(t, tail) && len(t) > len(tail) {
			t = strings.TrimSuffix(t, tail)
			break
		}
	}
	n, err := parseScaled(t, map[byte]float64{'k': 1 << 10, 'K': 1 << 10, 'M': 1 << 20, 'm': 0, 'G': 1 << 30, 'T': 1 << 40})
	if err != nil {
		return 0, fmt.Errorf("%q is not a size: write it as 4096, 8k, 64M or 3G", s)
	}
	return Size(n), nil
}

// parseScaled reads digits, underscores, an optional fraction and one suffix; the product has to be whole and to fit an int64.
func parseScaled(s string, suffixes map[byte]float64) (int64, error) {
	t := strings.ReplaceAll(strings.TrimSpace(s), "_", "")
	if t == "" {
		return 0, strconv.ErrSyntax
	}
	scale := 1.0
	if f, ok := suffixes[t[len(t)-1]]; ok {
		if f == 0 {
			return 0, strconv.ErrSyntax
		}
		scale, t = f, t[:len(t)-1]
	}
	if n, err := strconv.ParseInt(t, 10, 64); err == nil {
		if n < 0 || float64(n)*scale > math.MaxInt64/2 {
			return 0, strconv.ErrRange
		}
		return n * int64(scale), nil
	}
	if strings.ContainsAny(t, "eExXpPnN") || scale == 1 {
		return 0, strconv.ErrSyntax
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil || f < 0 || f*scale > math.MaxInt64/2 || f*scale != math.Trunc(f*scale) {
		return 0, strconv.ErrSyntax
	}
	return int64(f * scale), nil
}

// Text is a string that may hold a secret. What it holds is reached only by Reveal; printed, encoded or formatted in
// any way it shows *** where the secret stands. The zero value is the empty text.
type Text struct {
	value  string
	shown  string
	secret bool
}

// PlainText is a text without a secret.
func PlainText(s string) Text { return Text{value: s, shown: s} }

// SecretText is a text that is a secret from end to end.
func SecretText(s string) Text { return Text{value: s, shown: Mask, secret: true} }

// Mask is what is printed in place of a secret.
const Mask = "***"

// Reveal gives the true value, for sending it to where it belongs and nowhere else.
func (t Text) Reveal() string { return t.value }

// Secret tells whether the text holds a secret.
func (t Text) Secret() bool { return t.secret }

// String gives the value with its secrets masked.
func (t Text) String() string { return t.shown }

// GoString masks too, so that %#v gives nothing away.
func (t Text) GoString() string { return strconv.Quote(t.shown) }

// MarshalText masks too, so that JSON, YAML and the like give nothing away.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.shown), nil }

// Hide replaces the true value by the masked one wherever it stands in s; errors of libraries quote what they were given.
func (t Text) Hide(s string) string {
	if !t.secret || t.value == "" {
		return s
	}
	return strings.ReplaceAll(s, t.value, t.shown)
}
