package fabrictest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"thundercollective/fabric"
)

// trippers are both ends of a link that makes round trips. It skips providers without.
func trippers(t *testing.T, h Harness) (fs []fabric.Fabric, ends [2]fabric.RoundTripper) {
	t.Helper()
	fs, a, b := pair(t, h, 1)
	for i, l := range []fabric.Link{a, b} {
		tripper, ok := l.(fabric.RoundTripper)
		if !ok {
			closeAll(t, fs)
			t.Skip("provider makes no round trips")
		}
		ends[i] = tripper
	}
	return fs, ends
}

// turned is what the tests do to what is lent.
func turned(p []byte) {
	for i := range p {
		p[i] ^= 0x5a
	}
}

// tripOf returns the trip of an end: it lends what seed gives, turns what it is lent, of
// which other is the seed, and checks all of it.
func tripOf(out, in, seed, other int) (t *fabric.Trip, check func() error) {
	var problem error
	note := func(what string, err error) {
		if err != nil && problem == nil {
			problem = fmt.Errorf("%s: %w", what, err)
		}
	}
	lent, worked, back := 0, 0, 0
	mine := make([]byte, out)
	fill(mine, seed)
	next := func(at *int, off int, p []byte) {
		if off != *at || len(p) == 0 {
			note("order", fmt.Errorf("%d bytes at %d instead of %d", len(p), off, *at))
		}
		*at = off + len(p)
	}
	t = &fabric.Trip{
		Out: out, In: in,
		Lend: func(off int, p []byte) {
			next(&lent, off, p)
			copy(p, mine[off:])
		},
		Work: func(off int, p []byte) {
			next(&worked, off, p)
			note("lent", verify(other, off, p))
			turned(p)
		},
		Back: func(off int, p []byte) {
			next(&back, off, p)
			b := append([]byte(nil), p...)
			turned(b)
			note("back", verify(seed, off, b))
		},
	}
	return t, func() error {
		if problem == nil && (lent != out || back != out || worked != in) {
			return fmt.Errorf("lent %d of %d, worked on %d of %d, %d came back", lent, out, worked, in, back)
		}
		return problem
	}
}

// testTrips makes round trips of all lengths, also unequal ones, with messages between
// them, some of which are still under way when the trip begins.
func testTrips(t *testing.T, h Harness) {
	fs, ends := trippers(t, h)
	defer closeAll(t, fs)
	sizes := []int{0, 1, 4096, 32 << 10, 32<<10 + 1, 100_000, 300_000}
	ctx := context.Background()
	together(t, 2, func(r int) error {
		round := 0
		for i, a := range sizes {
			for _, b := range []int{a, sizes[(i+1)%len(sizes)], sizes[(i+3)%len(sizes)]} {
				round++
				out, in := a, b
				if r == 1 {
					out, in = b, a
				}
				trip, check := tripOf(out, in, 2*round+r, 2*round+1-r)
				message := make([]byte, 40_000)
				if r == 0 {
					fill(message, round)
					if _, err := post(ctx, ends[r], round, message); err != nil {
						return err
					}
				} else if err := recvWhole(ctx, ends[r], round, message); err != nil {
					return err
				}
				if err := ends[r].RoundTrip(ctx, tagOf(1000+round), trip); err != nil {
					return fmt.Errorf("%d out, %d in: %w", out, in, err)
				}
				if err := check(); err != nil {
					return fmt.Errorf("%d out, %d in: %w", out, in, err)
				}
			}
		}
		return nil
	})
}

// post posts a message if the link can, and sends it otherwise.
func post(ctx context.Context, l fabric.Link, i int, b []byte) (bool, error) {
	if p, ok := l.(fabric.Backlog); ok {
		return p.Post(tagOf(i), b)
	}
	return true, l.Send(ctx, tagOf(i), b)
}

// testTripEnds: nobody waits for ever in a round trip, and it is refused where something
// else is expected.
func testTripEnds(t *testing.T, h Harness) {
	trip := func(n int) *fabric.Trip {
		t, _ := tripOf(n, n, 1, 2)
		return t
	}
	t.Run("cancel", func(t *testing.T) {
		fs, ends := trippers(t, h)
		defer closeAll(t, fs)
		stop := errors.New("stop, said the test")
		ctx, cancel := context.WithCancelCause(context.Background())
		started := trip(100)
		lend := started.Lend
		started.Lend = func(off int, p []byte) { lend(off, p); cancel(stop) }
		within(t, "the end of the context", func() {
			if err := ends[0].RoundTrip(ctx, tagOf(1), started); !errors.Is(err, stop) {
				t.Errorf("got %v, want the cause of the context", err)
			}
			if err := ends[0].Send(context.Background(), tagOf(1), nil); err == nil {
				t.Error("the link goes on after an error")
			}
		})
	})
	t.Run("death", func(t *testing.T) {
		fs, ends := trippers(t, h)
		defer closeAll(t, fs)
		started := trip(1 << 20)
		lend := started.Lend
		dead := make(chan struct{})
		started.Lend = func(off int, p []byte) {
			if lend(off, p); off == 0 {
				go func() { defer close(dead); h.Kill(fs[1]) }()
			}
		}
		within(t, "the death of the peer", func() {
			var lost *fabric.LostError
			if err := ends[0].RoundTrip(context.Background(), tagOf(1), started); !errors.As(err, &lost) || lost.Peer != 1 {
				t.Errorf("got %v, want a LostError for rank 1", err)
			}
			<-dead
		})
	})
	for name, theirs := range map[string]struct{ tag, n int }{"tag": {2, 100}, "length": {1, 101}} {
		t.Run(name, func(t *testing.T) {
			fs, ends := trippers(t, h)
			defer closeAll(t, fs)
			within(t, "the refusal", func() {
				if err := ends[1].Send(context.Background(), tagOf(theirs.tag), make([]byte, theirs.n)); err != nil {
					t.Error(err)
				}
				var refused *fabric.TagError
				if err := ends[0].RoundTrip(context.Background(), tagOf(1), trip(100)); !errors.As(err, &refused) || refused.GotLen != uint64(theirs.n) {
					t.Errorf("got %v, want a TagError", err)
				}
			})
		})
	}
}
