package collective

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/provider/mem"
	"thundercollective/internal/reduce"
)

// A baseLink is what links of tests have in common: they lend and count nothing.
type baseLink struct{}

func (baseLink) Borrow() int             { return -1 }
func (baseLink) Traffic() fabric.Traffic { return fabric.Traffic{} }
func (baseLink) Take(context.Context, *fabric.Tag, int) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// onChannel makes a fabric the Links of an executor.
type onChannel struct{ fabric.Fabric }

func (c onChannel) Link(ctx context.Context, peer int) (fabric.Link, error) {
	return c.Fabric.Link(ctx, peer, 1)
}

// memLinks returns the Links of n ranks over the mem fabric.
func memLinks(t testing.TB, n int) []Links {
	t.Helper()
	fabrics, err := mem.New(n)
	if err != nil {
		t.Fatal(err)
	}
	links := make([]Links, n)
	for i, f := range fabrics {
		links[i] = onChannel{f}
		t.Cleanup(func() { f.Close() })
	}
	return links
}

// A testGroup is the executors of all ranks.
type testGroup struct {
	executors []*Executor
	tag       fabric.Tag
}

func newTestGroup(t testing.TB, links []Links) *testGroup {
	g := &testGroup{}
	for r, l := range links {
		x := NewExecutor(r, len(links), l, nil)
		t.Cleanup(x.Close)
		g.executors = append(g.executors, x)
	}
	return g
}

// run runs one plan a rank and returns their errors.
func (g *testGroup) run(ctx context.Context, plans []*Plan, mains, inputs [][]byte) []error {
	g.tag[0]++
	errs := make([]error, len(plans))
	var wg sync.WaitGroup
	for r := range plans {
		wg.Go(func() {
			tag := g.tag
			errs[r] = g.executors[r].do(ctx, plans[r], &tag, mains[r], inputs[r])
		})
	}
	wg.Wait()
	return errs
}

// do carries out a plan by the path that the executor decides.
func (x *Executor) do(ctx context.Context, plan *Plan, tag *fabric.Tag, main, input []byte) error {
	op := Operation{Plan: plan, Tag: tag, Main: main, Input: input}
	if _, err := x.Begin(ctx, &op); err != nil {
		return err
	}
	return x.Finish(ctx, &op)
}

// A job is one collective on all ranks, with its buffers and what should be in
// them afterwards.
type job struct {
	specs         []Spec
	dtype         reduce.DType
	op            reduce.Op
	mains, inputs [][]byte
	want          [][]byte // nil where Main may hold anything
	from          []int    // where in Main want begins
}

// newJob fills the buffers of a collective. Operands are ones and twos, so that
// every order of every reduction gives the same bits in every type.
func newJob(t testing.TB, s Spec, dt reduce.DType, op reduce.Op) *job {
	t.Helper()
	j := &job{dtype: dt, op: op, from: make([]int, s.Size), want: make([][]byte, s.Size)}
	size := dt.Size()
	rng := rand.New(rand.NewPCG(1, 2))
	contributions := make([][]byte, s.Size)
	for r := range s.Size {
		s.Rank = r
		j.specs = append(j.specs, s)
		main, input := s.lengths()
		j.mains = append(j.mains, bytes.Repeat([]byte{0xee}, main*size))
		j.inputs = append(j.inputs, make([]byte, input*size))
		source := j.inputs[r]
		if !s.Separate {
			source = j.mains[r]
			if s.Kind == AllGather || s.Kind == Gather && r == s.Root {
				own := s.blocks()[r]
				source = source[own.off*size:][:own.n*size]
			}
		}
		const period = 1021 // a prime, so that no two blocks are alike
		filled := min(len(source)/size, period) * size
		for i := 0; i < filled; i += size {
			e := source[i : i+size]
			if s.Kind.Reduces() {
				putSmall(dt, e, 1+rng.IntN(2))
			} else {
				for k := range e {
					e[k] = byte(rng.Uint32())
				}
			}
		}
		for ; filled < len(source) && filled > 0; filled *= 2 {
			copy(source[filled:], source[:filled])
		}
		contributions[r] = bytes.Clone(source)
	}
	for r := range j.specs {
		j.expect(t, r, contributions)
	}
	return j
}

