package reduce

import (
	"bytes"
	"fmt"
	"testing"
)

// The benchmarks print how many bytes of result each implementation makes a
// second, beside copy, in the L2 cache and in main memory. In place, as they run
// here, a kernel reads two buffers and writes one of them: the traffic of a copy,
// which has to read what it overwrites.

// rate measures f, which makes size bytes.
func rate(b *testing.B, name string, size int, f func()) {
	b.Run(fmt.Sprintf("%s/%dKiB", name, size>>10), func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			f()
		}
	})
}

// buffers are written to, or the system would back them with one page of zeros.
func buffers(size int) (x, y []byte) {
	return bytes.Repeat([]byte{1}, size), bytes.Repeat([]byte{2}, size)
}

func BenchmarkSum(b *testing.B) {
	for _, size := range []int{256 << 10, 64 << 20} {
		x, y := buffers(size)
		rate(b, "copy", size, func() { copy(x, y) })
		for _, dt := range []DType{F32, F64, F16, BF16, I8, I32, I64, Bool} {
			for _, t := range tables() {
				rate(b, fmt.Sprintf("%v/%s", dt, t.name), size, func() { t.kernels[dt][Sum](x, x, y) })
			}
		}
	}
}

func BenchmarkOther(b *testing.B) {
	const size = 256 << 10
	x, y := buffers(size)
	for _, dt := range []DType{F32, F16, BF16} {
		for _, t := range tables() {
			for _, op := range []Op{Prod, Max} {
				rate(b, fmt.Sprintf("%v/%v/%s", op, dt, t.name), size, func() { t.kernels[dt][op](x, x, y) })
			}
			rate(b, fmt.Sprintf("divide/%v/%s", dt, t.name), size, func() { t.divide[dt](x, x, 3) })
		}
	}
}
