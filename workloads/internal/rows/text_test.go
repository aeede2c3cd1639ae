package rows

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"benchplan/workloads/engine"
)

func TestAGroupIsElevenDigits(t *testing.T) {
	numbers := []uint64{0, 9, 10, 99_999_999, 100_000_000, 12_345_678_901, mostOfGroup - 1}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		numbers = append(numbers, random.Uint64N(mostOfGroup))
	}
	for _, n := range numbers {
		if got, want := string(appendGroup([]byte("x"), n)), fmt.Sprintf("x%011d", n); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

// TestTextsStayAsTheyAre holds the texts of a seed fixed: tables that are kept, and the fingerprint by which they are known, rely on it.
func TestTextsStayAsTheyAre(t *testing.T) {
	var row engine.Args
	random := rand.New(rand.NewPCG(7, 1))
	AddC(&row, random)
	AddPad(&row, random)
	const (
		c   = "61791525366-80263526222-04089493064-27621785937-48087752357-24107507685-22920216370-45233321489-20206978452-09997493877"
		pad = "17860899484-43853710088-56052769805-86028956654-00873007767"
	)
	if string(row[0].Bytes) != c || string(row[1].Bytes) != pad {
		t.Errorf("got %s and %s", row[0].Bytes, row[1].Bytes)
	}
}

func BenchmarkC(b *testing.B) {
	var row engine.Args
	random := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		row = row[:0]
		AddC(&row, random)
	}
}
