// Package reduce holds the element types a collective can carry and the kernels
// that combine them.
//
// # Element types and operations
//
// A DType names an element type, an Op an operation; both have short names that
// users write ("bf16", "sum"). Every type has sum, prod, min and max; every type
// but bool has avg; the integer types and bool have and, or and xor. Lookup
// returns a *UnsupportedError for the other pairs.
//
// Integers wrap around. A bool is true when its byte is not zero, and results
// are 0 or 1: sum, max and or are OR; prod, min and and are AND. Min and max of
// floats are those of the Go builtins: NaN wins, and -0 is less than +0.
//
// Float16 and BFloat16 are combined pair by pair in float32, rounded once to
// nearest even. The rounding to float32 in between does no harm: see half.go.
//
// Avg is a sum followed, once per element and at the very end, by Divide.
//
// # Kernels
//
// A Kernel works on bytes and has three operands: dst[i] = a[i] op b[i]. Buffers
// hold elements in the machine's byte order and need no alignment; dst may be
// exactly a or exactly b, but may not overlap them otherwise.
//
// There is one table of kernels per implementation. The one in pure Go, "go",
// is always there and defines the right answer; the others agree with it bit for
// bit, save that any NaN may stand for any other NaN. The best one the CPU can
// run is picked when the process starts. The environment variable
// THUNDER_KERNELS (go, avx2, avx512, neon) picks another for testing; one that
// this CPU cannot run means go. Active tells which it is.
//
// The amd64 kernels are written by internal/gen, the arm64 ones by hand.
package reduce

//go:generate go -C internal/gen run . -isa avx2 -pkg avx2 -out ../avx2/kernels_amd64.s -stubs ../avx2/kernels_amd64.go
//go:generate go -C internal/gen run . -isa avx512 -pkg avx512 -out ../avx512/kernels_amd64.s -stubs ../avx512/kernels_amd64.go
