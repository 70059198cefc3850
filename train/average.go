package train

import (
	"context"
	"fmt"
	"unsafe"

	"thundercollective"
)

// AverageGradients replaces gradients by their average over all ranks of c. It packs small
// gradients together, up to DefaultBucketBytes, and averages others in place. All ranks
// must pass tensors of the same lengths in the same order. Errors are those of
// thunder.AllReduce.
func AverageGradients[T float32 | float64](ctx context.Context, c *thunder.Comm, gradients ...[]T) error {
	if c.Size() == 1 {
		return nil
	}
	limit := DefaultBucketBytes / int(unsafe.Sizeof(T(0)))
	var flat []T
	for len(gradients) > 0 {
		n, total := 0, 0
		for n < len(gradients) && (n == 0 || total+len(gradients[n]) <= limit) {
			total += len(gradients[n])
			n++
		}
		batch := gradients[:n]
		gradients = gradients[n:]
		buf := batch[0]
		if n > 1 {
			flat = flat[:0]
			for _, g := range batch {
				flat = append(flat, g...)
			}
			buf = flat
		}
		if err := thunder.AllReduce(ctx, c, buf, thunder.Avg); err != nil {
			return fmt.Errorf("train: average gradients: %w", err)
		}
		if n > 1 {
			rest := flat
			for _, g := range batch {
				copy(g, rest)
				rest = rest[len(g):]
			}
		}
	}
	return nil
}
