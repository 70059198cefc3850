package reduce

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// eachFast runs f for every implementation this CPU has besides the oracle, not
// only for the active one.
func eachFast(t *testing.T, f func(t *testing.T, fast *table)) {
	list := tables()
	if len(list) == 1 {
		t.Skip("this CPU has no fast kernels: nothing to compare with the oracle")
	}
	for _, fast := range list[1:] {
		t.Run(fast.name, func(t *testing.T) { f(t, fast) })
	}
}

// lengths are in elements of the given size: all small ones, and those around
// the places where a kernel goes from one loop to another.
func lengths(size int) []int {
	var list []int
	for n := range 70 {
		list = append(list, n)
	}
	for _, n := range []int{192, 256, 4096 + 64, 5000} {
		list = append(list, n/size-1, n/size, n/size+1)
	}
	return list
}

// specials are the values an implementation gets wrong first, by element size.
func specials(dt DType) []uint64 {
	switch dt {
	case F16:
		return []uint64{0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x83ff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xffff, 0x3c00, 0xbc00, 0x3c01}
	case BF16:
		return []uint64{0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x807f, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0x7fc0, 0x7fff, 0xffff, 0x3f80, 0xbf80, 0x3f81}
	case F32:
		return []uint64{0, 1 << 31, 1, 1<<31 | 1, 0x7fffff, 0x800000, 0x807fffff, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0xffffffff, 0x3f800000, 0xbf800000, 0x3f800001}
	case F64:
		return []uint64{0, 1 << 63, 1, 1<<63 | 1, 1<<52 - 1, 1 << 52, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff0000000000001, 0x7ff8000000000000, 1<<64 - 1, 0x3ff0000000000000, 0xbff0000000000000}
	default:
		top := uint64(1) << (8*dt.Size() - 1)
		return []uint64{0, 1, top, top - 1, top + 1, 2*top - 1, 2*top - 2, 2, 0x80}
	}
}

// fill writes elements: special ones, random bits, and random bits close to what
// is there already, so that sums cancel and round.
func fill(r *rand.Rand, dt DType, b []byte) {
	list := specials(dt)
	var w [8]byte
	for size := dt.Size(); len(b) >= size; b = b[size:] {
		switch r.IntN(4) {
		case 0:
			binary.NativeEndian.PutUint64(w[:], list[r.IntN(len(list))])
		case 1:
			copy(w[:], b[:size])
			w[0] ^= byte(r.Uint32())
		default:
			binary.NativeEndian.PutUint64(w[:], r.Uint64())
		}
		copy(b, w[:size])
	}
}

// isNaN reports whether the first element of b is NaN.
func isNaN(dt DType, b []byte) bool {
	switch dt {
	case F16:
		return binary.NativeEndian.Uint16(b)&0x7fff > 0x7c00
	case BF16:
		return binary.NativeEndian.Uint16(b)&0x7fff > 0x7f80
	case F32:
		return binary.NativeEndian.Uint32(b)&(1<<31-1) > 0x7f800000
	case F64:
		return binary.NativeEndian.Uint64(b)&(1<<63-1) > 0x7ff<<52
	}
	return false
}

// diff describes the first element in which got is not want, "" if there is none.
// Any NaN is as good as any other.
func diff(dt DType, got, want []byte) string {
	if bytes.Equal(got, want) {
		return ""
	}
	size := dt.Size()
	for i := 0; i < len(want); i += size {
		g, w := got[i:i+size], want[i:i+size]
		if !bytes.Equal(g, w) && !(isNaN(dt, g) && isNaN(dt, w)) {
			return fmt.Sprintf("element %d of %d is %x, want %x (bytes in memory order)", i/size, len(want)/size, g, w)
		}
	}
	return ""
}

// A guarded buffer notices writes beside it.
type guarded struct{ all, buf []byte }

const guard = 64

// guardedBuffer returns n bytes that start offset bytes off a 64-byte boundary,
// more or less: it is the spread of offsets that matters.
func guardedBuffer(n, offset int) guarded {
	all := bytes.Repeat([]byte{0xa5}, guard+offset+n+guard)
	return guarded{all, all[guard+offset : guard+offset+n : guard+offset+n]}
}

func (g guarded) intact() bool {
	before, after := g.all[:len(g.all)-guard-len(g.buf)], g.all[len(g.all)-guard:]
	return len(bytes.Trim(before, "\xa5")) == 0 && len(bytes.Trim(after, "\xa5")) == 0
}

