package plan_test

import (
	"encoding/json"
	"testing"
	"time"

	"benchplan/plan"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, " 1h30m ": 90 * time.Minute, "0": 0, "0s": 0, "1.5s": 1500 * time.Millisecond, "250ms": 250 * time.Millisecond} {
		if got, err := plan.ParseDuration(text); err != nil || got.D() != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "60", "1.5", "-1s", "1d", "soon", "1 s", "9999999h", "inf"} {
		if got, err := plan.ParseDuration(text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

func TestDurationIsWrittenAsItIsRead(t *testing.T) {
	for _, text := range []string{"1h", "1h30m", "90ms", "5m", "1m30s", "0s", "1h0m1s"} {
		d, err := plan.ParseDuration(text)
		if err != nil || d.String() != text {
			t.Errorf("%q becomes %q, %v", text, d, err)
		}
		b, _ := json.Marshal(d)
		var back plan.Duration
		if err := json.Unmarshal(b, &back); err != nil || back != d {
			t.Errorf("%s becomes %v, %v", b, back, err)
		}
	}
}

func TestParseCount(t *testing.T) {
	for text, want := range map[string]plan.Count{
		"0": 0, "10000": 10000, "1_000": 1000, "10k": 10_000, "10K": 10_000, "1M": 1_000_000, "2G": 2_000_000_000, "1.5M": 1_500_000,
		"2.3k": 2300, "1.001k": 1001, "1e6": 1_000_000, "1.5e3": 1500, "010": 10, "-0": 0, "9223372036854775807": 1<<63 - 1, "+5": 5,
	} {
		if got, err := plan.ParseCount(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "k", "-1", "-1k", "1.5", "1.0001k", "1m", "10kk", "_1", "1__0", "1_", "0x10", "1e-3", "1e30", "9223372036854775808", "10000T0", "1e9999999999", "9300000T", "NaN", "many"} {
		if got, err := plan.ParseCount(text); err == nil {
			t.Errorf("%q is taken for %d", text, got)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]plan.Size{
		"8192": 8192, "8k": 8192, "8K": 8192, "8KiB": 8192, "8kb": 8192, "64M": 64 << 20, "64m": 64 << 20, "3G": 3 << 30, "3g": 3 << 30, "1T": 1 << 40, "0.5k": 512, "100b": 100, "1_024": 1024,
	} {
		if got, err := plan.ParseSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "b", "-1", "0.3k", "9000000T", "8q", "huge"} {
		if got, err := plan.ParseSize(text); err == nil {
			t.Errorf("%q is taken for %d", text, got)
		}
	}
}
