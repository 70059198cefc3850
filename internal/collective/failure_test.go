package collective

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/provider/mem"
	"thundercollective/internal/reduce"
)

// The tests of failures run in bubbles, which fail when a goroutine is left over
// or when everything waits for ever.

// bubble makes n executors over the mem fabric and closes all at the end.
func bubble(t *testing.T, n int, f func(t *testing.T, fabrics []fabric.Fabric, g *testGroup)) {
	synctest.Test(t, func(t *testing.T) {
		fabrics, err := mem.New(n)
		if err != nil {
			t.Fatal(err)
		}
		peers := make([]Links, n)
		for r := range peers {
			peers[r] = onChannel{fabrics[r]}
		}
		g := newTestGroup(t, peers)
		f(t, fabrics, g)
		for r := range n {
			g.executors[r].Close()
			fabrics[r].Close()
		}
	})
}

func mustPlan(t *testing.T, s Spec) *Plan {
	t.Helper()
	p, err := NewPlan(s, reduce.F32, reduce.Sum)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLostPeer has one rank leave, and the others in turn when they notice; each,
// whatever it is doing, ends with an error that says whom it lost.
func TestLostPeer(t *testing.T) {
	const n, count = 4, 500_000
	for _, algo := range Algos(AllReduce) {
		bubble(t, n, func(t *testing.T, fabrics []fabric.Fabric, g *testGroup) {
			var wg sync.WaitGroup
			errs := make([]error, n)
			for r := range n - 1 {
				plan := mustPlan(t, Spec{Kind: AllReduce, Algo: algo, Rank: r, Size: n, Count: count})
				wg.Go(func() {
					errs[r] = g.executors[r].Run(t.Context(), plan, &fabric.Tag{}, make([]byte, 4*count), nil)
					fabrics[r].Close()
				})
			}
			synctest.Wait() // they wait for rank 3
			fabrics[n-1].Close()
			wg.Wait()
			for r, err := range errs[:n-1] {
				var step *StepError
				var lost *fabric.LostError
				if !errors.As(err, &step) || !errors.As(err, &lost) || step.Peer != lost.Peer {
					t.Errorf("%v: rank %d: got error %v", algo, r, err)
				}
			}
		})
	}
}

// TestMismatch has ranks disagree; all of them end, and at least one says so.
func TestMismatch(t *testing.T) {
	const n, count = 3, 300_000
	bubble(t, n, func(t *testing.T, fabrics []fabric.Fabric, g *testGroup) {
		var wg sync.WaitGroup
		var mismatches atomic.Int32
		for r := range n {
			algo, tag := Ring, fabric.Tag{1}
			if r == 2 {
				algo, tag = Direct, fabric.Tag{2}
			}
			plan := mustPlan(t, Spec{Kind: AllReduce, Algo: algo, Rank: r, Size: n, Count: count})
			wg.Go(func() {
				err := g.executors[r].Run(t.Context(), plan, &tag, make([]byte, 4*count), nil)
				fabrics[r].Close()
				var mismatch *fabric.TagError
				if errors.As(err, &mismatch) {
					mismatches.Add(1)
				}
				if err == nil {
					t.Errorf("rank %d sees nothing wrong", r)
				}
			})
		}
		wg.Wait()
		if mismatches.Load() == 0 {
			t.Error("nobody says that the ranks disagree")
		}
	})
}

// TestCancel ends runs that wait for a rank which never comes, in a receive, in a
// send and while opening a link.
func TestCancel(t *testing.T) {
	why := errors.New("enough")
	const n, count = 3, 500_000
	for _, algo := range []Algo{Ring, BiRing, Direct} {
		for _, opened := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				peers := newStrictLinks(n, false)
				g := newTestGroup(t, peers)
				if opened {
					plans := make([]*Plan, n)
					for r := range n {
						plans[r] = mustPlan(t, Spec{Kind: Barrier, Algo: Direct, Rank: r, Size: n})
					}
					for _, err := range g.run(t.Context(), plans, make([][]byte, n), make([][]byte, n)) {
						if err != nil {
							t.Fatal(err)
						}
					}
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				x := g.executors[0]
				plan := mustPlan(t, Spec{Kind: AllReduce, Algo: algo, Rank: 0, Size: n, Count: count})
				go func() {
					time.Sleep(time.Hour)
					cancel(why)
				}()
				if err := x.Run(ctx, plan, &fabric.Tag{}, make([]byte, 4*count), nil); !errors.Is(err, why) {
					t.Errorf("%v, opened %v: got error %v, want %v", algo, opened, err, why)
				}
				if err := x.Run(t.Context(), plan, &fabric.Tag{}, make([]byte, 4*count), nil); !errors.Is(err, why) {
					t.Errorf("%v, opened %v: a second run gives %v", algo, opened, err)
				}
				for _, x := range g.executors {
					x.Close()
				}
			})
		}
	}
}