func TestFastKernels(t *testing.T) {
	oracle := goTable()
	eachFast(t, func(t *testing.T, fast *table) {
		for _, dt := range DTypes() {
			for _, op := range Ops() {
				if oracle.kernels[dt][op] == nil {
					if fast.kernels[dt][op] != nil {
						t.Errorf("%v %v is defined, though not in Go", dt, op)
					}
					continue
				}
				r := rand.New(rand.NewPCG(uint64(dt), uint64(op)))
				for _, n := range lengths(dt.Size()) {
					compareKernels(t, r, dt, op, n*dt.Size(), oracle.kernels[dt][op], fast.kernels[dt][op])
				}
			}
		}
	})
}

// compareKernels runs both on the same n bytes, at odd addresses, with dst apart
// and on top of the operands.
func compareKernels(t *testing.T, r *rand.Rand, dt DType, op Op, n int, oracle, fast Kernel) {
	t.Helper()
	a, b := guardedBuffer(n, r.IntN(64)), guardedBuffer(n, r.IntN(64))
	fill(r, dt, a.buf)
	copy(b.buf, a.buf)
	fill(r, dt, b.buf)
	want, twice := make([]byte, n), make([]byte, n)
	oracle(want, a.buf, b.buf)
	oracle(twice, a.buf, a.buf)

	dst := guardedBuffer(n, r.IntN(64))
	wasA, wasB := bytes.Clone(a.buf), bytes.Clone(b.buf)
	report := func(how string, got, want []byte) {
		t.Helper()
		if d := diff(dt, got, want); d != "" {
			t.Fatalf("%v %v, %s: %s", dt, op, how, d)
		}
		if !a.intact() || !b.intact() || !dst.intact() {
			t.Fatalf("%v %v of %d bytes, %s: wrote outside the buffer", dt, op, n, how)
		}
	}
	fast(dst.buf, a.buf, b.buf)
	report("dst apart", dst.buf, want)
	if !bytes.Equal(a.buf, wasA) || !bytes.Equal(b.buf, wasB) {
		t.Fatalf("%v %v of %d bytes changed an operand", dt, op, n)
	}
	fast(a.buf, a.buf, b.buf)
	report("dst is a", a.buf, want)
	copy(a.buf, wasA)
	fast(b.buf, a.buf, b.buf)
	report("dst is b", b.buf, want)
	fast(a.buf, a.buf, a.buf)
	report("all the same", a.buf, twice)
}

// TestFastHalves puts every 16-bit float through every kernel, against partners
// of all kinds.
func TestFastHalves(t *testing.T) {
	oracle := goTable()
	eachFast(t, func(t *testing.T, fast *table) {
		a, b := make([]uint16, 1<<16), make([]uint16, 1<<16)
		want, got := make([]uint16, 1<<16), make([]uint16, 1<<16)
		for i := range a {
			a[i] = uint16(i)
		}
		for _, dt := range []DType{F16, BF16} {
			r := rand.New(rand.NewPCG(5, uint64(dt)))
			for round := range 8 {
				for i := range b {
					b[i] = uint16(r.Uint32())
					if round >= 4 { // close enough for sums to round
						b[i] = a[i] ^ b[i]&0x87ff
					}
				}
				for _, op := range []Op{Sum, Prod, Min, Max} {
					oracle.kernels[dt][op](Bytes(want), Bytes(a), Bytes(b))
					fast.kernels[dt][op](Bytes(got), Bytes(a), Bytes(b))
					if d := diff(dt, Bytes(got), Bytes(want)); d != "" {
						t.Fatalf("%v %v: %s", dt, op, d)
					}
				}
			}
		}
	})
}

func TestFastDivide(t *testing.T) {
	oracle := goTable()
	eachFast(t, func(t *testing.T, fast *table) {
		for _, dt := range DTypes() {
			if oracle.divide[dt] == nil {
				continue
			}
			r := rand.New(rand.NewPCG(6, uint64(dt)))
			for _, n := range lengths(dt.Size()) {
				by := 1 + r.IntN(1<<r.IntN(12))
				src, dst := guardedBuffer(n*dt.Size(), r.IntN(64)), guardedBuffer(n*dt.Size(), r.IntN(64))
				fill(r, dt, src.buf)
				want := make([]byte, len(src.buf))
				oracle.divide[dt](want, src.buf, by)
				fast.divide[dt](dst.buf, src.buf, by)
				apart := diff(dt, dst.buf, want)
				fast.divide[dt](src.buf, src.buf, by)
				if same := diff(dt, src.buf, want); apart != "" || same != "" {
					t.Fatalf("%v / %d: %s%s", dt, by, apart, same)
				}
				if !src.intact() || !dst.intact() {
					t.Fatalf("%v / %d: wrote outside the buffer", dt, by)
				}
			}
		}
	})
}
