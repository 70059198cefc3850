package collective

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"thundercollective/internal/reduce"
)

// ops returns the reductions of a type.
func ops(dt reduce.DType) []reduce.Op {
	var out []reduce.Op
	for _, op := range reduce.Ops() {
		if _, err := reduce.Lookup(dt, op); err == nil {
			out = append(out, op)
		}
	}
	return out
}

// TestRunEverything runs every operation and algorithm over the mem fabric, in
// all types and reductions, small windows and segments included.
func TestRunEverything(t *testing.T) {
	for n := 1; n <= 9; n++ {
		if testing.Short() && n > 5 {
			break
		}
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) {
			t.Parallel()
			g := newTestGroup(t, memLinks(t, n))
			turn := 0
			for kind := AllReduce; kind <= Barrier; kind++ {
				for _, algo := range Algos(kind) {
					for _, dt := range reduce.DTypes() {
						turn++
						op := ops(dt)[turn%len(ops(dt))]
						s := Spec{
							Kind: kind, Algo: algo, Size: n, Root: turn % n,
							Count: []int{3*n + 1, 1, 40, 0}[turn%4], Window: []int{0, 9}[turn%2],
							Separate: turn%3 != 0 || kind == AllToAll,
						}
						newJob(t, s, dt, op).check(t, g, []int{DefaultSegment, 24}[turn/2%2])
					}
				}
			}
		})
	}
}

// TestRunEveryReduction covers each pair of type and reduction.
func TestRunEveryReduction(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		g := newTestGroup(t, memLinks(t, n))
		for _, dt := range reduce.DTypes() {
			for _, op := range ops(dt) {
				for _, algo := range Algos(AllReduce) {
					newJob(t, Spec{Kind: AllReduce, Algo: algo, Size: n, Count: 23}, dt, op).check(t, g, 32)
				}
			}
		}
	}
}

// TestRunStrictly runs over links on which a send ends with its receive, so that
// a missing wait shows as a race or as a wrong result, and a superfluous one as a
// deadlock.
func TestRunStrictly(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		for _, n := range []int{2, 3, 4, 6, 7} {
			g := newTestGroup(t, newStrictLinks(n, lazy))
			for kind := AllReduce; kind <= Barrier; kind++ {
				for _, algo := range Algos(kind) {
					for _, separate := range []bool{true, false} {
						if kind == AllToAll && !separate {
							continue
						}
						s := Spec{
							Kind: kind, Algo: algo, Size: n, Root: n - 1, Count: 5 * n, Window: 12,
							Separate: separate,
						}
						newJob(t, s, reduce.I32, reduce.Sum).check(t, g, 16)
					}
				}
			}
		}
	}
}

// TestRunLong runs messages that go through goroutines, windows and segments of
// the real lengths.
func TestRunLong(t *testing.T) {
	if testing.Short() {
		t.Skip("moves some 30 MiB")
	}
	const n = 3
	g := newTestGroup(t, memLinks(t, n))
	for kind := AllReduce; kind <= Barrier; kind++ {
		for _, algo := range Algos(kind) {
			s := Spec{Kind: kind, Algo: algo, Size: n, Count: 300_001, Window: 70_000, Separate: kind == AllToAll}
			newJob(t, s, reduce.I16, reduce.Max).check(t, g, DefaultSegment)
		}
	}
}

// TestSameBits checks that rounding does not depend on the rank or the run.
func TestSameBits(t *testing.T) {
	for _, n := range []int{2, 3, 5, 8} {
		for _, algo := range Algos(AllReduce) {
			checkSameBits(t, Spec{Kind: AllReduce, Algo: algo, Size: n, Count: 1000})
		}
	}
	for _, shape := range hostShapes {
		checkSameBits(t, Spec{Kind: AllReduce, Algo: Hier, Size: len(shape), Count: 1000, Hosts: hostsOf(shape), Window: 64, ElemSize: windowBytes / 64})
	}
}

// checkSameBits runs an all-reduce twice.
func checkSameBits(t *testing.T, s Spec) {
	t.Helper()
	n := s.Size
	var first []byte
	for range 2 {
		g := newTestGroup(t, memLinks(t, n))
		rng := rand.New(rand.NewPCG(3, 4))
		plans, mains := make([]*Plan, n), make([][]byte, n)
		for r := range n {
			var err error
			s.Rank = r
			if plans[r], err = newPlan(s, reduce.F32, reduce.Avg, 512); err != nil {
				t.Fatal(err)
			}
			v := make([]float32, s.Count)
			for i := range v {
				v[i] = float32(rng.NormFloat64() * math.Exp2(float64(rng.IntN(30))))
			}
			mains[r] = reduce.Bytes(v)
		}
		for _, err := range g.run(t.Context(), plans, mains, make([][]byte, n)) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if first == nil {
			first = mains[0]
		}
		for r, m := range mains {
			if !bytes.Equal(m, first) {
				t.Errorf("%+v: rank %d has other bits", s, r)
			}
		}
	}
}

