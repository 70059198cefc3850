package check

import (
	"fmt"
	"slices"
	"testing"

	"thundercollective/internal/collective"
)

// vcounts returns uneven counts for n ranks: empty blocks, long ones, none at all.
func vcounts(n int) [][]int {
	var all [][]int
	for _, f := range []func(i int) int{
		func(i int) int { return 0 },
		func(i int) int { return i },
		func(i int) int { return (i % 3) * 5 },
		func(i int) int { return (n - i) * (i % 2) },
		func(i int) int { return 17 * (1 - min(1, i)) },
		func(i int) int { return 17 * max(0, i-n+2) },
	} {
		counts := make([]int, n)
		for i := range counts {
			counts[i] = f(i)
		}
		all = append(all, counts)
	}
	return all
}

func TestCountsPerRank(t *testing.T) {
	for _, kind := range []collective.Kind{
		collective.ReduceScatter, collective.AllGather, collective.Gather, collective.Scatter,
	} {
		for _, algo := range collective.Algos(kind) {
			if algo == collective.Tree {
				continue
			}
			t.Run(fmt.Sprintf("%v/%v", kind, algo), func(t *testing.T) {
				t.Parallel()
				for _, n := range sizes() {
					for i, counts := range vcounts(n) {
						for j, c := range cuts {
							s := collective.Spec{
								Kind: kind, Algo: algo, Size: n, Root: (i + j) % n,
								Counts: counts, Window: c.window,
							}
							for _, s.Separate = range []bool{true, false} {
								if _, err := Verify(Group(s), c.seg); err != nil {
									t.Fatalf("%+v in segments of %d: %v", s, c.seg, err)
								}
							}
						}
					}
				}
			})
		}
	}
}

func TestAllToAllCounts(t *testing.T) {
	for _, n := range sizes() {
		specs := Group(collective.Spec{
			Kind: collective.AllToAll, Algo: collective.Direct, Size: n, Separate: true,
		})
		for r := range specs {
			for p := range n {
				specs[r].Counts = append(specs[r].Counts, (3*r+5*p)%7)
				specs[r].RecvCounts = append(specs[r].RecvCounts, (3*p+5*r)%7)
			}
		}
		for _, seg := range []int{0, 1, 2} {
			if _, err := Verify(specs, seg); err != nil {
				t.Fatalf("%d ranks in segments of %d: %v", n, seg, err)
			}
		}
	}
}

// TestOnlyOwnCount checks that ranks other than the root need not know the counts
// of the others.
func TestOnlyOwnCount(t *testing.T) {
	for _, kind := range []collective.Kind{collective.Gather, collective.Scatter} {
		counts := []int{3, 0, 5, 2}
		specs := Group(collective.Spec{
			Kind: kind, Algo: collective.Direct, Size: 4, Root: 2, Counts: counts, Separate: true,
		})
		for r := range specs {
			if r != 2 {
				specs[r].Counts = make([]int, 4)
				specs[r].Counts[r] = counts[r]
			}
		}
		if _, err := Verify(specs, 2); err != nil {
			t.Fatalf("%v: %v", kind, err)
		}
	}
}

// TestMixedPlaces checks that it is a local matter whether a rank works in place.
func TestMixedPlaces(t *testing.T) {
	for kind := collective.AllReduce; kind <= collective.Scatter; kind++ {
		for _, algo := range collective.Algos(kind) {
			for _, n := range []int{2, 3, 4, 7, 8} {
				for _, c := range cuts {
					specs := Group(collective.Spec{
						Kind: kind, Algo: algo, Size: n, Root: n - 1, Count: 19, Window: c.window,
					})
					for r := range specs {
						specs[r].Separate = r%3 != 1
					}
					if _, err := Verify(specs, c.seg); err != nil {
						t.Fatalf("%v %v on %d ranks, cut %v: %v", kind, algo, n, c, err)
					}
				}
			}
		}
	}
}

