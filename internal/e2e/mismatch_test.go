package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	thunder "thundercollective"
)

// TestMismatch lets one rank call something else than the others. All of them get
// a MismatchError, and so does whoever calls later.
func TestMismatch(t *testing.T) {
	type call func(ctx context.Context, c *thunder.Comm) error
	allReduce := func(n int, op thunder.Op) call {
		return func(ctx context.Context, c *thunder.Comm) error {
			return thunder.AllReduce(ctx, c, make([]float32, n), op)
		}
	}
	broadcast := func(root int) call {
		return func(ctx context.Context, c *thunder.Comm) error {
			return thunder.Broadcast(ctx, c, make([]float32, 10), root)
		}
	}
	reduceTo := func(root int) call {
		return func(ctx context.Context, c *thunder.Comm) error {
			return thunder.Reduce(ctx, c, make([]float32, 10), thunder.Sum, root)
		}
	}
	gatherV := func(n int) call {
		return func(ctx context.Context, c *thunder.Comm) error {
			counts := make([]int, c.Size())
			for r := range counts {
				counts[r] = 2
			}
			counts[c.Rank()] = n
			return thunder.GatherV(ctx, c, make([]float32, 2*c.Size()-2+n), make([]float32, n), counts, 0)
		}
	}
	for _, tt := range []struct {
		name       string
		most, last call // the last rank calls last
	}{
		{"count", allReduce(100, thunder.Sum), allReduce(101, thunder.Sum)},
		{"count, large", allReduce(300_000, thunder.Sum), allReduce(300_001, thunder.Sum)},
		{"count, short and large", allReduce(100, thunder.Sum), allReduce(300_001, thunder.Sum)},
		{"nothing", allReduce(100, thunder.Sum), allReduce(0, thunder.Sum)},
		{"reduction", allReduce(100, thunder.Sum), allReduce(100, thunder.Max)},
		{"type", allReduce(100, thunder.Sum), func(ctx context.Context, c *thunder.Comm) error {
			return thunder.AllReduce(ctx, c, make([]int32, 100), thunder.Sum)
		}},
		{"operation", allReduce(100, thunder.Sum), func(ctx context.Context, c *thunder.Comm) error {
			return thunder.Barrier(ctx, c)
		}},
		{"algorithm", allReduce(100, thunder.Sum), func(ctx context.Context, c *thunder.Comm) error {
			return c.Do(ctx, &thunder.Request{Kind: thunder.KindAllReduce, DType: thunder.F32, Op: thunder.Sum, Algo: thunder.Tree, Recv: make([]byte, 400)})
		}},
		{"root of a broadcast", broadcast(0), broadcast(1)},
		{"root of a reduce", reduceTo(0), reduceTo(1)},
		{"own count", gatherV(2), gatherV(3)},
	} {
		for name, ranks := range fabrics {
			for _, n := range []int{2, 4} {
				t.Run(fmt.Sprintf("%s/%s/%d", tt.name, name, n), func(t *testing.T) {
					comms := ranks(t, n, thunder.Options{Timeout: testLimit})
					each(t, n, func(r int) error {
						call := tt.most
						if r == n-1 {
							call = tt.last
						}
						err := call(t.Context(), comms[r])
						if err == nil { // nothing was left for it to wait for; it hears of it in the next one
							err = thunder.Barrier(t.Context(), comms[r])
						}
						return wantMismatch(err)
					})
					each(t, n, func(r int) error { return wantMismatch(thunder.Barrier(t.Context(), comms[r])) })
				})
			}
		}
	}
}

func wantMismatch(err error) error {
	var m *thunder.MismatchError
	if !errors.As(err, &m) {
		return fmt.Errorf("got %v, want a MismatchError", err)
	}
	if m.RankA == m.RankB || m.CallA == "" || m.CallB == "" {
		return fmt.Errorf("the error does not say who called what: %+v", m)
	}
	return nil
}

func TestMismatchOfMessages(t *testing.T) {
	comms := memRanks(t, 2, thunder.Options{})
	each(t, 2, func(r int) error {
		var err error
		if r == 0 {
			err = thunder.Send(t.Context(), comms[0], make([]float32, 5), 1)
			if err == nil {
				err = thunder.Barrier(t.Context(), comms[0])
			}
		} else {
			err = thunder.Recv(t.Context(), comms[1], make([]float32, 6), 0)
		}
		return wantMismatch(err)
	})
}
