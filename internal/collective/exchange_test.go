package collective

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/reduce"
)

// A testLender is an end of a link that carries one message at a time. If it is lazy, a
// message leaves only when the peer takes it.
type testLender struct {
	fabric.Link
	lazy     bool
	in, out  chan testMessage
	taken    chan struct{} // a lazy message was
	borrowed bool
}

type testMessage struct {
	tag   fabric.Tag
	bytes []byte
	taken chan struct{} // nil unless the bytes are the sender's
}

func newTestLenders(lazy bool) [2]*testLender {
	a, b := make(chan testMessage, 1), make(chan testMessage, 1)
	return [2]*testLender{
		{lazy: lazy, in: a, out: b, taken: make(chan struct{}, 1)},
		{lazy: lazy, in: b, out: a, taken: make(chan struct{}, 1)},
	}
}

func (s *testLender) Borrow() int { return 1 << 10 }

func (s *testLender) Post(tag *fabric.Tag, b []byte) (bool, error) {
	if s.lazy {
		s.out <- testMessage{*tag, b, s.taken}
		s.borrowed = true
	} else {
		s.out <- testMessage{*tag, bytes.Clone(b), nil}
	}
	return !s.lazy, nil
}

func (s *testLender) Await(context.Context, int) error {
	if s.borrowed {
		<-s.taken
		s.borrowed = false
	}
	return nil
}

func (s *testLender) Take(_ context.Context, tag *fabric.Tag, n int) ([]byte, error) {
	m := <-s.in
	if m.tag != *tag || len(m.bytes) != n {
		return nil, &fabric.TagError{Want: *tag, Got: m.tag, WantLen: uint64(n), GotLen: uint64(len(m.bytes))}
	}
	b := bytes.Clone(m.bytes)
	if m.taken != nil {
		m.taken <- struct{}{}
	}
	return b, nil
}

// exchangeSpecs calls f with all operations of two ranks that may be exchanges.
func exchangeSpecs(f func(s Spec)) {
	for kind := AllReduce; kind <= Barrier; kind++ {
		for _, algo := range Algos(kind) {
			for _, count := range []int{0, 1, 7, 40} {
				for _, separate := range []bool{true, false} {
					for root := range 2 {
						if (separate || kind != AllToAll) && (root == 0 || kind.Rooted()) {
							f(Spec{Kind: kind, Algo: algo, Size: 2, Root: root, Count: count, Separate: separate})
						}
					}
				}
			}
		}
	}
}

// TestExchange runs all plans that are exchanges as such, in all types and reductions.
func TestExchange(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		ends := newTestLenders(lazy)
		var tag fabric.Tag
		run := func(ctx context.Context, plans []*Plan, mains, inputs [][]byte) []error {
			tag[0]++
			errs := make([]error, 2)
			var wg sync.WaitGroup
			for r, p := range plans {
				wg.Go(func() {
					gone, err := p.post(ends[r], &tag, mains[r], inputs[r])
					if err == nil {
						err = p.fetch(ctx, ends[r], &tag, mains[r], inputs[r], gone)
					}
					errs[r] = err
				})
			}
			wg.Wait()
			return errs
		}
		exchanges := map[Kind]int{}
		exchangeSpecs(func(s Spec) {
			for _, dt := range reduce.DTypes() {
				if isExchange(t, s, dt) != 2 {
					continue
				}
				exchanges[s.Kind]++
				for _, op := range ops(dt) {
					newJob(t, s, dt, op).checkWith(t, DefaultSegment, run)
					if !s.Kind.Reduces() {
						break
					}
				}
			}
		})
		for kind := AllReduce; kind <= Barrier; kind++ {
			if exchanges[kind] == 0 {
				t.Errorf("no %v of two ranks is an exchange", kind)
			}
		}
	}
}

// isExchange returns at how many of two ranks a plan is an exchange.
func isExchange(t *testing.T, s Spec, dt reduce.DType) (n int) {
	t.Helper()
	for s.Rank = range 2 {
		p, err := NewPlan(s, dt, ops(dt)[0])
		if err != nil {
			t.Fatal(err)
		}
		if e := p.exchange; e != nil {
			n++
			if e.peer != 1-s.Rank || e.longest != s.Count*dt.Size() && e.longest != 0 {
				t.Errorf("%+v of %v: exchange with %d of %d bytes", s, dt, e.peer, e.longest)
			}
		}
	}
	return n
}

