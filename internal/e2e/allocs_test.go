package e2e_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	thunder "thundercollective"
)

// TestNoAllocations counts what an operation, or a message there and back, allocates on
// two ranks together, in steady state.
func TestNoAllocations(t *testing.T) {
	reduce := func(ctx context.Context, c *thunder.Comm, buf []float32) error {
		return thunder.AllReduce(ctx, c, buf, thunder.Max)
	}
	exchange := func(ctx context.Context, c *thunder.Comm, buf []float32) error {
		if c.Rank() == 0 {
			if err := thunder.Send(ctx, c, buf, 1); err != nil {
				return err
			}
			return thunder.Recv(ctx, c, buf, 1)
		}
		if err := thunder.Recv(ctx, c, buf, 0); err != nil {
			return err
		}
		return thunder.Send(ctx, c, buf, 0)
	}
	for name, ranks := range fabrics {
		for _, count := range []int{2, 5_000, 300_000} {
			t.Run(fmt.Sprintf("%s/%d", name, count), func(t *testing.T) { countAllocations(t, ranks, count, reduce) })
		}
		t.Run(name+"/exchange", func(t *testing.T) { countAllocations(t, ranks, 2, exchange) })
	}
}

func countAllocations(t *testing.T, ranks func(testing.TB, int, thunder.Options) []*thunder.Comm, count int, do func(context.Context, *thunder.Comm, []float32) error) {
	// Heartbeats go by the clock, not by the operation: none in this hour.
	comms := ranks(t, 2, thunder.Options{HeartbeatTimeout: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	again, done := make(chan bool), make(chan struct{})
	op := func(r int, buf []float32) {
		if err := do(ctx, comms[r], buf); err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
	go func() {
		defer close(done)
		buf := make([]float32, count)
		for <-again {
			op(1, buf)
		}
	}()
	buf := make([]float32, count)
	step := func() {
		again <- true
		op(0, buf)
	}
	for range 10 {
		step() // links, plans and workers are made on first use
	}
	if got := testing.AllocsPerRun(100, step); got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
	again <- false
	<-done
}
