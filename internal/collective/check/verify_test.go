package check

import (
	"fmt"
	"testing"

	"thundercollective/internal/collective"
)

// cut is a way to cut schedules: windows for staging, segments for messages.
type cut struct{ window, seg int }

var cuts = []cut{{0, 0}, {3, 1}, {11, 2}, {40, 5}, {1, 0}}

// blocks are the operations on a block for each rank, so that the vector is size
// times as long.
var blocks = map[collective.Kind]bool{
	collective.ReduceScatter: true, collective.AllGather: true, collective.AllToAll: true,
	collective.Gather: true, collective.Scatter: true,
}

func sizes() []int {
	if testing.Short() || raceEnabled {
		return []int{1, 2, 3, 5, 8, 13}
	}
	var ns []int
	for n := 1; n <= 16; n++ {
		ns = append(ns, n)
	}
	return ns
}

func lengths(n int) []int {
	ls := []int{0, 1, 2, n - 1, n, n + 1, 3*n + 1, 64}
	var out []int
	seen := make(map[int]bool)
	for _, l := range ls {
		if !seen[l] {
			seen[l] = true
			out = append(out, l)
		}
	}
	return out
}

// TestEverySchedule is the proof: every operation, algorithm, number of ranks,
// root and awkward length, in place and apart, whole and in segments.
func TestEverySchedule(t *testing.T) {
	kinds := []collective.Kind{
		collective.AllReduce, collective.ReduceScatter, collective.AllGather,
		collective.Broadcast, collective.Reduce, collective.Gather, collective.Scatter,
		collective.AllToAll, collective.Barrier,
	}
	for _, kind := range kinds {
		for _, algo := range collective.Algos(kind) {
			t.Run(fmt.Sprintf("%v/%v", kind, algo), func(t *testing.T) {
				t.Parallel()
				for _, n := range sizes() {
					verifySize(t, kind, algo, n)
				}
			})
		}
	}
}

func verifySize(t *testing.T, kind collective.Kind, algo collective.Algo, n int) {
	t.Helper()
	roots, counts := 1, lengths(n)
	if kind.Rooted() {
		roots = n
	}
	if kind == collective.Barrier {
		counts = []int{0}
	}
	for root := range roots {
		for i, count := range counts {
			for j, c := range cuts {
				// All roots behave alike up to a rotation: whole schedules for
				// each, and a different cut for each pair of root and length.
				if root > 0 && j > 0 && (root+i+j)%len(cuts) != 0 {
					continue
				}
				if n > 8 && blocks[kind] && c.seg > 0 && c.seg < 5 && count > n {
					continue // hundreds of messages of one element, as for fewer ranks
				}
				for _, separate := range []bool{true, false} {
					if kind == collective.AllToAll && !separate {
						continue
					}
					s := collective.Spec{
						Kind: kind, Algo: algo, Size: n, Root: root,
						Count: count, Separate: separate, Window: c.window,
					}
					if _, err := Verify(Group(s), c.seg); err != nil {
						t.Fatalf("%+v in segments of %d: %v", s, c.seg, err)
					}
				}
			}
		}
	}
}
