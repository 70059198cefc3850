package reduce

import (
	"fmt"

	"thundercollective/internal/env"
)

// A Kernel computes dst[i] = a[i] op b[i] for every element. All three have the same
// length, a multiple of the element's size, at any address; dst may be exactly a or
// exactly b, but must not overlap them in any other way.
type Kernel func(dst, a, b []byte)

// A divider computes dst[i] = src[i] / n under the same rules, for n > 0.
type divider func(dst, src []byte, n int)

// A table is one implementation of every kernel. It does not change once built.
type table struct {
	name    string
	kernels [dtypeEnd][opEnd]Kernel // nil where the pair is undefined
	divide  [dtypeEnd]divider       // nil where Avg is undefined
}

// active is the table in use, fixed for the life of the process. A value of THUNDER_KERNELS
// that is no choice is not an error here: Init refuses it.
var active = choose((&env.Reader{}).Choice(env.Kernels), tables())

// tables lists the implementations that this CPU can run, pure Go first, the best last.
func tables() []*table {
	base := goTable()
	return append([]*table{base}, fastTables(base)...)
}

// choose returns the table called name, the best one if name is empty, and the
// pure Go one if there is no table of that name.
func choose(name string, list []*table) *table {
	if name == "" {
		return list[len(list)-1]
	}
	for _, t := range list {
		if t.name == name {
			return t
		}
	}
	return list[0]
}

// Active names the implementation in use: "go", "avx2", "avx512" or "neon".
func Active() string { return active.name }

// Lookup returns the kernel for elements of type dt. The kernel for Avg is that of Sum:
// the caller divides at the end. The error is an *UnsupportedError.
func Lookup(dt DType, op Op) (Kernel, error) {
	if !dt.Valid() || !op.Valid() || active.kernels[dt][op] == nil {
		return nil, &UnsupportedError{DType: dt, Op: op}
	}
	return active.kernels[dt][op], nil
}

// Divide computes dst[i] = src[i] / n for elements of type dt. It leaves dst unchanged if
// dt does not support Avg or n is not positive. Both have the same length, and may be the
// same.
//
// Integers are truncated towards zero. Floats are rounded to nearest even, once,
// as long as n is below 2^12 (f16), 2^15 (bf16), 2^24 (f32) or 2^53 (f64).
func Divide(dt DType, dst, src []byte, n int) {
	if dt.Valid() && active.divide[dt] != nil && n > 0 {
		active.divide[dt](dst, src, n)
	}
}

// An UnsupportedError reports that an operation is not defined on a type.
type UnsupportedError struct {
	DType DType
	Op    Op
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("reduction %v is not defined for elements of type %v", e.Op, e.DType)
}
