package reduce

// goTable returns the implementation in pure Go, which defines the results.
func goTable() *table {
	t := &table{name: "go"}
	t.kernels[F32] = numeric[float32]()
	t.kernels[F64] = numeric[float64]()
	t.kernels[F16] = arithmetic(sumF16, prodF16, minF16, maxF16)
	t.kernels[BF16] = arithmetic(sumBF16, prodBF16, minBF16, maxBF16)
	t.kernels[I8] = integer[int8]()
	t.kernels[I16] = integer[int16]()
	t.kernels[I32] = integer[int32]()
	t.kernels[I64] = integer[int64]()
	t.kernels[U8] = integer[uint8]()
	t.kernels[U16] = integer[uint16]()
	t.kernels[U32] = integer[uint32]()
	t.kernels[U64] = integer[uint64]()
	t.kernels[Bool] = boolean(andBool, orBool, xorBool)
	t.divide = [dtypeEnd]divider{
		F32: divideFloat[float32], F64: divideFloat[float64], F16: divideF16, BF16: divideBF16,
		I8: divideSigned[int8], I16: divideSigned[int16], I32: divideSigned[int32], I64: divideSigned[int64],
		U8: divideUnsigned[uint8], U16: divideUnsigned[uint16], U32: divideUnsigned[uint32], U64: divideUnsigned[uint64],
	}
	return t
}

type float interface{ float32 | float64 }

type signed interface{ int8 | int16 | int32 | int64 }

type unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

type number interface{ float | signed | unsigned }

func numeric[T number]() [opEnd]Kernel {
	return arithmetic(sum[T], prod[T], least[T], greatest[T])
}

func integer[T signed | unsigned]() [opEnd]Kernel {
	k := numeric[T]()
	k[And], k[Or], k[Xor] = andBits, orBits, xorBits
	return k
}

// arithmetic returns the row of a number type in a table.
func arithmetic(sum, prod, least, greatest Kernel) [opEnd]Kernel {
	return [opEnd]Kernel{Sum: sum, Avg: sum, Prod: prod, Min: least, Max: greatest}
}

// boolean returns the row of Bool, which has three different kernels.
func boolean(and, or, xor Kernel) [opEnd]Kernel {
	return [opEnd]Kernel{Sum: or, Max: or, Or: or, Prod: and, Min: and, And: and, Xor: xor}
}

// operands views the three buffers as elements. Each kernel then cuts the operands to the
// length of dst itself, because only then does the compiler omit bounds checks in its
// loop.
func operands[T any](dst, a, b []byte) (d, x, y []T) {
	return view[T](dst), view[T](a), view[T](b)
}

func sum[T number](dst, a, b []byte) {
	d, x, y := operands[T](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = x[i] + y[i]
	}
}

func prod[T number](dst, a, b []byte) {
	d, x, y := operands[T](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = x[i] * y[i]
	}
}

func least[T number](dst, a, b []byte) {
	d, x, y := operands[T](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = min(x[i], y[i])
	}
}

func greatest[T number](dst, a, b []byte) {
	d, x, y := operands[T](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = max(x[i], y[i])
	}
}

func divideFloat[T float](dst, src []byte, n int) {
	d := view[T](dst)
	s, by := view[T](src)[:len(d)], T(n)
	for i := range d {
		d[i] = s[i] / by
	}
}

// Integers are divided as 64-bit numbers because n may not fit in T.

func divideSigned[T signed](dst, src []byte, n int) {
	d := view[T](dst)
	s, by := view[T](src)[:len(d)], int64(n)
	for i := range d {
		d[i] = T(int64(s[i]) / by)
	}
}

func divideUnsigned[T unsigned](dst, src []byte, n int) {
	d := view[T](dst)
	s, by := view[T](src)[:len(d)], uint64(n)
	for i := range d {
		d[i] = T(uint64(s[i]) / by)
	}
}
