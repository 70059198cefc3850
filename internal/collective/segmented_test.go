package collective

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func text(lane []Action) string {
	var b strings.Builder
	for _, a := range lane {
		switch {
		case a.Step == SendStep:
			fmt.Fprintf(&b, "send %v to %d\n", a.Src, a.Peer)
		case a.Receives():
			fmt.Fprintf(&b, "%v %v from %d\n", a.Step, a.Dst, a.Peer)
		default:
			fmt.Fprintf(&b, "%v %v\n", a.Step, a.Dst)
		}
	}
	return b.String()
}

// TestSegmentedRing shows what segments do to a ring: a piece is passed on before the
// next one is received.
func TestSegmentedRing(t *testing.T) {
	s, err := Build(Spec{Kind: AllReduce, Algo: Ring, Rank: 0, Size: 3, Count: 12})
	if err != nil {
		t.Fatal(err)
	}
	want := `send main[8:10] to 1
send main[10:12] to 1
recv+reduce main[4:6] from 2
send main[4:6] to 1
recv+reduce main[6:8] from 2
send main[6:8] to 1
recv+reduce main[0:2] from 2
send main[0:2] to 1
recv+reduce main[2:4] from 2
send main[2:4] to 1
recv main[8:10] from 2
send main[8:10] to 1
recv main[10:12] from 2
send main[10:12] to 1
recv main[4:6] from 2
recv main[6:8] from 2
`
	if got := text(Segmented(s, 2).Lanes[0]); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestCrowdedTurns shows how crowded ranks exchange blocks: one peer at a time, two windows
// ahead.
func TestCrowdedTurns(t *testing.T) {
	s, err := Build(Spec{Kind: AllToAll, Algo: Direct, Rank: 0, Size: 3, Count: 3, Window: 8, Separate: true, Crowded: true})
	if err != nil {
		t.Fatal(err)
	}
	want := `send input[3:5] to 1
send input[5:6] to 1
copy main[0:2]
copy main[2:3]
recv main[6:8] from 2
send input[6:8] to 2
recv main[8:9] from 2
send input[8:9] to 2
recv main[3:5] from 1
recv main[5:6] from 1
`
	if got := text(Segmented(s, 100).Lanes[0]); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestCrowdedTree shows how crowded ranks broadcast: a rank sends to the next first, which
// runs on another processor, and passes on to those two places on, and so forth.
func TestCrowdedTree(t *testing.T) {
	for rank, want := range []string{
		"send main[0:1] to 1\nsend main[0:1] to 2\nsend main[0:1] to 4\n",
		"recv main[0:1] from 0\nsend main[0:1] to 3\nsend main[0:1] to 5\n",
		"recv main[0:1] from 0\n",
		"recv main[0:1] from 1\n",
		"recv main[0:1] from 0\n",
		"recv main[0:1] from 1\n",
	} {
		s, err := Build(Spec{Kind: Broadcast, Algo: Tree, Rank: rank, Size: 6, Count: 1, Crowded: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := text(s.Lanes[0]); got != want {
			t.Errorf("rank %d: got\n%swant\n%s", rank, got, want)
		}
	}
}

// TestPairRing shows how two ranks of one host mix what is to be added up with the sums: these follow
// as soon as they are there, and the summands stay two windows ahead.
func TestPairRing(t *testing.T) {
	s, err := Build(Spec{Kind: AllReduce, Algo: Ring, Rank: 0, Size: 2, Count: 15, Window: 16, Hosts: NewHosts([]string{"a", "a"})})
	if err != nil {
		t.Fatal(err)
	}
	want := `send main[8:10] to 1
send main[10:12] to 1
send main[12:14] to 1
recv+reduce main[0:2] from 1
send main[0:2] to 1
send main[14:15] to 1
recv+reduce main[2:4] from 1
send main[2:4] to 1
recv+reduce main[4:6] from 1
send main[4:6] to 1
recv main[8:10] from 1
recv+reduce main[6:8] from 1
send main[6:8] to 1
recv main[10:12] from 1
recv main[12:14] from 1
recv main[14:15] from 1
`
	if got := text(Segmented(s, 2).Lanes[0]); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestSegmentedKeepsOrder(t *testing.T) {
	main := func(off, n int) Slice { return Slice{Main, off, n} }
	lane := []Action{
		{Step: RecvStep, Peer: 1, Dst: main(0, 4)},
		{Step: SendStep, Peer: 2, Src: main(0, 4)},
		{Step: SendStep, Peer: 2, Src: main(4, 4)},               // ready at once, but behind the one before
		{Step: SendStep, Peer: 3, Src: main(4, 4)},               // goes first
		{Step: SendStep, Peer: 4, Src: main(6, 0), Pinned: true}, // stays
	}
	got := text(hoist(lane))
	want := `send main[4:8] to 3
recv main[0:4] from 1
send main[0:4] to 2
send main[4:8] to 2
send main[6:6] to 4
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestSegmentedIsBounded(t *testing.T) {
	s := &Schedule{Lanes: [][]Action{{{Step: SendStep, Peer: 1, Src: Slice{Main, 0, 1 << 40}}}}, Main: 1 << 40}
	pieces := Segmented(s, 1000).Lanes[0]
	if len(pieces) != maxSegments {
		t.Fatalf("cut into %d pieces", len(pieces))
	}
	end := 0
	for _, p := range pieces {
		if p.Src.Off != end {
			t.Fatalf("piece %v does not begin at %d", p.Src, end)
		}
		end = p.Src.End()
	}
	if end != 1<<40 {
		t.Errorf("the pieces end at %d", end)
	}
}

func TestRangeMap(t *testing.T) {
	m := newRangeMap(0)
	set := func(off, n, v int) {
		r := m.over(Slice{Main, off, n})
		for i := range r {
			r[i] = v
		}
	}
	set(10, 10, 1)
	set(15, 10, 2)
	set(12, 1, 3)
	if got := m.over(Slice{Main, 0, 100}); !slices.Equal(got, []int{0, 1, 3, 1, 2, 2, 0}) {
		t.Errorf("got %v", got)
	}
	if got := m.over(Slice{Scratch, 0, 100}); !slices.Equal(got, []int{0}) {
		t.Errorf("another buffer: got %v", got)
	}
	if got := m.over(Slice{Main, 5, 0}); got != nil {
		t.Errorf("nothing: got %v", got)
	}
}