// TestRunPointToPoint covers the operations of two ranks.
func TestRunPointToPoint(t *testing.T) {
	g := newTestGroup(t, memLinks(t, 2))
	for _, n := range []int{0, 1, 1000, 300_000} {
		plan := func(s Spec) *Plan {
			s.Size, s.RecvCount = 2, s.Count
			p, err := NewPlan(s, reduce.U8, 0)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		a, b := bytes.Repeat([]byte{1}, n), make([]byte, n)
		plans := []*Plan{
			plan(Spec{Kind: Send, Rank: 0, Root: 1, Count: n}),
			plan(Spec{Kind: Recv, Rank: 1, Root: 0, Count: n}),
		}
		for _, err := range g.run(t.Context(), plans, [][]byte{a, b}, make([][]byte, 2)) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(a, b) {
			t.Errorf("send and recv of %d bytes", n)
		}
		a, b = bytes.Repeat([]byte{2}, n), bytes.Repeat([]byte{3}, n)
		fromA, fromB := make([]byte, n), make([]byte, n)
		plans = []*Plan{
			plan(Spec{Kind: SendRecv, Rank: 0, Root: 1, From: 1, Count: n, Separate: true}),
			plan(Spec{Kind: SendRecv, Rank: 1, Root: 0, From: 0, Count: n, Separate: true}),
		}
		for _, err := range g.run(t.Context(), plans, [][]byte{fromB, fromA}, [][]byte{a, b}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(a, fromA) || !bytes.Equal(b, fromB) {
			t.Errorf("sendrecv of %d bytes", n)
		}
	}
}

// TestRunDoesNotAllocate runs small messages, long ones and several lanes.
func TestRunDoesNotAllocate(t *testing.T) {
	const n = 3
	for _, tt := range []struct {
		kind  Kind
		algo  Algo
		count int
	}{
		{AllReduce, Direct, 2},
		{AllReduce, Direct, 100_000},
		{AllReduce, Ring, 500_000},
		{AllReduce, BiRing, 500_000},
		{AllReduce, Doubling, 100},
		{AllReduce, HalvingDoubling, 100_000},
		{Broadcast, Ring, 500_000},
		{Broadcast, Tree, 100},
		{Barrier, Doubling, 0},
	} {
		g := newTestGroup(t, memLinks(t, n))
		planner := NewPlanner()
		work, done := make([]chan struct{}, n), make(chan error, n)
		op := func(r int, main []byte) error {
			s := Spec{Kind: tt.kind, Algo: tt.algo, Rank: r, Size: n, Count: tt.count}
			plan, err := planner.Plan(s, reduce.F32, reduce.Sum)
			if err != nil {
				return err
			}
			return g.executors[r].Run(t.Context(), plan, &g.tag, main, nil)
		}
		for r := 1; r < n; r++ {
			work[r] = make(chan struct{})
			main := make([]byte, 4*tt.count)
			go func() {
				for range work[r] {
					done <- op(r, main)
				}
			}()
		}
		main := make([]byte, 4*tt.count)
		all := func() {
			for _, w := range work[1:] {
				w <- struct{}{}
			}
			err := op(0, main)
			for range n - 1 {
				if e := <-done; e != nil {
					err = e
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			all() // open links, start goroutines
		}
		if a := testing.AllocsPerRun(20, all); a != 0 {
			t.Errorf("%v %v of %d elements: %v allocations", tt.kind, tt.algo, tt.count, a)
		}
		for _, w := range work[1:] {
			close(w)
		}
	}
}

func BenchmarkAllReduce(b *testing.B) {
	for _, tt := range []struct {
		n     int
		algo  Algo
		count int
	}{
		{2, Direct, 2}, {4, Direct, 2}, {4, Doubling, 2}, {2, Ring, 1 << 18}, {2, Direct, 1 << 18},
		{4, Ring, 1 << 18}, {4, HalvingDoubling, 1 << 18}, {2, Ring, 1 << 22},
	} {
		b.Run(fmt.Sprintf("n=%d/%v/%dB", tt.n, tt.algo, 4*tt.count), func(b *testing.B) {
			g := newTestGroup(b, memLinks(b, tt.n))
			b.SetBytes(int64(4 * tt.count))
			b.ReportAllocs()
			var wg sync.WaitGroup
			for r := range tt.n {
				s := Spec{Kind: AllReduce, Algo: tt.algo, Rank: r, Size: tt.n, Count: tt.count}
				plan, err := NewPlan(s, reduce.F32, reduce.Sum)
				if err != nil {
					b.Fatal(err)
				}
				main := make([]byte, 4*tt.count)
				wg.Go(func() {
					for range b.N {
						if err := g.executors[r].Run(b.Context(), plan, &g.tag, main, nil); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
