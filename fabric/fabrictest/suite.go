package fabrictest

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"thundercollective/fabric"
	"thundercollective/internal/leaks"
	"thundercollective/internal/patience"
)

// Abilities are what not every provider can do.
type Abilities struct {
	Borrow bool // links lend short messages (Link.Take)
	Memory bool // ranks share memory (Fabric.Memory)
	Reads  bool // they can read all memory of each other (Memory.Reads)
	// ZeroCopy: memory of Alloc, and memory that is registered, crosses without a
	// copy. Harness.Copied tells.
	ZeroCopy bool
}

// A Harness makes fabrics of the provider under test.
type Harness struct {
	// New returns the fabrics of n ranks in this process. The suite closes them.
	New func(t testing.TB, n int) []fabric.Fabric
	// Abilities are those of the provider.
	Abilities Abilities
	// Copied returns the number of payload bytes that were copied at this end of a
	// link. If nil, all are.
	Copied func(l fabric.Link) uint64
	// Kill ends a rank without any goodbye, as a crash would. Close if nil.
	Kill func(f fabric.Fabric)
	// Large is the size of a message that no provider can buffer whole; 8 MiB
	// if 0.
	Large int
}

// limit bounds every wait of the suite, by the time that the machine gave the test; a
// provider that needs it is broken.
const limit = 20 * time.Second

// Run runs the whole suite.
func Run(t *testing.T, h Harness) {
	if h.Kill == nil {
		h.Kill = func(f fabric.Fabric) { f.Close() }
	}
	if h.Large == 0 {
		h.Large = 8 << 20
	}
	for _, tt := range tests(h.Abilities) {
		t.Run(tt.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			tt.run(t, h)
			if err := leaks.Find(before); err != nil {
				t.Error(err)
			}
		})
	}
}

type test struct {
	name string
	run  func(*testing.T, Harness)
}

// tests returns those that a provider with these abilities has to pass.
func tests(can Abilities) []test {
	list := []test{
		{"Identity", testIdentity},
		{"Abilities", testAbilities},
		{"Sizes", testSizes},
		{"Order", testOrder},
		{"FullDuplex", testFullDuplex},
		{"AllPairs", testAllPairs},
		{"ChannelsAreIndependent", testChannels},
		{"TagMismatch", testTagMismatch},
		{"LengthMismatch", testLengthMismatch},
		{"FuncError", testFuncError},
		{"Post", testPost},
		{"PostBehind", testPostBehind},
		{"Backlog", testBacklog},
		{"Traffic", testTraffic},
		{"Alloc", testAlloc},
		{"CancelRecv", testCancelRecv},
		{"CancelSend", testCancelSend},
		{"CancelPost", testCancelPost},
		{"CancelLink", testCancelLink},
		{"DeathWhileReceiving", testDeathReceiving},
		{"DeathWhileSending", testDeathSending},
		{"CloseUnblocks", testCloseUnblocks},
		{"LinkCloseUnblocks", testLinkCloseUnblocks},
		{"DeliveredBeforeClose", testDeliveredBeforeClose},
		{"NoAllocations", testAllocs},
	}
	if can.Borrow {
		list = append(list, test{"Take", testTake}, test{"TakeRefuses", testTakeRefuses}, test{"TakeEnds", testTakeEnds})
	}
	if can.Memory {
		list = append(list, test{"Board", testBoard}, test{"BoardRefuses", testBoardRefuses}, test{"BoardEnds", testBoardEnds},
			test{"RoundTrips", testRoundTrips}, test{"RoundTripEnds", testRoundTripEnds}, test{"Map", testMap})
	}
	if can.Reads {
		list = append(list, test{"ReadAt", testReadAt})
	}
	return append(list, test{"ZeroCopy", testZeroCopy})
}

// testAbilities compares what there is with what was declared.
func testAbilities(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	for _, l := range []fabric.Link{a, b} {
		if got := l.Borrow() >= 0; got != h.Abilities.Borrow {
			t.Errorf("links lend messages: %v (of up to %d bytes), declared: %v", got, l.Borrow(), h.Abilities.Borrow)
		}
		if l.Borrow() >= 0 {
			continue
		}
		if _, err := l.Take(context.Background(), tagOf(1), 0); err == nil {
			t.Error("a link that says it lends nothing does")
		}
	}
	ms := memories(t, fs, 2)
	for r, m := range ms {
		if (m != nil) != h.Abilities.Memory {
			t.Errorf("rank %d shares memory: %v, declared: %v", r, m != nil, h.Abilities.Memory)
		}
		if reads := m != nil && m.Reads(); reads != h.Abilities.Reads {
			t.Errorf("rank %d reads all memory: %v, declared: %v", r, reads, h.Abilities.Reads)
		}
	}
	closeMemories(t, ms)
}

// start makes n ranks and closes them, in parallel, when the test ends.
func start(t *testing.T, h Harness, n int) []fabric.Fabric {
	t.Helper()
	fs := h.New(t, n)
	if len(fs) != n {
		t.Fatalf("New returned %d fabrics, want %d", len(fs), n)
	}
	return fs
}

func closeAll(t *testing.T, fs []fabric.Fabric) {
	t.Helper()
	var wg sync.WaitGroup
	for _, f := range fs {
		wg.Go(func() {
			if err := f.Close(); err != nil {
				t.Errorf("rank %d: close: %v", f.Rank(), err)
			}
		})
	}
	within(t, "closing all fabrics", wg.Wait)
}

// pair returns both ends of a link between ranks 0 and 1 of a new fabric.
func pair(t *testing.T, h Harness, ch fabric.Channel) (fs []fabric.Fabric, a, b fabric.Link) {
	t.Helper()
	fs = start(t, h, 2)
	a, b = join(t, fs[0], fs[1], ch)
	return fs, a, b
}

// join opens the link between two ranks from both sides.
func join(t *testing.T, f, g fabric.Fabric, ch fabric.Channel) (a, b fabric.Link) {
	t.Helper()
	ctx, cancel := patience.Context(context.Background(), limit)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { a = mustLink(t, ctx, f, g.Rank(), ch) })
	wg.Go(func() { b = mustLink(t, ctx, g, f.Rank(), ch) })
	wg.Wait()
	if a == nil || b == nil {
		t.FailNow()
	}
	return a, b
}

func mustLink(t *testing.T, ctx context.Context, f fabric.Fabric, peer int, ch fabric.Channel) fabric.Link {
	l, err := f.Link(ctx, peer, ch)
	if err != nil {
		t.Errorf("rank %d: link to %d: %v", f.Rank(), peer, err)
		return nil
	}
	return l
}

// within fails the test when f takes longer than any working provider could.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	ctx, cancel := patience.Context(context.Background(), limit)
	defer cancel()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-ctx.Done():
		buf := make([]byte, 1<<20)
		t.Fatalf("%s: still blocked after %v\n%s", what, limit, buf[:runtime.Stack(buf, true)])
	}
}
