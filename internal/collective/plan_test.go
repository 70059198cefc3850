package collective

import (
	"strings"
	"testing"

	"thundercollective/internal/reduce"
)

// TestPlanWaits checks the waits of plans against the hazard rule itself: before
// an action writes, every earlier send of the lane that overlaps is waited for, by
// it or by an action before it.
func TestPlanWaits(t *testing.T) {
	for kind := AllReduce; kind <= Barrier; kind++ {
		for _, algo := range Algos(kind) {
			for _, n := range []int{2, 3, 5, 8} {
				for rank := range n {
					s := Spec{Kind: kind, Algo: algo, Rank: rank, Size: n, Count: 37, Window: 20, Separate: kind == AllToAll}
					p, err := newPlan(s, reduce.U8, reduce.Max, 4)
					if err != nil {
						t.Fatal(err)
					}
					for _, lane := range p.lanes {
						checkWaits(t, &s, &lane)
					}
				}
			}
		}
	}
}

func checkWaits(t *testing.T, s *Spec, lane *planLane) {
	t.Helper()
	waited := make([]int, s.Size)
	posted := make([]int, s.Size)
	for i, a := range lane.actions {
		for _, w := range lane.waits[a.from:a.to] {
			if w.n > posted[w.peer] {
				t.Fatalf("%+v: action %d waits for message %d to %d, which is not posted", s, i, w.n, w.peer)
			}
			waited[w.peer] = max(waited[w.peer], w.n)
		}
		if a.Step == SendStep {
			if a.number != posted[a.Peer] {
				t.Fatalf("%+v: action %d sends number %d after %d others", s, i, a.number, posted[a.Peer])
			}
			posted[a.Peer]++
			continue
		}
		for _, b := range lane.actions[:i] {
			if b.Step == SendStep && b.Src.Overlaps(a.Dst) && waited[b.Peer] <= b.number {
				t.Fatalf("%+v: action %d writes %v while %v is sent to %d", s, i, a.Dst, b.Src, b.Peer)
			}
		}
	}
}

func TestNewPlanRefuses(t *testing.T) {
	for _, tt := range []struct {
		spec Spec
		dt   reduce.DType
		op   reduce.Op
		want string
	}{
		{Spec{Kind: AllReduce, Size: 2}, 0, reduce.Sum, "no element type"},
		{Spec{Kind: AllReduce, Size: 2}, reduce.F32, reduce.Xor, "not defined"},
		{Spec{Kind: AllReduce, Size: 2, Algo: Ring, Count: 1 << 60}, reduce.F64, reduce.Sum, "too many"},
		{Spec{Kind: AllReduce, Size: 2, Rank: 7}, reduce.F64, reduce.Sum, "outside"},
	} {
		if _, err := NewPlan(tt.spec, tt.dt, tt.op); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want one with %q", tt.spec, err, tt.want)
		}
	}
}

// TestPlanIsBounded checks that a very long message costs neither scratch nor an
// endless plan.
func TestPlanIsBounded(t *testing.T) {
	for kind := AllReduce; kind <= Barrier; kind++ {
		for _, algo := range Algos(kind) {
			s := Spec{Kind: kind, Algo: algo, Rank: 1, Size: 4, Count: 1 << 26, Separate: kind == AllToAll}
			p, err := NewPlan(s, reduce.F32, reduce.Sum)
			if err != nil {
				t.Fatal(err)
			}
			if p.Scratch() > windowBytes {
				t.Errorf("%v %v of 256 MiB: scratch of %d bytes", kind, algo, p.Scratch())
			}
			if p.size() > 15_000 {
				t.Errorf("%v %v of 256 MiB: %d actions", kind, algo, p.size())
			}
		}
	}
}

func TestPlanner(t *testing.T) {
	pl := NewPlanner()
	get := func(s Spec, dt reduce.DType, op reduce.Op) *Plan {
		t.Helper()
		p, err := pl.Plan(s, dt, op)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	base := Spec{Kind: AllGather, Size: 3, Counts: []int{1, 2, 3}}
	p := get(base, reduce.F32, reduce.Sum)
	same := base
	same.Counts = []int{1, 2, 3}
	same.Algo = p.Algo()
	if get(same, reduce.F32, reduce.Max) != p {
		t.Error("the reduction does not matter to a gather, nor does who resolved the algorithm")
	}
	other := base
	other.Counts = []int{1, 3, 2}
	if get(other, reduce.F32, reduce.Sum) == p || get(base, reduce.F64, reduce.Sum) == p {
		t.Error("got the plan of another call")
	}
	base.Counts[0] = 9 // the plan has its own copy
	if get(same, reduce.F32, reduce.Sum) != p {
		t.Error("the plan follows the caller's counts")
	}
	if a := testing.AllocsPerRun(100, func() { get(same, reduce.F32, reduce.Sum) }); a != 0 {
		t.Errorf("a hit allocates %v times", a)
	}
	if _, err := pl.Plan(Spec{Kind: AllReduce, Size: 2, Count: -1}, reduce.F32, reduce.Sum); err == nil {
		t.Error("a bad spec gets a plan")
	}
}

func TestPlannerForgets(t *testing.T) {
	pl := NewPlanner()
	get := func(count int) *Plan {
		p, err := pl.Plan(Spec{Kind: AllReduce, Algo: Ring, Size: 2, Count: count}, reduce.U8, reduce.Sum)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	hot, cold := get(1), get(2)
	for count := 3; count < 3+plannerPlans; count++ {
		get(count)
		get(1)
	}
	if get(1) != hot {
		t.Error("forgot a plan in use")
	}
	if len(pl.plans) != plannerPlans {
		t.Errorf("keeps %d plans", len(pl.plans))
	}
	if get(2) == cold {
		t.Error("kept the plan used least")
	}
	total := 0
	for _, e := range pl.plans {
		total += e.plan.size()
	}
	if total != pl.actions {
		t.Errorf("counts %d actions of %d", pl.actions, total)
	}
}

func BenchmarkNewPlan(b *testing.B) {
	for _, algo := range Algos(AllReduce) {
		b.Run(algo.String(), func(b *testing.B) {
			s := Spec{Kind: AllReduce, Algo: algo, Rank: 1, Size: 4, Count: 1 << 28}
			for b.Loop() {
				if _, err := NewPlan(s, reduce.F32, reduce.Sum); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
