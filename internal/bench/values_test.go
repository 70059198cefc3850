package bench

import (
	"bytes"
	"fmt"
	"testing"

	thunder "thundercollective"
	"thundercollective/internal/reduce"
)

// TestReducedMatchesKernels reduces what all ranks contribute with the kernels of
// package reduce, in several orders, and expects the bytes that reduced promises.
func TestReducedMatchesKernels(t *testing.T) {
	for _, dt := range thunder.DTypes() {
		for _, op := range thunder.Ops() {
			kernel, err := reduce.Lookup(dt, op)
			if err != nil {
				continue
			}
			for ranks := 1; ranks <= 16; ranks++ {
				t.Run(fmt.Sprintf("%v/%v/%d", dt, op, ranks), func(t *testing.T) {
					want := buffer(newPattern(dt, func(i int) int64 { return reduced(dt, op, ranks, i) }))
					inputs := make([][]byte, ranks)
					for r := range inputs {
						inputs[r] = buffer(newPattern(dt, func(i int) int64 { return contributed(dt, op, ranks, r, i) }))
					}
					for name, order := range map[string]func(reduce.Kernel, [][]byte) []byte{
						"from the left": foldLeft, "from the right": foldRight, "tree": foldTree,
					} {
						got := order(kernel, inputs)
						if op == thunder.Avg {
							reduce.Divide(dt, got, got, ranks)
						}
						if !bytes.Equal(got, want) {
							t.Errorf("%s: %d of %d elements differ", name, differing(got, want, dt.Size()), period)
						}
					}
				})
			}
		}
	}
}

func buffer(p pattern) []byte {
	b := make([]byte, period*p.size)
	p.fill(b, 0)
	return b
}

func differing(a, b []byte, size int) (n int) {
	for i := 0; i < len(a); i += size {
		if !bytes.Equal(a[i:i+size], b[i:i+size]) {
			n++
		}
	}
	return n
}

func foldLeft(k reduce.Kernel, in [][]byte) []byte {
	acc := bytes.Clone(in[0])
	for _, b := range in[1:] {
		k(acc, acc, b)
	}
	return acc
}

func foldRight(k reduce.Kernel, in [][]byte) []byte {
	acc := bytes.Clone(in[len(in)-1])
	for i := len(in) - 2; i >= 0; i-- {
		k(acc, in[i], acc)
	}
	return acc
}

func foldTree(k reduce.Kernel, in [][]byte) []byte {
	if len(in) == 1 {
		return bytes.Clone(in[0])
	}
	left, right := foldTree(k, in[:len(in)/2]), foldTree(k, in[len(in)/2:])
	k(left, left, right)
	return left
}

// A rank that is left out of a reduction, or counted twice, has to show.
func TestEveryRankMatters(t *testing.T) {
	for _, dt := range thunder.DTypes() {
		for _, op := range thunder.Ops() {
			kernel, err := reduce.Lookup(dt, op)
			if err != nil {
				continue
			}
			for _, ranks := range []int{2, 3, 9, 16} {
				full := buffer(newPattern(dt, func(i int) int64 { return reduced(dt, op, ranks, i) }))
				for missing := range ranks {
					var rest [][]byte
					for r := range ranks {
						if r != missing {
							rest = append(rest, buffer(newPattern(dt, func(i int) int64 { return contributed(dt, op, ranks, r, i) })))
						}
					}
					got := foldLeft(kernel, rest)
					if op == thunder.Avg {
						reduce.Divide(dt, got, got, ranks)
					}
					if bytes.Equal(got, full) {
						t.Errorf("%v %v over %d ranks: the result is the same without rank %d", dt, op, ranks, missing)
					}
				}
			}
		}
	}
}

// Blocks that change places, come from the wrong rank or are shifted have to show.
func TestMovedTellsBlocksApart(t *testing.T) {
	for _, dt := range thunder.DTypes() {
		patterns := make([]pattern, 16)
		for r := range patterns {
			patterns[r] = newPattern(dt, func(i int) int64 { return moved(dt, r, i) })
		}
		got := make([]byte, 1024*dt.Size())
		for r, p := range patterns {
			p.fill(got, 0)
			for q, other := range patterns {
				if wrong := other.wrong(got, 0); (wrong == 0) != (q == r) {
					t.Errorf("%v: rank %d's block taken for rank %d's: %d wrong", dt, r, q, wrong)
				}
			}
			for shift := 1; shift <= 1<<20; shift *= 2 {
				if p.wrong(got, shift) == 0 {
					t.Errorf("%v: a shift by %d elements goes unnoticed", dt, shift)
				}
			}
		}
	}
}

func TestEncodeDecode(t *testing.T) {
	for _, dt := range thunder.DTypes() {
		lo, hi := int64(-limit), int64(limit)
		switch {
		case dt == thunder.Bool:
			lo, hi = 0, 1
		case !signed(dt):
			lo = 0
		}
		b := make([]byte, 8)
		for v := lo; v <= hi; v++ {
			encode(dt, b, v)
			if got := decode(dt, b); got != float64(v) {
				t.Errorf("%v: %d became %v", dt, v, got)
			}
		}
	}
}
