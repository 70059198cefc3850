package bench

import (
	"bytes"
	"testing"

	thunder "thundercollective"
)

func TestPatternFillAndWrong(t *testing.T) {
	for _, dt := range []thunder.DType{thunder.U8, thunder.BF16, thunder.F32, thunder.F64} {
		p := newPattern(dt, func(i int) int64 { return int64(i % limit) })
		for _, count := range []int{0, 1, period - 1, period, period + 1, 3 * tileBytes} {
			for _, start := range []int{0, 1, period - 1, period, 1 << 20} {
				b := make([]byte, count*dt.Size())
				p.fill(b, start)
				for i := range count {
					if got, want := decode(dt, b[i*dt.Size():]), float64((start+i)%period%limit); got != want {
						t.Fatalf("%v: element %d from %d is %v, want %v", dt, i, start, got, want)
					}
				}
				if n := p.wrong(b, start); n != 0 {
					t.Fatalf("%v: %d of %d elements from %d wrong in what was filled", dt, n, count, start)
				}
				if count == 0 {
					continue
				}
				b[len(b)-1] ^= 0x40
				b[0] ^= 1
				want := int64(min(count, 2))
				if n := p.wrong(b, start); n != want {
					t.Fatalf("%v: %d wrong in %d elements, want %d", dt, n, count, want)
				}
			}
		}
	}
}

func TestPoisonCoversAll(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1000} {
		b := make([]byte, n)
		poison(b)
		if !bytes.Equal(b, bytes.Repeat([]byte{0xa5}, n)) {
			t.Errorf("%d bytes are not all overwritten", n)
		}
	}
}
