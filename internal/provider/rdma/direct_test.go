package rdma_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/provider/rdma"
	"thundercollective/internal/provider/rdma/rdmatest"
)

// buffer returns n bytes, registered or of the heap.
func buffer(t testing.TB, f *rdma.Fabric, n int, registered bool) []byte {
	t.Helper()
	if !registered {
		return make([]byte, n)
	}
	b, err := f.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func pattern(b []byte, seed int) {
	for i := range b {
		b[i] = byte(i*7 + i>>9 + seed)
	}
}

// railed returns two ranks that are joined by that many cables, named in
// different orders at the two ends.
func railed(t testing.TB, opt rdmatest.Options, rails int, cfg rdma.Config) *job {
	t.Helper()
	opt.Devices = rails
	names := make([]string, rails)
	for i := range names {
		names[i] = fmt.Sprintf("emu%d", (i+1)%rails)
	}
	cfg.Devices = [][]string{names, names}
	return newJob(t, 2, opt, cfg)
}

// TestRegisteredMemoryIsNotCopied sends between all combinations of registered
// and other memory, with Recv and with RecvFunc, and counts the copies.
func TestRegisteredMemoryIsNotCopied(t *testing.T) {
	const n = 1<<20 + 333
	for _, rails := range []int{1, 2, 4} {
		for _, tt := range []struct {
			src, dst, pieces   bool
			atSender, atTarget int // copies of n bytes
		}{
			{true, true, false, 0, 0},
			{true, false, false, 0, 1},
			{true, false, true, 0, 0},
			{false, true, false, 1, 0},
			{false, false, false, 1, 1},
			{false, false, true, 1, 0},
		} {
			t.Run(fmt.Sprintf("rails=%d,registered=%v/%v,pieces=%v", rails, tt.src, tt.dst, tt.pieces), func(t *testing.T) {
				j := railed(t, rdmatest.RoCE(), rails, rdma.Config{})
				a, b := j.join(t, 0, 1, 1)
				src, dst := buffer(t, j.fabrics[0], n, tt.src), buffer(t, j.fabrics[1], n, tt.dst)
				ctx := context.Background()
				for i := range 5 {
					pattern(src, i)
					clear(dst)
					tag := &fabric.Tag{byte(i)}
					var wg sync.WaitGroup
					wg.Go(func() {
						if !tt.src && tt.dst {
							// Only a receiver that is there first can be written to.
							waitAdvert(a)
						}
						if err := fabric.Send(ctx, a, tag, src); err != nil {
							t.Error(err)
						}
					})
					var err error
					if tt.pieces {
						err = b.RecvFunc(ctx, tag, n, func(off int, p []byte) error { copy(dst[off:], p); return nil })
					} else {
						err = b.Recv(ctx, tag, dst)
					}
					wg.Wait()
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(src, dst) {
						t.Fatal("wrong data")
					}
				}
				if got := rdma.StatsOf(a).Copied; got != uint64(5*n*tt.atSender) {
					t.Errorf("the sender copied %d bytes, want %d messages of %d", got, 5*tt.atSender, n)
				}
				if got := rdma.StatsOf(b).Copied; got != uint64(5*n*tt.atTarget) {
					t.Errorf("the receiver copied %d bytes, want %d messages of %d", got, 5*tt.atTarget, n)
				}
			})
		}
	}
}

// waitAdvert waits until the peer has said where it wants the next message.
func waitAdvert(l fabric.Link) {
	for !rdma.Advertised(l) {
		time.Sleep(10 * time.Microsecond)
	}
}

// TestRegisteredMismatch checks that nothing is written to a buffer that waits
// for another message.
func TestRegisteredMismatch(t *testing.T) {
	const n = 100_000
	for _, tt := range []struct {
		name   string
		tag    fabric.Tag
		n      int
		source bool // registered
	}{
		{"other tag", fabric.Tag{2}, n, true},
		{"other length", fabric.Tag{1}, n - 16, true},
		{"short one", fabric.Tag{1}, 100, true},
		{"other tag, from the heap", fabric.Tag{2}, n, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := railed(t, rdmatest.RoCE(), 1, rdma.Config{})
			a, b := j.join(t, 0, 1, 1)
			src, dst := buffer(t, j.fabrics[0], tt.n, tt.source), buffer(t, j.fabrics[1], n, true)
			pattern(src, 1)
			ctx, cancel := context.WithCancel(context.Background())
			var wg sync.WaitGroup
			wg.Go(func() { fabric.Send(ctx, a, &tt.tag, src) })
			err := b.Recv(ctx, &fabric.Tag{1}, dst)
			cancel()
			wg.Wait()
			var te *fabric.TagError
			if !errors.As(err, &te) || te.Got != tt.tag || te.GotLen != uint64(tt.n) || te.WantLen != n {
				t.Errorf("got %v, want a TagError", err)
			}
			if !bytes.Equal(dst, make([]byte, n)) {
				t.Error("the buffer was written to")
			}
		})
	}
}

// TestCancelledBufferIsNotWritten gives up a receive into registered memory and
// lets the sender go on.
func TestCancelledBufferIsNotWritten(t *testing.T) {
	const n = 100_000
	j := railed(t, rdmatest.RoCE(), 2, rdma.Config{})
	a, b := j.join(t, 0, 1, 1)
	src, dst := buffer(t, j.fabrics[0], n, true), buffer(t, j.fabrics[1], n, true)
	pattern(src, 1)
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan error, 1)
	go func() { got <- b.Recv(ctx, &fabric.Tag{1}, dst) }()
	waitAdvert(a)
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	clear(dst)
	if err := fabric.Send(context.Background(), a, &fabric.Tag{1}, src); err == nil {
		t.Error("sent to a buffer that was withdrawn")
	}
	if !bytes.Equal(dst, make([]byte, n)) {
		t.Error("the buffer was written to after the call had returned")
	}
}

func TestAlloc(t *testing.T) {
	opt := rdmatest.RoCE()
	opt.MaxMRSize = 64 << 10 // several regions for one buffer
	j := railed(t, opt, 2, rdma.Config{})
	f := j.fabrics[0]
	before := f.Resources()
	b, err := f.Alloc(200_000)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != 200_000 || cap(b) != len(b) {
		t.Errorf("got %d bytes of %d", len(b), cap(b))
	}
	if got := f.Resources().MRs - before.MRs; got != 2*4 {
		t.Errorf("%d regions for 200000 bytes on two devices, want 8", got)
	}
	if f.Free(b[8:]) == nil {
		t.Error("freed a part")
	}
	if err := f.Free(b); err != nil {
		t.Error(err)
	}
	if f.Free(b) == nil {
		t.Error("freed twice")
	}
	if got := f.Resources(); got != before {
		t.Errorf("%v after Free, %v before Alloc", got, before)
	}
	if _, err := f.Alloc(0); err == nil {
		t.Error("allocated nothing")
	}
}

// TestBufferOfManyRegions crosses the borders of registrations.
func TestBufferOfManyRegions(t *testing.T) {
	const n = 5_000_000
	opt := rdmatest.RoCE()
	opt.MaxMRSize = 2 << 20
	j := railed(t, opt, 1, rdma.Config{})
	a, b := j.join(t, 0, 1, 1)
	src, dst := buffer(t, j.fabrics[0], n, true), buffer(t, j.fabrics[1], n, true)
	pattern(src, 3)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := fabric.Send(context.Background(), a, &fabric.Tag{}, src); err != nil {
			t.Error(err)
		}
	})
	if err := b.Recv(context.Background(), &fabric.Tag{}, dst); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if !bytes.Equal(src, dst) {
		t.Error("wrong data")
	}
}
