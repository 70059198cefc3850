package rdma_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/provider/rdma"
	"thundercollective/internal/provider/rdma/rdmatest"
)

// message makes message i of a seeded stream.
func message(rng *rand.Rand, i int) (*fabric.Tag, []byte) {
	n := rng.IntN(100)
	switch rng.IntN(8) {
	case 0:
		n = rng.IntN(300_000)
	case 1, 2:
		n = rng.IntN(20_000)
	}
	b := make([]byte, n)
	for k := range b {
		b[k] = byte(rng.Uint32())
	}
	return &fabric.Tag{0: byte(i), 1: byte(i >> 8)}, b
}

func sendStream(ctx context.Context, l fabric.Link, seed uint64, count int) error {
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range count {
		tag, b := message(rng, i)
		if err := fabric.Send(ctx, l, tag, b); err != nil {
			return fmt.Errorf("sending message %d: %w", i, err)
		}
	}
	return nil
}

// recvStream receives it; a wrong byte is an error that no link returns.
func recvStream(ctx context.Context, l fabric.Link, seed uint64, count int) error {
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range count {
		tag, want := message(rng, i)
		got := make([]byte, len(want))
		if err := l.Recv(ctx, tag, got); err != nil {
			return fmt.Errorf("receiving message %d: %w", i, err)
		}
		if !bytes.Equal(got, want) {
			return errWrong
		}
	}
	return nil
}

var errWrong = errors.New("wrong data")

// TestNoiseIsRepaired loses and damages messages in both directions. All of them
// arrive, in order and intact.
func TestNoiseIsRepaired(t *testing.T) {
	for _, tt := range []struct{ drop, flip float64 }{{0.05, 0}, {0, 0.05}, {0.03, 0.03}, {0.1, 0.05}} {
		for _, events := range []bool{true, false} {
			t.Run(fmt.Sprintf("drop=%v,flip=%v,events=%v", tt.drop, tt.flip, events), func(t *testing.T) {
				opt := rdmatest.Thunderbolt()
				opt.NoEvents = !events
				opt.Noise = rdmatest.Lossy(1, tt.drop, tt.flip)
				j := newJob(t, 2, opt, rdma.Config{Retry: 2 * time.Millisecond, GiveUp: time.Minute})
				a, b := j.join(t, 0, 1, 1)
				ctx := context.Background()
				var wg sync.WaitGroup
				for seed, ends := range [][2]fabric.Link{{a, b}, {b, a}} {
					wg.Go(func() {
						if err := sendStream(ctx, ends[0], uint64(seed), 60); err != nil {
							t.Error(err)
						}
					})
					wg.Go(func() {
						if err := recvStream(ctx, ends[1], uint64(seed), 60); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				sa, sb := rdma.StatsOf(a), rdma.StatsOf(b)
				if sa.Repeats+sb.Repeats == 0 {
					t.Error("nothing was repeated: the noise was not heard")
				}
				if tt.flip > 0 && sa.Damaged+sb.Damaged == 0 {
					t.Error("no damage was found")
				}
			})
		}
	}
}

// TestSilenceIsAnError lets every message vanish from some point on.
func TestSilenceIsAnError(t *testing.T) {
	opt := rdmatest.Thunderbolt()
	var silent atomic.Bool
	opt.Noise = func(rdmatest.Message) rdmatest.Damage { return rdmatest.Damage{Drop: silent.Load()} }
	j := newJob(t, 2, opt, rdma.Config{Retry: time.Millisecond, GiveUp: 50 * time.Millisecond, Linger: 10 * time.Millisecond})
	a, b := j.join(t, 0, 1, 1)
	ctx := context.Background()
	tag := &fabric.Tag{1}
	if err := fabric.Send(ctx, a, tag, []byte("heard")); err != nil {
		t.Fatal(err)
	}
	if err := b.Recv(ctx, tag, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	silent.Store(true)
	var err error
	for err == nil {
		err = fabric.Send(ctx, a, tag, make([]byte, 1000))
	}
	var lost *fabric.LostError
	if !errors.As(err, &lost) || lost.Peer != 1 {
		t.Errorf("got %v, want a LostError for rank 1", err)
	}
}

// TestLostGrantIsAskedFor loses only what goes back from the receiver, for a
// while: the sender runs out of grants and has to ask.
func TestLostGrantIsAskedFor(t *testing.T) {
	opt := rdmatest.Thunderbolt()
	var losing atomic.Int64
	opt.Noise = func(m rdmatest.Message) rdmatest.Damage {
		return rdmatest.Damage{Drop: m.From == 1 && losing.Add(-1) >= 0}
	}
	j := newJob(t, 2, opt, rdma.Config{Retry: time.Millisecond, GiveUp: time.Minute})
	a, b := j.join(t, 0, 1, 1)
	losing.Store(15)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := sendStream(context.Background(), a, 3, 200); err != nil {
			t.Error(err)
		}
	})
	if err := recvStream(context.Background(), b, 3, 200); err != nil {
		t.Error(err)
	}
	wg.Wait()
}
