package fabrictest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"thundercollective/fabric"
)

// boards makes the boards of n ranks of a new fabric, and a function that closes
// everything.
func boards(t *testing.T, h Harness, n int) (fs []fabric.Fabric, bs []fabric.Board, stop func()) {
	t.Helper()
	fs, ms, stop := sharing(t, h, n)
	for _, m := range ms {
		bs = append(bs, m.Board())
	}
	return fs, bs, stop
}

// together runs f for all ranks at once.
func together(t *testing.T, n int, f func(r int) error) {
	t.Helper()
	var wg sync.WaitGroup
	for r := range n {
		wg.Go(func() {
			if err := f(r); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		})
	}
	within(t, "all ranks", wg.Wait)
}

// testBoard has ranks go through rounds in which all show something, or only one, or
// all but one, which alone looks. Nobody waits for those who only look, so they fall
// behind as far as the board allows.
func testBoard(t *testing.T, h Harness) {
	for n := 2; n <= 3; n++ {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) { testBoardOf(t, h, n) })
	}
}

func testBoardOf(t *testing.T, h Harness, n int) {
	const rounds = 300
	_, bs, stop := boards(t, h, n)
	defer stop()
	sizes := []int{0, 1, 16, 17, 200, bs[0].Room()}
	together(t, n, func(r int) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		for round := range rounds {
			shows := func(rank int) bool { return true }
			looks, swaps := true, round%60 < 20 && round%7 > 1
			switch one := round / 60 % n; round / 20 % 3 {
			case 1:
				shows = func(rank int) bool { return rank == one }
				looks = r != one
			case 2:
				shows = func(rank int) bool { return rank != one }
				looks = r == one
			}
			if err := boardRound(ctx, bs[r], r, n, round, sizes[round%len(sizes)], shows, looks, swaps); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		return nil
	})
}

func boardRound(ctx context.Context, b fabric.Board, r, n, round, size int, shows func(int) bool, looks, swaps bool) error {
	seed := func(rank int) int { return round*n + rank }
	if shows(r) {
		buf := make([]byte, size)
		fill(buf, seed(r))
		show := b.Show
		if swaps {
			show = b.Swap
		}
		if err := show(ctx, tagOf(round), buf); err != nil {
			return err
		}
		clear(buf) // it is ours again
	}
	for rank := range n {
		if !looks || !shows(rank) || swaps && rank == r {
			continue
		}
		p, err := b.Look(ctx, rank, tagOf(round), size)
		if err != nil {
			return err
		}
		if len(p) != size {
			return fmt.Errorf("%d bytes of rank %d instead of %d", len(p), rank, size)
		}
		if err := verify(seed(rank), 0, p); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	b.Next()
	return nil
}

// testBoardRefuses: what is not expected is refused, for good.
func testBoardRefuses(t *testing.T, h Harness) {
	for _, tt := range []struct {
		name    string
		tag, n  int
		showing int
	}{{"tag", 2, 8, 8}, {"length", 1, 8, 9}} {
		t.Run(tt.name, func(t *testing.T) {
			_, bs, stop := boards(t, h, 2)
			defer stop()
			if err := bs[0].Show(t.Context(), tagOf(1), make([]byte, tt.showing)); err != nil {
				t.Fatal(err)
			}
			var refused *fabric.TagError
			_, err := bs[1].Look(t.Context(), 0, tagOf(tt.tag), tt.n)
			if !errors.As(err, &refused) || refused.Peer != 0 || refused.GotLen != uint64(tt.showing) || refused.Got != *tagOf(1) {
				t.Errorf("got %v", err)
			}
			if err := bs[1].Show(t.Context(), tagOf(1), nil); err == nil {
				t.Error("the board goes on after an error")
			}
			if err := bs[0].Show(t.Context(), tagOf(1), make([]byte, bs[0].Room()+1)); err == nil {
				t.Error("shows more than there is room for")
			}
		})
	}
}

// testBoardEnds: nobody waits for ever, for an entry or for others to catch up.
func testBoardEnds(t *testing.T, h Harness) {
	look := func(ctx context.Context, b fabric.Board) error {
		_, err := b.Look(ctx, 1, tagOf(1), 8)
		return err
	}
	show := func(ctx context.Context, b fabric.Board) error {
		for b.Free() {
			if err := b.Show(ctx, tagOf(1), make([]byte, 8)); err != nil {
				return fmt.Errorf("a show that need not wait: %w", err)
			}
			b.Next()
		}
		return b.Show(ctx, tagOf(1), make([]byte, 8))
	}
	for name, wait := range map[string]func(context.Context, fabric.Board) error{"look": look, "show": show} {
		t.Run(name+"/cancelled", func(t *testing.T) {
			_, bs, stop := boards(t, h, 2)
			defer stop()
			ctx, cancel := context.WithCancelCause(context.Background())
			got := make(chan error, 1)
			go func() { got <- wait(ctx, bs[0]) }()
			cancel(errStop)
			within(t, "a cancelled call", func() {
				if err := <-got; !errors.Is(err, errStop) {
					t.Errorf("got %v, want the cause of the context", err)
				}
			})
		})
		t.Run(name+"/death", func(t *testing.T) {
			fs, ms, stop := sharing(t, h, 2)
			defer stop()
			got := make(chan error, 1)
			go func() { got <- wait(context.Background(), ms[0].Board()) }()
			ms[1].Close()
			h.Kill(fs[1])
			within(t, "a call whose peer dies", func() { wantLost(t, <-got, 1) })
		})
	}
}
