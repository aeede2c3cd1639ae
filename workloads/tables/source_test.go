package tables_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"benchplan/plan"
	"benchplan/workloads"
	"benchplan/workloads/tables"
)

// TestRowsStayAsTheyAre holds the rows that a seed makes fixed, so that figures of this version and of one before are of the same data.
func TestRowsStayAsTheyAre(t *testing.T) {
	want := map[string]string{
		"sbtest": "82821ebe3e16d320", "sbtest_legacy": "82821ebe3e16d320", "sbtest_0_4": "3d6dbb6fa45c1214", "sbtest_bulk": "16261a0f3bf8da7f",
		"benchyou": "780b3a21d365c8c7",
	}
	for name, schema := range workloads.Schemas() {
		h := sha256.New()
		sp := plan.Tables{Schema: name, Count: 2, Rows: 2 * tables.StretchRows}
		for i := range 2 {
			for first := int64(1); first <= int64(sp.Rows); first += tables.StretchRows {
				if _, err := io.Copy(h, tables.Lines(schema, sp, i, first, 7)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want[name] {
			t.Errorf("%s: the rows have the hash %s, not %s", name, got, want[name])
		}
	}
}

// TestRowsAreASCII holds every schema to what LOAD DATA relies on.
func TestRowsAreASCII(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(workloads.Schemas())) {
		sp := plan.Tables{Schema: name, Count: 1, Rows: 100}
		text, err := io.ReadAll(tables.Lines(workloads.Schemas()[name], sp, 0, 1, 1))
		if err != nil || bytes.Count(text, []byte("\n")) != 100 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
		if i := bytes.IndexFunc(text, func(r rune) bool { return r >= 0x80 }); i >= 0 {
			t.Errorf("%s: byte %#x", name, text[i])
		}
	}
}

func TestRowsAreMadeWithoutAllocating(t *testing.T) {
	sp := plan.Tables{Schema: "sbtest", Count: 1, Rows: tables.StretchRows}
	packet := make([]byte, 16<<10)
	var bytes int
	n := testing.AllocsPerRun(5, func() {
		r := tables.Lines(workloads.Schemas()["sbtest"], sp, 0, 1, 1)
		for n, err := r.Read(packet); err == nil; n, err = r.Read(packet) {
			bytes += n
		}
	})
	if bytes < 6*tables.StretchRows*180 {
		t.Fatalf("%d bytes", bytes)
	}
	// A stretch has some, its ten thousand rows have none.
	if n > 50 {
		t.Errorf("%v allocations for %d rows", n, tables.StretchRows)
	}
}

func TestIsPlain(t *testing.T) {
	plain := func(text []byte) bool {
		return !slices.ContainsFunc(text, func(b byte) bool { return b < '(' || b >= 0x80 || b == '\\' })
	}
	for size := range 20 {
		for at := range size {
			for _, around := range []string{"0", "(", "~", "[", "]"} {
				for b := range 256 {
					text := []byte(strings.Repeat(around, size))
					text[at] = byte(b)
					if tables.IsPlain(text) && !plain(text) {
						t.Fatalf("%q passes for plain", text)
					}
				}
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		text := make([]byte, random.IntN(20))
		for i := range text {
			text[i] = "0123456789-aZ(\\'\" \n\x00\xff"[random.IntN(21)]
		}
		if tables.IsPlain(text) && !plain(text) {
			t.Fatalf("%q passes for plain", text)
		}
	}
	for _, text := range []string{"", "7", "61791525366-80263526222-0408949306", "azAZ09-_~"} {
		if !tables.IsPlain([]byte(text)) {
			t.Errorf("%q does not pass for plain", text)
		}
	}
}
