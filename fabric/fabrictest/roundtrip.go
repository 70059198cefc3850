package fabrictest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"thundercollective/fabric"
)

// tripping makes two ranks that share memory, and the link between them.
func tripping(t *testing.T, h Harness) (fs []fabric.Fabric, ms []fabric.Memory, ends [2]fabric.Link, stop func()) {
	t.Helper()
	fs, ms, stop = sharing(t, h, 2)
	ends[0], ends[1] = join(t, fs[0], fs[1], 1)
	return fs, ms, ends, stop
}

// turned is what the tests do to what is lent.
func turned(p []byte) {
	for i := range p {
		p[i] ^= 0x5a
	}
}

// tripOf returns the trip of an end: it lends what seed gives, turns what it is lent, of
// which other is the seed, and checks all of it.
func tripOf(out, in, seed, other int) (t *fabric.RoundTrip, check func() error) {
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
	t = &fabric.RoundTrip{
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

// testRoundTrips makes round trips of all lengths, also unequal ones, with messages between
// them, some of which are still under way when the trip begins.
func testRoundTrips(t *testing.T, h Harness) {
	_, ms, ends, stop := tripping(t, h)
	defer stop()
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
					if _, err := ends[r].Post(tagOf(round), message); err != nil {
						return err
					}
				} else if err := recvWhole(ctx, ends[r], round, message); err != nil {
					return err
				}
				if err := ms[r].RoundTrip(ctx, 1-r, tagOf(1000+round), trip); err != nil {
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

// testRoundTripEnds: nobody waits for ever in a round trip, and it is refused where something
// else is expected.
func testRoundTripEnds(t *testing.T, h Harness) {
	trip := func(n int) *fabric.RoundTrip {
		t, _ := tripOf(n, n, 1, 2)
		return t
	}
	t.Run("cancel", func(t *testing.T) {
		_, ms, ends, stop := tripping(t, h)
		defer stop()
		ctx, cancel := context.WithCancelCause(context.Background())
		started := trip(100)
		lend := started.Lend
		started.Lend = func(off int, p []byte) { lend(off, p); cancel(errStop) }
		within(t, "the end of the context", func() {
			if err := ms[0].RoundTrip(ctx, 1, tagOf(1), started); !errors.Is(err, errStop) {
				t.Errorf("got %v, want the cause of the context", err)
			}
			if err := fabric.Send(context.Background(), ends[0], tagOf(1), nil); err == nil {
				t.Error("the link goes on after an error")
			}
		})
	})
	t.Run("death", func(t *testing.T) {
		fs, ms, _, stop := tripping(t, h)
		defer stop()
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
			if err := ms[0].RoundTrip(context.Background(), 1, tagOf(1), started); !errors.As(err, &lost) || lost.Peer != 1 {
				t.Errorf("got %v, want a LostError for rank 1", err)
			}
			<-dead
		})
	})
	for name, theirs := range map[string]struct{ tag, n int }{"tag": {2, 100}, "length": {1, 101}} {
		t.Run(name, func(t *testing.T) {
			_, ms, ends, stop := tripping(t, h)
			defer stop()
			within(t, "the refusal", func() {
				if err := fabric.Send(context.Background(), ends[1], tagOf(theirs.tag), make([]byte, theirs.n)); err != nil {
					t.Error(err)
				}
				var refused *fabric.TagError
				if err := ms[0].RoundTrip(context.Background(), 1, tagOf(1), trip(100)); !errors.As(err, &refused) || refused.GotLen != uint64(theirs.n) {
					t.Errorf("got %v, want a TagError", err)
				}
			})
		})
	}
}
