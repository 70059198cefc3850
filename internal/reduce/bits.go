package reduce

// Bitwise operations do not depend on element boundaries, and bools are bytes: both are
// done eight bytes at a time, then byte by byte.

const (
	ones  = 0x0101010101010101 // 1 in each byte
	lower = 0x7f * ones        // all bits but the top one, in each byte
)

// truth returns 1 in each byte of w that is not zero. Adding 0x7f carries into
// the top bit, and no further, when any of the lower seven is set.
func truth(w uint64) uint64 { return (w&lower + lower | w) >> 7 & ones }

// rest returns what follows the whole words of the operands.
func rest(dst, a, b []byte) (d, x, y []byte) {
	n := len(dst) &^ 7
	return operands[byte](dst[n:], a[n:], b[n:])
}

func andBits(dst, a, b []byte) {
	d, x, y := operands[uint64](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = x[i] & y[i]
	}
	p, q, r := rest(dst, a, b)
	q, r = q[:len(p)], r[:len(p)]
	for i := range p {
		p[i] = q[i] & r[i]
	}
}

func orBits(dst, a, b []byte) {
	d, x, y := operands[uint64](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = x[i] | y[i]
	}
	p, q, r := rest(dst, a, b)
	q, r = q[:len(p)], r[:len(p)]
	for i := range p {
		p[i] = q[i] | r[i]
	}
}

func xorBits(dst, a, b []byte) {
	d, x, y := operands[uint64](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = x[i] ^ y[i]
	}
	p, q, r := rest(dst, a, b)
	q, r = q[:len(p)], r[:len(p)]
	for i := range p {
		p[i] = q[i] ^ r[i]
	}
}

func andBool(dst, a, b []byte) {
	d, x, y := operands[uint64](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = truth(x[i]) & truth(y[i])
	}
	p, q, r := rest(dst, a, b)
	q, r = q[:len(p)], r[:len(p)]
	for i := range p {
		p[i] = byte(truth(uint64(q[i])) & truth(uint64(r[i])))
	}
}

func orBool(dst, a, b []byte) {
	d, x, y := operands[uint64](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = truth(x[i] | y[i])
	}
	p, q, r := rest(dst, a, b)
	q, r = q[:len(p)], r[:len(p)]
	for i := range p {
		p[i] = byte(truth(uint64(q[i] | r[i])))
	}
}

func xorBool(dst, a, b []byte) {
	d, x, y := operands[uint64](dst, a, b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = truth(x[i]) ^ truth(y[i])
	}
	p, q, r := rest(dst, a, b)
	q, r = q[:len(p)], r[:len(p)]
	for i := range p {
		p[i] = byte(truth(uint64(q[i])) ^ truth(uint64(r[i])))
	}
}
