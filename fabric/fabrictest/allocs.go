package fabrictest

import (
	"context"
	"sync/atomic"
	"testing"

	"thundercollective/fabric"
)

// testAllocs counts the allocations of both ends of a ping-pong in steady state.
func testAllocs(t *testing.T, h Harness) {
	for _, n := range []int{8, 4096, 1 << 20} {
		if got := pingPongAllocs(t, h, n); got != 0 {
			t.Errorf("%d bytes there and back: %v allocations, want 0", n, got)
		}
	}
}

func pingPongAllocs(t *testing.T, h Harness, n int) float64 {
	t.Helper()
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	ctx, cancel := context.WithCancel(context.Background())
	tag := tagOf(1)
	echoed := make(chan struct{})
	go func() {
		defer close(echoed)
		buf := make([]byte, n)
		for b.Recv(ctx, tag, buf) == nil && fabric.Send(ctx, b, tag, buf) == nil {
		}
	}()
	buf := make([]byte, n)
	var seen atomic.Int64 // pieces may come from several goroutines
	sink := func(off int, p []byte) error { seen.Add(int64(len(p))); return nil }
	step := func() {
		if err := fabric.Send(ctx, a, tag, buf); err != nil {
			t.Fatal(err)
		}
		if err := a.RecvFunc(ctx, tag, n, sink); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		step() // buffers and goroutines that are made on first use
	}
	allocs := testing.AllocsPerRun(100, step)
	cancel()
	within(t, "the echo", func() { <-echoed })
	return allocs
}
