package train

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"

	"thundercollective"
)

// Narrow wires round; how much depends on the type, and all ranks get the same bits.
func TestNarrowWires(t *testing.T) {
	const n = 3000
	for _, c := range []struct {
		wire  Wire
		bound float64 // of the error relative to the largest value
	}{{BF16, 0.03}, {F16, 0.004}, {Int8, 0.02}} {
		for _, size := range []int{2, 3, 4} {
			t.Run(fmt.Sprintf("%v/%d", c.wire, size), func(t *testing.T) {
				var mu sync.Mutex
				results := make([][]float32, size)
				everywhere(t, size, func(comm *thunder.Comm) error {
					g, err := NewGradientBucket(context.Background(), comm, []int{n}, Config{Wire: c.wire})
					if err != nil {
						return err
					}
					defer g.Close()
					for i := range g.Gradient(0) {
						g.Gradient(0)[i] = noise(comm.Rank(), i)
					}
					g.Ready(0)
					if err := g.Wait(context.Background()); err != nil {
						return err
					}
					mu.Lock()
					defer mu.Unlock()
					results[comm.Rank()] = append([]float32(nil), g.Gradient(0)...)
					return nil
				})
				if t.Failed() {
					return
				}
				for i, got := range results[0] {
					want := 0.0
					for r := range size {
						want += float64(noise(r, i)) / float64(size)
						if results[r][i] != got {
							t.Fatalf("[%d] is %v at rank 0, %v at rank %d", i, got, results[r][i], r)
						}
					}
					if math.Abs(float64(got)-want) > c.bound {
						t.Fatalf("[%d] = %v, want %v within %v", i, got, want, c.bound)
					}
				}
			})
		}
	}
}

// noise returns a smooth value in [-1, 1] that no narrow type represents exactly.
func noise(rank, i int) float32 {
	return float32(math.Sin(float64(i)*0.37 + float64(rank)*1.3))
}

// With error feedback the mean over many passes of the same gradient is the
// gradient itself; a value far below the scale of its block is not lost.
func TestErrorFeedback(t *testing.T) {
	const passes = 400
	everywhere(t, 2, func(c *thunder.Comm) error {
		g, err := NewGradientBucket(context.Background(), c, []int{2}, Config{Wire: Int8, Op: thunder.Sum})
		if err != nil {
			return err
		}
		defer g.Close()
		total := 0.0
		for range passes {
			copy(g.Gradient(0), []float32{100, 0.01})
			g.Ready(0)
			if err := g.Wait(context.Background()); err != nil {
				return err
			}
			total += float64(g.Gradient(0)[1])
		}
		if mean := total / passes; math.Abs(mean-0.02) > 0.01 {
			return fmt.Errorf("mean %v, want 0.02", mean)
		}
		return nil
	})
}

func TestPackNotFinite(t *testing.T) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		values := make([]float32, 2*blockLen)
		values[0], values[1], values[blockLen] = 1, bad, 5
		wire := make([]byte, 2*blockSize)
		pack(wire, values)
		got := make([]float32, 2*blockLen)
		addPacked(got, wire)
		if got[0] == got[0] || got[blockLen] != 5 {
			t.Errorf("%v: block reads %v, the one beside it %v", bad, got[0], got[blockLen])
		}
		for i, v := range values {
			if v != 0 {
				t.Errorf("%v: [%d] keeps %v for the next pass", bad, i, v)
			}
		}
	}
}
