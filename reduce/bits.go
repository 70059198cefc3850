package reduce

// Bitwise operations do not care where an element ends, and bools are bytes: both
// are done eight bytes at a time, then byte by byte.

const (
	ones  = 0x0101010101010101 // 1 in each byte
	lower = 0x7f * ones        // all bits but the top one, in each byte
)

// truth returns 1 in each byte of w that is not zero. Adding 0x7f carries into
// the top bit, and no further, when any of the lower seven is set.
func truth(w uint64) uint64 { return (w&lower + lower | w) >> 7 & ones }

// words splits the operands into whole words and the bytes that remain.
func words(dst, a, b []byte) (d, x, y []uint64, dt, at, bt []byte) {
	d, x, y = operands[uint64](dst, a, b)
	n := 8 * len(d)
	dt = dst[n:]
	return d, x, y, dt, a[n:][:len(dt)], b[n:][:len(dt)]
}

func andBits(dst, a, b []byte) {
	d, x, y, dt, at, bt := words(dst, a, b)
	for i := range d {
		d[i] = x[i] & y[i]
	}
	for i := range dt {
		dt[i] = at[i] & bt[i]
	}
}

func orBits(dst, a, b []byte) {
	d, x, y, dt, at, bt := words(dst, a, b)
	for i := range d {
		d[i] = x[i] | y[i]
	}
	for i := range dt {
		dt[i] = at[i] | bt[i]
	}
}

func xorBits(dst, a, b []byte) {
	d, x, y, dt, at, bt := words(dst, a, b)
	for i := range d {
		d[i] = x[i] ^ y[i]
	}
	for i := range dt {
		dt[i] = at[i] ^ bt[i]
	}
}

func andBool(dst, a, b []byte) {
	d, x, y, dt, at, bt := words(dst, a, b)
	for i := range d {
		d[i] = truth(x[i]) & truth(y[i])
	}
	for i := range dt {
		dt[i] = byte(truth(uint64(at[i])) & truth(uint64(bt[i])))
	}
}

func orBool(dst, a, b []byte) {
	d, x, y, dt, at, bt := words(dst, a, b)
	for i := range d {
		d[i] = truth(x[i] | y[i])
	}
	for i := range dt {
		dt[i] = byte(truth(uint64(at[i] | bt[i])))
	}
}

func xorBool(dst, a, b []byte) {
	d, x, y, dt, at, bt := words(dst, a, b)
	for i := range d {
		d[i] = truth(x[i]) ^ truth(y[i])
	}
	for i := range dt {
		dt[i] = byte(truth(uint64(at[i])) ^ truth(uint64(bt[i])))
	}
}
