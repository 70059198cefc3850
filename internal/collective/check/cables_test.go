package check

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"thundercollective/internal/collective"
)

// TestCables proves the algorithms that follow cables, on rings in any order and
// trees of any form.
func TestCables(t *testing.T) {
	algos := []collective.Algo{collective.Ring, collective.BiRing, collective.Cable}
	kinds := []collective.Kind{
		collective.AllReduce, collective.ReduceScatter, collective.AllGather, collective.Broadcast, collective.Reduce,
	}
	for _, kind := range kinds {
		for _, algo := range algos {
			if !has(kind, algo) {
				continue
			}
			t.Run(fmt.Sprintf("%v/%v", kind, algo), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(uint64(kind), uint64(algo)))
				for n := 2; n <= 9; n++ {
					for range 4 {
						verifyCables(t, rng, kind, algo, n)
					}
				}
			})
		}
	}
}

func has(kind collective.Kind, algo collective.Algo) bool {
	for _, a := range collective.Algos(kind) {
		if a == algo {
			return true
		}
	}
	return false
}

func verifyCables(t *testing.T, rng *rand.Rand, kind collective.Kind, algo collective.Algo, n int) {
	t.Helper()
	c := &collective.Cables{Ring: rng.Perm(n), Parent: make([]int, n)}
	names := rng.Perm(n)
	for i, r := range names {
		c.Parent[r] = -1
		if i > 0 {
			c.Parent[r] = names[rng.IntN(i)]
		}
	}
	for _, count := range []int{0, 1, n, 3*n + 1, 64} {
		for _, cut := range cuts {
			for _, separate := range []bool{false, true} {
				s := collective.Spec{
					Kind: kind, Algo: algo, Size: n, Count: count, Root: rng.IntN(n),
					Separate: separate, Window: cut.window, Cables: c,
				}
				if kind == collective.AllGather || kind == collective.ReduceScatter {
					if rng.IntN(2) == 0 {
						s.Count, s.Counts = 0, make([]int, n)
						for i := range s.Counts {
							s.Counts[i] = rng.IntN(9)
						}
					}
				}
				if _, err := Verify(Group(s), cut.seg); err != nil {
					t.Fatalf("%+v, cables %+v: %v", s, c, err)
				}
			}
		}
	}
}
