package rails

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestTakes: what each rail is left with when a message ends, by its rate.
func TestTakes(t *testing.T) {
	on := func(mbps float64, under int, live int) lane {
		return lane{pace: pace{rate: mbps * 125e3, trip: time.Millisecond}, bytes: under * segmentSize, live: live}
	}
	const n = segmentSize
	for _, tt := range []struct {
		name  string
		lanes []lane
		left  int // segments
		want  []bool
	}{
		{"in the middle of a message both take", []lane{on(1000, 2, 2), on(3000, 4, 2)}, 500, []bool{true, true}},
		{"a full window takes no more", []lane{on(1000, 21, 2), on(3000, 4, 2)}, 500, []bool{false, true}},
		{"the last segment is for the fast one", []lane{on(1000, 1, 2), on(3000, 0, 2)}, 1, []bool{false, true}},
		{"the slow one has less to do", []lane{on(1000, 0, 2), on(3000, 6, 2)}, 1, []bool{true, false}},
		{"equal ones share", []lane{on(1000, 3, 2), on(1000, 2, 2)}, 2, []bool{true, true}},
		{"what is gone does not count", []lane{on(10, 3, 1), on(9000, 0, 0)}, 1, []bool{true, true}},
		{"one that was never used is tried", []lane{on(0, 0, 1), on(9000, 0, 1)}, 1, []bool{true, true}},
		{"but not with more than one", []lane{on(0, 1, 1), on(9000, 0, 1)}, 1, []bool{false, true}},
	} {
		l := &link{f: &Fabric{only: make([]atomic.Pointer[rail], 1)}, lanes: tt.lanes}
		for range tt.left {
			l.queue.push(&segment{n: n})
		}
		for i, want := range tt.want {
			if got := l.takes(&l.lanes[i], n); got != want {
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
				l := &link{f: &Fabric{only: make([]atomic.Pointer[rail], 1)}, lanes: make([]lane, 3)}
				for i, under := range []int{a, b, c} {
					l.lanes[i] = lane{pace: pace{rate: float64(int(1) << (3 * i)), trip: 1}, bytes: under * segmentSize, live: 1}
				}
				l.queue.push(&segment{n: segmentSize})
				if !l.takes(&l.lanes[0], segmentSize) && !l.takes(&l.lanes[1], segmentSize) && !l.takes(&l.lanes[2], segmentSize) {
					t.Errorf("nobody takes it with %d, %d and %d under way", a, b, c)
				}
			}
		}
	}
}
