package bench

import (
	"bytes"

	thunder "thundercollective"
)

// period is the number of elements after which a pattern repeats. It is a prime, so that no
// displacement by a power of two (a segment, a page, a chunk) maps the pattern onto itself.
const period = 251

// tileBytes is roughly how much of a pattern is kept in memory: small enough to stay in a
// cache, large enough for fast copies and comparisons.
const tileBytes = 32 << 10

// A pattern is an endless periodic sequence of elements with known values.
type pattern struct {
	size int    // of an element
	tile []byte // whole periods, plus one to start anywhere in the first
}

// newPattern returns the pattern whose element i has the value at(i mod period).
func newPattern(dt thunder.DType, at func(i int) int64) pattern {
	size := dt.Size()
	one := make([]byte, period*size)
	for i := range period {
		encode(dt, one[i*size:], at(i))
	}
	return pattern{size, bytes.Repeat(one, tileBytes/len(one)+1)}
}

// run returns the longest part of the pattern in memory that begins with element start.
func (p pattern) run(start int) []byte {
	from := start % period * p.size
	whole := len(p.tile) - period*p.size
	return p.tile[from:][:whole]
}

// fill writes elements start, start+1, ... of the pattern into dst.
func (p pattern) fill(dst []byte, start int) {
	src := p.run(start)
	for len(dst) > 0 {
		dst = dst[copy(dst, src):]
	}
}

// wrong counts the elements of got that differ from start, start+1, ... of the
// pattern.
func (p pattern) wrong(got []byte, start int) int64 {
	want := p.run(start)
	var n int64
	for len(got) > 0 {
		k := min(len(got), len(want))
		if !bytes.Equal(got[:k], want[:k]) {
			for i := 0; i < k; i += p.size {
				if !bytes.Equal(got[i:i+p.size], want[i:i+p.size]) {
					n++
				}
			}
		}
		got = got[k:]
	}
	return n
}

// poison overwrites a buffer before it is received into, so that its old content cannot
// pass for a result.
func poison(b []byte) {
	if len(b) == 0 {
		return
	}
	b[0] = 0xa5
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}