// A failer cancels the run when it fails, after some thought.
type failer struct {
	stop  context.CancelCauseFunc
	calls int
	err   error
}

func (f *failer) failed(err error) {
	f.calls++
	f.err = err
	time.Sleep(time.Second)
	f.stop(err)
}

// TestFailed checks that the function for failures gets the first error while the run is still
// blocked elsewhere, and ends it.
func TestFailed(t *testing.T) {
	const n, count = 3, 500_000
	synctest.Test(t, func(t *testing.T) {
		fabrics, err := mem.New(n)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		f := &failer{stop: stop}
		x := NewExecutor(0, n, onChannel{fabrics[0]}, f.failed)
		plan := mustPlan(t, Spec{Kind: AllReduce, Algo: BiRing, Rank: 0, Size: n, Count: count})
		fabrics[2].Close() // rank 1 neither sends nor receives: a lane stays blocked
		start := time.Now()
		err = x.Run(ctx, plan, &fabric.Tag{}, make([]byte, 4*count), nil)
		var lost *fabric.LostError
		if !errors.As(err, &lost) || lost.Peer != 2 || err != f.err || f.calls != 1 {
			t.Errorf("got error %v; it was called %d times, with %v", err, f.calls, f.err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("the run ended after %v", took)
		}
		x.Close()
		for _, f := range fabrics {
			f.Close()
		}
	})
}

// TestPostedIsFlushed checks that a message which was posted is seen through
// before a failed run lets go of its buffers.
func TestPostedIsFlushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link := &stuckLink{closed: make(chan struct{})}
		x := NewExecutor(0, 2, link, nil)
		// Without a link there is nothing to post on; the first message opens it.
		link.fine = true
		barrier := mustPlan(t, Spec{Kind: Barrier, Algo: Direct, Rank: 0, Size: 2})
		if err := x.Run(t.Context(), barrier, &fabric.Tag{}, nil, nil); err != nil {
			t.Fatal(err)
		}
		link.fine = false
		err := x.Run(t.Context(), barrier, &fabric.Tag{}, nil, nil)
		if !errors.Is(err, errStuck) {
			t.Errorf("got error %v", err)
		}
		if !link.flushed {
			t.Error("the run returned while the link held its message")
		}
		x.Close()
	})
}

var errStuck = errors.New("stuck")

// stuckLink fails to receive, and holds what is posted until it is closed.
type stuckLink struct {
	baseLink
	fine    bool
	closed  chan struct{}
	flushed bool
}

func (l *stuckLink) Link(context.Context, int) (fabric.Link, error) { return l, nil }
func (l *stuckLink) Post(*fabric.Tag, []byte) (bool, error)         { return l.fine, nil }
func (l *stuckLink) Close() error                                   { close(l.closed); return nil }
func (l *stuckLink) RecvFunc(context.Context, *fabric.Tag, int, func(int, []byte) error) error {
	return errStuck
}

func (l *stuckLink) Recv(context.Context, *fabric.Tag, []byte) error {
	if l.fine {
		return nil
	}
	return errStuck
}

func (l *stuckLink) Await(context.Context, int) error {
	<-l.closed
	l.flushed = true
	return fabric.ErrClosed
}

// TestRunRefuses checks what Run can tell before it begins.
func TestRunRefuses(t *testing.T) {
	x := NewExecutor(0, 2, newStrictLinks(2, false)[0], nil)
	spec := Spec{Kind: AllReduce, Algo: Ring, Rank: 0, Size: 2, Count: 8, Separate: true}
	plan := mustPlan(t, spec)
	spec.Rank = 1
	other := mustPlan(t, spec)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		ctx         context.Context
		plan        *Plan
		main, input int
		want        string
	}{
		{t.Context(), other, 32, 32, "plan for rank 1 of 2 run by rank 0 of 2"},
		{t.Context(), plan, 31, 32, "needs 32 bytes"},
		{t.Context(), plan, 32, 31, "needs 32 bytes"},
		{ended, plan, 32, 32, "context canceled"},
	} {
		err := x.Run(tt.ctx, tt.plan, &fabric.Tag{}, make([]byte, tt.main), make([]byte, tt.input))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got error %v, want one with %q", err, tt.want)
		}
	}
	x.Close()
	x.Close()
	if err := x.Run(t.Context(), plan, &fabric.Tag{}, make([]byte, 32), make([]byte, 32)); !errors.Is(err, ErrExecutorClosed) {
		t.Errorf("after Close: error %v", err)
	}
}
