package rails

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestTakes checks which rails take a segment, depending on their rates and loads.
func TestTakes(t *testing.T) {
	on := func(mbps float64, under int, live int) railLoad {
		return railLoad{pace: pace{rate: mbps * 125e3, trip: time.Millisecond}, bytes: under * segmentSize, live: live}
	}
	const n = segmentSize
	for _, tt := range []struct {
		name  string
		loads []railLoad
		left  int // segments
		want  []bool
	}{
		{"in the middle of a message both take", []railLoad{on(1000, 2, 2), on(3000, 4, 2)}, 500, []bool{true, true}},
		{"a full window takes no more", []railLoad{on(1000, 21, 2), on(3000, 4, 2)}, 500, []bool{false, true}},
		{"the last segment is for the fast one", []railLoad{on(1000, 1, 2), on(3000, 0, 2)}, 1, []bool{false, true}},
		{"the slow one has less to do", []railLoad{on(1000, 0, 2), on(3000, 6, 2)}, 1, []bool{true, false}},
		{"equal ones share", []railLoad{on(1000, 3, 2), on(1000, 2, 2)}, 2, []bool{true, true}},
		{"what is gone does not count", []railLoad{on(10, 3, 1), on(9000, 0, 0)}, 1, []bool{true, true}},
		{"one that was never used is tried", []railLoad{on(0, 0, 1), on(9000, 0, 1)}, 1, []bool{true, true}},
		{"but not with more than one", []railLoad{on(0, 1, 1), on(9000, 0, 1)}, 1, []bool{false, true}},
	} {
		l := &link{f: &Fabric{only: make([]atomic.Pointer[rail], 1)}}
		l.streams = streamSet{l: l, loads: tt.loads}
		for range tt.left {
			l.out.queue.push(&segment{n: n})
		}
		for i, want := range tt.want {
			if got := l.streams.takes(&l.streams.loads[i], n); got != want {
				t.Errorf("%s: rail %d takes: %v", tt.name, i, got)
			}
		}
	}
}

// TestSomebodyTakes: whatever is under way, a segment has somewhere to go while there
// is room on the rail that would deliver it first.
func TestSomebodyTakes(t *testing.T) {
	for a := range 8 {
		for b := range 8 {
			for c := range 8 {
				l := &link{f: &Fabric{only: make([]atomic.Pointer[rail], 1)}}
				l.streams = streamSet{l: l, loads: make([]railLoad, 3)}
				for i, under := range []int{a, b, c} {
					l.streams.loads[i] = railLoad{pace: pace{rate: float64(int(1) << (3 * i)), trip: 1}, bytes: under * segmentSize, live: 1}
				}
				l.out.queue.push(&segment{n: segmentSize})
				if !l.streams.takes(&l.streams.loads[0], segmentSize) && !l.streams.takes(&l.streams.loads[1], segmentSize) && !l.streams.takes(&l.streams.loads[2], segmentSize) {
					t.Errorf("nobody takes it with %d, %d and %d under way", a, b, c)
				}
			}
		}
	}
}
