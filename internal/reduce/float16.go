package reduce

import "math"

// A Float16 holds the bits of an IEEE 754 binary16 number.
type Float16 uint16

const (
	f32Inf = 0x7f800000 // bits of float32 +Inf; anything above, ignoring the sign, is NaN
	f16Inf = 0x7c00

	// f16Rebias moves a binary16 exponent, already shifted to float32's place, to
	// float32's bias.
	f16Rebias = (127 - 15) << 23
	// f16Normal is the smallest positive normal binary16 number, as float32 bits.
	f16Normal = (127 - 14) << 23
	// f16Over is 65536 as float32 bits. Numbers between the largest Float16, 65504,
	// and this may overflow by rounding.
	f16Over = (127 + 16) << 23
)

// ToFloat16 rounds f to the nearest Float16, ties to even. A number that is too large
// becomes an infinity; a NaN becomes a quiet NaN with the upper bits of its payload.
func ToFloat16(f float32) Float16 {
	b := math.Float32bits(f)
	sign := Float16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > f32Inf:
		return sign | f16Inf | 0x200 | Float16(b>>13&0x3ff)
	case b >= f16Over:
		return sign | f16Inf
	case b < f16Normal:
		// In [0.5, 1) the spacing of float32 is 2^-24, the same as that of denormal
		// Float16s, so adding 0.5 rounds to it; the mantissa then counts the steps.
		return sign | Float16(math.Float32bits(math.Float32frombits(b)+0.5)-math.Float32bits(0.5))
	default:
		// Add just under half a unit, or half if odd; a carry out of the mantissa
		// increments the exponent, and the largest exponent becomes infinity.
		b += 0xfff + b>>13&1
		return sign | Float16((b-f16Rebias)>>13)
	}
}

// Float32 returns the same number as a float32, exactly; NaNs become quiet.
func (h Float16) Float32() float32 {
	sign := uint32(h&0x8000) << 16
	b := uint32(h & 0x7fff)
	switch {
	case b > f16Inf:
		return math.Float32frombits(sign | f32Inf | 1<<22 | b<<13)
	case b == f16Inf:
		return math.Float32frombits(sign | f32Inf)
	case b < 0x400:
		return math.Float32frombits(sign | math.Float32bits(float32(b)*0x1p-24))
	default:
		return math.Float32frombits(sign | (b<<13 + f16Rebias))
	}
}
