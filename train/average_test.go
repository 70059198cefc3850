package train

import (
	"context"
	"fmt"
	"math"
	"testing"

	"thundercollective"
)

func TestAverageGradients(t *testing.T) {
	const large = DefaultBucketBytes/8 + 1 // of float64: does not fit with others
	for _, lens := range [][]int{{}, {3}, {0, 5, 1}, {4, large, 2, 2}} {
		everywhere(t, 3, func(c *thunder.Comm) error {
			grads := make([][]float64, len(lens))
			for i, n := range lens {
				grads[i] = make([]float64, n)
				for j := range grads[i] {
					grads[i][j] = float64(value(c.Rank(), 0, i, j))
				}
			}
			if err := AverageGradients(context.Background(), c, grads...); err != nil {
				return err
			}
			for i, g := range grads {
				for j, got := range g {
					want := float64(value(0, 0, i, j)+value(1, 0, i, j)+value(2, 0, i, j)) / 3
					if got != want {
						return fmt.Errorf("lengths %v: %d[%d] = %v, want %v", lens, i, j, got, want)
					}
				}
			}
			return nil
		})
	}
}

func TestClipGlobalNorm(t *testing.T) {
	everywhere(t, 2, func(c *thunder.Comm) error {
		ctx := context.Background()
		shard := []float32{3} // and 4 at the other rank: the norm is 5
		if c.Rank() == 1 {
			shard = []float32{0, 4}
		}
		last := len(shard) - 1
		for _, step := range []struct{ limit, norm, scale float64 }{{10, 5, 1}, {1, 5, 0.2}, {1, 1, 0.2}} {
			norm, err := ClipGlobalNorm(ctx, c, step.limit, shard)
			if err != nil {
				return err
			}
			if math.Abs(norm-step.norm) > 1e-6 {
				return fmt.Errorf("norm %v, want %v", norm, step.norm)
			}
			if got, want := float64(shard[last]), float64(3+c.Rank())*step.scale; math.Abs(got-want) > 1e-6 {
				return fmt.Errorf("clipped to %v: %v, want %v", step.limit, got, want)
			}
		}
		if c.Rank() == 0 {
			shard[0] = float32(math.Inf(1))
		}
		before := shard[last]
		norm, err := ClipGlobalNorm(ctx, c, 1, shard)
		if err != nil || !math.IsInf(norm, 1) || shard[last] != before {
			return fmt.Errorf("with an infinity: norm %v, %v -> %v, %v", norm, before, shard[last], err)
		}
		if _, err := ClipGlobalNorm(ctx, c, 0, shard); err == nil {
			return fmt.Errorf("a limit of 0 was accepted")
		}
		return nil
	})
}

func TestClipNorm(t *testing.T) {
	a, b := []float64{3}, []float64{4}
	norm, err := ClipNorm(1, a, b)
	if err != nil || norm != 5 || math.Abs(a[0]-0.6) > 1e-12 || math.Abs(b[0]-0.8) > 1e-12 {
		t.Errorf("norm %v, %v %v, %v", norm, a, b, err)
	}
	if _, err := ClipNorm[float64](math.NaN()); err == nil {
		t.Error("a limit of NaN was accepted")
	}
}
