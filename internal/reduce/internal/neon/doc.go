// Package neon holds the kernels of reduce for arm64, where every CPU has the
// instructions they need.
//
// They have the shape of a reduce.Kernel and trust their callers: buffers are of
// equal length, a multiple of the element's size, and at least 16 bytes long.
//
// Go's assembler has few of NEON's arithmetic instructions, so neon_arm64.h spells
// those out as words. loop_arm64.h goes over the buffers; a kernel is that and
// what it does to one vector. There is no 64-bit product, nor an instruction for
// it.
package neon