// expect works out the result of a rank in the plainest way.
func (j *job) expect(t testing.TB, r int, contributions [][]byte) {
	s := &j.specs[r]
	size := j.dtype.Size()
	main, _ := s.lengths()
	all := func(from span) []byte {
		var b []byte
		for _, c := range contributions {
			b = append(b, c[from.off*size:][:from.n*size]...)
		}
		return b
	}
	switch s.Kind {
	case AllReduce:
		j.want[r] = j.reduceAll(t, contributions, span{0, s.Count})
	case Reduce:
		j.want[r] = bytes.Clone(j.mains[r])
		if r == s.Root {
			j.want[r] = j.reduceAll(t, contributions, span{0, s.Count})
		}
	case ReduceScatter:
		own := s.blocks()[r]
		j.want[r] = j.reduceAll(t, contributions, own)
		if !s.Separate {
			j.from[r] = own.off * size
		}
	case Broadcast:
		j.want[r] = contributions[s.Root]
	case AllGather, Gather:
		j.want[r] = bytes.Clone(j.mains[r])
		if s.Kind == AllGather || r == s.Root {
			j.want[r] = bytes.Join(contributions, nil)
		}
	case Scatter:
		j.want[r] = contributions[s.Root]
		if r != s.Root || s.Separate {
			own := s.blocks()[r]
			j.want[r] = contributions[s.Root][own.off*size:][:own.n*size]
		}
	case AllToAll:
		j.want[r] = all(s.blocks()[r])
	}
	if s.Kind != ReduceScatter && len(j.want[r]) != main*size {
		t.Fatalf("%+v: oracle gives %d bytes for %d", s, len(j.want[r]), main*size)
	}
}

func (j *job) reduceAll(t testing.TB, contributions [][]byte, part span) []byte {
	kernel, err := reduce.Lookup(j.dtype, j.op)
	if err != nil {
		t.Fatal(err)
	}
	size := j.dtype.Size()
	cut := func(b []byte) []byte { return b[part.off*size:][:part.n*size] }
	out := bytes.Clone(cut(contributions[0]))
	for _, c := range contributions[1:] {
		kernel(out, out, cut(c))
	}
	if j.op == reduce.Avg {
		reduce.Divide(j.dtype, out, out, len(contributions))
	}
	return out
}

// check runs the job and compares.
func (j *job) check(t testing.TB, g *testGroup, segment int) {
	t.Helper()
	j.checkWith(t, segment, g.run)
}

// checkWith is check with something else than executors.
func (j *job) checkWith(t testing.TB, segment int, run func(ctx context.Context, plans []*Plan, mains, inputs [][]byte) []error) {
	t.Helper()
	plans := make([]*Plan, len(j.specs))
	inputs := make([][]byte, len(j.specs))
	for r, s := range j.specs {
		p, err := newPlan(s, j.dtype, j.op, segment)
		if err != nil {
			t.Fatal(err)
		}
		plans[r] = p
		inputs[r] = bytes.Clone(j.inputs[r])
	}
	for r, err := range run(t.Context(), plans, j.mains, j.inputs) {
		what := fmt.Sprintf("%+v of %v %v", j.specs[r], j.op, j.dtype)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := j.mains[r][j.from[r]:][:len(j.want[r])]; !bytes.Equal(got, j.want[r]) {
			t.Fatalf("%s: got\n%x, want\n%x", what, got, j.want[r])
		}
		if !bytes.Equal(inputs[r], j.inputs[r]) {
			t.Fatalf("%s: the input changed", what)
		}
	}
}

// putSmall writes the number v, 1 or 2, as an element.
func putSmall(dt reduce.DType, e []byte, v int) {
	clear(e)
	switch dt {
	case reduce.F32:
		binary.NativeEndian.PutUint32(e, [...]uint32{1: 0x3f80_0000, 2: 0x4000_0000}[v])
	case reduce.F64:
		binary.NativeEndian.PutUint64(e, [...]uint64{1: 0x3ff0_0000_0000_0000, 2: 0x4000_0000_0000_0000}[v])
	case reduce.F16:
		binary.NativeEndian.PutUint16(e, [...]uint16{1: 0x3c00, 2: 0x4000}[v])
	case reduce.BF16:
		binary.NativeEndian.PutUint16(e, [...]uint16{1: 0x3f80, 2: 0x4000}[v])
	case reduce.I8, reduce.U8:
		e[0] = byte(v)
	case reduce.Bool:
		e[0] = byte(v - 1)
	case reduce.I16, reduce.U16:
		binary.NativeEndian.PutUint16(e, uint16(v))
	case reduce.I32, reduce.U32:
		binary.NativeEndian.PutUint32(e, uint32(v))
	default:
		binary.NativeEndian.PutUint64(e, uint64(v))
	}
}
