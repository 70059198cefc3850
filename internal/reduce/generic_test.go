package reduce

import (
	"math"
	"os"
	"slices"
	"testing"
)

// check runs the pure Go kernel and compares element by element.
func check[T Element](t *testing.T, op Op, a, b, want []T) {
	t.Helper()
	dt := DTypeOf[T]()
	got := make([]T, len(a))
	goTable().kernels[dt][op](Bytes(got), Bytes(a), Bytes(b))
	if !slices.Equal(Bytes(got), Bytes(want)) {
		t.Errorf("%v %v of %v and %v = %v, want %v", dt, op, a, b, got, want)
	}
}

func TestIntegers(t *testing.T) {
	a, b := []int8{100, -128, 7, -1}, []int8{100, -1, -3, 1}
	check(t, Sum, a, b, []int8{-56, 127, 4, 0})
	check(t, Avg, a, b, []int8{-56, 127, 4, 0})
	check(t, Prod, a, b, []int8{16, -128, -21, -1})
	check(t, Min, a, b, []int8{100, -128, -3, -1})
	check(t, Max, a, b, []int8{100, -1, 7, 1})
	check(t, And, a, b, []int8{100, -128, 5, 1})
	check(t, Or, a, b, []int8{100, -1, -1, -1})
	check(t, Xor, a, b, []int8{0, 127, -6, -2})
	u, v := []uint64{math.MaxUint64, 1 << 63, 3}, []uint64{2, 1<<63 + 5, 9}
	check(t, Sum, u, v, []uint64{1, 5, 12})
	check(t, Prod, u, v, []uint64{math.MaxUint64 - 1, 1 << 63, 27})
	check(t, Min, u, v, []uint64{2, 1 << 63, 3})
	check(t, Max, u, v, []uint64{math.MaxUint64, 1<<63 + 5, 9})
	check(t, Xor, u, v, []uint64{math.MaxUint64 - 2, 5, 10})
	check(t, Max, []int64{math.MinInt64}, []int64{1}, []int64{1})
	check(t, Min, []uint16{65535}, []uint16{1}, []uint16{1})
}

func TestFloats(t *testing.T) {
	inf, zero := float32(math.Inf(1)), float32(0)
	minus := float32(math.Copysign(0, -1))
	tiny := float32(math.SmallestNonzeroFloat32)
	a, b := []float32{1.5, inf, tiny, minus, zero, math.MaxFloat32}, []float32{-2, 1, tiny, zero, minus, math.MaxFloat32}
	check(t, Sum, a, b, []float32{-0.5, inf, 2 * tiny, zero, zero, inf})
	check(t, Prod, a, b, []float32{-3, inf, zero, minus, minus, inf})
	check(t, Min, a, b, []float32{-2, 1, tiny, minus, minus, math.MaxFloat32})
	check(t, Max, a, b, []float32{1.5, inf, tiny, zero, zero, math.MaxFloat32})

	nan := math.NaN()
	for _, op := range []Op{Sum, Prod, Min, Max} {
		for _, x := range []float64{nan, 1, math.Inf(-1), math.Copysign(0, -1)} {
			if !math.IsNaN(apply(goTable().kernels[F64][op], nan, x)) || !math.IsNaN(apply(goTable().kernels[F64][op], x, nan)) {
				t.Errorf("%v of NaN and %v is not NaN", op, x)
			}
		}
	}
}

// TestBools gives truth in all its spellings and wants 0 or 1, in the words and
// in the bytes after them.
func TestBools(t *testing.T) {
	a, b := make([]byte, 0, 8*8+4), make([]byte, 0, 8*8+4)
	for _, x := range []byte{0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff} {
		for _, y := range []byte{0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff} {
			a, b = append(a, x), append(b, y)
		}
	}
	a, b = append(a, 0, 0, 0x80, 0x40), append(b, 0, 0x80, 0, 2)
	for op, f := range map[Op]func(x, y bool) bool{
		Sum: func(x, y bool) bool { return x || y }, Max: func(x, y bool) bool { return x || y },
		Or:   func(x, y bool) bool { return x || y },
		Prod: func(x, y bool) bool { return x && y }, Min: func(x, y bool) bool { return x && y },
		And: func(x, y bool) bool { return x && y },
		Xor: func(x, y bool) bool { return x != y },
	} {
		got := make([]byte, len(a))
		goTable().kernels[Bool][op](got, a, b)
		for i := range got {
			want := byte(0)
			if f(a[i] != 0, b[i] != 0) {
				want = 1
			}
			if got[i] != want {
				t.Errorf("%v of %#x and %#x = %#x, want %d", op, a[i], b[i], got[i], want)
			}
		}
	}
}

func TestDivide(t *testing.T) {
	divide(t, []int8{7, -7, -128, 127, 0}, 2, []int8{3, -3, -64, 63, 0})
	divide(t, []int8{127, -128}, 1000, []int8{0, 0})
	divide(t, []uint8{255, 254}, 256, []uint8{0, 0})
	divide(t, []int64{math.MinInt64, -1}, 3, []int64{math.MinInt64 / 3, 0})
	divide(t, []uint64{math.MaxUint64}, 3, []uint64{math.MaxUint64 / 3})
	divide(t, []float32{1, -2, float32(math.Inf(1)), math.SmallestNonzeroFloat32}, 3,
		[]float32{1.0 / 3, -2.0 / 3, float32(math.Inf(1)), 0})
	divide(t, []float64{1, 10}, 4, []float64{0.25, 2.5})
	divide(t, []Float16{ToFloat16(1)}, 3, []Float16{ToFloat16(1.0 / 3)})
	divide(t, []BFloat16{ToBFloat16(9)}, 3, []BFloat16{ToBFloat16(3)})

	for _, c := range []struct {
		dt DType
		n  int
	}{{Bool, 2}, {0, 2}, {I32, 0}, {F32, -1}} {
		dst := []byte{1, 2, 3, 4}
		if Divide(c.dt, dst, []byte{9, 9, 9, 9}, c.n); !slices.Equal(dst, []byte{1, 2, 3, 4}) {
			t.Errorf("Divide(%v) by %d changed dst", c.dt, c.n)
		}
	}
}

func divide[T Element](t *testing.T, src []T, n int, want []T) {
	t.Helper()
	dt := DTypeOf[T]()
	got := make([]T, len(src))
	goTable().divide[dt](Bytes(got), Bytes(src), n)
	if !slices.Equal(Bytes(got), Bytes(want)) {
		t.Errorf("%v %v / %d = %v, want %v", dt, src, n, got, want)
	}
	if Divide(dt, Bytes(src), Bytes(src), n); !slices.Equal(Bytes(src), Bytes(want)) {
		t.Errorf("%v Divide by %d in place = %v, want %v", dt, n, src, want)
	}
}

func TestChoose(t *testing.T) {
	list := []*table{{name: "go"}, {name: "avx2"}, {name: "avx512"}}
	for ask, want := range map[string]string{"": "avx512", "go": "go", "avx2": "avx2", "neon": "go"} {
		if got := choose(ask, list).name; got != want {
			t.Errorf("choose(%q) = %s, want %s", ask, got, want)
		}
	}
	if want := choose(os.Getenv("THUNDER_KERNELS"), tables()).name; Active() != want {
		t.Errorf("Active() = %s, want %s", Active(), want)
	}
}
