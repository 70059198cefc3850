// Package avx512 holds the kernels of reduce for CPUs with AVX-512.
//
// They have the shape of a reduce.Kernel and trust their callers: buffers are of
// equal length, a multiple of the element's size, and at least as long as the
// comment of each says. The code is written by internal/gen.
package avx512
