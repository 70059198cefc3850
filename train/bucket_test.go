package train

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"thundercollective"
)

func TestLayout(t *testing.T) {
	l, err := newLayout([]int{5, 0, 3, 4, 10}, 7)
	if err != nil {
		t.Fatal(err)
	}
	want := []slot{{2, 0, 5}, {2, 0, 0}, {1, 4, 3}, {1, 0, 4}, {0, 0, 10}}
	if !slices.Equal(l.tensors, want) {
		t.Errorf("tensors at %v, want %v", l.tensors, want)
	}
	if fmt.Sprint(l.buckets, l.members) != "[10 7 5] [1 2 2]" {
		t.Errorf("buckets %v with %v tensors", l.buckets, l.members)
	}
	if _, err := newLayout([]int{1, -1}, 8); err == nil {
		t.Error("a negative length was accepted")
	}
}

func TestBucketsCombine(t *testing.T) {
	lens := []int{7, 100, 0, 1, 33, 64}
	for _, op := range []thunder.Op{thunder.Avg, thunder.Sum} {
		for _, n := range []int{1, 2, 3, 4} {
			for _, size := range []int{4, 256, 1 << 20} {
				t.Run(fmt.Sprintf("%v/%d/%d", op, n, size), func(t *testing.T) {
					everywhere(t, n, func(c *thunder.Comm) error {
						return combineSteps(c, lens, Config{BucketBytes: size, Op: op})
					})
				})
			}
		}
	}
}

// combineSteps runs a few passes at the same time as another collective operation. Each
// rank finishes its tensors in an order of its own.
func combineSteps(c *thunder.Comm, lens []int, cfg Config) error {
	ctx := context.Background()
	g, err := NewGradientBucket(ctx, c, lens, cfg)
	if err != nil {
		return err
	}
	defer g.Close()
	for step := range 3 {
		order := rand.New(rand.NewPCG(uint64(c.Rank()), uint64(step))).Perm(len(lens))
		for k, i := range order {
			for j := range g.Gradient(i) {
				g.Gradient(i)[j] = value(c.Rank(), step, i, j)
			}
			g.Ready(i)
			if k == 2 {
				if err := thunder.Barrier(ctx, c); err != nil {
					return err
				}
			}
		}
		if err := g.Wait(ctx); err != nil {
			return err
		}
		for i := range lens {
			for j, got := range g.Gradient(i) {
				want := float32(0)
				for r := range c.Size() {
					want += value(r, step, i, j)
				}
				if cfg.Op == thunder.Avg {
					want /= float32(c.Size())
				}
				if got != want {
					return fmt.Errorf("step %d tensor %d[%d] = %v, want %v", step, i, j, got, want)
				}
			}
		}
	}
	if s := g.Stats(); s.Syncs != 3 || s.Busy <= 0 {
		return fmt.Errorf("stats %+v after 3 passes", s)
	}
	return nil
}

func TestAccumulate(t *testing.T) {
	everywhere(t, 2, func(c *thunder.Comm) error {
		ctx := context.Background()
		g, err := NewGradientBucket(ctx, c, []int{4, 4}, Config{Op: thunder.Sum})
		if err != nil {
			return err
		}
		defer g.Close()
		for range 2 {
			g.Zero()
			for micro := range 3 {
				g.SkipSync(micro < 2)
				for i := range g.Len() {
					for j := range g.Gradient(i) {
						g.Gradient(i)[j] += float32(1 + c.Rank())
					}
					g.Ready(i)
				}
				if err := g.Wait(ctx); err != nil {
					return err
				}
				want := float32((micro + 1) * (1 + c.Rank()))
				if micro == 2 {
					want = 3*1 + 3*2
				}
				if got := g.Gradient(1)[3]; got != want {
					return fmt.Errorf("micro batch %d: %v, want %v", micro, got, want)
				}
			}
		}
		return nil
	})
}

func TestReadyMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		ready []int
		want  string
	}{
		"twice":  {[]int{0, 0}, "Ready(0) was called twice"},
		"missed": {[]int{1}, "Ready(0) was not called"},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, 1, func(comm *thunder.Comm) error {
				g, err := NewGradientBucket(context.Background(), comm, []int{4, 4}, Config{})
				if err != nil {
					return err
				}
				defer g.Close()
				for _, i := range c.ready {
					g.Ready(i)
				}
				if err := g.Wait(context.Background()); err == nil || !strings.Contains(err.Error(), c.want) {
					return fmt.Errorf("got %v, want %q", err, c.want)
				}
				return nil
			})
		})
	}
}

// A rank that aborts in the middle of a pass ends Wait at the others.
func TestWaitFails(t *testing.T) {
	everywhere(t, 2, func(c *thunder.Comm) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		g, err := NewGradientBucket(ctx, c, []int{4, 4}, Config{BucketBytes: 4})
		if err != nil {
			return err
		}
		defer g.Close()
		if c.Rank() == 1 {
			cancel()
			g.Wait(ctx)
			return nil
		}
		g.Ready(1)
		g.Ready(0)
		var abort *thunder.AbortError
		if err := g.Wait(ctx); !errors.As(err, &abort) || abort.Rank != 1 {
			return fmt.Errorf("got %v, want that rank 1 aborted", err)
		}
		return nil
	})
}

func TestConfig(t *testing.T) {
	for _, cfg := range []Config{{BucketBytes: -1}, {Op: thunder.Max}, {Wire: wireEnd}} {
		if _, err := cfg.complete(); err == nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
	for w := F32; w < wireEnd; w++ {
		if got, err := ParseWire(w.String()); err != nil || got != w {
			t.Errorf("ParseWire(%q) = %v, %v", w.String(), got, err)
		}
	}
	if _, err := ParseWire("f8"); err == nil {
		t.Error("ParseWire accepted f8")
	}
}
