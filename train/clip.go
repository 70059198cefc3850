package train

import (
	"context"
	"fmt"
	"math"

	"thundercollective"
)

// ClipGlobalNorm scales gradients so that the Euclidean norm of the shards of all ranks
// together is at most limit, and returns the norm before. Every rank passes the shards
// that it owns, any number of any length. If the norm is not finite, it scales nothing.
func ClipGlobalNorm[T float32 | float64](ctx context.Context, c *thunder.Comm, limit float64, shards ...[]T) (float64, error) {
	if !(limit > 0) {
		return 0, fmt.Errorf("train: clip gradients: limit %v is not positive", limit)
	}
	squares := []float64{sumOfSquares(shards)}
	if err := thunder.AllReduce(ctx, c, squares, thunder.Sum); err != nil {
		return 0, fmt.Errorf("train: clip gradients: %w", err)
	}
	return clip(limit, math.Sqrt(squares[0]), shards), nil
}

// ClipNorm is like ClipGlobalNorm, but for gradients that every rank has as a whole, such
// as those of a GradientBucket. It sends nothing.
func ClipNorm[T float32 | float64](limit float64, gradients ...[]T) (float64, error) {
	if !(limit > 0) {
		return 0, fmt.Errorf("train: clip gradients: limit %v is not positive", limit)
	}
	return clip(limit, math.Sqrt(sumOfSquares(gradients)), gradients), nil
}

func sumOfSquares[T float32 | float64](vectors [][]T) float64 {
	sum := 0.0
	for _, s := range vectors {
		for _, v := range s {
			sum += float64(v) * float64(v)
		}
	}
	return sum
}

// clip scales vectors of the given norm down to limit, and returns norm.
func clip[T float32 | float64](limit, norm float64, vectors [][]T) float64 {
	if norm > limit && !math.IsInf(norm, 0) {
		scale := limit / norm
		for _, s := range vectors {
			for i := range s {
				s[i] = T(float64(s[i]) * scale)
			}
		}
	}
	return norm
}
