package reduce

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// A format describes a binary floating-point format to the oracle below, which
// knows nothing of how the package converts.
type format struct {
	name       string
	precision  int // bits of the significand, the hidden one included
	emin, emax int // exponents of the least and the largest normal number
	to         func(float32) uint16
	from       func(uint16) float32
}

var formats = []format{
	{"f16", 11, -14, 15,
		func(f float32) uint16 { return uint16(ToFloat16(f)) },
		func(h uint16) float32 { return Float16(h).Float32() }},
	{"bf16", 8, -126, 127,
		func(f float32) uint16 { return uint16(ToBFloat16(f)) },
		func(h uint16) float32 { return BFloat16(h).Float32() }},
}

func (f *format) fraction() int { return f.precision - 1 }

// value is the number that bits stand for, by the definition in IEEE 754.
func (f *format) value(bits uint16) (v *big.Float, inf, nan bool) {
	exponent := int(bits&0x7fff) >> f.fraction()
	mantissa := int64(bits) & (1<<f.fraction() - 1)
	if exponent == f.emax-f.emin+2 {
		return nil, mantissa == 0, mantissa != 0
	}
	if exponent == 0 {
		exponent = 1
	} else {
		mantissa |= 1 << f.fraction()
	}
	v = exact().SetInt64(mantissa)
	v.SetMantExp(v, exponent-1+f.emin-f.fraction())
	if bits&0x8000 != 0 {
		v.Neg(v)
	}
	return v, false, false
}

// round returns the bits of the format's number nearest to v, ties to even.
func (f *format) round(v *big.Float) uint16 {
	var sign uint16
	if v.Signbit() {
		sign, v = 0x8000, exact().Neg(v)
	}
	if v.Sign() == 0 {
		return sign
	}
	// v = k units + rest, a unit being the distance between the format's numbers
	// around v.
	unit := max(v.MantExp(nil)-1, f.emin) - f.fraction()
	scaled := exact().SetMantExp(v, -unit)
	k, _ := scaled.Int64()
	rest := exact().Sub(scaled, exact().SetInt64(k))
	if c := rest.Cmp(big.NewFloat(0.5)); c > 0 || c == 0 && k&1 == 1 {
		k++
	}
	if k == 1<<f.precision {
		k, unit = k/2, unit+1
	}
	if k < 1<<f.fraction() {
		return sign | uint16(k)
	}
	biased := unit + f.fraction() - f.emin + 1
	if biased > f.emax-f.emin+1 {
		return sign | uint16(f.emax-f.emin+2)<<f.fraction()
	}
	return sign | uint16(biased)<<f.fraction() | uint16(k&(1<<f.fraction()-1))
}

// exact returns a zero with more bits than any sum or product here needs.
func exact() *big.Float { return new(big.Float).SetPrec(640) }

func TestHalfToFloat32(t *testing.T) {
	for _, f := range formats {
		for i := range 1 << 16 {
			bits := uint16(i)
			got := f.from(bits)
			v, inf, nan := f.value(bits)
			switch {
			case nan:
				if !math.IsNaN(float64(got)) {
					t.Fatalf("%s %#04x = %v, want NaN", f.name, bits, got)
				}
				if back := f.to(got); back != bits|1<<(f.fraction()-1) {
					t.Fatalf("%s NaN %#04x came back as %#04x", f.name, bits, back)
				}
				continue
			case inf:
				if !math.IsInf(float64(got), 1-2*int(bits>>15)) {
					t.Fatalf("%s %#04x = %v, want an infinity", f.name, bits, got)
				}
			default:
				want, acc := v.Float32()
				if acc != big.Exact || math.Float32bits(got) != math.Float32bits(want) {
					t.Fatalf("%s %#04x = %v, want %v", f.name, bits, got, want)
				}
			}
			if back := f.to(got); back != bits {
				t.Fatalf("%s %#04x came back as %#04x", f.name, bits, back)
			}
		}
	}
}

// TestHalfRounding converts every midpoint between neighbours, what lies just
// beside it, and random float32s.
func TestHalfRounding(t *testing.T) {
	for _, f := range formats {
		check := func(x float32) {
			t.Helper()
			if want, got := f.round(exact().SetFloat64(float64(x))), f.to(x); got != want {
				t.Fatalf("%s of %v (%#08x) = %#04x, want %#04x", f.name, x, math.Float32bits(x), got, want)
			}
		}
		largest := uint16(1<<15 - 1<<f.fraction() - 1)
		for bits := range largest {
			mid := float32((float64(f.from(bits)) + float64(f.from(bits+1))) / 2)
			for _, x := range []float32{mid, math.Nextafter32(mid, 0), math.Nextafter32(mid, math.MaxFloat32)} {
				check(x)
				check(-x)
			}
		}
		// Around the midpoint between the largest number and what would follow.
		top := float32(float64(f.from(largest)) + float64(f.from(largest)-f.from(largest-1))/2)
		for _, x := range []float32{top, math.Nextafter32(top, 0), math.Nextafter32(top, math.MaxFloat32), math.MaxFloat32} {
			check(x)
			check(-x)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 50_000 {
			if x := math.Float32frombits(r.Uint32()); x-x == 0 {
				check(x)
			}
		}
	}
}

// TestHalfArithmetic is the proof by trial of what half.go says about rounding
// twice: sums, products and quotients against exact arithmetic rounded once.
func TestHalfArithmetic(t *testing.T) {
	table := goTable()
	for i, f := range formats {
		dt := []DType{F16, BF16}[i]
		r := rand.New(rand.NewPCG(3, 4))
		for n := range 60_000 {
			a, b := uint16(r.Uint32()), uint16(r.Uint32())
			switch n % 3 {
			case 1: // exponents close together, so that sums round
				b = a + uint16(r.IntN(1<<(f.precision+3)))
			case 2: // products that end among the denormals
				b = f.to(float32(math.Ldexp(1+r.Float64(), f.emin-f.precision+r.IntN(f.precision+2)) / float64(f.from(a))))
			}
			x, _, _ := f.value(a)
			y, _, _ := f.value(b)
			if x == nil || y == nil {
				continue
			}
			check := func(op string, got uint16, want *big.Float) {
				if w := f.round(want); got != w {
					t.Fatalf("%s %#04x %s %#04x = %#04x, want %#04x", f.name, a, op, b, got, w)
				}
			}
			check("+", apply(table.kernels[dt][Sum], a, b), exact().Add(x, y))
			check("*", apply(table.kernels[dt][Prod], a, b), exact().Mul(x, y))
			by := 1 + r.IntN(1<<r.IntN(13))
			var q [2]byte
			table.divide[dt](q[:], Bytes([]uint16{a}), by)
			check("/n", view[uint16](q[:])[0], exact().Quo(x, exact().SetInt64(int64(by))))
		}
	}
}

func apply[T Element](k Kernel, a, b T) T {
	d := make([]T, 1)
	k(Bytes(d), Bytes([]T{a}), Bytes([]T{b}))
	return d[0]
}
