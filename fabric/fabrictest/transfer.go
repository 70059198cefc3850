package fabrictest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"thundercollective/fabric"
)

func testIdentity(t *testing.T, h Harness) {
	fs := start(t, h, 3)
	defer closeAll(t, fs)
	for r, f := range fs {
		if f.Rank() != r || f.Size() != 3 || f.Name() == "" {
			t.Errorf("fabric %d says it is rank %d of %d, named %q", r, f.Rank(), f.Size(), f.Name())
		}
		for _, peer := range []int{-1, r, 3} {
			if _, err := f.Link(context.Background(), peer, 1); err == nil {
				t.Errorf("rank %d: link to rank %d: no error", r, peer)
			}
		}
	}
	a, _ := join(t, fs[0], fs[1], 7)
	again, _ := join(t, fs[0], fs[1], 7)
	if a != again {
		t.Error("asking for the same link twice gives two links")
	}
}

func testSizes(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	ctx := context.Background()
	sizes := []int{0, 1, 2, 15, 16, 17, 31, 32, 33, 4095, 4096, 4097, 65535, 65536, 65537,
		1<<20 - 1, 1 << 20, 1<<20 + 17, h.Large + 3}
	var sent sync.WaitGroup
	sent.Go(func() {
		for i, n := range sizes {
			for k := range 2 {
				buf := make([]byte, n)
				fill(buf, 2*i+k)
				if err := fabric.Send(ctx, a, tagOf(2*i+k), buf); err != nil {
					t.Errorf("send %d bytes: %v", n, err)
					return
				}
				clear(buf) // ours again once Send has returned
			}
		}
	})
	within(t, "sizes", func() {
		for i, n := range sizes {
			if err := recvWhole(ctx, b, 2*i, make([]byte, n)); err != nil {
				t.Errorf("recv %d bytes: %v", n, err)
				return
			}
			if err := recvPieces(ctx, b, 2*i+1, n); err != nil {
				t.Errorf("recv %d bytes in pieces: %v", n, err)
				return
			}
		}
		sent.Wait()
	})
}

// stream sends or receives a seeded sequence of messages on a link.
func stream(ctx context.Context, l fabric.Link, seed uint64, count int, send bool) error {
	rng := rand.New(rand.NewPCG(seed, 1))
	buf := make([]byte, 300_000)
	for i := range count {
		n := rng.IntN(64)
		switch rng.IntN(20) {
		case 0:
			n = rng.IntN(len(buf))
		case 1, 2, 3:
			n = rng.IntN(8192)
		}
		var err error
		switch {
		case send:
			fill(buf[:n], i)
			err = fabric.Send(ctx, l, tagOf(i), buf[:n])
		case i%2 == 0:
			err = recvWhole(ctx, l, i, buf[:n])
		default:
			err = recvPieces(ctx, l, i, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func testOrder(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	exchange(t, []job{{a, 1, 500, true}, {b, 1, 500, false}})
}

func testFullDuplex(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	exchange(t, []job{{a, 1, 300, true}, {b, 1, 300, false}, {b, 2, 300, true}, {a, 2, 300, false}})
}

type job struct {
	l     fabric.Link
	seed  uint64
	count int
	send  bool
}

// exchange runs all jobs at once.
func exchange(t *testing.T, jobs []job) {
	t.Helper()
	var wg sync.WaitGroup
	for _, j := range jobs {
		wg.Go(func() {
			if err := stream(context.Background(), j.l, j.seed, j.count, j.send); err != nil {
				t.Errorf("seed %d, send %v: %v", j.seed, j.send, err)
			}
		})
	}
	within(t, "exchange", wg.Wait)
}

func testAllPairs(t *testing.T, h Harness) {
	const n = 4
	fs := start(t, h, n)
	defer closeAll(t, fs)
	var jobs []job
	for a := range n {
		for b := a + 1; b < n; b++ {
			for ch := fabric.Channel(1); ch <= 2; ch++ {
				la, lb := join(t, fs[a], fs[b], ch)
				seed := uint64(a*1000 + b*10 + int(ch))
				jobs = append(jobs, job{la, seed, 60, true}, job{lb, seed, 60, false},
					job{lb, seed + 5000, 60, true}, job{la, seed + 5000, 60, false})
			}
		}
	}
	exchange(t, jobs)
}

func testChannels(t *testing.T, h Harness) {
	fs, a1, b1 := pair(t, h, 1)
	defer closeAll(t, fs)
	a2, b2 := join(t, fs[0], fs[1], 2)
	ctx := context.Background()
	big := make([]byte, h.Large)
	fill(big, 0)
	blocked := make(chan error, 1)
	go func() { blocked <- fabric.Send(ctx, a1, tagOf(0), big) }() // nobody receives yet
	exchange(t, []job{{a2, 9, 200, true}, {b2, 9, 200, false}})
	within(t, "the blocked channel", func() {
		if err := recvWhole(ctx, b1, 0, make([]byte, len(big))); err != nil {
			t.Error(err)
		}
		if err := <-blocked; err != nil {
			t.Error(err)
		}
	})
}

func testTagMismatch(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	ctx := context.Background()
	if err := fabric.Send(ctx, a, tagOf(1), []byte("12345678")); err != nil {
		t.Fatal(err)
	}
	err := b.Recv(ctx, tagOf(2), make([]byte, 8))
	var te *fabric.TagError
	if !errors.As(err, &te) || te.Peer != 0 || te.Got != *tagOf(1) || te.Want != *tagOf(2) {
		t.Fatalf("got %v, want a TagError for tag 1 from rank 0", err)
	}
	if err := b.Recv(ctx, tagOf(2), make([]byte, 8)); err == nil {
		t.Error("the link works on after a refused message")
	}
}

func testLengthMismatch(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	ctx := context.Background()
	if err := fabric.Send(ctx, a, tagOf(1), make([]byte, 24)); err != nil {
		t.Fatal(err)
	}
	err := b.RecvFunc(ctx, tagOf(1), 32, func(int, []byte) error { t.Error("payload handed out"); return nil })
	var te *fabric.TagError
	if !errors.As(err, &te) || te.GotLen != 24 || te.WantLen != 32 {
		t.Fatalf("got %v, want a TagError for 24 bytes instead of 32", err)
	}
}

func testFuncError(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	ctx := context.Background()
	if err := fabric.Send(ctx, a, tagOf(1), make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	if err := b.RecvFunc(ctx, tagOf(1), 64, func(int, []byte) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("got %v, want the error of the function", err)
	}
}

func testTraffic(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	exchange(t, []job{{a, 3, 50, true}, {b, 3, 50, false}})
	sent, got := a.Traffic(), b.Traffic()
	if sent.SentMessages != 50 || sent.SentMessages != got.RecvMessages || sent.SentBytes != got.RecvBytes || sent.SentBytes == 0 {
		t.Errorf("sender counted %+v, receiver %+v", sent, got)
	}
	if all := fs[0].Traffic(); all.SentMessages < sent.SentMessages || all.SentBytes < sent.SentBytes {
		t.Errorf("the fabric counted %+v, its link %+v", all, sent)
	}
}