// lending makes any link lend short messages.
type lending struct{ fabric.Link }

func (l lending) Borrow() int { return 1 << 10 }

func (l lending) Take(ctx context.Context, tag *fabric.Tag, n int) ([]byte, error) {
	b := make([]byte, n)
	return b, l.Recv(ctx, tag, b)
}

// lendingLinks are Links that lend short messages.
type lendingLinks struct{ Links }

func (s lendingLinks) Link(ctx context.Context, peer int) (fabric.Link, error) {
	l, err := s.Links.Link(ctx, peer)
	return lending{l}, err
}

// TestExchangeMeetsMessages: a rank cannot tell whether its peer takes the path of an
// exchange or that of messages. That is decided by the link and the plan.
func TestExchangeMeetsMessages(t *testing.T) {
	for exchanging := range 2 {
		t.Run(fmt.Sprintf("rank %d exchanges", exchanging), func(t *testing.T) {
			links := memLinks(t, 2)
			links[exchanging] = lendingLinks{links[exchanging]}
			g := newTestGroup(t, links)
			opened := false
			run := func(ctx context.Context, plans []*Plan, mains, inputs [][]byte) []error {
				g.tag[0]++
				errs := make([]error, 2)
				var wg sync.WaitGroup
				for r, p := range plans {
					wg.Go(func() {
						op := Operation{Plan: p, Tag: &g.tag, Main: mains[r], Input: inputs[r]}
						started, err := g.executors[r].Begin(ctx, &op)
						if want := r == exchanging && p.exchange != nil && opened; started != want || (op.Path() == PathExchange) != want {
							t.Errorf("rank %d: %v: started %v, path %v", r, p.spec.Kind, started, op.Path())
						}
						if err == nil {
							err = g.executors[r].Finish(ctx, &op)
						}
						errs[r] = err
					})
				}
				wg.Wait()
				opened = true
				return errs
			}
			exchangeSpecs(func(s Spec) { newJob(t, s, reduce.I32, reduce.Sum).checkWith(t, DefaultSegment, run) })
		})
	}
}

// TestExchangeOrder: the operands of a reduction come in the order of the ranks.
func TestExchangeOrder(t *testing.T) {
	nan := func(payload byte) []byte { return []byte{payload, 0, 0xc0, 0x7f} }
	ends := newTestLenders(false)
	mains := [][]byte{nan(1), nan(2)}
	var wg sync.WaitGroup
	for r := range 2 {
		p, err := NewPlan(Spec{Kind: AllReduce, Algo: Direct, Rank: r, Size: 2, Count: 1}, reduce.F32, reduce.Sum)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			gone, err := p.post(ends[r], &fabric.Tag{}, mains[r], nil)
			if err == nil {
				err = p.fetch(t.Context(), ends[r], &fabric.Tag{}, mains[r], nil, gone)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if !bytes.Equal(mains[0], mains[1]) {
		t.Errorf("ranks have different bits: %x and %x", mains[0], mains[1])
	}
}

// TestExchangeErrors: they name the action, and buffers that are too short are refused.
func TestExchangeErrors(t *testing.T) {
	ends := newTestLenders(false)
	p, err := NewPlan(Spec{Kind: AllReduce, Algo: Direct, Rank: 1, Size: 2, Count: 4}, reduce.I32, reduce.Sum)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.post(ends[1], &fabric.Tag{}, make([]byte, 15), nil); err == nil {
		t.Error("a short buffer was taken")
	}
	main := make([]byte, 16)
	if _, err := p.post(ends[1], &fabric.Tag{1}, main, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ends[0].Post(&fabric.Tag{2}, main); err != nil {
		t.Fatal(err)
	}
	err = p.fetch(t.Context(), ends[1], &fabric.Tag{1}, main, nil, true)
	step, ok := errors.AsType[*StepError](err)
	if !ok || step.Step != RecvReduceStep || step.Peer != 0 || step.Action != 1 {
		t.Errorf("got %v, want a StepError of the second action", err)
	}
	if _, ok := errors.AsType[*fabric.TagError](err); !ok {
		t.Errorf("got %v, want a TagError", err)
	}
}
