package check

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"thundercollective/internal/collective"
)

var hostKinds = []collective.Kind{
	collective.AllReduce, collective.ReduceScatter, collective.AllGather,
	collective.Broadcast, collective.Reduce, collective.Barrier,
}

// groupings returns ways to put n ranks on hosts: one, each its own, blocks of any
// length, round and round, one left over, and at random.
func groupings(n int) [][]string {
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	random := rng.Perm(n)
	var all [][]string
	add := func(host func(r int) int) {
		names := make([]string, n)
		for r := range names {
			names[r] = fmt.Sprintf("host%d", host(r))
		}
		all = append(all, names)
	}
	add(func(int) int { return 0 })
	add(func(r int) int { return r })
	for per := 2; per < n; per++ {
		add(func(r int) int { return r / per })
		add(func(r int) int { return r % per })
	}
	add(func(r int) int { return max(0, r-n+2) })
	add(func(r int) int { return random[r] * random[r] / max(1, n) })
	return all
}

// TestHosts proves the host-first algorithms on every grouping, with every root.
func TestHosts(t *testing.T) {
	for _, kind := range hostKinds {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			for _, n := range sizes() {
				for i, names := range groupings(n) {
					verifyHosts(t, kind, n, i, names)
				}
			}
		})
	}
}

func verifyHosts(t *testing.T, kind collective.Kind, n, grouping int, names []string) {
	t.Helper()
	s := collective.Spec{Kind: kind, Algo: collective.Hier, Size: n, Hosts: collective.NewHosts(names)}
	counts := []int{0, 1, n - 1, 3*n + 1, 64}
	if kind == collective.Barrier {
		counts = counts[:1]
	}
	for i, count := range counts {
		for j, c := range cuts {
			if n > 5 && (grouping+i+j)%(n/2) != 0 {
				continue // each cut and each length, but not both of every grouping
			}
			s.Count, s.Counts, s.Window, s.ElemSize = count, nil, c.window, elemSize(c.window)
			if kind.Rooted() {
				s.Root = (grouping + i + j) % n
			}
			if blocks[kind] && (i+j)%2 == 1 {
				all := vcounts(n)
				s.Count, s.Counts = 0, all[(grouping+j)%len(all)]
			}
			for _, apart := range []string{"all", "none", "some"} {
				specs := Group(s)
				for r := range specs {
					specs[r].Separate = apart == "all" || apart == "some" && r%3 != 1
				}
				if _, err := Verify(specs, c.seg); err != nil {
					t.Fatalf("%v of %d (%v) from %d on %v, window %d, segments of %d, %s apart: %v",
						kind, s.Count, s.Counts, s.Root, names, c.window, c.seg, apart, err)
				}
			}
		}
	}
}

// elemSize returns an element size with which a window has the length of a real one, so
// that a few elements are already long enough for every algorithm between hosts.
func elemSize(window int) int {
	if window == 0 {
		return 0
	}
	return (2 << 20) / window
}

// TestPairOnHost proves the ring of two ranks that share a host, which mixes its two
// halves.
func TestPairOnHost(t *testing.T) {
	for count := range 70 {
		for _, c := range cuts {
			for _, segment := range []int{0, 3} {
				s := collective.Spec{
					Kind: collective.AllReduce, Algo: collective.Ring, Size: 2, Count: count,
					Window: c.window, Segment: segment, Hosts: collective.NewHosts([]string{"a", "a"}),
				}
				for _, apart := range []string{"all", "none", "one"} {
					specs := Group(s)
					for r := range specs {
						specs[r].Separate = apart == "all" || apart == "one" && r == 1
					}
					if _, err := Verify(specs, c.seg); err != nil {
						t.Fatalf("%d elements, window %d, segments of %d and %d, %s apart: %v", count, c.window, segment, c.seg, apart, err)
					}
				}
			}
		}
	}
}

// TestCrowdedTrees proves the trees of ranks that outnumber their processors.
func TestCrowdedTrees(t *testing.T) {
	for _, kind := range []collective.Kind{collective.AllReduce, collective.Broadcast, collective.Reduce, collective.Barrier} {
		for n := 2; n <= 13; n++ {
			for root := range n {
				for _, count := range []int{0, 1, 12} {
					if root > 0 && !kind.Rooted() || count > 0 && kind == collective.Barrier {
						continue
					}
					s := collective.Spec{
						Kind: kind, Algo: collective.Tree, Size: n, Root: root, Count: count, Window: 5, Crowded: true,
					}
					if _, err := Verify(Group(s), 2); err != nil {
						t.Fatalf("%+v: %v", s, err)
					}
				}
			}
		}
	}
}

