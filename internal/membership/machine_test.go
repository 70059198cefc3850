package membership

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSurvivorsDecide runs groups with random deaths, late callers and orders of
// messages: as long as a quorum lives, all survivors decide, on the same.
func TestSurvivorsDecide(t *testing.T) {
	runs := 3000
	if testing.Short() {
		runs = 300
	}
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 8))
		size := 2 + rng.IntN(6)
		var dead Set
		nodes := make([]*Machine, size)
		var flying []Message
		take := func(r int) { flying = append(flying, nodes[r].Take()...) }
		alive := func() (s Set) {
			for r := range size {
				if !dead.Has(r) {
					s.Add(r)
				}
			}
			return s
		}
		for step := 0; ; step++ {
			live := alive()
			ranks := live.Ranks()
			pending := 0
			for _, r := range ranks {
				if nodes[r] == nil || !nodes[r].decided {
					pending++
				}
			}
			if pending == 0 {
				break
			}
			if step > 20_000 {
				t.Fatalf("seed %d: %d of ranks %v have not decided", seed, pending, ranks)
			}
			r := ranks[rng.IntN(len(ranks))]
			switch x := rng.IntN(20); {
			case x == 0 && step < 200: // a death that leaves a quorum
				after := dead
				after.Add(r)
				left := Set{}
				for q := range size {
					if !after.Has(q) {
						left.Add(q)
					}
				}
				if left.Quorum(size) {
					dead = after
				}
			case nodes[r] == nil:
				if x < 5 {
					nodes[r] = New(r, size, dead)
					take(r)
				}
			case x < 4:
				nodes[r].Tick()
				take(r)
			case x < 8: // somebody notices one of the dead
				if d := dead.Ranks(); len(d) > 0 {
					nodes[r].Gone(d[rng.IntN(len(d))])
					take(r)
				}
			case len(flying) > 0:
				i := rng.IntN(len(flying))
				m := flying[i]
				flying = slices.Delete(flying, i, i+1)
				if n := nodes[m.To]; n != nil && !dead.Has(m.To) {
					n.Step(m)
					take(m.To)
				}
			}
			check(t, seed, nodes)
		}
	}
}

// check holds the promises against a state.
func check(t *testing.T, seed uint64, nodes []*Machine) {
	var first *Machine
	for r, n := range nodes {
		if n == nil || !n.decided {
			continue
		}
		if first == nil {
			first = n
		}
		if n.decision != first.decision {
			t.Fatalf("seed %d: rank %d decided on %v, rank %d on %v", seed, first.self, first.decision.Ranks(), r, n.decision.Ranks())
		}
		if !n.decision.Quorum(len(nodes)) {
			t.Fatalf("seed %d: rank %d decided on %v, which is no quorum of %d", seed, r, n.decision.Ranks(), len(nodes))
		}
		for _, member := range n.decision.Ranks() {
			if nodes[member] == nil {
				t.Fatalf("seed %d: rank %d decided on %v, but %d never took part", seed, r, n.decision.Ranks(), member)
			}
		}
	}
}

// TestQuorum says which sets decide, and that any two of them meet.
func TestQuorum(t *testing.T) {
	for size := 1; size <= 6; size++ {
		var quorums []Set
		for bits := range 1 << size {
			if s := (Set{uint64(bits)}); s.Quorum(size) {
				quorums = append(quorums, s)
			}
		}
		for _, a := range quorums {
			for _, b := range quorums {
				if a[0]&b[0] == 0 {
					t.Errorf("size %d: %v and %v have nothing in common", size, a.Ranks(), b.Ranks())
				}
			}
		}
	}
	for _, tt := range []struct {
		set  Set
		size int
		want bool
	}{
		{SetOf(0), 2, true}, {SetOf(1), 2, false}, {SetOf(1, 2), 3, true}, {SetOf(0), 3, false},
		{SetOf(0, 3), 4, true}, {SetOf(2, 3), 4, false}, {SetOf(1000, 0, 64), 5, true},
	} {
		if tt.set.Quorum(tt.size) != tt.want {
			t.Errorf("%v of %d: want %v", tt.set.Ranks(), tt.size, tt.want)
		}
	}
}

// TestHopeless has a rank notice that it cannot decide any more.
func TestHopeless(t *testing.T) {
	m := New(1, 3, SetOf(0))
	if m.Hopeless() {
		t.Error("two of three are left")
	}
	if got := m.Waiting(); !slices.Equal(got, []int{2}) {
		t.Errorf("waiting for %v, want 2", got)
	}
	m.Gone(2)
	if !m.Hopeless() {
		t.Error("one of three is left")
	}
	if got := New(2, 3, Set{}).Waiting(); !slices.Equal(got, []int{0}) {
		t.Errorf("waiting for %v, want the leader", got)
	}
}
