package reduce

// The 16-bit floats are combined in float32, and the result is rounded again. Rounding
// twice gives the same as rounding the exact result once, because float32 is wide enough:
//
//   - A product of two p-bit significands has 2p bits: 22 for Float16, which
//     float32 holds exactly, denormals included. For BFloat16 it is 16 bits, held
//     exactly unless the product falls among float32's denormals and has bits
//     below 2^-149; then, being 16 bits wide, it is less than 2^-134, half the
//     least BFloat16, and goes to zero either way.
//   - For a sum or a quotient, 2p+2 bits in between are enough (Figueroa, "When
//     is double rounding innocuous?", 1995): 24 for Float16, 18 for BFloat16,
//     and float32 has 24. Sums of denormals are exact.
//   - The divisor n of an average is not a p-bit number, but a quotient that is
//     no midpoint of two p-bit numbers is at least 2^-(p+1)/n away from one,
//     relatively, so that float32's 2^-25 cannot reach it for n < 2^12 (Float16).
//     Among BFloat16's denormals the distance is 2^-134/n against an error of
//     2^-150, which requires n < 2^15.
//   - Min and max return an operand.

func sumF16(dst, a, b []byte) {
	d, x, y := operands[Float16](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = ToFloat16(x[i].Float32() + y[i].Float32())
	}
}

func prodF16(dst, a, b []byte) {
	d, x, y := operands[Float16](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = ToFloat16(x[i].Float32() * y[i].Float32())
	}
}

func minF16(dst, a, b []byte) {
	d, x, y := operands[Float16](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = ToFloat16(min(x[i].Float32(), y[i].Float32()))
	}
}

func maxF16(dst, a, b []byte) {
	d, x, y := operands[Float16](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = ToFloat16(max(x[i].Float32(), y[i].Float32()))
	}
}

func divideF16(dst, src []byte, n int) {
	d := view[Float16](dst)
	s, by := view[Float16](src)[:len(d)], float32(n)
	for i := range d {
		d[i] = ToFloat16(s[i].Float32() / by)
	}
}

func sumBF16(dst, a, b []byte) {
	d, x, y := operands[BFloat16](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = ToBFloat16(x[i].Float32() + y[i].Float32())
	}
}

func prodBF16(dst, a, b []byte) {
	d, x, y := operands[BFloat16](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = ToBFloat16(x[i].Float32() * y[i].Float32())
	}
}

func minBF16(dst, a, b []byte) {
	d, x, y := operands[BFloat16](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = ToBFloat16(min(x[i].Float32(), y[i].Float32()))
	}
}

func maxBF16(dst, a, b []byte) {
	d, x, y := operands[BFloat16](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = ToBFloat16(max(x[i].Float32(), y[i].Float32()))
	}
}

func divideBF16(dst, src []byte, n int) {
	d := view[BFloat16](dst)
	s, by := view[BFloat16](src)[:len(d)], float32(n)
	for i := range d {
		d[i] = ToBFloat16(s[i].Float32() / by)
	}
}
