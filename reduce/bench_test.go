package reduce

import (
	"bytes"
	"fmt"
	"testing"
)

// BenchmarkKernels prints, for buffers in L1, L2 and beyond, how many bytes of
// result each kernel makes a second, beside copy. In place, as the collectives
// use them, a kernel reads two buffers and writes one of them, which is the
// traffic of a copy into memory that is not in the cache.
func BenchmarkKernels(b *testing.B) {
	for _, size := range []int{16 << 10, 256 << 10, 64 << 20} {
		// Written to, or the kernel would back them with one page of zeros.
		x, y := bytes.Repeat([]byte{1}, size), bytes.Repeat([]byte{2}, size)
		run := func(name string, f func()) {
			b.Run(fmt.Sprintf("%s/%dKiB", name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					f()
				}
			})
		}
		run("copy", func() { copy(x, y) })
		for _, t := range tables() {
			for _, dt := range []DType{F32, F64, F16, BF16, I8, I32, I64, Bool} {
				for _, op := range []Op{Sum, Prod, Max} {
					if k := t.kernels[dt][op]; k != nil {
						run(fmt.Sprintf("%v_%v/%s", dt, op, t.name), func() { k(x, x, y) })
					}
				}
				if d := t.divide[dt]; d != nil && dt <= BF16 {
					run(fmt.Sprintf("%v_divide/%s", dt, t.name), func() { d(x, x, 3) })
				}
			}
		}
	}
}
