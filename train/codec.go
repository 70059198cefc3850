package train

import (
	"context"

	"thundercollective"
)

// A codec combines the values of a bucket with those of the other ranks, in place.
type codec interface {
	combine(ctx context.Context, values []float32) error
}

// newCodec returns the codec for a bucket of n elements.
func newCodec(c *thunder.Comm, n int, cfg Config) codec {
	switch {
	case cfg.Wire == F32 || c.Size() == 1:
		return &plain{comm: c, op: cfg.Op, algo: cfg.Algo}
	case cfg.Wire == BF16:
		return newHalf(c, n, cfg, thunder.BF16, thunder.ToBFloat16, thunder.BFloat16.Float32)
	case cfg.Wire == F16:
		return newHalf(c, n, cfg, thunder.F16, thunder.ToFloat16, thunder.Float16.Float32)
	default:
		return newQuantised(c, n, cfg.Op == thunder.Avg)
	}
}

// plain sends the values as they are.
type plain struct {
	comm *thunder.Comm
	op   thunder.Op
	algo thunder.Algo
}

func (p *plain) combine(ctx context.Context, values []float32) error {
	return p.comm.Do(ctx, &thunder.Request{
		Kind: thunder.KindAllReduce, DType: thunder.F32, Op: p.op, Algo: p.algo, Recv: thunder.Bytes(values),
	})
}

// half sends 16-bit floats. For an average, it divides before the sum, not after, so that
// the sum does not overflow float16.
type half[T thunder.Float16 | thunder.BFloat16] struct {
	comm   *thunder.Comm
	dtype  thunder.DType
	algo   thunder.Algo
	scale  float32
	wire   []T
	narrow func(float32) T
	widen  func(T) float32
}

func newHalf[T thunder.Float16 | thunder.BFloat16](c *thunder.Comm, n int, cfg Config, dt thunder.DType, narrow func(float32) T, widen func(T) float32) *half[T] {
	h := &half[T]{comm: c, dtype: dt, algo: cfg.Algo, scale: 1, wire: make([]T, n), narrow: narrow, widen: widen}
	if cfg.Op == thunder.Avg {
		h.scale = 1 / float32(c.Size())
	}
	return h
}

func (h *half[T]) combine(ctx context.Context, values []float32) error {
	for i, v := range values {
		h.wire[i] = h.narrow(v * h.scale)
	}
	err := h.comm.Do(ctx, &thunder.Request{
		Kind: thunder.KindAllReduce, DType: h.dtype, Op: thunder.Sum, Algo: h.algo, Recv: thunder.Bytes(h.wire),
	})
	if err != nil {
		return err
	}
	for i, w := range h.wire {
		values[i] = h.widen(w)
	}
	return nil
}
