package reduce

// A fast holds the kernels of an instruction set; those it lacks are nil.
type fast struct {
	name string
	// bytes is the shortest length that a kernel accepts: one vector.
	bytes   int
	kernels [dtypeEnd][opEnd]Kernel
	// Bitwise kernels are used for all integer types.
	and, or, xor  Kernel
	divideFloat32 [dtypeEnd]func(dst, src []byte, by float32)
	divideFloat64 func(dst, src []byte, by float64)
}

// over returns a table that uses f where it has a kernel and base elsewhere.
func (f *fast) over(base *table) *table {
	t := *base
	t.name = f.name
	put := func(dt DType, op Op, k Kernel) {
		if k != nil {
			t.kernels[dt][op] = f.checked(k, base.kernels[dt][op])
		}
	}
	for dt := range dtypeEnd {
		for op := range opEnd {
			put(dt, op, f.kernels[dt][op])
		}
		if by := f.divideFloat32[dt]; by != nil {
			t.divide[dt] = checkedDivider(f.bytes, by, base.divide[dt])
		}
	}
	for dt := I8; dt <= U64; dt++ {
		put(dt, And, f.and)
		put(dt, Or, f.or)
		put(dt, Xor, f.xor)
	}
	t.divide[F64] = checkedDivider(f.bytes, f.divideFloat64, base.divide[F64])
	return &t
}

// checked returns an assembly kernel with length checks: what is too short goes to the
// kernel short, and operands shorter than dst cause a panic.
func (f *fast) checked(k, short Kernel) Kernel {
	least := f.bytes
	return func(dst, a, b []byte) {
		if len(dst) < least {
			short(dst, a, b)
			return
		}
		k(dst, a[:len(dst)], b[:len(dst)])
	}
}

func checkedDivider[F float](least int, by func(dst, src []byte, by F), short divider) divider {
	return func(dst, src []byte, n int) {
		if len(dst) < least {
			short(dst, src, n)
			return
		}
		by(dst, src[:len(dst)], F(n))
	}
}
