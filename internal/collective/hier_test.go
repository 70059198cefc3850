package collective

import (
	"fmt"
	"strings"
	"testing"

	"thundercollective/internal/reduce"
)

// hostShapes are hosts by rank, a letter each.
var hostShapes = []string{"AABB", "ABAB", "AAB", "ABB", "AABBCC", "ABBCCCC", "AAAABBB"}

func hostsOf(shape string) *Hosts { return NewHosts(strings.Split(shape, "")) }

// TestRunHosts runs what works within hosts first over the mem fabric, and over
// links on which a send ends with its receive.
func TestRunHosts(t *testing.T) {
	for _, shape := range hostShapes {
		n := len(shape)
		for name, peers := range map[string][]Links{
			"mem": memLinks(t, n), "strict": newStrictLinks(n, false), "lazy": newStrictLinks(n, true),
		} {
			t.Run(shape+"/"+name, func(t *testing.T) {
				g := newTestGroup(t, peers)
				turn := 0
				for _, kind := range []Kind{AllReduce, ReduceScatter, AllGather, Broadcast, Reduce, Barrier} {
					for _, dt := range reduce.DTypes() {
						turn++
						s := Spec{
							Kind: kind, Algo: Hier, Size: n, Hosts: hostsOf(shape), Root: turn % n, Separate: turn%3 != 0,
							Count: []int{3*n + 1, 1, 40, 0, 5 * n}[turn%5], Window: []int{0, 9, 24}[turn%3],
						}
						if s.Window > 0 {
							s.ElemSize = windowBytes / s.Window // as if a few elements were long
						}
						newJob(t, s, dt, ops(dt)[turn%len(ops(dt))]).check(t, g, []int{DefaultSegment, 24}[turn/2%2])
					}
				}
			})
		}
	}
}

// TestRunHostsLong runs several windows of the real lengths.
func TestRunHostsLong(t *testing.T) {
	if testing.Short() {
		t.Skip("moves some 50 MiB")
	}
	for _, shape := range []string{"AABB", "ABB"} {
		g := newTestGroup(t, memLinks(t, len(shape)))
		for _, kind := range []Kind{AllReduce, ReduceScatter, AllGather, Broadcast, Reduce} {
			s := Spec{Kind: kind, Algo: Hier, Size: len(shape), Hosts: hostsOf(shape), Count: 300_001, Window: 70_000, ElemSize: windowBytes / 70_000}
			newJob(t, s, reduce.I16, reduce.Max).check(t, g, DefaultSegment)
		}
	}
}

func TestHostsPlanIsBounded(t *testing.T) {
	for _, kind := range []Kind{AllReduce, ReduceScatter, AllGather, Broadcast, Reduce} {
		for _, rank := range []int{0, 1, 6} {
			for _, separate := range []bool{false, true} {
				s := Spec{Kind: kind, Algo: Hier, Rank: rank, Size: 7, Count: 1 << 24, Hosts: hostsOf("ABBCCCC"), Separate: separate}
				p, err := NewPlan(s, reduce.F32, reduce.Sum)
				if err != nil {
					t.Fatal(err)
				}
				if p.Scratch() > windowBytes || p.size() > 15_000 {
					t.Errorf("%v of 64 MiB at rank %d: scratch of %d bytes, %d actions", kind, rank, p.Scratch(), p.size())
				}
			}
		}
	}
}

func TestHostsMixed(t *testing.T) {
	for shape, want := range map[string]bool{"A": false, "AAA": false, "ABC": false, "AB": false, "AAB": true, "ABAB": true} {
		if got := hostsOf(shape).Mixed(); got != want {
			t.Errorf("%s is mixed: %v", shape, got)
		}
	}
	if (*Hosts)(nil).Mixed() {
		t.Error("no hosts are mixed")
	}
	_, err := Build(Spec{Kind: AllReduce, Algo: Hier, Size: 3, Hosts: hostsOf("AAB"), Rank: 2, Count: 5})
	if err != nil {
		t.Error(err)
	}
	if _, err := Build(Spec{Kind: AllReduce, Algo: Hier, Size: 2, Hosts: hostsOf("AAB")}); err == nil || !strings.Contains(err.Error(), "hosts of 3 ranks") {
		t.Errorf("hosts of another group: %v", err)
	}
}

func ExampleNewHosts() {
	h := NewHosts([]string{"mac", "mac", "spark"})
	fmt.Println(h.Count(), h.Of(1), h.Mixed())
	// Output: 2 0 true
}
