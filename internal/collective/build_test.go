package collective

import (
	"math"
	"strings"
	"testing"
)

func TestBuildRefuses(t *testing.T) {
	for _, tt := range []struct {
		spec Spec
		want string
	}{
		{Spec{}, "there is no collective"},
		{Spec{Kind: AllReduce, Algo: Ring}, "group of 0 ranks"},
		{Spec{Kind: AllReduce, Algo: Ring, Size: 2, Rank: 2}, "rank 2 is outside a group of 2"},
		{Spec{Kind: AllReduce, Size: 2}, "has to be resolved"},
		{Spec{Kind: Broadcast, Algo: Doubling, Size: 2}, "there is no algorithm rd"},
		{Spec{Kind: Broadcast, Algo: Ring, Size: 2, Root: 2}, "rank 2 is outside"},
		{Spec{Kind: AllReduce, Algo: Ring, Size: 2, Count: -1}, "negative count"},
		{Spec{Kind: AllReduce, Algo: Ring, Size: 2, Window: -1}, "negative window"},
		{Spec{Kind: AllGather, Algo: Ring, Size: 4, Count: math.MaxInt / 3}, "too many"},
		{Spec{Kind: AllReduce, Algo: Ring, Size: 2, Counts: []int{1, 2}}, "no form with a count"},
		{Spec{Kind: AllGather, Algo: Ring, Size: 2, Counts: []int{1}}, "1 counts for 2 ranks"},
		{Spec{Kind: AllGather, Algo: Ring, Size: 2, Counts: []int{1, -1}}, "negative count for rank 1"},
		{Spec{Kind: AllGather, Algo: Ring, Size: 2, Counts: []int{math.MaxInt, 1}}, "too much"},
		{Spec{Kind: AllGather, Algo: Ring, Size: 1, Counts: []int{1}, RecvCounts: []int{1}}, "no receive counts"},
		{Spec{Kind: Gather, Algo: Tree, Size: 2, Counts: []int{1, 1}}, "blocks of one size"},
		{Spec{Kind: AllToAll, Algo: Direct, Size: 2, Counts: []int{1, 1}, Separate: true}, "0 counts for 2 ranks"},
		{Spec{Kind: AllToAll, Algo: Direct, Size: 2, Counts: []int{1, 1}, RecvCounts: []int{2, 1}, Separate: true}, "sends 1 elements to itself"},
		{Spec{Kind: AllToAll, Algo: Direct, Size: 2}, "needs an input"},
		{Spec{Kind: Send, Algo: Direct, Size: 2}, "this rank itself"},
		{Spec{Kind: SendRecv, Algo: Direct, Size: 2, Root: 1, Separate: true}, "only both ways"},
		{Spec{Kind: SendRecv, Algo: Direct, Size: 2, From: 5, Separate: true}, "rank 5 is outside"},
		{Spec{Kind: SendRecv, Algo: Direct, Size: 2, Count: 1, Separate: true}, "sends 1 elements to itself"},
	} {
		_, err := Build(tt.spec)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Build(%+v): error %v, want one with %q", tt.spec, err, tt.want)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, tt := range []struct {
		spec Spec
		want Algo
	}{
		{Spec{Kind: AllReduce, Size: 2, Count: 1 << 20}, Ring},
		{Spec{Kind: AllReduce, Size: 2, Count: 1}, Direct},
		{Spec{Kind: AllReduce, Size: 2, Count: 1, Algo: Tree}, Tree},
		{Spec{Kind: AllReduce, Size: 4, Count: math.MaxInt}, Ring},
		{Spec{Kind: Gather, Size: 16, Count: 1}, Tree},
		{Spec{Kind: Gather, Size: 16, Counts: make([]int, 16)}, Direct},
		{Spec{Kind: AllGather, Size: 5, Counts: []int{0, 0, 0, 0, 1 << 20}}, Ring},
	} {
		if got := tt.spec.Resolve(8).Algo; got != tt.want {
			t.Errorf("Resolve(%+v) = %v, want %v", tt.spec, got, tt.want)
		}
	}
}

// TestLargeCounts checks that nothing overflows beyond 4 Gi elements.
func TestLargeCounts(t *testing.T) {
	const count = 5 << 32
	for kind := AllReduce; kind.Valid(); kind++ {
		for _, algo := range Algos(kind) {
			s, err := Build(Spec{
				Kind: kind, Algo: algo, Size: 3, Rank: 1, Root: 2, From: 2, Count: count, RecvCount: count,
				Separate: true, Window: count / 10,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, lane := range Segmented(s, 1<<20).Lanes {
				for _, a := range lane {
					for _, sl := range []Slice{a.Dst, a.Src, a.Arg} {
						if limit := [3]int{s.Main, s.Input, s.Scratch}[sl.Buf]; sl.Off < 0 || sl.Len < 0 || sl.End() > limit {
							t.Fatalf("%v %v: %v is outside the %d elements", kind, algo, sl, limit)
						}
					}
				}
			}
		}
	}
}
