package shm

import (
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/spin"
)

// newPages returns a board of n ranks in this process, as rank 0 has it, which share a
// core as near says.
func newPages(near ...bool) (*board, []*page) {
	b := &board{round: 1, showed: -1}
	b.spin = spin.Spinner{Shared: true}
	b.cores.near = near
	pages := make([]*page, len(near))
	for i := range pages {
		pages[i] = new(page)
		l := &link{peer: i, bell: peerBell{bell: new(bell)}}
		if i == 0 {
			l = nil
		}
		b.links = append(b.links, l)
		b.places = append(b.places, newPlace(l, pages[i]))
	}
	return b, pages
}

// TestElsewhere: who has to run before a rank can go on.
func TestElsewhere(t *testing.T) {
	for _, tt := range []struct {
		name   string
		near   []bool
		mutual bool
		shown  []int // ranks that have shown something
		awaits int
		want   bool
	}{
		{"a neighbour", []bool{true, false, true}, false, nil, 2, false},
		{"one of another core", []bool{true, false, true}, false, nil, 1, true},
		{"everybody, a neighbour too", []bool{true, false, true}, true, nil, 1, false},
		{"everybody, but the neighbour has shown", []bool{true, false, true}, true, []int{2}, 1, true},
		{"everybody, all elsewhere", []bool{true, false, false}, true, nil, 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, pages := newPages(tt.near...)
			b.mutual = tt.mutual
			for _, r := range tt.shown {
				pages[r].entries[1].round.Store(1)
			}
			c := boardCondition{board: b, rank: tt.awaits}
			if got := c.elsewhere(); got != tt.want || b.cores.offered == got {
				t.Errorf("got %v, and that the core is offered %v", got, b.cores.offered)
			}
		})
	}
}

// TestCores: ranks find each other by what they say on their pages.
func TestCores(t *testing.T) {
	b, pages := newPages(true, true, true)
	pages[1].core.Store(1 << 40)
	b.cores.look(b)
	if b.cores.near[1] || b.cores.near[2] {
		t.Error("who is on another core, or has not said, is taken for a neighbour")
	}
	if pages[0].core.Load() == 0 {
		t.Error("this rank has not said where it runs")
	}
	pages[1].core.Store(pages[0].core.Load())
	for range coreLooks - 1 {
		b.cores.look(b)
	}
	if b.cores.near[1] {
		t.Error("it looks in every wait")
	}
}

// TestFollows: what a rank does after a barrier is remembered at the next.
func TestFollows(t *testing.T) {
	tag := &fabric.Tag{1}
	b, pages := newPages(true, true)
	b.swaps = [][]byte{pages[0].swap[:], pages[1].swap[:]}
	appear := func(n int) {
		e := &pages[1].entries[b.round%boardDepth]
		e.length = uint64(n)
		e.tag.set(tag)
		e.round.Store(b.round)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	look := func(n int) {
		t.Helper()
		appear(n)
		_, err := b.Look(t.Context(), 1, tag, n)
		check(err)
		b.Next()
	}
	for _, tt := range []struct {
		name string
		next func()
		want bool
	}{
		{"it looks", func() { look(8) }, true},
		{"it shows", func() { check(b.Show(t.Context(), tag, make([]byte, 8))); b.Next() }, false},
		{"it looks again", func() { look(8) }, true},
		{"both show", func() { check(b.Swap(t.Context(), tag, make([]byte, 8))); look(8) }, false},
	} {
		check(b.Swap(t.Context(), tag, nil))
		look(0)
		tt.next()
		if b.cores.follows != tt.want {
			t.Errorf("%s: it follows: %v", tt.name, b.cores.follows)
		}
	}
}