// TestCrowded proves the all-to-all of ranks that outnumber their processors, which goes
// window by window, with blocks of all lengths.
func TestCrowded(t *testing.T) {
	for n := 2; n <= 5; n++ {
		for count := range 12 {
			for _, window := range []int{1, 8, 20} {
				for _, varying := range []bool{false, true} {
					specs := Group(collective.Spec{
						Kind: collective.AllToAll, Algo: collective.Direct, Size: n, Count: count,
						Window: window, Crowded: true, Separate: true,
					})
					for r := range specs {
						if !varying {
							continue
						}
						length := func(from, to int) int { return (from*5 + to*3) % 4 * count }
						for p := range n {
							specs[r].Counts = append(specs[r].Counts, length(r, p))
							specs[r].RecvCounts = append(specs[r].RecvCounts, length(p, r))
						}
					}
					if _, err := Verify(specs, 0); err != nil {
						t.Fatalf("%d ranks, %d elements, window %d, varying %v: %v", n, count, window, varying, err)
					}
				}
			}
		}
	}
}

// TestHostsCross counts what crosses between hosts: host-first it is the least that
// any algorithm can do with, and no rank of a host does all of it alone.
func TestHostsCross(t *testing.T) {
	const block = 60
	for _, shape := range [][]int{{2, 2}, {4, 4}, {2, 2, 2}, {4, 4, 4, 4}, {1, 3}, {2, 3}, {1, 2, 4}, {8, 8}} {
		var names []string
		for h, m := range shape {
			for range m {
				names = append(names, fmt.Sprint("host", h))
			}
		}
		n, hosts := len(names), len(shape)
		vector := n * hosts * block
		for _, tt := range []struct {
			kind  collective.Kind
			count int
			want  int // elements that cross between hosts in all
		}{
			{collective.AllReduce, vector, 2 * (hosts - 1) * vector},
			{collective.Broadcast, vector, (hosts - 1) * vector},
			{collective.Reduce, vector, (hosts - 1) * vector},
			{collective.AllGather, block, (hosts - 1) * n * block},
			{collective.ReduceScatter, block, (hosts - 1) * n * block},
		} {
			s := collective.Spec{
				Kind: tt.kind, Algo: collective.Hier, Size: n, Count: tt.count, Root: n - 1,
				Hosts: collective.NewHosts(names), Window: 300, ElemSize: elemSize(300),
			}
			if _, err := Verify(Group(s), 50); err != nil {
				t.Fatal(err)
			}
			total, byRank := crossing(t, s)
			if total != tt.want {
				t.Errorf("%v on %v: %d elements cross between hosts, want %d", tt.kind, shape, total, tt.want)
			}
			if tt.kind == collective.Broadcast || tt.kind == collective.Reduce {
				continue
			}
			for r, sent := range byRank {
				// Blocks are not cut: with fewer blocks abroad than ranks here, some only receive.
				if sent == 0 && (tt.kind != collective.ReduceScatter || even(shape)) {
					t.Errorf("%v on %v: rank %d does not use the network", tt.kind, shape, r)
				}
			}
			s.Algo = collective.Ring
			if flat, _ := crossing(t, s); flat < total {
				t.Errorf("%v on %v: %d elements cross in the ring, fewer than %d", tt.kind, shape, flat, total)
			}
		}
	}
}

func even(shape []int) bool { return slices.Max(shape) == slices.Min(shape) }

// crossing counts the elements that ranks send to other hosts, in all and by rank.
func crossing(t *testing.T, s collective.Spec) (total int, byRank []int) {
	t.Helper()
	byRank = make([]int, s.Size)
	for r, s := range Group(s) {
		schedule, err := collective.Build(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, lane := range schedule.Lanes {
			for _, a := range lane {
				if a.Step == collective.SendStep && s.Hosts.Of(a.Peer) != s.Hosts.Of(r) {
					byRank[r] += a.Len()
					total += a.Len()
				}
			}
		}
	}
	return total, byRank
}