func TestPointToPoint(t *testing.T) {
	for _, count := range []int{0, 1, 9} {
		for _, separate := range []bool{true, false} {
			pair := []collective.Spec{
				{Kind: collective.Send, Rank: 0, Root: 1, Separate: separate},
				{Kind: collective.Recv, Rank: 1, Root: 0},
			}
			for i := range pair {
				pair[i].Algo, pair[i].Size, pair[i].Count = collective.Direct, 2, count
			}
			if _, err := Verify(pair, 2); err != nil {
				t.Errorf("send and recv of %d: %v", count, err)
			}
		}
	}
	for _, n := range sizes() {
		for shift := range n {
			specs := Group(collective.Spec{
				Kind: collective.SendRecv, Algo: collective.Direct, Size: n, Separate: true,
			})
			for r := range specs {
				specs[r].Root, specs[r].From = (r+shift)%n, (r-shift+n)%n
				specs[r].Count, specs[r].RecvCount = 3*r, 3*specs[r].From
			}
			if _, err := Verify(specs, 2); err != nil {
				t.Errorf("shift by %d of %d: %v", shift, n, err)
			}
		}
	}
}

// TestManyRanks goes beyond the sizes of the full proof.
func TestManyRanks(t *testing.T) {
	for kind := collective.AllReduce; kind <= collective.Barrier; kind++ {
		for _, algo := range collective.Algos(kind) {
			for _, n := range []int{17, 24, 31, 33, 64} {
				s := collective.Spec{
					Kind: kind, Algo: algo, Size: n, Root: n / 3, Count: 5, Separate: true, Window: 200,
				}
				if kind == collective.AllReduce {
					s.Count = n + 1
				}
				if _, err := Verify(Group(s), 2); err != nil {
					t.Errorf("%v %v on %d ranks: %v", kind, algo, n, err)
				}
			}
		}
	}
}

// TestBytesSent checks that the algorithms made for long vectors send no more
// than they must.
func TestBytesSent(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 7, 8, 12, 16} {
		const block = 30
		for _, tt := range []struct {
			kind  collective.Kind
			algos []collective.Algo
			count int
			sent  int // on the busiest rank
		}{
			{collective.AllReduce, []collective.Algo{collective.Ring, collective.BiRing, collective.HalvingDoubling}, n * block, 2 * (n - 1) * block},
			{collective.AllReduce, []collective.Algo{collective.Direct}, n * block, (n - 1) * n * block},
			{collective.ReduceScatter, collective.Algos(collective.ReduceScatter), block, (n - 1) * block},
			{collective.AllGather, collective.Algos(collective.AllGather), block, (n - 1) * block},
			{collective.AllToAll, collective.Algos(collective.AllToAll), block, (n - 1) * block},
			{collective.Broadcast, []collective.Algo{collective.Ring, collective.BiRing}, block, block},
			{collective.Reduce, []collective.Algo{collective.Ring, collective.Direct, collective.Tree}, block, block},
		} {
			for _, algo := range tt.algos {
				for _, seg := range []int{0, 7} {
					costs, err := Verify(Group(collective.Spec{
						Kind: tt.kind, Algo: algo, Size: n, Count: tt.count, Separate: true, Window: 64,
					}), seg)
					if err != nil {
						t.Fatal(err)
					}
					busiest := slices.MaxFunc(costs, func(a, b Cost) int { return a.Sent - b.Sent })
					if busiest.Sent != tt.sent {
						t.Errorf("%v %v on %d ranks sends %d elements, want %d", tt.kind, algo, n, busiest.Sent, tt.sent)
					}
				}
			}
		}
	}
}

// TestScratchIsBounded checks that no schedule needs more scratch than the
// window, however long the message.
func TestScratchIsBounded(t *testing.T) {
	const window = 1000
	for kind := collective.AllReduce; kind <= collective.SendRecv; kind++ {
		for _, algo := range collective.Algos(kind) {
			for _, n := range []int{2, 3, 8, 13, 16} {
				for _, separate := range []bool{true, false} {
					if !separate && (kind == collective.AllToAll || kind == collective.SendRecv) {
						continue
					}
					for rank := range n {
						s, err := collective.Build(collective.Spec{
							Kind: kind, Algo: algo, Rank: rank, Size: n, Root: (rank + 1) % n, From: (rank + 2) % n,
							Count: 20_003, RecvCount: 7, Separate: separate, Window: window,
						})
						if kind == collective.SendRecv && n == 2 {
							continue // the peer below would be the rank itself
						}
						if err != nil {
							t.Fatal(err)
						}
						if s.Scratch > window {
							t.Errorf("%v %v on %d ranks, apart %v: scratch %d", kind, algo, n, separate, s.Scratch)
						}
					}
				}
			}
		}
	}
}
